# %% [markdown]
# # Choosing a classifier
#
# This page introduces the classifiers of the package one by one: what each assumes, what structure it finds, how
# accurate it is on real data, and when to use it. You should know conditional probability, but you need not know
# Bayesian networks. Reading it takes half an hour. If you are in a hurry:
#
# ```{index} TAN, naive Bayes, AODE
# ```
#
# | goal | use |
# |---|---|
# | accurate predictions, nothing to choose | `BNCClassifier()`, or `bnc` with its default settings: see [The default classifier](accuracy.py) |
# | a network that is quick to learn and easy to discuss | `tan_cl` with `score="aic"` |
# | a baseline, or a model for few rows | `nb` |
# | an average of many small models, with nothing to tune | `ande` |
# | a network over all variables, including the class | `hc`: see [General networks](networks.py) |
# | several class variables | `mbc`, `chain`: see [Several class variables](several.py) |
#
# ## Which one fits my data?
#
# Read these questions in this order, and stop at the first yes:
#
# 1. *Is there no class, and you look for groups?* Use `lca`: see [General networks](networks.py#latent-classes).
# 2. *Do you want to predict several classes at once?* Use `mbc` for one readable network, or `chain`: see [Several class
#    variables](several.py).
# 3. *Do you need answers about any variable, samples, or imputed values?* Then you need a joint distribution: use `hc` or
#    `ban`, or `numbers="gaussian"` for numeric columns. See [Queries](queries.py).
# 4. *Do the rows not fit in memory, or arrive over time?* Use `tan_cl` or `nb`, which need only counts: see [Large
#    data](scale.py).
# 5. *Must the whole model fit on one page, or in a short SQL statement?* Use `nb`, or `tan_cl` with `score="bic"`, and
#    `discretize="mdlp"`.
# 6. *In all other cases* use `BNCClassifier()`, and compare it with `nb` and `tan_cl`.
#
# Then [compare](compare.py) two or three of them on your own data. The [table at the end](#summary) lists all
# classifiers.
#
# ## What the classifiers have in common
#
# Most of them belong to one family, the *augmented naive Bayes* classifiers; the ensembles near the end of the page
# average several of these. (The [glossary](glossary.md) explains each term.) A classifier represents the joint
# distribution of the class C and the features X₁ … Xₙ as a product of small tables,
#
# $$
# P(c, x_1, \ldots, x_n) = P(c) \prod_{i=1}^n P(x_i \mid \text{parents of } X_i, c),
# $$
#
# and predicts the most probable class given the features. By Bayes' rule, this is the class with the largest joint
# probability. The *parents* of a feature are the few other features that its table depends on. The graph of these
# dependences is the *structure*. The classifiers differ in which structures they allow, in how they choose one, and,
# at the end of this page, in how they estimate the tables.
#
# More parents mean fewer assumptions, but also more *parameters* (probabilities in the tables) to estimate from the
# same rows. The rest of this page is about this trade-off, so keep an eye on the number of parameters as you read.

# %%
import warnings

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
    nparams,
    plot,
    plot_weights,
    search_steps,
    stratified_folds,
    tan_cl,
)

# %% [markdown]
# ## Two data sets and one set of folds for each
#
# The data set `car` grades 1,728 cars by price, doors, seats, boot and safety. The data set `votes` contains the 232
# members of the US House of Representatives of 1984 who voted on all 16 issues, and their party. The first has few
# features that interact; the second has many correlated features.
#
# Accuracy is measured by ten-fold cross-validation: structure and tables are learned on nine tenths of the rows and
# evaluated on the remaining tenth, ten times. All classifiers use the same folds. The baseline is the proportion of
# the most frequent class.

# %%
DATA = {"car": ("class", load_car()), "votes": ("Class", load_voting().dropna())}
FOLDS = {
    name: stratified_folds(frame[target], 10, rng=1)
    for name, (target, frame) in DATA.items()
}
COLUMNS = ["car", "votes", "parameters, car", "parameters, votes"]
results = pd.DataFrame(columns=COLUMNS, dtype=float)


