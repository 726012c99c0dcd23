# %% [markdown]
# # Which learner should I take?
#
# The classifiers, one by one: what each assumes, what its structure looks like on real data, how well it
# predicts, and when to take it. No knowledge of Bayesian networks is needed, only of conditional
# probability. In a hurry:
#
# | you want | take |
# |---|---|
# | the best predictions, without choosing anything | `BNCClassifier()`; [As accurate as a forest](accuracy.py) has the same in one call of `bnc` |
# | a picture that can be discussed, quickly learned | `tan_cl`, with `score="aic"` |
# | a yardstick, or a model for few rows | `nb` |
# | an average of many small models, with nothing to tune | `ande` |
# | a network of all variables, the class one among them | `hc`: see [networks](networks.py) |
# | several classes at once | `mbc`, `chain`: see [several classes](several.py) |
#
# Then [compare](compare.py) two or three of them on your own data; the [table at the end](#which-one-to-take) has all.
#
# ## What they have in common
#
# Nearly all are models of one kind, an *augmented naive Bayes*; the averages towards the end mix several
# of them. (What a word means is said in [Words](words.md).) A classifier here is a joint distribution of the class C and the
# features X₁ … Xₙ, written as a product of small tables,
#
# $$
# P(c, x_1, \ldots, x_n) = P(c) \prod_{i=1}^n P(x_i \mid \text{parents of } X_i, c),
# $$
#
# and it predicts the class that is likeliest given the features, which by Bayes' rule is the one with the
# greatest joint probability. The *parents* of a feature are the few other features that its table looks
# at. A picture of who is parent of whom is the *structure*; the classifiers differ in which structures they
# allow, how they choose one, and, at the end of this page, how they fill in the tables.
#
# More parents mean fewer assumptions and more *parameters*, the probabilities in the tables, to estimate from
# the same rows. That is the trade in all that follows.

# %%
import warnings

import pandas as pd

from bnclassify import (
    bnc,
    cmi,
    cpt,
    cv,
    feature_weights,
    greedy_scores,
    load_car,
    load_voting,
    manb_arc_posterior,
    members,
    modelstring,
    nparams,
    plot,
    plot_weights,
    stratified_folds,
    tan_cl,
)

# %% [markdown]
# ## Two data sets, one set of folds each
#
# `car` rates 1,728 cars by price, doors, seats, boot and safety. `votes` are the members of the 1984 House
# who voted on all 16 issues, and their party. The first has few features that work together, the second
# many that repeat each other.
#
# Accuracy is measured by ten-fold cross-validation: structure and tables are learned on nine tenths of the
# rows and tested on the rest, ten times. Every classifier gets the same folds. The share of the largest
# class is what a guess without features gets right.

# %%
DATA = {"car": ("class", load_car()), "votes": ("Class", load_voting().dropna())}
FOLDS = {name: stratified_folds(frame[target], 10, rng=1) for name, (target, frame) in DATA.items()}
results = pd.DataFrame(columns=["car", "votes", "parameters, car", "parameters, votes"], dtype=float)


def rate(name, learner, dag_args=None, **parameters):
    """Learn a classifier on both data sets, note its accuracies, and return the two models."""
    if not {"m", "backoff"} & set(parameters):
        parameters["smooth"] = 1
    models = {
        data: bnc(learner, target, frame, dag_args=dag_args, **parameters)
        for data, (target, frame) in DATA.items()
    }
    accuracies = [cv(model, DATA[data][1], folds=FOLDS[data]) for data, model in models.items()]
    results.loc[name] = accuracies + [sum(map(nparams, members(model))) for model in models.values()]
    print(f"{name}: {accuracies[0]:.3f} on car, {accuracies[1]:.3f} on votes")
    return models


for name, (target, frame) in DATA.items():
    print(f"{name}: {len(frame)} rows, {frame.shape[1] - 1} features")
    print(frame[target].value_counts(normalize=True).round(3).to_string(), "\n")

# %% [markdown]
# ## Naive Bayes
#
# **Assumes** that features are independent within each class. The class is the only parent of every
# feature, so there is no structure to learn, and a table for each feature is enough: its distribution
# within each class, counted in one pass over the data.

# %%
naive = rate("naive Bayes", "nb")
plot(naive["car"])

# %% [markdown]
# A table is read downwards: of the very good cars, what share is of high, of medium, of low safety.
# `smooth=1` adds one imagined row to each cell, so that nothing is impossible only because it was not seen.

# %%
print(cpt(naive["car"], "safety").round(3))

