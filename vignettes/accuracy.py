# %% [markdown]
# # The default classifier
#
# A Bayesian network classifier explains its predictions as sums, and can be as accurate as a forest. This page builds
# the recipe behind the defaults of the package step by step, measures each step, reads the result, and names the tasks
# for which ensembles of trees are more accurate. It is written for readers who have read [Numeric
# features](numeric.py). The data are measurements of 569 tumors from scikit-learn, so the page needs the extra
# `vignettes`. Reading it takes 15 minutes.

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
# 3. `backoff=True` (hierarchical smoothing): each table is shrunk towards the table with one parent fewer, recursively,
#    by the amounts that maximize the marginal likelihood.
# 4. `loo_weights=True`, `loo_parents=True`: the table of each feature gets a weight, and all tables get the number
#    of parents that maximizes the leave-one-out likelihood. Redundant features are then not counted twice.
# 5. `discretize="averaged"`: the numbers are discretized nine times, with shifted cut points. The logs of the tables
#    are averaged feature by feature.
# 6. `loo_terms`: each feature adds more terms to its table. For a number, these are its log density under a Gaussian
#    given the class and up to eight other numbers, on two scales, and a linear term with one coefficient per class. For
#    a categorical feature, this is one constant per level and class. For both, these are the tables with fewer parents.
# 7. The default adds a tenth discretization, by MDLP, which finds narrow intervals, and `honest_power=5`: on data with
#    few rows or many features, all of the above is repeated without each fifth of the rows, and the posterior is raised
#    to the power that maximizes the likelihood of these rows.

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
# The tree has an error of 7.4 %, the model with additional terms 4.2 %, and the log-loss falls from 0.187 to 0.126
# nats. The default has 3.9 % and 0.131. Hierarchical smoothing alone improves the labels but increases the log-loss to
# 0.266: each table is better, but their product is overconfident, because the features are correlated. The weights
# correct that. A random forest of 100 trees has an error of 6.0 % and a log-loss of 0.152. One half of one small data
# set is weak evidence: a difference of 0.02 in error is six tumors. [The benchmarks](project/benchmarks.md#accuracy)
# compare the default with other classifiers on 29 data sets.
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
# On all 569 tumors, the accuracy is 94.0 %, and the calibration error is 0.021.
#
# ## Results of leave-one-out
#
# A row is excluded from a table by subtracting 1 from a few counts, and from a Gaussian by a formula, so no model is
# refitted. This is exact given the structure, the cut points and the amounts of smoothing, which depend on all rows.

# %%
print(loo_summary(model))

# %% [markdown]
# First, one power for all tables is estimated. It is 0.54, because the features are redundant. Then one weight per
# feature is estimated around it, for each number of parents, and four parents are best. Last, the weights of the
# additional terms are estimated, and each type of term has a *ridge*, the precision of a normal prior of its weights.
# The ridges approximate the maximum of the marginal likelihood in four fixed steps. A term that does not help gets a
# large ridge, at most 3000, and therefore weights of almost 0. Given the ridges, each of these problems has one optimum,
# so no result depends on a start or a seed.

# %%
print(pd.Series(loo_summary(model)["ridges"]).round(1))

# %% [markdown]
# The tables with fewer parents hardly matter here: their ridge is above 1,500. `feature_weights` has one row per
# feature and one column per term:

# %%
print(feature_weights(model).round(2).to_string())

# %% [markdown]
# The columns "level 0" to "level 4" are the weights of the tables given 0 to 4 feature parents. The largest, above 1,
# are those of texture and symmetry, which are not redundant. A weight can be negative, such as that of radius. The
# feature then offsets evidence that its children or parents overstate. "slopes" is the root mean square of the
# coefficients over the classes. The weights of Gaussian terms are small, but log densities have a wide range: with a
# weight of 0.04, a difference of 10 nats changes the log odds by 0.4.

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
# The concave points and the perimeter contribute most: each adds about 3.4 to the log odds of malignant, which
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
# The model averages nine networks of this structure, one per discretization:

# %%
first = members(model)[0]
print(cpt(first, "concave_points").round(2))

# %%
print(concentrations(first).unstack().round(1))  # noqa: PD010

# %% [markdown]
# The concentrations are the amounts of smoothing, in pseudo-counts: at 0.5, a table follows its counts, and at 5000 it
# nearly equals the table with one parent fewer. The second feature parent of smoothness, for example, adds nothing to
# the first.
#
# ## Categorical features, and ensembles
#
# Each step can be used alone, with any structure and any prior. The only additional terms of categorical features are
# shifts and levels:

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
# Weights lower the log-loss of the tree on the car data from 0.210 to 0.135, and the additional terms lower it to
# 0.091.
#
# `loo_power` estimates only the power, for a model of any type. It makes overconfident posteriors more moderate and
# does not change labels, because the power is positive.

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
# ## When ensembles of trees are more accurate
#
# - On rules over many categories, such as endgames of chess, because a table has at most four feature parents.
# - On precise boundaries in few numbers, such as those of phonemes, because a table divides a number into a few
#   intervals.
# - On data with few rows per feature. The structure and the amounts of smoothing depend on the held-out rows, so the
#   weights are too large. Evaluate with `cv`, not by the leave-one-out likelihood.
#
# ## Summary
#
# Four parents with hierarchical smoothing, averaged cut points, weights and additional terms by leave-one-out give a
# model that is a sum of one contribution per feature, as explainable as naive Bayes, with a lower error and log-loss
# than a plain tree. Next: [Which arguments matter](arguments.py).