def rate(name, learner, dag_args=None, **parameters):
    """Fit a classifier to both data sets, and record its accuracies."""
    if not {"m", "backoff"} & set(parameters):
        parameters["smooth"] = 1
    models = {
        data: bnc(learner, target, frame, dag_args=dag_args, **parameters)
        for data, (target, frame) in DATA.items()
    }
    accuracies = [
        cv(model, DATA[data][1], folds=FOLDS[data])
        for data, model in models.items()
    ]
    sizes = [sum(map(nparams, members(model))) for model in models.values()]
    results.loc[name] = accuracies + sizes
    print(f"{name}: {accuracies[0]:.3f} on car, {accuracies[1]:.3f} on votes")
    return models


for name, (target, frame) in DATA.items():
    print(f"{name}: {len(frame)} rows, {frame.shape[1] - 1} features")
    print(frame[target].value_counts(normalize=True).round(3).to_string(), "\n")

# %% [markdown]
# The baselines are 0.700 on car (label every car "unacc") and 0.534 on votes (label every member "democrat").
#
# ## Naive Bayes
#
# **Assumption.** The features are independent within each class. The class is the only parent of every feature, so
# no structure is learned. Each feature has one table, its distribution within each class, which is counted in
# one pass over the data.

# %%
naive = rate("naive Bayes", "nb")
plot(naive["car"])

# %% [markdown]
# The next table shows the distribution of safety within each class. Read each column from top to bottom: the `vgood`
# column gives the proportions of low, medium and high safety among very good cars. `smooth=1` adds 1 to every count
# (Laplace smoothing), so that a combination that never occurred is improbable, not impossible.

# %%
print(cpt(naive["car"], "safety").round(3))

# %% [markdown]
# Nearly all very good cars have high safety. The assumption of independence is rarely true. The predicted label is
# often correct nevertheless, because it depends only on which class has the largest probability. The probabilities
# themselves tend to be too close to 0 and 1, because correlated features are counted as independent evidence.
#
# **When to use it.** Use it as a baseline, with few rows, with very many features, or if the tables have to be
# explained to others. **Reading.** Minsky (1961); Domingos and Pazzani (1997) on why it works; Hand and Yu (2001).

# %% [markdown]
# ## Tree-augmented naive Bayes (TAN)
#
# **Assumption.** Within a class, each feature depends on at most one other feature, and these arcs form a tree or, with
# a score that penalizes parameters, a forest. Such a model is a *one-dependence estimator*. The algorithm of Chow and
# Liu finds the best tree exactly: the weight of each pair of features is its conditional mutual information given the
# class, in nats (units of the natural logarithm), and the arcs form the spanning tree with the largest total weight.
#
# The car data contain each combination of feature values once, so the features are independent of each other. Within a
# class they are not, and naive Bayes cannot represent this:

# %%
car = DATA["car"][1]
print("I(persons; safety)         =", round(cmi("persons", "safety", car), 4))
print(
    "I(persons; safety | class) =",
    round(cmi("persons", "safety", car, z="class"), 4),
)
print(
    "I(doors;  lug_boot | class) =",
    round(cmi("doors", "lug_boot", car, z="class"), 4),
)

# %%
tan = rate("TAN (Chow-Liu)", "tan_cl", {"score": "aic"})
plot(tan["car"])

# %% [markdown]
# The tree raises the accuracy on car from 0.855 to 0.933. The score determines the number of arcs. With `"loglik"`, all
# features form a single tree, because an arc never lowers the likelihood. `"aic"` subtracts 1 per free parameter, and
# `"bic"` subtracts half the logarithm of the number of rows, which is more. Both omit arcs that improve the likelihood
# by less than this penalty. This is the number of arcs between features for each score:

# %%
for name, (target, frame) in DATA.items():
    arcs = {}
    for score in ("loglik", "aic", "bic"):
        structure = tan_cl(target, frame, score=score)
        arcs[score] = sum(
            len(family) - 2 for family in structure.families if len(family) > 2
        )
    print(name, arcs)

# %% [markdown]
# On car, BIC omits all arcs and the result is naive Bayes. This is why `score="aic"` is recommended above.
#
# **When to use it.** Use it as the first step beyond naive Bayes. It needs one pass over all pairs of features, no
# search and no random numbers, and you can discuss its graph with domain experts.
#
# `tan_hc` and `tan_hcsp` are *wrappers*: they search for a tree with a high cross-validated accuracy instead of a high
# likelihood, and take longer. `tan_hc` evaluates every arc in each step. `tan_hcsp` first finds the best *superparent*,
# a feature that is a parent of all features without a feature parent, and then keeps the best of its arcs. It evaluates
# far fewer candidates. **Reading.** Friedman, Geiger and Goldszmidt (1997); Chow and Liu (1968); Keogh and Pazzani
# (2002).

