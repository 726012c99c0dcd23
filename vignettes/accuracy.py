# %% [markdown]
# # The default classifier
#
# A Bayesian network classifier explains its predictions as sums, and it need not be less accurate than a forest for
# that. This page builds the recipe behind the defaults of the package step by step, measures each step, reads the
# result, and says where trees remain ahead. It is written for readers who have seen [Numeric features](numeric.py)
# and want the best posteriors of a single structure. The data are measurements of 569 tumors from scikit-learn, so
# the page needs the extra `vignettes`. Reading it takes 15 minutes.

# %%
import warnings

import numpy as np
import pandas as pd
from bnclassify import (
    bnc,
    concentrations,
    cpt,
    cv,
    explain,
    families,
    feature_weights,
    load_car,
    loo_summary,
    lp,
    members,
    nb,
    plot,
    plot_effect,
    plot_weights,
    predict,
    stratified_folds,
    tan_cl,
)

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this vignette needs: pip install 'pybnclassify[vignettes]'"
    ) from None

# %% [markdown]
# The class is whether a tumor is malignant. Ten of the thirty features keep the page short. The models learn from
# one half of the rows, 285 tumors, and are evaluated on the other half.

# %%
cells = load_breast_cancer(as_frame=True)
frame = cells.data[[name for name in cells.data if name.startswith("mean")]].rename(
    columns=lambda name: name.removeprefix("mean ").replace(" ", "_")
)
frame["tumor"] = pd.Categorical.from_codes(cells.target, cells.target_names)
half = stratified_folds(frame["tumor"], 2, rng=0)
train, test = frame[half == 0], frame[half == 1]


def evaluate(model) -> pd.Series:
    """Return the error in the test half, and the log-loss in nats."""
    posterior = predict(model, test, prob=True)
    own = posterior.to_numpy()[np.arange(len(test)), test["tumor"].cat.codes]
    wrong = posterior.idxmax(axis=1) != test["tumor"].astype(str)
    return pd.Series({"error": wrong.mean(), "log-loss": -np.log(own).mean()})


# %% [markdown]
# ## Step by step
#
# 1. A tree-augmented naive Bayes with plain tables. MDLP discretizes the numbers once.
# 2. More parents: Sahami's k-dependence classifier, in which each feature has up to four feature parents. Most
#    cells of such tables are empty.
# 3. `backoff=True` (hierarchical smoothing): each table is shrunk towards the table with one parent fewer, and
#    that one in turn, by the amounts that maximize the marginal likelihood.
# 4. `loo_weights=True`, `loo_parents=True`: the table of each feature gets a weight, and all tables get the number
#    of parents that maximizes the leave-one-out likelihood. Redundant features are then not counted twice.
# 5. `discretize="averaged"`: the numbers are discretized nine times, with cut points that are moved a little each
#    time. The logs of the tables are averaged feature by feature.
# 6. `loo_terms`: each feature adds more terms to its table. For a number, these are its log density under a
#    Gaussian given the class and up to eight other numbers, on two scales, and a coefficient for each class; for a
#    categorical feature, a constant for each level and class; for both, its tables with fewer parents.
# 7. The default adds a tenth discretization, by MDLP, which finds narrow intervals, and `honest_power=5`: on data with
#    few rows or many features, all of the above is repeated without each fifth of the rows, and the posterior is raised
#    to the power that is best for these rows.

# %%
four = {"dag_args": {"kdbk": 4}}
loo = {"backoff": True, "loo_weights": True, "loo_parents": True}
terms = {"loo_terms": ("gaussians", "zscores", "slopes", "shifts", "levels")}
with warnings.catch_warnings(action="ignore"):  # of tables with few rows per cell
    wide = bnc("kdb_mi", "tumor", train, discretize="mdlp", **four, m=1)