# %% [markdown]
# The assumption is nearly always false. Prediction often survives that, because it needs only the right
# class to come first, not the right probabilities; the probabilities are often too near to 0 and 1, since
# features that repeat each other are counted as if each were news.
#
# **Take it** as the yardstick, with few rows, with very many features, or where tables must be explained to
# others. **Read:** Minsky (1961); Domingos and Pazzani (1997), on why it works; Hand and Yu (2001).

# %% [markdown]
# ## Tree-augmented naive Bayes, by Chow and Liu
#
# **Assumes** that, within a class, each feature depends on at most one other, and that these arcs form a tree
# or, with a score that charges for parameters, a forest: a *one-dependence estimator*. Chow and Liu's algorithm finds the best such
# tree exactly: it weighs each pair of features by how much one tells about the other given the class, in
# nats, and keeps the heaviest arcs that make no cycle.
#
# In the car data every combination of features occurs once, so no feature tells anything about another.
# Within a class they do, which is what naive Bayes cannot see:

# %%
car = DATA["car"][1]
print("I(persons; safety)         =", round(cmi("persons", "safety", car), 4))
print("I(persons; safety | class) =", round(cmi("persons", "safety", car, z="class"), 4))
print("I(doors;  lug_boot | class) =", round(cmi("doors", "lug_boot", car, z="class"), 4))

# %%
tan = rate("TAN (Chow-Liu)", "tan_cl", {"score": "aic"})
plot(tan["car"])

# %% [markdown]
# The score decides how many arcs there are. With `"loglik"` all features hang in one tree, as likelihood
# always gains by an arc. `"aic"` takes 1 off for each free parameter, `"bic"` half the log of the number of rows,
# which is more; both leave out arcs that gain less than they cost. The number of arcs between features that each score keeps:

# %%
for name, (target, frame) in DATA.items():
    structures = {score: tan_cl(target, frame, score=score) for score in ("loglik", "aic", "bic")}
    arcs = {score: sum(len(f) - 2 for f in x.families if len(f) > 2) for score, x in structures.items()}
    print(name, arcs)

# %% [markdown]
# **Take it** as the first step beyond naive Bayes: it costs one pass over pairs of features, has no search
# and no luck in it, and its picture can be discussed with those who know the matter.
#
# `tan_hc` and `tan_hcsp` are *wrappers*: they look for a tree that predicts well instead of one that fits
# well, by cross-validating candidates, and take longer. `tan_hc` tries every arc in each step. `tan_hcsp` first
# looks for the best *superparent*, a feature made parent of all that have none yet, then keeps the best of its
# arcs: far fewer candidates, and often as good. **Read:** Friedman, Geiger and Goldszmidt (1997); Chow and Liu (1968); Keogh and Pazzani
# (2002).

# %%
searched = rate("TAN (hill climbing)", "tan_hc", {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0})
print(modelstring(searched["car"]))

# %% [markdown]
# ## Semi-naive Bayes
#
# **Assumes** that features fall into groups: within a group anything goes, between groups there is
# independence given the class, and some features may be left out altogether. A group acts like one feature
# whose values are all combinations, so a group of three is a large table. Groups are found by greedy search
# for cross-validated accuracy. `fssj` starts with no feature and adds or joins, `bsej` starts with naive
# Bayes and removes or joins.

# %%
backward = rate("semi-naive (bsej)", "bsej", {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0})
plot(backward["car"])

# %% [markdown]
# Forward search can be blind. On car no single feature beats the guess of the largest class, so `fssj`,
# which asks for a gain of `epsilon` a step, stops before it starts, with a warning; the features work only together. (With
# `epsilon=0`, R's choice in its vignette, it walks on over ties, and where it ends is a matter of luck.) On votes the same search finds that one issue
# is nearly enough:

# %%
with warnings.catch_warnings(action="ignore"):
    forward = rate("semi-naive (fssj)", "fssj", {"k": 5, "epsilon": 0.001, "smooth": 1, "rng": 0})
for name, model in forward.items():
    print(
        f"{name}: {modelstring(model)}, accuracy step by step {[round(s, 3) for s in greedy_scores(model)]}"
    )

# %% [markdown]
# **Take `bsej`** where a few features interact strongly and there are rows enough to fill a joint table;
# **take `fssj`** where most features are expected to be useless and a short model is wanted. Both choose by
# an accuracy that they have looked at many times, so believe only an outer cross-validation, as here.
# **Read:** Kononenko (1991); Pazzani (1996).

# %% [markdown]
# ## k-dependence Bayes
#
# **Assumes** that, within a class, each feature depends on at most k others: naive Bayes is k = 0, a tree is
# k = 1. `kdb` climbs from naive Bayes by the arc that helps accuracy most, as long as one does. With `kdbk=2`
# a table has two parents and the class:

# %%
dependent = rate("k-dependence, k = 2", "kdb", {"k": 5, "kdbk": 2, "epsilon": 0.001, "smooth": 1, "rng": 0})
plot(dependent["car"])

# %% [markdown]
# **Take it** with thousands of rows and interactions of three features. With few rows its tables have more
# cells than there are rows to fill them, and k is one more thing to choose.
#
# `kdb_mi` finds such a structure without a search, as Sahami did: features are ranked by what they tell about the class, and
# each takes as parents the k above it that tell most about it within a class, whether or not that is much. That is
# fast, and makes wide tables:

# %%
ranked = rate("k-dependence, by information", "kdb_mi", {"kdbk": 2})

# %% [markdown]
# Tables that *back off* make up for that: each is shrunk towards the one with a parent less, as far as the data asks for.
# Weights chosen by leave-one-out then see to it that features which tell the same are not counted twice.

# %%
careful = rate("… back-off, weights", "kdb_mi", {"kdbk": 4}, backoff=True, loo_weights=True, loo_parents=True)
plot(careful["votes"], class_arcs=False)

# %% [markdown]
# **Take it**, with all that and `discretize="averaged"` for numbers, where prediction counts most: it is what
# `BNCClassifier()` does, and [as accurate as a forest](accuracy.py). It takes longer to learn than a tree, and has no
# joint distribution, so no likelihood either. **Read:** Sahami (1996); Petitjean, Buntine, Webb and Zaidi (2018), on tables that back off.

# %% [markdown]
# ## Averaged one-dependence estimators
#
# **Assumes** nothing of one tree: it takes n small models, in each of which one feature is parent of all
# others, and averages their joint probabilities. There is no structure to choose, so nothing varies with
# the choice. Here is one of its six members on car, that of `buying`:

# %%
averaged = rate("AODE", "aode")
plot(members(averaged["car"])[0])

# %% [markdown]
# This is AODE as the R package has it: each member is a network with tables of its own, so it has a
# likelihood, and what a row lacks is summed out. `ande` is AODE as its authors have it. A member's first
# table is joint, P(class, superparent), a superparent takes part only where its value has been seen, and a
# feature that the row lacks neither votes nor is a child. The two predict much the same:

# %%
webb = rate("AnDE, n = 1", "ande", m=1)

# %% [markdown]
# **Take AODE** when prediction is all that counts: it is fast to learn, has no tuning, and did well on the
# average of the many data sets of its authors. Its price is memory, a table for each pair of features, and
# that there is no one picture to show. **Read:** Webb, Boughton and Wang (2005).
#
# With `n=2`, each *pair* of features is the parent of all others, which is A2DE: 15 members on car, 120 on
# votes. It sees interactions of three features within a class, where AODE sees two, and it needs no search
# for that. `n=0` is naive Bayes, so n moves from few assumptions about the data to few rows behind each
# number.

# %%
pairs = rate("A2DE, n = 2", "ande", {"n": 2}, m=1)
weighted = rate("A2DE, weighted", "ande", {"n": 2, "weights": "mi"}, m=1)
plot(weighted["car"])

# %% [markdown]
# **Take A2DE** where features interact and there are thousands of rows, or hundreds with few levels each, and
# where time does not matter so much: its cost grows with the cube of the number of features. With few
# rows, many pairs of values have hardly any; `min_count=30` lets only those vote that have been seen in 30
# rows, and where none has, single superparents vote, or naive Bayes. `weights="mi"` lets superparents that
# tell more of the class count for more; above, the picture tells how much more. **Read:** Webb, Boughton,
# Zheng, Ting and Salem (2012); Jiang and Zhang (2006).
#
# ### Values that follow from others
#
# Tables often hold a thing twice: a code and its group, a city and its country. Naive Bayes and AODE count
# such evidence twice, too. Here, car gets three columns that follow from others:

# %%
twice = car.assign(
    several=(car["persons"].astype(str) != "2").map({True: "yes", False: "no"}),
    safe=(car["safety"].astype(str) != "low").map({True: "yes", False: "no"}),
    dear=car["buying"].isin(["high", "vhigh"]).map({True: "yes", False: "no"}),
)
twice = twice[[*twice.columns.drop("class"), "class"]]
for n in (0, 1, 2):
    for subsumption in (None, 50):
        copied = bnc("ande", "class", twice, m=1, dag_args={"n": n, "subsumption": subsumption})
        print(f"n = {n}, subsumption={subsumption}: {cv(copied, twice, folds=FOLDS['car']):.3f}")