# %%
search = {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0}
searched = rate("TAN (hill climbing)", "tan_hc", search)
print(modelstring(searched["car"]))

# %% [markdown]
# These searches accept prior knowledge. They start from the structure `start`, keep the `required` arcs, and never add
# `forbidden` arcs. For example, `kdb`, which allows two feature parents, continues from the AIC tree of car:

# %%
tree = tan_cl("class", car, score="aic")
further = kdb("class", car, start=tree, forbidden=[("doors", "buying")], **search)
print([round(score, 3) for score in search_steps(further).attrs["scores"]])
print(modelstring(further))

# %% [markdown]
# The score of the tree is the first number. Each additional arc increases the cross-validated accuracy.

# %% [markdown]
# ## Semi-naive Bayes
#
# **Assumption.** The features form groups. Features in different groups are independent given the class, the joint
# distribution within a group is unrestricted, and some features may be dropped. A group acts as one feature whose
# values are all combinations, so a group of three features has a large table. The groups are found by greedy search for
# cross-validated accuracy. `fssj` starts without features and adds or joins features. `bsej` starts with naive Bayes and
# removes or joins features.

# %%
backward = rate("semi-naive (bsej)", "bsej", search)
plot(backward["car"])

# %% [markdown]
# Forward selection can fail if features are informative only in combination. On car, no single feature exceeds the
# accuracy of the most frequent class, so `fssj`, which requires a gain of `epsilon` per step, stops immediately with a
# warning. With `epsilon=0`, as in the vignette of the R package, it also accepts steps without improvement, so the
# result depends on how ties are broken. On votes, the same search finds that one issue is nearly sufficient:

# %%
with warnings.catch_warnings(action="ignore"):
    forward = rate("semi-naive (fssj)", "fssj", search)
for name, model in forward.items():
    scores = [round(score, 3) for score in search_steps(model).attrs["scores"]]
    print(f"{name}: {modelstring(model)}, accuracy after each step {scores}")

# %% [markdown]
# **When to use them.** Use `bsej` if a few features interact strongly and there are enough rows to fill a joint table.
# Use `fssj` if you expect few useful features and want a short model. Both optimize a cross-validated
# accuracy that they evaluate many times, so trust only an outer cross-validation, as on this page. **Reading.** Kononenko
# (1991); Pazzani (1996).

# %% [markdown]
# A faster way to select features is the *Markov blanket* of the class: given these features, the class is independent
# of all others. `learn_blanket` finds it by tests of independence (IAMB), without models and without cross-validation.
# It selects two of the 16 votes:

# %%
votes = DATA["votes"][1]
blanket = learn_blanket("Class", votes)
few = votes[[*blanket, "Class"]]
result = cv(bnc("nb", "Class", few, smooth=1), few, folds=FOLDS["votes"])
print(f"{blanket}: accuracy {result:.3f}")

# %% [markdown]
# Two of the 16 votes are enough: naive Bayes reaches 0.970 with them and 0.909 with all, because the other votes are
# correlated and count the same evidence several times. The blanket was learned from all rows, so this accuracy is
# slightly optimistic.

# %% [markdown]
# ## k-dependence Bayes
#
# **Assumption.** Within a class, each feature depends on at most k other features. Naive Bayes has k = 0, a tree has
# k = 1. `kdb` starts from naive Bayes and repeatedly adds the arc that increases the cross-validated accuracy most. With
# `kdbk=2`, a table depends on up to two features and the class:

# %%
dependent = rate("k-dependence, k = 2", "kdb", search | {"kdbk": 2})
plot(dependent["car"])

# %% [markdown]
# **When to use it.** Use it with thousands of rows and interactions of three features. It is not suited to small data,
# because its tables then have more cells than there are rows to fill them. You also have to choose k.
#
# `kdb_mi` finds such a structure without a search, by Sahami's algorithm. It ranks the features by their mutual
# information with the class. Each feature gets as parents the k higher-ranked features with the largest conditional
# mutual information given the class, even if that information is small. The algorithm is fast and produces large tables:

# %%
ranked = rate("k-dependence by information", "kdb_mi", {"kdbk": 2})

# %% [markdown]
# Hierarchical smoothing (`backoff=True`) compensates for large tables: each table is shrunk towards the table with one
# parent fewer, by an amount that is estimated from the data. Feature weights, chosen by leave-one-out cross-validation,
# then keep correlated features from being counted twice.

# %%
careful = rate(
    "… with back-off and weights",
    "kdb_mi",
    {"kdbk": 4},
    backoff=True,
    held_out="weights",
    held_out_args={"parents": True},
)
plot(careful["votes"], class_arcs=False)

# %% [markdown]
# **When to use it.** Use it if accurate probabilities matter most. (Plain `kdb_mi` with two parents has the higher
# accuracy on car, 0.952 against 0.944, but its probabilities are worse: on the same folds, its log-loss is 0.178 and
# that of the weighted model 0.145.) For numeric data add `discretize="averaged"`. It takes longer to fit than a tree
# and does not define a joint distribution, and therefore has no likelihood. **Reading.** Sahami (1996); Petitjean,
# Buntine, Webb and Zaidi (2018) on hierarchical smoothing.

# %% [markdown]
# ## The default
#
# `bnc` without a prior, like `BNCClassifier()`, adds up such a model without feature parents, one with at most four, and a
# logistic regression. Each has the power that is best for held-out rows.

# %%
chosen = {
    data: bnc(class_var=target, dataset=frame)
    for data, (target, frame) in DATA.items()
}
results.loc["the default"] = [
    *(cv(x, DATA[data][1], folds=FOLDS[data]) for data, x in chosen.items()),
    *(sum(map(nparams, members(x))) for x in chosen.values()),
]
print(results.loc["the default"].round(3).to_dict())

# %% [markdown]
# On car, it is the most accurate model on this page. [The default classifier](accuracy.py)
# explains it step by step.

# %% [markdown]
# ## Averaged one-dependence estimators
#
# **Assumption.** With AODE you need not choose one tree. It fits n small models, in each of which one feature is a
# parent of all others, and averages their joint probabilities. This is one of the six members on car, the model of
# `buying`:

# %%
averaged = rate("AODE", "aode")
plot(members(averaged["car"])[0])

# %% [markdown]
# `aode` is the AODE of the R package: each member is a network with its own tables. It has a likelihood, and it
# marginalizes over missing features. `ande` follows the definition of the authors of AODE. Three things differ:
#
# - the first table of a member is the joint distribution P(class, superparent);
# - a superparent is used only for values that occur in the training data;
# - a missing feature is used neither as a superparent nor as a child.
#
# Their predictions are similar:

# %%
webb = rate("AnDE, n = 1", "ande", m=1)

# %% [markdown]
# If you need one readable graph, `spode` learns the best single member by a score such as BIC. On car, its superparent
# is safety:

# %%
single = rate("SPODE", "spode")

# %% [markdown]
# **When to use AODE.** Use it if you only need predictions: it is fast to fit and there is nothing to tune. It needs
# memory for one table per pair of features, and has no single graph to show. **Reading.** Webb, Boughton and Wang
# (2005).
#
# With `n=2`, each *pair* of features is a parent of all others. This model is A2DE, with 15 members on car and 120 on
# votes. It represents interactions of three features within a class, while AODE represents interactions of two, and it
# needs no search. With `n=0`, it is naive Bayes. A larger n means fewer assumptions, and fewer rows per table entry.

# %%
pairs = rate("A2DE, n = 2", "ande", {"n": 2}, m=1)
weighted = rate("A2DE, weighted", "ande", {"n": 2, "weights": "mi"}, m=1)
plot(weighted["car"])

