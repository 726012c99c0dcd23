# %% [markdown]
# # Comparing classifiers
#
# Which of several classifiers is better, on one data set or in general, and how sure can one be? This page
# compares learners fold by fold on one data set, then by ranks over six, scikit-learn's random forest among
# them, and says what six data sets cannot tell. What to measure in the first place, where classes are
# unbalanced or mistakes cost differently, is the subject of [another page](judging.py).
#
# It needs the extra `vignettes`: scikit-learn has some of the data and the forest.

# %%
import pandas as pd
from scipy import stats

from bnclassify import bnc, compare, compare_ranks, cv, load_car, load_voting, plot_cv, plot_ranks

try:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from bnclassify.sklearn import BNCClassifier
except ImportError as missing:
    raise SystemExit(f"{missing}; this vignette needs: pip install 'pybnclassify[vignettes]'") from None

# %% [markdown]
# ## Two learners on one data set
#
# `cv` runs each model's whole learning again in every fold, all models on the same folds. Ten folds, dealt
# anew ten times, make a hundred figures a model. They are sizes of luck: where the dots of two models lie
# in each other's range, the means alone say little.

# %%
voting = load_voting()
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False) for name in ("nb", "tan_cl", "aode")
}
results = cv(models, voting, repeats=10, rng=0, mean=False)
plot_cv(results).figure.savefig("folds.png", dpi=120)

# %% [markdown]
# Is the tree better than the average of one-dependence estimators? The usual paired t-test is wrong for
# such figures: two folds share most of the rows they learned from, so the differences are not independent,
# and their spread tells less than it seems to. Nadeau and Bengio (2003) correct the variance by the share
# of tested rows,
#
# $$
# t = \frac{\bar d}{\sqrt{\left( \frac{1}{J} + \frac{n_\text{tested}}{n_\text{trained}} \right) s_d^2}},
# \qquad J - 1 \text{ degrees of freedom},
# $$
#
# where $J$ is the number of differences $d$; Bouckaert and Frank (2004) use it for repeated cross-validation.
# That is what `compare` does, for every pair, and the results tell it how many rows were tested and learned
# from.

# %%
compare(results).round(4)

# %% [markdown]
# Both are better than naive Bayes, and which of the two is the better one remains open. Here are the
# p-values of the usual test and of this one for that pair, as the repeats grow:

# %%
parts = {repeats: results.loc[: repeats - 1] for repeats in (1, 2, 5, 10)}
usual = {n: stats.ttest_rel(part["tan_cl"], part["aode"]).pvalue for n, part in parts.items()}
corrected = {n: compare(part).loc[("tan_cl", "aode"), "p"] for n, part in parts.items()}
pd.DataFrame({"usual p": usual, "corrected p": corrected}).rename_axis("repeats").round(3)

# %% [markdown]
# The usual p-value falls below 0.01, though the members of congress stay the same 435 and the difference
# well under one percent: repeat cross-validation often enough, and that test finds any difference
# significant. The corrected p-value falls too, because the number of folds grows, but its variance cannot
# fall below n / m of that of the differences, with m training rows and n test rows, so it stays far from .05.
#
# Dietterich (1998) and Alpaydın (1999) proposed tests for five repeats of two folds. `compare` refuses them
# for other results, and says which test fits those.

# %%
compare(cv(models, voting, k=2, repeats=5, rng=0, mean=False), test="5x2cv_f").round(4)

# %% [markdown]
# ## Several learners over several data sets
#
# Whether a learner is better *in general* is another question. There the data sets are the sample, each
# gives one number per learner, and six data sets are six observations however many folds they were cut
# into. These six are here because they come with the packages, which is no way to sample data sets.
#
# Four of them hold measurements. `BNCClassifier` cuts those into intervals by MDLP, which looks at the
# class: so the cutting is part of the learning, and is done inside each fold, on its training part;
# [elsewhere](numeric.py#the-leak) you see what happens otherwise. Five folds twice make this page quick; ten folds ten times are
# better.

