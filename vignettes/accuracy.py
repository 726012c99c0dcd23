# %% [markdown]
# # The default classifier
#
# A Bayesian network classifier says why it predicts what it does. It need not be less accurate for that.
# This page builds, step by step, the classifier that `BNCClassifier()` is when nothing is said, shows what
# each step is worth, reads the result, and says where trees stay ahead.
#
# It needs the extra `vignettes`: the data come with scikit-learn.

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

    from bnclassify.sklearn import BNCClassifier
except ImportError as missing:
    raise SystemExit(f"{missing}; this vignette needs: pip install 'pybnclassify[vignettes]'") from None

# %% [markdown]
# Measurements of cell nuclei, the class whether the tumour is malignant. Ten of the thirty features keep
# the page short; half of the rows are learned from.

# %%
cells = load_breast_cancer(as_frame=True)
frame = cells.data[[name for name in cells.data if name.startswith("mean")]].rename(
    columns=lambda name: name.removeprefix("mean ").replace(" ", "_")
)
frame["tumour"] = pd.Categorical.from_codes(cells.target, cells.target_names)
half = stratified_folds(frame["tumour"], 2, rng=0)
train, test = frame[half == 0], frame[half == 1]


def judged(model) -> pd.Series:
    """The share of wrong labels in the test half, and the log-loss."""
    posterior = predict(model, test, prob=True)
    own = posterior.to_numpy()[np.arange(len(test)), test["tumour"].cat.codes]
    wrong = posterior.idxmax(axis=1) != test["tumour"].astype(str)
    return pd.Series({"error": wrong.mean(), "log-loss": -np.log(own).mean()})


# %% [markdown]
# ## One step after the other
#
# 1. A tree with plain tables, numbers cut once where the class changes (MDLP).
# 2. The same with more parents: Sahami's k-dependence, each feature with up to four others. Tables of that
#    many parents are all but empty, which is warned of, and the posteriors get worse.
# 3. `backoff=True`: each table is shrunk towards the one with a parent less, and that in turn, by as much
#    as makes the data likeliest. What many parents cannot tell, fewer do. Each table is better for it, but
#    features that repeat one another make their product too sure of itself, here more than ever.
# 4. `loo_weights=True`, `loo_parents=True`: features that tell the same are not counted twice. Each table
#    gets a power, and all as many parents as are best, for the classes of rows that are left out.
# 5. `discretize="averaged"`: numbers are cut nine times, moved a little each time, and the logs of the
#    tables are averaged, feature by feature.

# %%
four = {"dag_args": {"kdbk": 4}}
loo = {"loo_weights": True, "loo_parents": True}
with warnings.catch_warnings(action="ignore"):
    wide = bnc("kdb_mi", "tumour", train, discretize="mdlp", **four, m=1)
steps = {
    "tree": bnc("tan_cl", "tumour", train, discretize="mdlp", smooth=1),
    "four parents": wide,
    "… that back off": bnc("kdb_mi", "tumour", train, discretize="mdlp", **four, backoff=True),
    "… with weights": bnc("kdb_mi", "tumour", train, discretize="mdlp", **four, backoff=True, **loo),
    "… averaged cuts": bnc("kdb_mi", "tumour", train, discretize="averaged", **four, backoff=True, **loo),
}
print(pd.DataFrame({name: judged(model) for name, model in steps.items()}).T.round(3))

# %% [markdown]
# One half of one data set says little; [the benchmarks](project/benchmarks.md#accuracy) have the same for 29 data sets, beside
# logistic regression, forests and boosting. In one line it is

# %%
model = bnc("kdb_mi", "tumour", train, discretize="averaged", **four, backoff=True, **loo)
print(model)

# %% [markdown]
# and for scikit-learn it is what comes without arguments. The forest stands beside it as it comes.

