# %% [markdown]
# # Choosing a classifier
#
# This page introduces the main classifiers of the package one by one: what each assumes, what structure it finds, how
# accurate it is on real data, and when to use it. You should know conditional probability, but you need not know
# Bayesian networks. [More classifiers](classifiers.py) has the others. If you are in a hurry:
#
# ```{index} ! TAN, ! naive Bayes, ! AODE, ! additive model, ! pairs
# ```
#
# | goal | use |
# |---|---|
# | accurate predictions, nothing to choose | `BNCClassifier()`, or `bnc` with its default settings: see [The default classifier](accuracy.py) |
# | a table of effects, a card of points, or a short query | `BNCClassifier(additive=True)` |
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
# 5. *Must the whole model fit on one page, or in a short SQL statement?* Use `BNCClassifier(additive=True)` or `nb` with
#    `discretize="mdlp"`, as a scorecard, and `to_sql(card, numbers="typed")`.
# 6. *In all other cases* use `BNCClassifier()`, and compare it with `nb` and `tan_cl`.
#
# Then [compare](compare.py) two or three of them on your own data. The [table at the end](#summary) lists all
# classifiers.
#
# ## Default, sum, pairs or network?
#
# The table compares four models by their log-loss on the other half of the rows (means of two halves, in nats): the default, a
# sum of one effect per feature (`additive=True`), a sum with effects of pairs (`pairs="auto"`, which adds as many
# pairs as held-out rows favor), and a network (`tan_cl` with AIC, `smooth=1` and MDLP).
#
# | data | rows | default | sum | with pairs | number of pairs | network |
# |---|---:|---:|---:|---:|---:|---:|
# | pima | 768 | 0.485 | 0.490 | 0.486 | 27 | 0.527 |
# | german credit | 1,000 | 0.503 | 0.508 | 0.505 | 73 | 0.624 |
# | car | 1,728 | 0.111 | 0.173 | 0.091 | 15 | 0.240 |
# | chess | 3,196 | 0.056 | 0.088 | 0.042 | 122 | 0.183 |
# | vowel (11 classes) | 990 | 0.255 | 0.405 | 0.257 | 78 | 1.149 |
#
# - Use the *sum* if people read, edit or sign the model. On pima and german credit, it is nearly as good as the default. It
#   becomes a [table, a card of points and a query](deploying.py#a-model-as-a-table).
# - Use *pairs* if a table may be longer: they are as good as the default on all five tables, and better on car and chess. On
#   59 other tables of R packages, which were not used for development (one half each), the sum with pairs has a mean log-loss of
#   0.642 and the default 0.633. The difference is due to one of the tables; the sum with pairs has the lower log-loss on 32. A
#   prediction takes a fifth of the time.
# - Use the *default* if accuracy matters most, or if more than two features act together.
# - Use a *network* if you need its graph, or answers about any variable. As a classifier, it has the highest log-loss on all
#   five tables; it is fitted at least ten times as fast.
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
# dependences is the *structure*. The classifiers differ in which structures they allow, in how they choose one, and
# in how they estimate the tables.
#
# More parents mean fewer assumptions, but also more *parameters* (probabilities in the tables) to estimate from the
# same rows. The rest of this page is about this trade-off, so keep an eye on the number of parameters as you read.