# %%
car = load_car()
data = {"car": (car.drop(columns="class"), car["class"])}
data["voting"] = voting.drop(columns="Class"), voting["Class"]
for load in (load_breast_cancer, load_digits, load_iris, load_wine):
    data[load.__name__.removeprefix("load_")] = load(return_X_y=True, as_frame=True)
codes = OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
classifiers = {name: BNCClassifier(name, **options) for name in ("nb", "aode")}
classifiers["tan_cl"] = BNCClassifier("tan_cl", dag_args={"score": "aic"}, **options)
classifiers["forest"] = make_pipeline(
    make_column_transformer(codes, remainder="passthrough"), RandomForestClassifier(50, random_state=0)
)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
scores = {
    name: pd.DataFrame({key: cross_val_score(c, X, y, cv=folds) for key, c in classifiers.items()})
    for name, (X, y) in data.items()
}
means = pd.DataFrame({name: table.mean() for name, table in scores.items()}).T
means.round(3)

# %% [markdown]
# Demšar (2006) recommends tests on ranks: within each data set the best learner has rank 1, ties share.
# Friedman's test asks whether all learners may be equal. If not, average ranks of two learners differ when
# they are apart by Nemenyi's critical difference, $q \sqrt{k(k+1) / 6N}$ for $k$ learners and $N$ data sets, $q$ a quantile of the
# studentised range over $\sqrt{2}$. For two
# learners alone, Wilcoxon's signed-rank test looks at the sizes of the differences too; Holm's method pays
# for asking it of every pair.

# %%
comparison = compare_ranks(means)
print(comparison)
plot_ranks(comparison).figure.savefig("ranks.png", dpi=120)

# %% [markdown]
# The forest, which sees the measurements uncut, comes first nearly everywhere. The diagram joins models
# that the six data sets cannot tell apart: they set the forest apart from naive Bayes, and nothing else.
# How much could six data sets show? Wilcoxon's test is exact here, and its smallest possible p-value is that
# of a learner that wins on every data set. By the number of data sets, it is

# %%
one_sided = {n: pd.DataFrame({"a": range(1, n + 1), "b": 0}) for n in (4, 6, 8, 10)}
pd.Series({n: compare_ranks(table).wilcoxon["p"].item() for n, table in one_sided.items()}).round(4)

# %% [markdown]
# With six data sets and six pairs, Holm's method multiplies the smallest p-value by 6: 6 × 0.031 = 0.19, which
# is not significant whatever the learners do. So the few significant differences are not evidence that the
# learners are equal. What few data sets cannot show:
#
# - *that a learner is better in general*. For that, many data sets are needed, chosen before looking, and
#   from the field that one has in mind. Demšar's own example has 14.
# - *that two learners are equal.* A p-value above 0.05 is not evidence of it; Benavoli et al. (2017) give
#   tests that can say so.
# - *that the best of four on a data set would be best on new rows of it*: the maximum of several noisy
#   means is too high, and an outer cross-validation is needed to say by how much.
#
# On one data set at a time the folds can be compared again. These figures were made by scikit-learn, so
# `compare` must be told the sizes:

# %%
compare(scores["car"], train_size=1382, test_size=346).round(3)

# %% [markdown]
# On car the forest comes first, the tree second, and naive Bayes, which lets no features work together,
# last: each of these leads is established, for data like these. What the table does not show is what else a
# model is good for: ours can be drawn, read table by table, asked why, and used with any values missing.
#
# ## References
#
# - Alpaydın, E. (1999). Combined 5 × 2 cv F test for comparing supervised classification learning
#   algorithms. Neural Computation 11.
# - Benavoli, A., Corani, G., Demšar, J., Zaffalon, M. (2017). Time for a change: a tutorial for comparing
#   multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
# - Bouckaert, R. R., Frank, E. (2004). Evaluating the replicability of significance tests for comparing
#   learning algorithms. PAKDD 2004.
# - Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
#   Learning Research 7.
# - Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
#   algorithms. Neural Computation 10.
# - Nadeau, C., Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.
