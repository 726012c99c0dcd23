# %% [markdown]
# # More classifiers
#
# This page continues [Choosing a classifier](overview.py) with the classifiers that you need less often: trees, groups of
# features and networks that are found by a search for accuracy, averages over pairs of features, and weights. Most of them
# are those of the R package. The data are the same, 1,728 cars and 232 members of Congress who voted on all 16 issues.
#
# ```{index} semi-naive Bayes, feature selection, A2DE, WANBIA, MANB
# ```

# %%
import warnings

import pandas as pd
from bnclassify import (
    bnc,
    cv,
    feature_weights,
    kdb,
    learn_blanket,
    load_car,
    load_voting,
    manb_arc_posterior,
    modelstring,
    plot,
    plot_weights,
    search_steps,
    stratified_folds,
    tan_cl,
)

car, votes = load_car(), load_voting().dropna()
data = {"car": ("class", car), "votes": ("Class", votes)}
folds = {
    name: stratified_folds(frame[target], 10, rng=1)
    for name, (target, frame) in data.items()
}

# %% [markdown]
# ## Trees by accuracy
#
# `tan_hc` and `tan_hcsp` are *wrappers*: they search for a tree with a high cross-validated accuracy instead of a high
# likelihood, and take longer. `tan_hc` evaluates every arc in each step. `tan_hcsp` first finds the best *superparent*,
# a feature that is a parent of all features without a feature parent, and then keeps the best of its arcs. It evaluates
# far fewer candidates. **Reading.** Keogh and Pazzani (2002).

# %%
search = {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0}
tree = bnc("tan_hc", "class", car, smooth=1, dag_args=search)
print(modelstring(tree))

# %% [markdown]
# ## More parents by accuracy
#
# `kdb` allows each feature up to `kdbk` feature parents, and repeatedly adds the arc that increases the cross-validated
# accuracy most. These searches accept prior knowledge: they start from the structure `start`, keep the `required` arcs, and
# never add `forbidden` arcs. Here the search continues from the AIC tree:

# %%
start = tan_cl("class", car, score="aic")
further = kdb("class", car, start=start, forbidden=[("doors", "buying")], **search)
print(search_steps(further).round(3).to_string())

# %% [markdown]
# Each additional arc increases the cross-validated accuracy. Use `kdb` with
# thousands of rows and interactions of three features. It is not suited to small data, because its tables then have more
# cells than there are rows to fill them.
#
# ## Semi-naive Bayes
#
# The features form groups. Features in different groups are independent given the class, the joint distribution within a
# group is unrestricted, and some features may be dropped. The groups are found by greedy search for cross-validated
# accuracy. `fssj` starts without features and adds or joins features. `bsej` starts with naive Bayes and removes or joins
# features.

# %%
backward = bnc("bsej", "class", car, smooth=1, dag_args=search)
plot(backward)

# %% [markdown]
# Forward selection can fail if features are informative only in combination. On car, no single feature exceeds the
# accuracy of the most frequent class, so `fssj`, which requires a gain of `epsilon` per step, stops immediately with a
# warning. With `epsilon=0`, as in the vignette of the R package, it also accepts steps without improvement, so the
# result depends on how ties are broken. On votes, the same search finds that one issue is nearly sufficient:

# %%
forward = bnc("fssj", "Class", votes, smooth=1, dag_args=search)
print(search_steps(forward).round(3).to_string())

# %% [markdown]
# Use `bsej` if a few features interact strongly and there are enough rows to fill a joint table. Use `fssj` if you expect
# few useful features and want a short model. Both optimize a cross-validated accuracy that they evaluate many times, so
# trust only an outer cross-validation, as on this page. **Reading.** Kononenko (1991); Pazzani (1996).
#
# ## Selecting features by independence
#
# A faster way to select features is the *Markov blanket* of the class: given these features, the class is independent
# of all others. `learn_blanket` finds it by tests of independence (IAMB), without models and without cross-validation.
# It selects two of the 16 votes:

# %%
blanket = learn_blanket("Class", votes)
few = votes[[*blanket, "Class"]]
result = cv(bnc("nb", "Class", few, smooth=1), few, folds=folds["votes"])
print(f"{blanket}: accuracy {result:.3f}")

# %% [markdown]
# Two of the 16 votes are enough: naive Bayes reaches 0.970 with them and 0.909 with all, because the other votes are
# correlated and count the same evidence several times. The blanket was learned from all rows, so this accuracy is
# slightly optimistic.
#
# ## Superparents
#
# `spode` learns the best single member of an AODE by a score such as BIC, if you need one readable graph. With `n=2`,
# `ande` makes each *pair* of features a parent of all others. This model is A2DE, with 15 members on car and 120 on votes.
# It represents interactions of three features within a class, while AODE represents interactions of two. With `n=0`, it is
# naive Bayes. A larger n means fewer assumptions, and fewer rows per table entry. `weights="mi"` weights each superparent
# by its mutual information with the class:

# %%
weighted = bnc("ande", "class", car, m=1, dag_args={"n": 2, "weights": "mi"})
plot(weighted)

# %% [markdown]
# Use A2DE if features interact and there are thousands of rows, or hundreds of rows and few levels, and if time is not
# critical: its cost grows with the cube of the number of features. With few rows, many pairs of values occur rarely.
# `min_count=30` uses only pairs that occur in at least 30 rows; if there are none, single superparents or naive Bayes are
# used. **Reading.** Webb, Boughton, Zheng, Ting and Salem (2012); Jiang and Zhang (2006).
#
# ## Values that follow from other values
#
# Data sets often contain redundant columns, such as a code and its group, or a city and its country. Naive Bayes and
# AODE count such evidence twice. In this example, we add three columns to car that are functions of other columns:

# %%
redundant = car.assign(
    several=(car["persons"].astype(str) != "2").map({True: "yes", False: "no"}),
    safe=(car["safety"].astype(str) != "low").map({True: "yes", False: "no"}),
    dear=car["buying"].isin(["high", "vhigh"]).map({True: "yes", False: "no"}),
)
redundant = redundant[[*redundant.columns.drop("class"), "class"]]
models = {
    "AODE": bnc("ande", "class", redundant, m=1),
    "AODE, 50": bnc("ande", "class", redundant, m=1, dag_args={"subsumption": 50}),
    "nb": bnc("nb", "class", redundant, smooth=1),
    "nb, 30": bnc("nb", "class", redundant, smooth=1, subsumption=30),
}
print(cv(models, redundant, folds=folds["car"]).round(3).to_string())

# %% [markdown]
# With `subsumption=50`, a value of a row is ignored if another value of the row implies it. A value implies another if
# it occurs in more than 50 training rows and the other value occurs in all of them. The rule applies to values, not to
# columns: "pregnant" implies "female", but "not pregnant" implies nothing. On these data, the rule removes the effect of
# the redundant columns: naive Bayes becomes as accurate as on the original columns. `ande` has it as an argument of the
# structure, and `lp(x, df, smooth=1, subsumption=30)` in any augmented naive Bayes. It costs little, and has no effect if
# no value implies another. **Reading.** Zheng, Webb, Suraweera and Zhu (2012).
#
# ## Weighting: MANB, AWNB, WANBIA
#
# These methods keep a structure and change its tables. Each reduces the influence of some features. MANB applies to naive
# Bayes; AWNB and WANBIA apply to any single network.
#
# - **MANB** averages over all naive Bayes structures with and without each arc. The influence of features that are
#   independent of the class vanishes.
# - **AWNB** raises each table to a power between 0 and 1, which is larger if decision trees test the feature near the
#   root.
# - **WANBIA** chooses these powers jointly by maximizing the conditional likelihood of the class. Among correlated
#   features, some get small weights.