# %%
X, y = train.drop(columns="tumour"), train["tumour"].astype(str)
clf = BNCClassifier().fit(X, y)
forest = RandomForestClassifier(random_state=0).fit(X, y)
truth = test["tumour"].astype(str)
pd.Series(
    {name: c.score(test.drop(columns="tumour"), truth) for name, c in (("ours", clf), ("forest", forest))}
)

# %% [markdown]
# `cv` and scikit-learn's cross-validation choose cuts, structure, weights and parents anew in each training
# part.

# %%
print(cv(model, frame, k=3, metric=["accuracy", "log_loss", "calibration_error"], rng=0).round(3))

# %% [markdown]
# ## What leave-one-out found
#
# To leave a row out subtracts 1 from a few counts, so that leaving out each of n rows in turn takes some 20 times as
# long as estimating the tables once, not n times. This is exact for tables of counts, given the structure, cut points and concentrations, which
# are those of all rows. First a common power of all tables is found: it is below 1 if features are redundant.
# Then one weight per feature is found around it. Both problems have a single optimum, so that the result does
# not depend on a start or a random seed. The log-likelihood below is not an estimate of performance on new rows;
# that is what `cv` above estimates.

# %%
print(loo_summary(model))

# %%
print(feature_weights(model).round(2))

# %%
plot_weights(model)

# %% [markdown]
# Weights can be negative: such a feature corrects what its children or parents say too loudly. A weighted
# model provides P(class | features), but does not define a joint distribution, so that `loglik`, `AIC` and `BIC`
# raise an error. A feature that is
# missing drops out.
#
# ## Reading it
#
# A prediction is a sum: what the class's share says, and what each feature adds given its parents.

# %%
explain(model, test.iloc[0]).round(2)

# %% [markdown]
# What a feature can add at all is a curve. If it has parents, there is one for some levels of the first.

# %%
plot_effect(model, families(model)["concave_points"][0], target="malignant")

# %%
with_parents = max(model.features, key=lambda name: len(families(model)[name]))
plot_effect(model, with_parents, target="malignant")

# %% [markdown]
# The structure is one, whatever the cutting.

# %%
plot(model)

# %% [markdown]
# Behind it stand nine networks of this structure, one a cutting, with tables like any other. Their
# `concentrations` say how far tables back off: 0.5 trusts the counts, 5000 the table with a parent less.

# %%
first = members(model)[0]
print(cpt(first, "concave_points").round(2))

# %%
print(concentrations(first).unstack().round(1))  # noqa: PD010

# %% [markdown]
# ## The same for categories, and for ensembles
#
# Without numbers there is one cutting. Each step works alone, with any structure and any prior.

# %%
car = load_car()
plain = lp(tan_cl("class", car), car, smooth=1)
weighted = lp(tan_cl("class", car), car, smooth=1, loo_weights=True)
print(cv({"plain": plain, "weighted": weighted}, car, k=5, metric="log_loss", rng=0).round(3))

# %% [markdown]
# `loo_power` is the first step alone, for any model: it makes overconfident posteriors modest, and the
# other way round. A positive power leaves all labels as they are.

# %%
naive = lp(nb("class", car), car, smooth=1)
powered = lp(nb("class", car), car, smooth=1, loo_power=True)
models = {"naive": naive, "powered": powered}
print(cv(models, car, k=5, metric=["accuracy", "log_loss"], rng=0).unstack().round(3))  # noqa: PD010

# %% [markdown]
# ## Where trees stay ahead
#
# - Boundaries that need many numbers at once at high resolution: letters, vowels, phonemes. A table cuts a
#   number into a few intervals, a tree into as many as it likes.
# - Logic over many categories: who has three in a row (tic-tac-toe), who wins an endgame of chess. A
#   feature has at most four parents.
# - A forest's posteriors are modest: raised to a power that is learned out of bag, they are about as good
#   as those here. Beside a forest as it comes, log-loss and calibration flatter whatever is calibrated, so
#   the benchmarks have the calibrated forest in a column of its own.