steps = {
    "1. tree": bnc("tan_cl", "tumor", train, discretize="mdlp", smooth=1),
    "2. four parents": wide,
    "3. hierarchical smoothing": bnc(
        "kdb_mi", "tumor", train, discretize="mdlp", **four, backoff=True
    ),
    "4. weights": bnc("kdb_mi", "tumor", train, discretize="mdlp", **four, **loo),
    "5. averaged cut points": bnc(
        "kdb_mi", "tumor", train, discretize="averaged", **four, **loo
    ),
    "6. additional terms": bnc(
        "kdb_mi", "tumor", train, discretize="averaged", **four, **loo, **terms
    ),
    "7. the default": bnc(class_var="tumor", dataset=train),
}
table = pd.DataFrame({name: evaluate(model) for name, model in steps.items()}).T
forest = RandomForestClassifier(random_state=0).fit(
    train.drop(columns="tumor"), train["tumor"].cat.codes
)
votes = forest.predict_proba(test.drop(columns="tumor"))
own = votes[np.arange(len(test)), test["tumor"].cat.codes]
table.loc["forest"] = [
    (votes.argmax(axis=1) != test["tumor"].cat.codes).mean(),
    -np.log(own.clip(1e-15)).mean(),
]
print(table.round(3))

# %% [markdown]
# The tree makes 7.4 % errors, the model with additional terms 3.9 %, and the log-loss falls from .187 to .126 nats. The
# default has 4.2 % and .132 here: its honest power is .81, because parts of 285 rows with 30 features predict less well
# than leave-one-out suggests. On 200 simulated rows with 30 useless features, where the log-loss of the class distribution
# is .69, the honest power lowers it from 1.15 to .70. Hierarchical
# smoothing alone improves the labels, but makes the log-loss worse (.266): each table is better, and their product is
# too confident, because the features are correlated. The weights correct that. A random forest of 100 trees makes
# 6.0 % errors, with a log-loss of .152. One half of one small data set is weak evidence: a difference of
# .02 in error is six tumors. On halves of 20 public data sets, with at most 3,000 training rows, the additional terms
# lower the mean log-loss from .253 to .228 and the mean error from .106 to .092; the log-loss is lower by more than
# .005 on 11 sets and higher on 4. They gain most if the boundary between classes is linear or quadratic in many
# numbers (vehicle, vowel, texture) or a rule over many categories (tic-tac-toe), and they lose on sets with few rows
# per feature (sonar, 104 rows and 60 features: .374 to .416). [The benchmarks](project/benchmarks.md#accuracy)
# compare with other classifiers.
#
# `cv` chooses cut points, structure, weights and the number of parents again in each training set:

# %%
model = steps["6. additional terms"]
print(
    cv(
        model,
        frame,
        k=3,
        metric=["accuracy", "log_loss", "calibration_error"],
        rng=0,
    ).round(3)
)

# %% [markdown]
# On all 569 tumors, the accuracy is 93.9 %, and predicted probabilities differ from observed frequencies by .011 on
# average.
#
# ## Results of leave-one-out
#
# A row is excluded from a table by subtracting 1 from a few counts, and from a Gaussian by a formula, so no model is
# refitted. This is exact given the structure, the cut points and the amounts of smoothing, which depend on all rows.

# %%
print(loo_summary(model))

# %% [markdown]
# First, one power for all tables is estimated. It is .54, because the features are redundant. Then one weight per
# feature is estimated around it, for each number of parents, and four parents are best. Last, the weights of the
# additional terms are estimated, and each type of term has a *ridge*, the precision of a normal prior of its weights.
# The ridges maximize the evidence (the marginal likelihood of the weights): a term that does not help gets a large
# ridge, at most 3000, and so weights of almost 0. Each of these problems has one optimum, so no result depends on a
# start or a seed.

# %%
print(pd.Series(loo_summary(model)["ridges"]).round(1))

# %% [markdown]
# The tables with fewer parents hardly matter here: their ridge is above 1,500. `feature_weights` has one row per
# feature and one column per term:

# %%
print(feature_weights(model).round(2).to_string())

