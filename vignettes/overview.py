# %% [markdown]
# # Choosing a classifier
#
# This page helps you to choose a classifier and its arguments. You should know [How it works](how_it_works.py). Read the first
# two sections in five minutes, and the others when needed.
#
# ```{index} ! TAN, ! naive Bayes, ! AODE, ! additive model, ! pairs, ! semi-naive Bayes, ! feature selection, ! A2DE, ! WANBIA, ! MANB, ! hyperparameters, ! hyperparameter, ! tuning
# ```
#
# ## Which one fits my data?
#
# Read these questions in this order, and stop at the first yes:
#
# 1. *Do you look for groups, without a class?* Use `lca`: see [Networks and queries](networks.py#latent-classes).
# 2. *Do you want to predict several classes at once?* Use `mbc` for one readable network, or `chain`: see [Several class
#    variables](several.py).
# 3. *Do you need answers about any variable, samples, or imputed values?* You need a joint distribution: use `tan_cl`, `hc` or
#    `ban`. See [Networks and queries](networks.py).
# 4. *Do the rows not fit in memory, or arrive over time?* Use `tan_cl` or `nb`, which need only counts: see [Large
#    data](scale.py).
# 5. *Must the whole model fit on one page?* Use the default with `pairs=0`, and `scorecard`.
# 6. *In all other cases* use the default, `bnc(class_var=..., dataset=...)` or `BNCClassifier()`, and compare it with `tan_cl`
#    by `cv`.
#
# ## Default, sum or network?
#
# - The *default* is a [sum of effects](how_it_works.py#the-default-in-one-minute) of features and of pairs. Use it to predict a
#   class.
# - The *sum* of single effects (`pairs=0`) is shorter, and as accurate if features do not interact. It becomes a [table, a card
#   of points and a short query](deploying.py#a-model-as-a-table).
# - A *network* has a graph and tables of probabilities, and answers questions about any variable. As a classifier it is usually
#   less accurate, because each table is counted separately, but it is fitted many times faster. The rest of this page is about
#   networks.
#
# ## What networks have in common
#
# Most classifiers of the literature are *augmented naive Bayes* classifiers: the class is a parent of all features, and
# features can have other features as parents. They represent the joint distribution of the class C and the features X₁ … Xₙ as
# a product of small tables,
#
# $$
# P(c, x_1, \ldots, x_n) = P(c) \prod_{i=1}^n P(x_i \mid \text{parents of } X_i, c),
# $$
#
# and predict the class with the largest joint probability. They differ in which graphs (*structures*) they allow, in how they
# choose one, and in how they estimate the tables. More parents mean fewer assumptions, but more *parameters* (probabilities in
# the tables) to estimate.

# %%
import pandas as pd
from bnclassify import (
    bnc,
    cmi,
    cpt,
    cv,
    feature_weights,
    kdb,
    learn_blanket,
    load_car,
    load_voting,
    manb_arc_posterior,
    members,
    modelstring,
    plot,
    search_steps,
    stratified_folds,
    tan_cl,
)

# %% [markdown]
# `car` grades 1,728 cars by price, doors, seats, boot and safety; these features interact. `votes` contains 232 members of the
# US House of Representatives of 1984 who voted on all 16 issues, and their party; these features are correlated.

# %%
car, votes = load_car(), load_voting().dropna()
data = {"car": ("class", car), "votes": ("Class", votes)}
folds = {
    name: stratified_folds(frame[target], 5, rng=1)
    for name, (target, frame) in data.items()
}
for name, (target, frame) in data.items():
    print(f"{name}: {len(frame)} rows, {frame.shape[1] - 1} features")
    print(frame[target].value_counts(normalize=True).round(3).to_string(), "\n")

# %% [markdown]
# So the baselines are 0.700 and 0.534.
#
# ## Naive Bayes
#
# **Assumption.** The features are independent within each class. The class is the only parent of every feature, so
# no structure is learned, and each table is counted in one pass over the data:

# %%
naive = bnc("nb", "class", car, smooth=1)
print(cpt(naive, "safety").round(3))

# %% [markdown]
# Nearly all very good cars have high safety. Naive Bayes often predicts the right label, but its probabilities tend to be too
# close to 0 and 1, because correlated features are counted as independent evidence.
#
# **When to use it.** As a baseline, with few rows, or with very many features. **Reading.** Minsky (1961); Domingos and Pazzani
# (1997) on why it works; Hand and Yu (2001).
#
# ## Tree-augmented naive Bayes (TAN)
#
# **Assumption.** Within a class, each feature depends on at most one other feature. The algorithm of Chow and Liu finds the
# best tree exactly: a pair of features has its conditional mutual information given the class as its weight, and the tree has
# the largest total weight. The cars contain each combination of values once, so their features are independent. Within a class
# they are not:

# %%
print("I(persons; safety)         =", round(cmi("persons", "safety", car), 4))
print(
    "I(persons; safety | class) =",
    round(cmi("persons", "safety", car, z="class"), 4),
)
tan = bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})
plot(tan)

# %% [markdown]
# The score determines the number of arcs. `"loglik"` always gives a tree; `"aic"` subtracts 1 per free parameter, and `"bic"`
# half the logarithm of the number of rows, which is more, so they omit arcs that improve the likelihood by less:

# %%
for name, (target, frame) in data.items():
    arcs = {}
    for score in ("loglik", "aic", "bic"):
        structure = tan_cl(target, frame, score=score)
        arcs[score] = sum(
            len(family) - 2 for family in structure.families if len(family) > 2
        )
    print(name, arcs)

# %% [markdown]
# On car, BIC omits all arcs, and the result is naive Bayes. Use AIC to predict, and BIC to discuss a graph with few arcs.
#
# **When to use it.** As the first step beyond naive Bayes: it needs neither a search nor random numbers. **Reading.** Friedman,
# Geiger and Goldszmidt (1997); Chow and Liu (1968).
#
# (k-dependence)=
# ## k-dependence: `kdb_mi` and `kdb`
#
# Within a class, each feature depends on at most k other features, its parents. Naive Bayes has k = 0, a tree has k = 1.
# `kdb_mi` ranks the features by their mutual information with the class; each feature gets the k higher-ranked features with
# the most mutual information with it within the classes (Sahami's algorithm). `kdb` adds, one by one, the arc that raises the
# cross-validated accuracy most:
#
# | | `kdb_mi` | `kdb` |
# |---|---|---|
# | parents of a feature | exactly k, if there are as many features above it | at most k |
# | chosen by | mutual information given the class | cross-validated accuracy of the whole model |
# | useless arcs | are added, too | are not added |
# | cost | one pass over all pairs of features | one cross-validation per candidate arc and step |
# | random numbers | none | folds: `rng=` |
# | numeric features | as intervals, or as densities (`numbers=`) | as intervals |
# | use it | with many rows, with `backoff=True` | with few features, if labels count |
#
# Hierarchical smoothing (`backoff=True`) compensates for large tables ({term}`hierarchical smoothing (back-off)`; Petitjean,
# Buntine, Webb and Zaidi 2018). Searches accept prior knowledge: `start`, the structure from which they begin, and arcs that
# are `required` or `forbidden`:

# %%
search = {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0}
start = tan_cl("class", car, score="aic")
further = kdb("class", car, start=start, forbidden=[("doors", "buying")], **search)
print(search_steps(further).round(3).to_string())

# %% [markdown]
# The accuracy is optimistic, because it was maximized. Trust only an outer cross-validation, as at the end of this page.
#
# ## Averages: AODE and AnDE
#
# **Assumption.** With AODE you need not choose one tree. It fits n small models, in each of which one feature is a
# parent of all others (a *superparent*), and averages their joint probabilities. This is one of the six members on car:

# %%
averaged = bnc("aode", "class", car, smooth=1)
plot(members(averaged)[0])