# %%
import pandas as pd
from bnclassify import (
    bnc,
    cmi,
    cpt,
    cv,
    load_car,
    load_voting,
    members,
    nparams,
    plot,
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
car, votes = load_car(), load_voting().dropna()
data = {"car": ("class", car), "votes": ("Class", votes)}
for name, (target, frame) in data.items():
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
naive = bnc("nb", "class", car, smooth=1)
plot(naive)

# %% [markdown]
# The next table shows the distribution of safety within each class. Read each column from top to bottom: the `vgood`
# column gives the proportions of low, medium and high safety among very good cars. `smooth=1` adds 1 to every count
# (Laplace smoothing), so that a combination that never occurred is improbable, not impossible.

# %%
print(cpt(naive, "safety").round(3))

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
tan = bnc("tan_cl", "class", car, smooth=1, dag_args={"score": "aic"})
plot(tan)

# %% [markdown]
# The tree raises the accuracy on car from 0.855 to 0.933. The score determines the number of arcs. With `"loglik"`, all
# features form a single tree, because an arc never lowers the likelihood. `"aic"` subtracts 1 per free parameter, and
# `"bic"` subtracts half the logarithm of the number of rows, which is more. Both omit arcs that improve the likelihood
# by less than this penalty. This is the number of arcs between features for each score:

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
# On car, BIC omits all arcs and the result is naive Bayes. Which score should you use? Use AIC, as these pages do if
# they predict. BIC keeps fewer arcs, which is good for a graph that you want to discuss. The default of the
# package uses neither: it tries the number of parents on held-out rows, which is more accurate and takes longer.
#
# **When to use it.** Use it as the first step beyond naive Bayes. It needs one pass over all pairs of features, no
# search and no random numbers, and you can discuss its graph with domain experts.
# **Reading.** Friedman, Geiger and Goldszmidt (1997); Chow and Liu (1968).

# %% [markdown]
# (k-dependence)=
# ## k-dependence: `kdb_mi` and `kdb`
#
# Within a class, each feature depends on at most k other features, its parents. Naive Bayes has k = 0, a tree has k = 1. Two
# learners choose the parents. `kdb_mi` ranks the features by their mutual information with the class, and each feature gets
# the k higher-ranked features that have the most mutual information with it within the classes, even if that is little
# (Sahami's algorithm). `kdb` starts without arcs between features and adds, one by one, the arc that raises the
# cross-validated accuracy most, until none raises it.
#
# | | `kdb_mi` | `kdb` |
# |---|---|---|
# | parents of a feature | exactly k, if there are as many features above it | at most k |
# | chosen by | mutual information given the class | cross-validated accuracy of the whole model |
# | useless arcs | are added, too | are not added |
# | cost | one pass over all pairs of features | one cross-validation per candidate arc and step |
# | random numbers | none | folds: `rng=` |
# | numeric features | as intervals, or as densities (`numbers=`) | as intervals |
# | use it | with many rows, with `backoff=True` | with thousands of rows and few features, if labels count |
#
# Hierarchical smoothing (`backoff=True`) compensates for large tables: each table is shrunk towards the table with one
# parent fewer, by an amount that is estimated from the data. Feature weights, chosen by leave-one-out cross-validation,
# then keep correlated features from being counted twice.

# %%
careful = bnc(
    "kdb_mi",
    "Class",
    votes,
    dag_args={"kdbk": 4},
    backoff=True,
    held_out="weights",
    held_out_args={"parents": True},
)
plot(careful, class_arcs=False)

# %% [markdown]
# **When to use it.** Use it if accurate probabilities matter most. (Plain `kdb_mi` with two parents has the higher
# accuracy on car, 0.952 against 0.944, but the higher log-loss, too.) For numeric data add `discretize="averaged"`. It takes longer to fit than a tree
# and does not define a joint distribution, and therefore has no likelihood. **Reading.** Sahami (1996); Petitjean,
# Buntine, Webb and Zaidi (2018) on hierarchical smoothing.

# %% [markdown]
# ## The default
#
# `bnc` without a prior, like `BNCClassifier()`, adds up such a model without feature parents, one with at most four, and a
# logistic regression. Each has the power that is best for held-out rows.
#
# On car, it is the most accurate model on this page. [The default classifier](accuracy.py)
# explains it step by step.

# %% [markdown]
# ## Averaged one-dependence estimators
#
# **Assumption.** With AODE you need not choose one tree. It fits n small models, in each of which one feature is a
# parent of all others, and averages their joint probabilities. This is one of the six members on car, the model of
# `buying`:

# %%
averaged = bnc("aode", "class", car, smooth=1)
plot(members(averaged)[0])

# %% [markdown]
# `aode` is the AODE of the R package: each member is a network with its own tables. It has a likelihood, and it
# marginalizes over missing features. `ande` follows the definition of the authors of AODE. Three things differ:
#
# - the first table of a member is the joint distribution P(class, superparent);
# - a superparent is used only for values that occur in the training data;
# - a missing feature is used neither as a superparent nor as a child.
#
# Their predictions are similar.
#
# **When to use AODE.** Use it if you only need predictions: it is fast to fit and there is nothing to tune. It needs
# memory for one table per pair of features, and has no single graph to show. **Reading.** Webb, Boughton and Wang
# (2005).
#
# ## Summary
#
# The table shows cross-validated accuracies on the same folds, and the number of free parameters. For an ensemble, this
# is the sum over its members.

# %%
recipes = {
    "naive Bayes": {"dag_learner": "nb", "smooth": 1},
    "TAN": {"dag_learner": "tan_cl", "dag_args": {"score": "aic"}, "smooth": 1},
    "k-dependence, k = 2": {"dag_learner": "kdb_mi", "smooth": 1},
    "… with back-off and weights": {
        "dag_learner": "kdb_mi",
        "dag_args": {"kdbk": 4},
        "backoff": True,
        "held_out": "weights",
        "held_out_args": {"parents": True},
    },
    "the default": {},
    "AODE": {"dag_learner": "aode", "smooth": 1},
    "AnDE, n = 1": {"dag_learner": "ande", "m": 1},
}
columns = {}
for name, (target, frame) in data.items():
    models = {
        recipe: bnc(class_var=target, dataset=frame, **how)
        for recipe, how in recipes.items()
    }
    folds = stratified_folds(frame[target], 10, rng=1)
    columns[name] = cv(models, frame, folds=folds)
    columns[f"parameters, {name}"] = {
        recipe: sum(map(nparams, members(x))) for recipe, x in models.items()
    }
print(pd.DataFrame(columns).loc[list(recipes)].round(3).to_string())

# %% [markdown]
# Parameters are those of tables: the default has the tables of naive Bayes on votes, and weights and other terms. The ranking
# depends on the data set. On car, the models that represent interactions are the most accurate. On votes, where
# features are correlated, naive Bayes is the least accurate. A difference of 0.01 on votes corresponds to two or three
# members of 232; [Comparing classifiers](compare.py) shows how to test such differences.
#
# The rows below the line "more" are on the page [More classifiers](classifiers.py).
#
# | classifier | when to use it | dependences within a class | how it is found |
# |---|---|---|---|
# | `nb` | few rows; as a baseline | all features independent | no search |
# | `tan_cl` | pairs of features interact; a readable graph is wanted | tree or forest | exactly, from pairs |
# | `kdb_mi` | very many rows, no time for a search | k parents per feature | ranking, from pairs |
# | `BNCClassifier()`, `bnc` without a prior | accurate predictions, nothing to choose | at most four parents, weighted | powers by held-out rows |
# | `kdb_mi` with `backoff`, `held_out="weights"` | accuracy matters most | weighted, with a chosen number of parents | leave-one-out |
# | `aode`, `ande` | you only need predictions | one model per feature, averaged | no search |
# | **more** | | | |
# | `tan_hc`, `tan_hcsp` | accuracy matters more than likelihood | tree or forest | search for accuracy |
# | `bsej`, `fssj` | a few features interact, others are irrelevant | independent groups | search for accuracy |
# | `kdb` | many rows, interactions of three features | up to k parents per feature | search for accuracy |
# | `spode` | as AODE, with a readable graph | one feature is a parent of all others | exactly, from pairs |
# | `ande(n=2)` | you only need predictions, interactions of three features | one model per pair of features, averaged | no search |
# | `ande(subsumption=50)` | some columns may be derived from others | as `ande`, without implied values | row by row |
# | `lp(manb_prior=)` | many features, few rows | independent, or no arc | exact average |
# | `lp(awnb_trees=)` | an inexpensive first attempt | independent, weighted | decision trees |
# | `lp(wanbia=True)` | correlated features | independent, weighted | optimization |
#
# ## References
#
# - Bielza, C., Larrañaga, P. (2014). Discrete Bayesian network classifiers: a survey. ACM Computing Surveys
#   47. *An overview of the field.*
# - Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions with dependence trees.
#   IEEE Transactions on Information Theory 14.
# - Domingos, P., Pazzani, M. (1997). On the optimality of the simple Bayesian classifier under zero-one loss.
#   Machine Learning 29.
# - Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning 29.
# - Hand, D. J., Yu, K. (2001). Idiot's Bayes: not so stupid after all? International Statistical Review 69.
# - Minsky, M. (1961). Steps toward artificial intelligence. Proceedings of the IRE 49.
# - Petitjean, F., Buntine, W., Webb, G. I., Zaidi, N. (2018). Accurate parameter estimation for Bayesian
#   network classifiers using hierarchical Dirichlet processes. Machine Learning 107.
# - Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.
# - Webb, G. I., Boughton, J. R., Wang, Z. (2005). Not so naive Bayes: aggregating one-dependence estimators.
#   Machine Learning 58.