# %% [markdown]
# The columns "level 0" to "level 4" are the weights of the tables given 0 to 4 feature parents. The largest belong to
# texture and symmetry, above 1: their tables are evidence that no other feature repeats. A weight can be negative, as
# that of radius: the feature then corrects its children or parents. "slopes" is the root mean square of the
# coefficients over the classes. The weights of Gaussian terms are small, but a log density has a wide range: with
# weight .04, two classes that differ by 10 nats differ by .4 log odds.

# %%
plot_weights(model)

# %% [markdown]
# The bars are the sums of the weights of each feature's tables.
#
# Such a model provides P(class | features), but does not define a joint distribution, so `loglik`, `AIC` and `BIC` raise
# an error. A missing feature contributes 0.
#
# ## Reading the model
#
# A prediction is a sum: the log odds of the class, and one contribution per feature, which adds up all its terms.

# %%
explain(model, test.iloc[0]).round(2)

# %% [markdown]
# The concave points and the perimeter contribute most: each adds about 3.5 to the log odds of malignant, which
# multiplies the odds by 30. The low texture is evidence against it.
#
# The effect of a feature over its range is a curve. It has steps, from the tables at nine times as many cut points,
# and bends between them, from the Gaussian terms and the slope. If a feature has parents, there is one curve for
# each of some levels of the first.

# %%
plot_effect(model, families(model)["concave_points"][0], target="malignant")

# %%
plot_effect(model, "texture", target="malignant")

# %% [markdown]
# There is one structure for all discretizations:

# %%
plot(model)

# %% [markdown]
# Behind it are nine networks of this structure, one per discretization, with ordinary tables:

# %%
first = members(model)[0]
print(cpt(first, "concave_points").round(2))

# %%
print(concentrations(first).unstack().round(1))  # noqa: PD010

# %% [markdown]
# The concentrations are the amounts of smoothing, in pseudo-counts: at .5, a table follows its counts, and at 5000 it
# equals the table with one parent fewer. The second feature parent of smoothness, for example, adds nothing to
# the first.
#
# ## Categorical features, and ensembles
#
# Each step can be used alone, with any structure and any prior. Categorical data have shifts and levels only:

# %%
car = load_car()
tree = tan_cl("class", car)
models = {
    "plain": lp(tree, car, smooth=1),
    "weights": lp(tree, car, smooth=1, loo_weights=True),
    "additional terms": lp(tree, car, smooth=1, loo_weights=True, **terms),
}
print(cv(models, car, k=5, metric="log_loss", rng=0).round(3))

# %% [markdown]
# Weights lower the log-loss of the tree on the car data from .210 to .135, the additional terms to .091.
#
# `loo_power` is the first step alone, for a model of any type. It makes overconfident posteriors more moderate, and
# leaves all labels as they are, because the power is positive.

# %%
naive = lp(nb("class", car), car, smooth=1)
powered = lp(nb("class", car), car, smooth=1, loo_power=True)
scores = cv(
    {"naive": naive, "powered": powered},
    car,
    k=5,
    metric=["accuracy", "log_loss"],
    rng=0,
)
print(scores.unstack().round(3))  # noqa: PD010

# %% [markdown]
# ## Where trees remain ahead
#
# - Logic over many categories, such as the endgames of chess. A table has at most four feature parents.
# - Fine boundaries in few numbers, as for phonemes. A table divides a number into a few intervals.
# - Data with few rows per feature. The structure and the amounts of smoothing depend on the held-out rows, so the
#   weights are too large there. Evaluate with `cv`, not by the leave-one-out likelihood.
#
# ## Summary
#
# Four parents with hierarchical smoothing, averaged cut points, weights and additional terms by leave-one-out give a
# model that is a sum of one contribution per feature, as explainable as naive Bayes, with a lower error and log-loss
# than a plain tree. Next, [Interpreting a model](interpreting.py) shows how to read such sums, and
# [Evaluating a classifier](judging.py) how to compare models on your own data.