# %% [markdown]
# `aode` is that of the R package: each member is a network with a likelihood. `ande` follows the authors of AODE: a superparent
# is used only for values that occur in training, and a missing feature is neither a superparent nor a child. With `n=2`, each
# *pair* of features is a superparent (A2DE), which represents interactions of three features. `weights="mi"` weights
# superparents by their mutual information with the class. `spode` learns the best single member.
#
# **When to use them.** If you only need predictions: you do not choose a structure, and cannot show a graph. The cost of A2DE
# grows with the cube of the number of features. **Reading.** Webb, Boughton and Wang (2005); Webb et al. (2012).
#
# ## Searches for accuracy
#
# *Wrappers* search for a structure with a high cross-validated accuracy. `tan_hc` adds the best arc of a tree in each step, and
# `tan_hcsp` first finds the best superparent, which is faster. In a *semi-naive* Bayes, features form groups that are
# independent given the class: `bsej` starts with all features and removes or joins them, `fssj` starts with none and adds or
# joins them.

# %%
backward = bnc("bsej", "class", car, smooth=1, dag_args=search)
print(modelstring(backward))
forward = bnc("fssj", "Class", votes, smooth=1, dag_args=search)
print(search_steps(forward).round(3).to_string())

# %% [markdown]
# On votes, one issue is nearly sufficient. On car, `fssj` stops at once, with a warning, because no single feature beats the
# most frequent class. **Reading.** Keogh and Pazzani (2002); Kononenko (1991); Pazzani (1996).
#
# A faster way to select features is the *Markov blanket* of the class: given these features, the class is independent
# of all others. `learn_blanket` finds it by tests of independence:

# %%
blanket = learn_blanket("Class", votes)
few = votes[[*blanket, "Class"]]
result = cv(bnc("nb", "Class", few, smooth=1), few, folds=folds["votes"])
print(f"{blanket}: accuracy {result:.3f}")

# %% [markdown]
# Naive Bayes reaches 0.970 with two of the 16 votes and 0.914 with all (slightly optimistic, as the blanket was learned from
# all rows).
#
# ## Weights: MANB, AWNB, WANBIA, subsumption
#
# These methods keep a structure and reduce the influence of some features:
#
# - **MANB** (`lp(x, df, smooth=1, manb_prior=0.5)`) averages naive Bayes over all subsets of its arcs. Use it with many
#   features and few rows. (Dash and Cooper 2002; Wei et al. 2011)
# - **AWNB** (`awnb_trees=10`) raises each table to a power between 0 and 1, which is larger if decision trees test the feature
#   near the root (Hall 2007). **WANBIA** (`wanbia=True`) chooses powers that maximize the conditional likelihood: among
#   correlated features, some get small weights (Zaidi et al. 2013).
# - **Subsumption** (`ande(..., subsumption=50)`, `lp(..., subsumption=30)`): if a value implies another, as "pregnant" implies
#   "female", the implied value is ignored (Zheng et al. 2012).

# %%
manb = bnc("nb", "Class", votes, smooth=1, manb_prior=0.5)
faded = manb_arc_posterior(manb)
print("MANB, arcs with probability < 0.5:", faded[faded < 0.5].round(3).to_dict())
wanbia = bnc("nb", "Class", votes, smooth=1, wanbia=True)
small = int((feature_weights(wanbia) < 0.005).sum())
print("WANBIA, features with a weight below 0.005:", small, "of 16")

# %% [markdown]
# ## All of them on two data sets
#
# These are cross-validated accuracies on the same folds:

# %%
recipes = {
    "default": {},
    "naive Bayes": {"dag_learner": "nb"},
    "TAN": {"dag_learner": "tan_cl", "dag_args": {"score": "aic"}},
    "kdb_mi, k = 2": {"dag_learner": "kdb_mi"},
    "kdb, k = 2": {"dag_learner": "kdb", "dag_args": search | {"kdbk": 2}},
    "AODE": {"dag_learner": "aode"},
    "A2DE": {"dag_learner": "ande", "dag_args": {"n": 2}, "m": 1},
    "semi-naive (bsej)": {"dag_learner": "bsej", "dag_args": search},
    "MANB": {"dag_learner": "nb", "manb_prior": 0.5},
    "AWNB": {"dag_learner": "nb", "awnb_trees": 10, "rng": 0},
    "WANBIA": {"dag_learner": "nb", "wanbia": True},
}
columns = {}
for name, (target, frame) in data.items():
    models = {
        recipe: bnc(
            class_var=target,
            dataset=frame,
            **({} if "m" in how or not how else {"smooth": 1}) | how,
        )
        for recipe, how in recipes.items()
    }
    columns[name] = cv(models, frame, folds=folds[name])
print(pd.DataFrame(columns).loc[list(recipes)].round(3).to_string())

# %% [markdown]
# On car, the models that represent interactions are the most accurate. On votes, naive Bayes is among the least accurate. A
# difference of 0.01 on votes is two or three members of 232; [Comparing classifiers](compare.py) shows how to test such
# differences.
#
# | classifier | when to use it | dependences within a class | how it is found |
# |---|---|---|---|
# | default | to predict | effects of features and pairs | held-out rows |
# | `nb` | few rows; as a baseline | none | no search |
# | `tan_cl` | a readable graph; many rows | tree or forest | exactly, from pairs |
# | `kdb_mi` | very many rows | k parents per feature | ranking, from pairs |
# | `aode`, `ande` | predictions without a choice of structure | one model per feature, averaged | no search |
# | `spode` | as AODE, with a readable graph | one feature is a parent of all others | exactly, from pairs |
# | `tan_hc`, `tan_hcsp`, `kdb` | labels matter more than probabilities | tree; up to k parents | search for accuracy |
# | `bsej`, `fssj` | few features interact, others are irrelevant | independent groups | search for accuracy |
# | `lp` with `manb_prior`, `awnb_trees`, `wanbia` | many or correlated features | none, weighted | average, trees, optimization |
# | `hc`, `ban`, `chow_liu`, `chisq_dn` | all variables are of interest | any | see [Networks and queries](networks.py) |
#
# (arguments)=
# ## Which arguments matter
#
# The default has nothing to tune. If you use a network, these arguments matter, the most important first:
#
# | argument | default | values to try | what it changes |
# |---|---|---|---|
# | the learner | | `"nb"`, `"tan_cl"`, `"aode"`, `"kdb_mi"` | which dependences the model can represent |
# | `score` of `tan_cl` (in `dag_args`) | `"loglik"` | `"aic"`, `"bic"` | how many arcs between features are kept |
# | `discretize` | `None` | `"mdlp"`, `"averaged"`, `"quantile"` | the [intervals of numeric columns](numeric.py) |
# | `smooth` | none: choose a prior | 0.01, 1, 10 | how far small counts are pulled towards equal probabilities |
# | `backoff` | `False` | `True`, in place of `smooth` | small tables are pulled towards tables with fewer parents |
# | `missing_level` | `"auto"`, which is `False` | `True` | whether a [missing value](incomplete.py) is a level |
# | `min_count` | none | 5, 10 | rare levels are merged |
# | `kdbk` of `kdb_mi` | 2 | 1, 2, 3 | number of feature parents |
#
# Costs, class proportions, the metric and `groups` usually matter more: see [the table of calls](start.py#in-one-table).
#
# `smooth` hardly matters for naive Bayes. With two parents or more, try 0.01, 1 and 10; `backoff=True` needs no choice. If you
# tune, evaluate the winner on rows that the search did not see: see [For users of
# scikit-learn](coming_from_sklearn.py#grid-search).
#
# ## Summary
#
# Use the default to predict, `pairs=0` for a short table, and `tan_cl` with AIC for a network. State costs and class
# proportions before you tune anything.
#
# [Formulas](methods.py#references) lists the sources.