# %% [markdown]
# **When to use A2DE.** Use it if features interact and there are thousands of rows, or hundreds of rows and few levels,
# and if time is not critical: its cost grows with the cube of the number of features. With few rows, many pairs of
# values occur rarely. `min_count=30` uses only pairs that occur in at least 30 rows; if there are none, single
# superparents or naive Bayes are used. `weights="mi"` weights each superparent by its mutual information with the
# class; the picture above shows the weights. **Reading.** Webb, Boughton, Zheng, Ting and Salem (2012); Jiang and Zhang
# (2006).
#
# ### Values that follow from other values
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
for n in (0, 1, 2):
    for subsumption in (None, 50):
        arguments = {"n": n, "subsumption": subsumption}
        model = bnc("ande", "class", redundant, m=1, dag_args=arguments)
        accuracy = cv(model, redundant, folds=FOLDS["car"])
        print(f"n = {n}, subsumption={subsumption}: {accuracy:.3f}")

# %% [markdown]
# With `subsumption=50`, a value of a row is ignored if another value of the row implies it. A value implies another if
# it occurs in more than 50 training rows and the other value occurs in all of them. The rule applies to values, not to
# columns: "pregnant" implies "female", but "not pregnant" implies nothing. On these data, the rule removes the effect of
# the redundant columns completely.
#
# `lp(x, df, smooth=1, subsumption=30)` does the same in any augmented naive Bayes, such as a TAN, from 30 training rows on:

# %%
for learner in ("nb", "tan_cl"):
    for arguments in ({}, {"subsumption": 30}):
        model = bnc(learner, "class", redundant, smooth=1, **arguments)
        result = cv(model, redundant, folds=FOLDS["car"])
        print(f"{learner}, {arguments or 'without'}: {result:.3f}")

# %% [markdown]
# Naive Bayes on the redundant columns becomes as accurate as on the original ones.
#
# **When to use it.** Use it if some columns may be derived from others. It costs little, and it has no effect if no
# value implies another. **Reading.** Zheng, Webb, Suraweera and Zhu (2012).

# %% [markdown]
# ## Weighting: MANB, AWNB, WANBIA
#
# The last three methods keep a structure and change its tables. Each method reduces the influence of some features.
# MANB applies to naive Bayes. AWNB and WANBIA apply to any single network; here they are used with naive Bayes.
#
# - **MANB** averages over all naive Bayes structures with and without each arc. The influence of features that are
#   independent of the class vanishes.
# - **AWNB** raises each table to a power between 0 and 1, which is larger if decision trees test the feature near the
#   root.
# - **WANBIA** chooses these powers jointly by maximizing the conditional likelihood of the class. Among correlated
#   features, some get small weights.

# %%
manb = rate("MANB", "nb", manb_prior=0.5)
awnb = rate("AWNB", "nb", awnb_trees=10, rng=0)
wanbia = rate("WANBIA", "nb", wanbia=True)
faded = manb_arc_posterior(manb["votes"])
print("\nMANB, arcs with probability < 0.5:", faded[faded < 0.5].round(3).to_dict())
small = (feature_weights(wanbia["votes"]) < 0.005).sum()
print("WANBIA, features with a weight below 0.005:", int(small), "of 16")

# %%
plot_weights(wanbia["votes"])

# %% [markdown]
# MANB and WANBIA disagree about `immigration`, because MANB evaluates the feature alone, and WANBIA given the other
# features.
#
# **When to use them.** Use MANB with many features and few rows, WANBIA if features are correlated, and AWNB as an
# inexpensive first attempt. None of them can represent an interaction, and on car none of them is more accurate than
# naive Bayes. [Formulas](methods.py) has the definitions. **Reading.** Dash and Cooper (2002), Wei, Visweswaran and Cooper
# (2011); Hall (2007); Zaidi, Cerquides, Carman and Webb (2013).

# %% [markdown]
# ## Summary
#
# The table shows accuracies on the same folds, and the number of free parameters. For an ensemble, this is the sum over
# its members.

# %%
results.loc["most frequent class"] = [
    *(
        frame[target].value_counts(normalize=True).max()
        for target, frame in DATA.values()
    ),
    *(0, 0),
]
print(results.round(3).astype(dict.fromkeys(COLUMNS[2:], int)).to_string())

