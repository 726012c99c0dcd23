# %% [markdown]
# # Several class variables
#
# Sometimes you have to predict several class variables that depend on each other, such as the topics of a text or the diagnoses
# of a patient (multi-label or multi-output classification). This page predicts several votes with one model, and compares the
# result with separate classifiers. You should know the [first page](start.py). It takes fifteen minutes.
#
# ```{index} ! multi-label, ! multilabel, ! multi-output
# ```

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    bnc,
    chain,
    cv,
    cv_predict,
    exact_match,
    explain,
    families,
    hamming,
    load_solar_flare,
    load_voting,
    lp,
    maode,
    mbc,
    plot,
    predict,
)

# %% [markdown]
# ## One network
#
# We predict four votes on arms and foreign aid from the other votes and the party. `mbc` learns a multi-dimensional
# Bayesian network classifier: a tree over the class variables and, for each feature, the class variable with the
# largest mutual information as its parent, if that improves the BIC (`immigration` has none). `lp` estimates the
# tables.

# %%
voting = load_voting()
arms = [
    "el_salvador_aid",
    "aid_to_nicaraguan_contras",
    "mx_missile",
    "anti_satellite_test_ban",
]
known = voting.dropna(subset=arms).reset_index(drop=True)
model = lp(mbc(arms, known), known, smooth=1)
print(model)
for vote in arms:
    print(families(model)[vote])

# %% [markdown]
# In the picture, class variables are dark, arcs between them are blue, and arcs to features are gray.

# %%
plot(model)

# %% [markdown]
# ## Most probable labels and most probable combination
#
# The most probable label of *each* class variable maximizes the expected number of correct labels. The most probable
# *combination* maximizes the probability that all labels are correct. The two can differ:

# %%
each = predict(model, known)
together = predict(model, known, joint=True, prob=True)
differ = (each != together[arms]).any(axis=1)
print(f"The predictions differ in {differ.sum()} of {len(known)} rows.")
print(each[differ].head(3).T)
print(together[differ].head(3).T)

# %% [markdown]
# `predict(..., prob=True)` returns one column per class variable and label:

# %%
print(predict(model, known[differ].head(3), prob=True).round(2).T)

# %% [markdown]
# The model marginalizes over missing features exactly. `explain` explains one class variable and marginalizes over the
# others:

# %%
print(
    explain(model, known.iloc[0], class_var="mx_missile")
    .round(2)
    .sort_values("log_odds")
    .tail(4)
)

# %% [markdown]
# ## Averages and chains
#
# `maode` averages networks. In each network a different class variable is the parent of the others, so you need not
# choose a tree. `chain` learns a sequence of classifiers for one class each, in which the preceding class variables are
# features. A chain can use any learner and any method of `lp`. With `orders=10`, it learns ten chains in random orders, the
# first in the order of the class variables, and averages their posteriors (an ensemble of classifier chains, ECC, of
# Read and others, 2011).

# %%
tan = {"learner": "tan_cl", "dag_args": {"score": "bic"}}
models = {
    "mbc, no arcs between classes": lp(
        mbc(arms, known, classes="empty"), known, smooth=1
    ),
    "mbc": model,
    "mbc, tree of features": lp(mbc(arms, known, features="tree"), known, smooth=1),
    "maode": lp(maode(arms, known), known, smooth=1),
    "chain of TAN": lp(chain(arms, known, **tan), known, smooth=1),
    "10 chains of TAN": lp(
        chain(arms, known, orders=10, rng=0, **tan), known, smooth=1
    ),
}

# %% [markdown]
# ## Comparison with separate classifiers
#
# The baseline is one classifier per class variable:

# %%
folds = np.random.default_rng(0).permutation(len(known)) % 10


def separate(
    frame: pd.DataFrame, class_vars: list[str], folds: np.ndarray
) -> pd.DataFrame:
    """Return out-of-fold predictions of one classifier per class variable."""
    features = frame.drop(columns=class_vars)
    one = {c: features.assign(**{c: frame[c]}) for c in class_vars}
    return pd.DataFrame(
        {
            c: cv_predict(
                bnc(
                    "tan_cl",
                    c,
                    own,
                    smooth=1,
                    missing_level=False,
                    dag_args={"score": "bic"},
                ),
                own,
                prob=False,
                folds=folds,
            )
            for c, own in one.items()
        }
    )


def compared(
    frame: pd.DataFrame, class_vars: list[str], models: dict, folds: np.ndarray
) -> pd.DataFrame:
    """Evaluate models and the baseline on the same folds."""
    metrics = ["hamming", "exact_match", "joint_exact_match"]
    by_fold = cv(models, frame, folds=folds, metric=metrics, mean=False)
    table = pd.DataFrame({name: by_fold[name].mean() for name in models}).T
    labels = separate(frame, class_vars, folds)
    found = [hamming(labels, frame), exact_match(labels, frame), np.nan]
    table.loc["separate TAN"] = found
    return table


print(compared(known, arms, models, folds).round(3))

# %% [markdown]
# `hamming` is the proportion of correct votes, `exact_match` the proportion of members with four correct votes, and
# `joint_exact_match` the same for the most probable combinations. These votes remain dependent given the other votes, so one
# network predicts all four correctly more often than four separate classifiers do. Without arcs between the class variables, it
# does not, because each feature has only one class variable as a parent. Ten chains are hardly better than one.
#
# ## Where one model is not better
#
# One network is less accurate if the class variables depend little on each other, because each separate classifier uses all
# features. With `max_parents=2`, a feature can have two class variables as parents. In a chain, every feature is available to
# every class variable.
#
# Modeling dependences does not help either if the features contain little information. *Solar Flare* (G. Bradshaw, 1989, UCI
# Machine Learning Repository, CC BY 4.0) contains 1,066 regions of the sun and whether they had flares of three classes on the
# next day:

# %%
sun = load_solar_flare().astype(str)
flares = ["c-class-flares", "m-class-flares", "x-class-flares"]
sun[flares] = np.where(sun[flares] == "0", "no", "yes")
sun = sun.astype("category")
print("no flare:", round((sun[flares] == "no").all(axis=1).mean(), 3))
learned = {
    "mbc": lp(mbc(flares, sun), sun, smooth=1),
    "chain of TAN": lp(chain(flares, sun, **tan), sun, smooth=1),
}
folds = np.random.default_rng(0).permutation(len(sun)) % 10
print(compared(sun, flares, learned, folds).round(3))

# %% [markdown]
# No model is better than this baseline of 0.811.
#
# ## Limits
#
# The most probable labels and combinations of `mbc` are computed by elimination, exactly, whose tables contain the class
# variables that are parents of the same feature: with two or more, they can exceed the memory limit. `chain`, and `maode` for
# combinations, enumerate at most 65,536 combinations; beyond that, `chain` predicts one class at a time (`greedy=True`).
#
# ## Summary
#
# Use `mbc` if the class variables depend on each other and you want one readable network. A chain is rarely worse than
# separate classifiers, and with
# `joint=True` it is slightly better. Always compare with separate classifiers, as above.
# `bnclassify.sklearn.BNCMultiClassifier` is the estimator for scikit-learn.
