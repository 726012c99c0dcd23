# %% [markdown]
# # Comparing classifiers
#
# Which of several classifiers is better? This page shows how to test it: on one data set by cross-validation, and in general by
# ranks over several data sets. Reading it takes twenty minutes. You need scikit-learn. In one line, `compare(cv({"a": a, "b":
# b}, df, repeats=10, rng=0, mean=False))` says how much better model a is than b on your data, and whether the folds show more
# than noise.
#
# ```{index} ! significance test
# ```

# %%
import pandas as pd
from bnclassify import (
    bnc,
    compare,
    compare_ranks,
    cv,
    load_car,
    load_pima,
    load_voting,
    plot_cv,
    plot_ranks,
)

try:
    from bnclassify.sklearn import BNCClassifier
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn"
    ) from None

# %% [markdown]
# ## Two learners on one data set
#
# `cv` repeats the whole fit of each model in every training fold, with the same folds for all models. Ten repeats of ten folds
# give a hundred results per model:

# %%
voting = load_voting()
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False)
    for name in ("nb", "tan_cl", "aode")
}
results = cv(models, voting, repeats=10, rng=0, mean=False)
plot_cv(results)

# %% [markdown]
# Is the tree better than the average of one-dependence estimators? The usual paired t-test is wrong here: two folds share most
# of their training rows, so the differences are not independent. Nadeau and Bengio (2003) correct the variance by the ratio of
# test and training rows,
#
# $$
# t = \frac{\bar d}{\sqrt{\left( \frac{1}{J} + \frac{n_\text{tested}}{n_\text{trained}} \right) s_d^2}},
# \qquad J - 1 \text{ degrees of freedom},
# $$
#
# where $J$ is the number of differences $d$. Bouckaert and Frank (2004) use it for repeated cross-validation. `compare`
# computes this test for every pair; the results of `cv` contain the numbers of rows.

# %%
compare(results).round(4)

# %% [markdown]
# Both are significantly better than naive Bayes, and the difference between the two is not significant. The usual t-test would
# find any difference significant, with enough repeats; the variance of the corrected test cannot fall below a bound.
#
# Dietterich (1998) and Alpaydın (1999) proposed tests for five repeats of two folds: `compare(results, test="5x2cv_f")`.

# %% [markdown]
# ## Size of the difference, and equivalence
#
# The columns `lower` and `upper` are the ends of a 95 % confidence interval of the difference. For the tree and the
# average of one-dependence estimators it reaches from −1.0 % to 2.2 %, so the test does not show that
# they are equal. The correlated Bayesian t-test (Corani and Benavoli 2015) can show this. It returns the probability
# that the difference is at most `rope`, here one percentage point, and the probabilities that the first model is better
# or worse by more than that.

# %%
compare(results, test="bayes_t", rope=0.01).round(3)

# %% [markdown]
# Naive Bayes is practically worse than either with a probability of more than 0.99. The tree and the average are practically
# equivalent with probability 0.66, and the tree is better with probability 0.32: equivalence is probable, but not shown.
# `plot_cv(results, interval=0.95)` draws the interval of each mean.
#
# ## Several learners over several data sets
#
# Whether a learner is better *in general* is another question. The data sets are then the sample: six data sets are six
# observations, however many folds you use. The six here come with the packages, so they are not a random sample.

# %%
car = load_car()
data = {"car": (car.drop(columns="class"), car["class"])}
data["voting"] = voting.drop(columns="Class"), voting["Class"]
women = load_pima()
data["pima"] = women.drop(columns="diabetes"), women["diabetes"]
for load in (load_breast_cancer, load_iris, load_wine):
    features, classes = load(return_X_y=True, as_frame=True)
    data[load.__name__.removeprefix("load_")] = features.iloc[:, :10], classes
codes = (
    OneHotEncoder(handle_unknown="ignore"),
    make_column_selector(dtype_exclude="number"),
)
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
classifiers = {name: BNCClassifier(name, **options) for name in ("nb", "aode")}
classifiers["tan_cl"] = BNCClassifier(
    "tan_cl", dag_args={"score": "aic"}, **options
)
classifiers["default"] = BNCClassifier()
classifiers["forest"] = make_pipeline(
    make_column_transformer(codes, remainder="passthrough"),
    RandomForestClassifier(50, random_state=0),
)
folds = StratifiedKFold(n_splits=2, shuffle=True, random_state=0)
scores = {
    name: pd.DataFrame(
        {key: cross_val_score(c, X, y, cv=folds) for key, c in classifiers.items()}
    )
    for name, (X, y) in data.items()
}
means = pd.DataFrame({name: table.mean() for name, table in scores.items()}).T
means.round(3)

# %% [markdown]
# Demšar (2006) recommends tests on ranks. In each data set, the best learner has rank 1, and ties share their ranks. Friedman's
# test is a test of whether all learners are equal. If it is significant, two learners differ if their mean ranks differ by more
# than Nemenyi's critical difference ([Formulas](methods.py#comparison-of-models)). For two learners, Wilcoxon's signed-rank
# test also uses the sizes of the differences. Holm's procedure adjusts its p-values for testing every pair.

# %%
comparison = compare_ranks(means)
print(comparison)
plot_ranks(comparison)

# %% [markdown]
# The diagram joins models whose ranks do not differ significantly. Six data sets are few, so most do not.
#
# Could Wilcoxon's test show more? If one learner is better on each of six data sets, its p-value is 0.031. With ten pairs,
# Holm's procedure multiplies it by 10: 10 × 0.031 = 0.31, so no result can be significant. Few data sets cannot show
#
# - *that a learner is better in general*. This requires many data sets from the field of application, selected before the
#   results are known.
# - *that two learners are equal*. The Bayesian signed-rank test (Benavoli et al. 2017) can show practical equivalence:
#   `compare_ranks(means, test="bayes", rope=0.01)`.
# - *that the best of five learners will be the best on new rows*. The maximum of several noisy means is biased upwards.
#
# ## Summary
#
# Use `compare` for models on one data set and `compare_ranks` for learners over many data sets, and report the size of
# differences. [The benchmarks](project/benchmarks.md#accuracy) compare classifiers of other libraries.
#
# [Formulas](methods.py#references) lists the sources.