# %% [markdown]
# With `subsumption=50`, a value is left out of a row if another value of the row implies it: all training
# rows that have the other, and there are more than 50, have this one. It looks at values, not columns:
# of a pregnant patient, the sex tells nothing more, but of others it does. Here it undoes what the copies
# did, to the last digit.
#
# **Take it** wherever columns may be derived from each other; it costs little, and where nothing follows from
# anything it changes nothing. 50 is the usual limit, so that a rule is believed only if it was seen often.
# **Read:** Zheng, Webb, Suraweera and Zhu (2012).

# %% [markdown]
# ## Weighting: MANB, AWNB, WANBIA
#
# The last three keep a structure and change its tables. Each moderates what a feature may say. MANB is about
# naive Bayes; here all three are, though AWNB and WANBIA take any single network.
#
# - **MANB** averages over all naive Bayes structures with and without each arc. Features that have nothing
#   to do with the class fade out.
# - **AWNB** raises each table to a power between 0 and 1, greater the earlier decision trees test the
#   feature.
# - **WANBIA** chooses those powers together so that the class is predicted best, in conditional likelihood.
#   Of features that repeat each other, some get little weight.

# %%
manb = rate("MANB", "nb", manb_prior=0.5)
awnb = rate("AWNB", "nb", awnb_trees=10, rng=0)
wanbia = rate("WANBIA", "nb", wanbia=True)
faded = manb_arc_posterior(manb["votes"])
print("\nMANB, arcs less likely than not:", faded[faded < 0.5].round(3).to_dict())
print("WANBIA, features with no weight left:", int((feature_weights(wanbia["votes"]) < 0.005).sum()), "of 16")

# %%
try:
    plot_weights(wanbia["votes"]).figure.savefig("wanbia_weights.png", dpi=120)
except ImportError as no_matplotlib:
    print("no chart:", no_matplotlib)

# %% [markdown]
# MANB and WANBIA disagree about `immigration`: MANB asks what a feature says on its own, WANBIA what it
# adds to the others.
#
# **Take MANB** with many features and few rows, **WANBIA** where features repeat each other, **AWNB** as a
# cheap try. None can find an interaction, and on car none does better than naive Bayes. [Methods](methods.py) has
# more. **Read:** Dash and Cooper (2002), Wei, Visweswaran and Cooper (2011); Hall (2007); Zaidi, Cerquides,
# Carman and Webb (2013).

# %% [markdown]
# ## Which one to take
#
# Accuracies on the same folds, and how many free parameters the tables have, an ensemble's those of
# its members together.

# %%
shares = [frame[target].value_counts(normalize=True).max() for target, frame in DATA.values()]
results.loc["largest class"] = [*shares, 0, 0]
print(results.round(3).astype(dict.fromkeys(results.columns[2:], int)).to_string())

# %% [markdown]
# Two data sets, two orders. On car TAN, `bsej`, k-dependence, AODE and A2DE, which let features work
# together, are ahead; on votes `fssj`, AWNB and WANBIA, which pick or weigh features. `kdb_mi`, with weights or
# without, does both. What differs by one in a hundred on 232 members is two or three of them:
# [Comparing classifiers](compare.py) shows how to tell such a difference from luck.
#
# | classifier | take it when | within a class | how it is found |
# |---|---|---|---|
# | `nb` | few rows; as a yardstick | all features independent | nothing to find |
# | `tan_cl` | pairs of features interact; a picture is wanted | a tree or forest | exactly, from pairs |
# | `tan_hc`, `tan_hcsp` | accuracy matters more than fit | a tree or forest | search for accuracy |
# | `bsej`, `fssj` | a few features interact, others are useless | independent groups | search for accuracy |
# | `kdb` | many rows, interactions of three | up to k parents each | search for accuracy |
# | `kdb_mi` | very many rows, no time to search | k parents each | ranks, from pairs |
# | `kdb_mi` with `backoff`, `loo_weights`, `loo_parents` | accuracy matters most | as many parents as pay, weighted | left-out rows |
# | `aode`, `ande` | only prediction counts | a model a feature, averaged | nothing to find |
# | `ande(n=2)` | so, and interactions of three | a model a pair of features, averaged | nothing to find |
# | `ande(subsumption=50)` | columns repeat each other | without what follows from the rest | row by row |
# | `lp(manb_prior=)` | many features, few rows | independent, or no arc | exact average |
# | `lp(awnb_trees=)` | a cheap try | independent, damped | from decision trees |
# | `lp(wanbia=True)` | features repeat each other | independent, damped | optimisation |

# %% [markdown]
# ## References
#
# - Bielza, C., Larrañaga, P. (2014). Discrete Bayesian network classifiers: a survey. ACM Computing Surveys
#   47. *The map of the whole field.*
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
