# %% [markdown]
# # Interpreting a model
#
# This page is about the interpretability of a model: how to read the figures of `explain`, `plot_importance` (feature
# importance), `plot_effect` and the drawn network, and which conclusions they do not support. It is for you if you
# present a model to others. It uses the votes of the US House of Representatives in 1984 and takes ten minutes. You
# need the extra `plot`.
#
# ```{index} feature importance, importance, SHAP, interpretability
# ```

# %%
import numpy as np
from bnclassify import (
    bnc,
    explain,
    families,
    load_voting,
    lp,
    modelstring,
    plot,
    plot_effect,
    plot_importance,
    predict,
    tan_cl,
)

voting = load_voting()
model = bnc(
    "tan_cl",
    "Class",
    voting,
    dag_args={"score": "bic"},
    smooth=1,
    missing_level=False,
)
member = voting.iloc[[407]]
print(member.T.dropna().to_string())

# %% [markdown]
# ## Log odds and odds ratios
#
# The odds of a class are P / (1 − P). A probability of 0.8 corresponds to odds of 4 (four to one), and to log odds of
# ln 4 = 1.39. `explain` splits the log odds of the prediction into one contribution per feature:

# %%
reasons = explain(model, member, sort=True)
print(reasons[["value", "log_odds", "odds_ratio"]].head(5).round(2).to_string())
total = reasons["log_odds"].sum()
print("\nsum of all contributions:", round(total, 3))
print("probability from the sum:", round(1 / (1 + np.exp(-total)), 4))
print(
    "probability by predict:  ",
    round(predict(model, member, prob=True).max(axis=1).item(), 4),
)

# %% [markdown]
# The model predicts "republican" with probability 0.996. The vote for the physician fee freeze multiplies the odds of
# "republican" by 4.35, the vote for the synfuels cutback by 0.19. (This member was a democrat: the table shows why the
# model is wrong.) A contribution of 0.69 doubles the odds, and a contribution of −0.69 halves them. The contributions are
# not approximations: their sum is the log odds of the posterior. With `sentences=True`, `explain` writes the three
# strongest reasons in words, for readers who do not know log odds:

# %%
print(*explain(model, member, sentences=True), sep="\n")

# %% [markdown]
# Each sentence states an odds ratio of the table: an odds ratio of 0.19 divides the odds by 5.3.
#
# | contribution | odds multiplied by |
# |---|---|
# | 0.1 | 1.1 |
# | 0.41 | 1.5 |
# | 0.69 | 2 |
# | 1 | 2.7 |
# | 2.3 | 10 |
#
# ## Contributions depend on the order of features
#
# In naive Bayes, the contribution of a feature depends only on its own value. In a network with arcs between features,
# a feature's contribution is computed given the values of its parents. Two dependent features share evidence, and the
# evidence that they share is credited to the parent. So a different root of the tree splits the same sum differently:

# %%
for root in ("physician_fee_freeze", "crime"):
    structure = tan_cl("Class", voting, score="bic", root=root)
    rooted = lp(structure, voting, smooth=0.01)
    table = explain(rooted, voting.iloc[0])["log_odds"]
    pair = table[["physician_fee_freeze", "crime"]].round(2).to_dict()
    print(f"root {root}: {pair}, sum of all features {table.sum():.2f}")

# %% [markdown]
# The contribution of the fee freeze is 2.90 or 1.52, while the sums differ by 0.05 (because of smoothing and missing
# values). Present the contributions of strongly dependent features together, or split them: with `interactions=True`,
# `explain` reports one main effect per feature, which depends on nothing but its own value, and one interaction per
# family. If each feature has at most one feature parent and all are observed, neither depends on the root.

# %%
both = []
for root in ("physician_fee_freeze", "crime"):
    structure = tan_cl("Class", voting, score="bic", root=root)
    rooted = lp(structure, voting, smooth=0.01)
    split = explain(rooted, voting.dropna().iloc[0], interactions=True)["log_odds"]
    both.append(split[["physician_fee_freeze", "crime"]].round(2).to_dict())
print(*both, sep="\n")

# %% [markdown]
# For this member, the main effects of both votes are the same for both roots, up to smoothing: 4.3 and −1.0.
#
# SHAP values also add up to the prediction, but start from the average prediction over a data set and average over all
# orders of the features. The contributions of `explain` start from the row of the class, which in a Bayesian network is
# the log odds of the prior, and need no data besides the row. (In models with leave-one-out weights, among them the
# default, the class has a weight too, so its row is not the prior.)
#
# ## Feature importance
#
# Feature importance is measured here by the mean absolute contribution of a feature, in nats, over the rows of a data
# set:

# %%
plot_importance(model, voting)

# %% [markdown]
# Importance describes the model on these rows. It does not state
#
# - *the accuracy without the feature*: a correlated feature can replace it. To measure this, cross-validate models with and
#   without the feature.
# - *the strength of the effect in one row*: a rare value can have a large contribution and little importance.
# - *a cause*: a feature can be important because both it and the class have a common cause.
#
# `plot_effect` shows the contribution of each value of one feature:

# %%
plot_effect(
    bnc("nb", "Class", voting, smooth=1, missing_level=False),
    "physician_fee_freeze",
)

# %% [markdown]
# ## Arcs are not causes
#
# An arc between two features means that they depend on each other within the classes. The same distribution can be
# written with reversed arcs: trees with different roots have the same likelihood, so observations alone cannot
# distinguish them.

# %%
for root in ("physician_fee_freeze", "crime"):
    print(families(tan_cl("Class", voting, score="bic", root=root))["crime"])

plot(model, class_arcs=False)

# %% [markdown]
# The class is a parent of all features because this makes a good classifier, not because a party causes each vote.
#
# ## Other samples have other arcs
#
# A learned structure is an estimate. Here the same learner is applied to two random halves of the data:

# %%
half = voting.sample(frac=0.5, random_state=0)
arcs = []
for rows in (half, voting.drop(half.index)):
    structure = tan_cl("Class", rows, score="bic")
    pairs = {
        frozenset(family[:2]) for family in structure.families if len(family) == 3
    }
    arcs.append(pairs)
    print(modelstring(structure)[:72], "…")
print(
    "arcs between features:",
    *map(len, arcs),
    " in both halves:",
    len(arcs[0] & arcs[1]),
)

# %% [markdown]
# Only 5 of some 15 arcs occur in both halves. Report an arc as a finding only if it is stable.
#
# ## Summary
#
# Contributions add up to the log odds exactly, importance is a property of a model and not of the world, and arcs are
# dependences that vary from sample to sample. Next: [Case study: diabetes](case_medical.py).
