# %% [markdown]
# # Interpreting a model
#
# This page shows how to read the figures of `explain`, `plot_importance` (feature importance), `plot_effect` and the drawn
# network, and which conclusions they do not support. It is for you if you present a model to others. It uses the votes of the
# US House of Representatives in 1984 and takes ten minutes. You need the extra `plot`.
#
# ```{index} ! feature importance, ! importance, ! SHAP, ! interpretability, ! explanation
# ```

# %%
import numpy as np
from bnclassify import (
    bnc,
    counterfactual,
    explain,
    families,
    load_voting,
    lp,
    plot,
    plot_effect,
    plot_explanation,
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
# A probability of 0.8 corresponds to odds of 4 (four to one), and to log odds of ln 4 = 1.39. `explain` splits the log odds of
# the prediction into one contribution per feature:

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
# "republican" by 4.35, the vote for the synfuels cutback by 0.19. (This member was a democrat: the table shows why the model is
# wrong.) The contributions are not approximations: their sum is the log odds of the posterior. With `sentences=True`, `explain`
# writes the three strongest reasons in words:

# %%
print(*explain(model, member, sentences=True), sep="\n")

# %% [markdown]
# If you do not name the class with `target=`, this rule decides which one is explained:
#
# | function | two classes | more classes |
# |---|---|---|
# | `explain` with or without `sentences=True`, `plot_explanation`, `plot(x, row=...)`, the page of `write_page` | the last one | the predicted one, against the most probable other |
# | `effects` | the last one | one column per class |
# | `plot_effect` | the last one | one line per class; of more than five, the five most frequent |
# | `scorecard` and its nomogram, `monotonize` | the last one | not defined |
#
# The last class is the second of a categorical column or, for text, the second in alphabetical order: "yes" of "no" and
# "yes", but also "good" of "bad" and "good". The same class is the positive one in scikit-learn.
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
# In naive Bayes, the contribution of a feature depends only on its own value, and so does that of a feature or pair in the
# default if all features are known. If a feature is unknown, the default lets known features stand in for it. In the diabetes
# data, for example, a high age contributes more if the number of pregnancies is unknown. In a network with arcs between
# features, the evidence that two dependent features share is credited to the parent, so a different root of a tree splits the
# same sum differently. Present the contributions of strongly dependent features together, or split them, as in the next
# section.
#
# SHAP values also add up to the prediction, but start from the average prediction over a data set and average over all orders
# of the features. The contributions of `explain` start from the row of the class, in a network the log odds of the prior, and
# need no other rows.
#
# ## Main effects and interactions
#
# With `interactions=True`, `explain` reports one main effect per feature, which depends on nothing but its own value, and one
# interaction per pair: what the two values add together beyond both main effects. Neither depends on the root. Here are two
# trees with different roots and the same distribution:

# %%
complete = voting.dropna()
first, second = (
    lp(tan_cl("Class", complete, root=root), complete, ess=1)
    for root in ("physician_fee_freeze", "crime")
)
for split in (False, True):
    tables = [
        explain(x, complete, interactions=split)["log_odds"]
        for x in (first, second)
    ]
    apart = np.abs(tables[0] - tables[1].loc[tables[0].index]).max()
    print(f"interactions={split}: largest difference {apart:.2g} nats")

# %% [markdown]
# Contributions differ by up to 6 nats between the two trees. Main effects and interactions agree to the last digits. A chart
# shows both:

# %%
plot_explanation(first, complete.iloc[0], interactions=True, top=10)

# %% [markdown]
# A bar with one name is a main effect, a bar with two names an interaction. A negative interaction of two votes with positive
# main effects means that they share evidence, so that the second vote tells less once you know the first.
#
# ## The smallest change
#
# `counterfactual` returns the smallest number of changed values that leads to another prediction, one alternative for each set
# of features. A number changes to the nearest value that suffices. The search is exact:

# %%
print(counterfactual(model, member, alternatives=3).round(3).to_string())

# %% [markdown]
# A single other vote, on the fee freeze, would make the model predict "democrat" with probability 0.63. The table describes the
# model, not the world: another vote does not change the party of a member. With `fixed=[...]`, features keep their values;
# `directions={"age": "increasing"}` excludes advice to become younger; and `ranges={"bmi": (25, 34)}` names the values that are
# possible.
#
# ## Feature importance
#
# Feature importance is measured here by the mean absolute contribution of a feature, in nats, over the rows of a data
# set:

# %%
plot_importance(model, voting)

# %% [markdown]
# Importance describes the model on these rows. It does not tell you
#
# - *the accuracy without the feature*: a correlated feature can replace it. Cross-validate models with and without it.
# - *the strength of the effect in one row*: a rare value can have a large contribution and little importance.
# - *a cause*: the feature and the class can have a common cause.
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
# An arc between two features means that they depend on each other within the classes. Trees with different roots have the same
# likelihood, so observations alone cannot distinguish them:

# %%
for root in ("physician_fee_freeze", "crime"):
    print(families(tan_cl("Class", voting, score="bic", root=root))["crime"])

plot(model, class_arcs=False)

# %% [markdown]
# A learned structure is also an estimate, which another sample would change: see [Uncertainty](uncertainty.py).
#
# (charts)=
# ## All charts
#
# Each function returns the axes, so you can change everything: `plot_cpt(x, "safety").set_title("…")`.
# `plot(x).render(outfile="car.svg", cleanup=True)` and `plot_cpt(x, "safety").figure.savefig("safety.pdf")` write files. Labels
# have 8 points: for print, draw into axes of the width of a column, `plt.subplots(figsize=(3.3, 2.5), layout="constrained")`,
# by `ax=`. Blue is evidence for the class, orange against it.
#
# | to show | call |
# |---|---|
# | a network; without the arcs of the class; with distributions | `plot(x)`, `class_arcs=False`, `distributions=True` |
# | a prediction, as bars or on the network | `plot_explanation(x, row)`, `plot(x, row=row)` |
# | importance; the effect of a feature; weights | `plot_importance(x, df)`, `plot_effect(x, "age")`, `plot_weights(x)` |
# | a table of probabilities; a card of points | `plot_cpt(x, "age")`, `plot_nomogram(card)` |
# | cross-validation; a confusion matrix; calibration | `plot_cv(results)`, `plot_confusion(counts)`, `plot_calibration(p, y)` |
# | ranks of classifiers; steps of a search; strength of arcs | `plot_ranks(comparison)`, `plot_scores(x)`, `plot_strength(strength)` |
#
# ## Summary
#
# Contributions add up to the log odds exactly, importance is a property of a model and not of the world, and arcs are
# dependences that vary from sample to sample.