# %% [markdown]
# The ranking depends on the data set. On car, the models that represent interactions (TAN, `bsej`, k-dependence, AODE and
# A2DE) are the most accurate. On votes, models that select or weight features (`fssj`, AWNB, WANBIA) are. The default
# and `kdb_mi` are among the best on both. A difference of 0.01 on votes corresponds to two or three members of 232;
# [Comparing classifiers](compare.py) shows how to test such differences.
#
# | classifier | when to use it | dependences within a class | how it is found |
# |---|---|---|---|
# | `nb` | few rows; as a baseline | all features independent | no search |
# | `tan_cl` | pairs of features interact; a readable graph is wanted | tree or forest | exactly, from pairs |
# | `tan_hc`, `tan_hcsp` | accuracy matters more than likelihood | tree or forest | search for accuracy |
# | `bsej`, `fssj` | a few features interact, others are irrelevant | independent groups | search for accuracy |
# | `kdb` | many rows, interactions of three features | up to k parents per feature | search for accuracy |
# | `kdb_mi` | very many rows, no time for a search | k parents per feature | ranking, from pairs |
# | `BNCClassifier()`, `bnc` without a prior | accurate predictions, nothing to choose | at most four parents, weighted | powers by held-out rows |
# | `kdb_mi` with `backoff`, `held_out="weights"` | accuracy matters most | weighted, with a chosen number of parents | leave-one-out |
# | `aode`, `ande` | you only need predictions | one model per feature, averaged | no search |
# | `spode` | as AODE, with a readable graph | one feature is a parent of all others | exactly, from pairs |
# | `ande(n=2)` | you only need predictions, interactions of three features | one model per pair of features, averaged | no search |
# | `ande(subsumption=50)` | some columns may be derived from others | as `ande`, without implied values | row by row |
# | `lp(manb_prior=)` | many features, few rows | independent, or no arc | exact average |
# | `lp(awnb_trees=)` | an inexpensive first attempt | independent, weighted | decision trees |
# | `lp(wanbia=True)` | correlated features | independent, weighted | optimization |
#
# Next: [The default classifier](accuracy.py).
#
# ## References
#
# - Bielza, C., Larrañaga, P. (2014). Discrete Bayesian network classifiers: a survey. ACM Computing Surveys
#   47. *An overview of the field.*
# - Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions with dependence trees.
#   IEEE Transactions on Information Theory 14.
# - Dash, D., Cooper, G. F. (2002). Exact model averaging with naive Bayesian classifiers. ICML 2002.
# - Domingos, P., Pazzani, M. (1997). On the optimality of the simple Bayesian classifier under zero-one loss.
#   Machine Learning 29.
# - Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning 29.
# - Hall, M. (2007). A decision tree-based attribute weighting filter for naive Bayes. Knowledge-Based
#   Systems 20.
# - Hand, D. J., Yu, K. (2001). Idiot's Bayes: not so stupid after all? International Statistical Review 69.
# - Jiang, L., Zhang, H. (2006). Weightily averaged one-dependence estimators. PRICAI 2006.
# - Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of augmented Bayesian classifiers.
#   International Journal on Artificial Intelligence Tools 11.
# - Kononenko, I. (1991). Semi-naive Bayesian classifier. EWSL 91.
# - Minsky, M. (1961). Steps toward artificial intelligence. Proceedings of the IRE 49.
# - Pazzani, M. (1996). Constructive induction of Cartesian product attributes. ISIS 96.
# - Petitjean, F., Buntine, W., Webb, G. I., Zaidi, N. (2018). Accurate parameter estimation for Bayesian
#   network classifiers using hierarchical Dirichlet processes. Machine Learning 107.
# - Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.
# - Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating one-dependence estimators.
#   Machine Learning 58.
# - Webb, G. I., Boughton, J. R., Zheng, F., Ting, K. M., Salem, H. (2012). Learning by extrapolation from
#   marginal to full-multivariate probability distributions: decreasingly naive Bayesian classification.
#   Machine Learning 86.
# - Wei, W., Visweswaran, S., Cooper, G. F. (2011). The application of naive Bayes model averaging to predict
#   Alzheimer's disease from genome-wide data. JAMIA 18.
# - Zaidi, N. A., Cerquides, J., Carman, M. J., Webb, G. I. (2013). Alleviating naive Bayes attribute
#   independence assumption by attribute weighting. Journal of Machine Learning Research 14.
# - Zheng, F., Webb, G. I., Suraweera, P., Zhu, L. (2012). Subsumption resolution: an efficient and effective
#   technique for semi-naive Bayesian learning. Machine Learning 87.