# %%
manb = bnc("nb", "Class", votes, smooth=1, manb_prior=0.5)
wanbia = bnc("nb", "Class", votes, smooth=1, wanbia=True)
faded = manb_arc_posterior(manb)
print("MANB, arcs with probability < 0.5:", faded[faded < 0.5].round(3).to_dict())
small = (feature_weights(wanbia) < 0.005).sum()
print("WANBIA, features with a weight below 0.005:", int(small), "of 16")
plot_weights(wanbia)

# %% [markdown]
# MANB and WANBIA disagree about `immigration`, because MANB evaluates the feature alone, and WANBIA given the other
# features. Use MANB with many features and few rows, WANBIA if features are correlated, and AWNB as an inexpensive first
# attempt. None of them can represent an interaction. [Formulas](methods.py) has the definitions. **Reading.** Dash and
# Cooper (2002), Wei, Visweswaran and Cooper (2011); Hall (2007); Zaidi, Cerquides, Carman and Webb (2013).
#
# ## Summary
#
# These are the cross-validated accuracies on the folds of [Choosing a classifier](overview.py):

# %%
recipes = {
    "naive Bayes": {"dag_learner": "nb"},
    "TAN (hill climbing)": {"dag_learner": "tan_hc", "dag_args": search},
    "kdb, k = 2": {"dag_learner": "kdb", "dag_args": search | {"kdbk": 2}},
    "semi-naive (bsej)": {"dag_learner": "bsej", "dag_args": search},
    "semi-naive (fssj)": {"dag_learner": "fssj", "dag_args": search},
    "SPODE": {"dag_learner": "spode"},
    "A2DE": {"dag_learner": "ande", "dag_args": {"n": 2}, "m": 1},
    "A2DE, weighted": {
        "dag_learner": "ande",
        "dag_args": {"n": 2, "weights": "mi"},
        "m": 1,
    },
    "MANB": {"dag_learner": "nb", "manb_prior": 0.5},
    "AWNB": {"dag_learner": "nb", "awnb_trees": 10, "rng": 0},
    "WANBIA": {"dag_learner": "nb", "wanbia": True},
}
accuracies = {}
with warnings.catch_warnings(action="ignore"):  # of `fssj`
    for name, (target, frame) in data.items():
        models = {
            recipe: bnc(
                class_var=target,
                dataset=frame,
                **({} if "m" in how else {"smooth": 1}) | how,
            )
            for recipe, how in recipes.items()
        }
        accuracies[name] = cv(models, frame, folds=folds[name])
print(pd.DataFrame(accuracies).round(3).to_string())

# %% [markdown]
# On car, the models that represent interactions are the most accurate. On votes, those that select or weight features are
# (`fssj`, AWNB, WANBIA).
#
# ## References
#
# - Dash, D., Cooper, G. F. (2002). Exact model averaging with naive Bayesian classifiers. ICML 2002.
# - Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes. Knowledge-Based
#   Systems 20.
# - Jiang, L., Zhang, H. (2006). Weightily averaged one-dependence estimators. PRICAI 2006.
# - Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of augmented Bayesian classifiers.
#   International Journal on Artificial Intelligence Tools 11.
# - Kononenko, I. (1991). Semi-naive Bayesian classifier. EWSL 91.
# - Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.
# - Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by extrapolation from
#   marginal to full-multivariate probability distributions: decreasingly naive Bayesian classification.
#   Machine Learning 86.
# - Wei, W., Visweswaran, S., Cooper, G. F. (2011). The application of naive Bayes model averaging to predict
#   Alzheimer's disease from genome-wide data. JAMIA 18.
# - Zaidi, N. A., Cerquides, J., Carman, M. J., Webb, G. I. (2013). Alleviating naive Bayes attribute
#   independence assumption by attribute weighting. Journal of Machine Learning Research 14.
# - Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption resolution: an efficient and effective
#   technique for semi-naive Bayesian learning. Machine Learning 87.
