# %% [markdown]
# # Networks: with and without regard to the class
#
# A Bayesian network describes all variables at once; a classifier only has to tell one from the others.
# Here networks are learned from counts in both spirits, the classical experiment between them is done
# again, and a network is asked more than which class a row has. What a structure is, and the plain
# classifiers, are on [another page](overview.py).

# %%
from pathlib import Path

import pandas as pd

from bnclassify import (
    DN,
    ban,
    chisq_dn,
    chow_liu,
    cloglik,
    cv,
    discretize,
    families,
    hc,
    impute,
    kdb_mi,
    load_car,
    load_voting,
    loglik,
    lp,
    markov_blanket,
    narcs,
    nb,
    network_score,
    plot,
    query,
    sample,
    search_steps,
    stratified_folds,
    tan_cl,
)

try:
    from sklearn.datasets import load_digits
except ImportError as missing:
    raise SystemExit(f"{missing}; this vignette needs: pip install 'pybnclassify[vignettes]'") from None

# %% [markdown]
# ## The data
#
# `car` grades cars, `votes` are members of Congress and their party, `pima` are women, tested for diabetes
# or not, with eight measurements that are cut into intervals, and `digits` are numerals written by hand, 64
# points of ink or paper each. (The cuts of `pima` are made once, on all rows, which flatters all alike.)

# %%
car, votes = load_car(), load_voting().dropna()
measured = pd.read_csv(Path(__file__).parents[1] / "data" / "pima_clean.csv")
numbers = [column for column in measured if column != "class"]
pima, cuts = discretize(measured, class_var="class", columns=numbers)
scans = load_digits(as_frame=True)
ink = (scans.data >= 8).replace({True: "ink", False: "paper"})
blank = (ink == "paper").all()
digits = ink.loc[:, ~blank].assign(digit=scans.target.astype(str))
DATA = {
    "car": ("class", car),
    "votes": ("Class", votes),
    "pima": ("class", pima),
    "digits": ("digit", digits),
}
for name, (_, frame) in DATA.items():
    print(f"{name}: {len(frame)} rows, {frame.shape[1] - 1} features")

# %% [markdown]
# ## A tree over all variables
#
# Chow and Liu's algorithm joins all variables, the class among them, by the tree that describes the data
# best. The weight of a pair is its mutual information, I(X;Y), and the tree consists of the heaviest edges
# that do not form a cycle. The neighbors of the class make it independent of all other features, in this
# tree; another sample may have other neighbors.

# %%
tree = chow_liu("Class", votes)
print("features joined to the party:", markov_blanket(tree, "Class"))
plot(tree)

# %% [markdown]
# If a variable's neighbours in a network are known, no other variable says more of it: they are its *Markov
# blanket*. In a tree these are few, and a prediction rests on them alone, whatever else is known. TAN
# makes the class a parent of every feature instead, so that each has a say, and grows the tree among these:

# %%
print("features with a say in TAN:", len(markov_blanket(tan_cl("Class", votes), "Class")))

# %% [markdown]
# ## Any network, by hill climbing
#
# `hc` allows any number of parents. From a network without arcs it changes the one arc whose addition,
# deletion or reversal raises a score most, until no change does. The score balances fit against size: BIC is
# the log-likelihood less ½ ln N for each free number. The steps are kept.

# %%
network = hc("class", car)
print(search_steps(network).round(1).to_string(index=False))
plot(network)

# %% [markdown]
# The class of a car has parents here: safety and the number of persons decide, and prices go with the class.
# Nobody told the search which variable is the class. Arcs can be required or forbidden, such as those
# against the course of time, and `max_parents` keeps tables small. Here prices may not depend on the class,
# and the class has two parents already, so prices are left alone:

# %%
told = hc("class", car, max_parents=2, forbidden=[("class", "buying"), ("class", "maint")])
for family in families(told).values():
    print(" <- ".join([family[0], ", ".join(family[1:])]) if family[1:] else family[0])

# %% [markdown]
# The other scores are AIC, which charges less, K2, and BDe, the probability of the data averaged over all
# tables under a prior that is worth `ess` rows. More of those give more arcs, which is worth knowing before
# one believes a single picture:

# %%
for size in (1, 5, 20, 100):
    learned = hc("Class", votes, score="bde", ess=size)
    print(f"ess = {size:3}: {narcs(learned)} arcs,", len(markov_blanket(learned, "Class")), "in the blanket")

# %% [markdown]
# ## The classical experiment
#
# Friedman, Geiger and Goldszmidt (1997) set networks learned without regard to the class against naive
# Bayes, and against TAN, which their paper brought in. The same again, by cross-validation on the same folds:

# %%
LEARNERS = {
    "naive Bayes": nb,
    "tree over all (Chow-Liu)": chow_liu,
    "general network (BIC)": hc,
    "TAN (BIC)": lambda target, frame: tan_cl(target, frame, score="bic"),
    "TAN (likelihood)": tan_cl,
    "BAN (BIC)": ban,
    "k-dependence, k = 2": kdb_mi,
    "dependency network": chisq_dn,
}
accuracy, blankets, fit = {}, {}, {}
for data, (target, frame) in DATA.items():
    models = {name: lp(learn(target, frame), frame, smooth=1) for name, learn in LEARNERS.items()}
    folds = stratified_folds(frame[target], 5 if data == "digits" else 10, rng=1)
    accuracy[data] = cv(models, frame, folds=folds)
    blankets[data] = {name: len(markov_blanket(model, target)) for name, model in models.items()}
    joint = {name: model for name, model in models.items() if not isinstance(model, DN)}
    fit[data] = {name: (loglik(model, frame), cloglik(model, frame)) for name, model in joint.items()}
print(pd.DataFrame(accuracy).round(3).to_string(), "\n")
print("features in the blanket of the class")
print(pd.DataFrame(blankets).to_string())

# %% [markdown]
# General networks are better than their name where features repeat each other, as votes do: naive Bayes
# counts every repetition, a blanket of five does not. On digits they beat naive Bayes too, yet TAN and BAN
# are ahead, and that is the classical finding: with many features and classes, the search leaves out arcs
# to the class that would help prediction, 18 points of 54 here. Why should a network that describes the data
# better predict worse? Split the log-likelihood in two,
#
# $$
# \ln P(\text{class}, \text{features}) = \ln P(\text{class} \mid \text{features}) + \ln P(\text{features})
# $$
#
# and see how small a part the first is, which alone matters for prediction:

# %%
parts = pd.DataFrame(fit["digits"], index=["all", "of the class"]).T.round(0)
parts["share"] = (parts["of the class"] / parts["all"]).round(3)
print(parts.to_string())

# %% [markdown]
# A search that maximises the whole will pay with the first part for the second. Two ways out: keep the class
# a parent of every feature and spend arcs among these (`tan_cl`, `ban`, `kdb_mi`), or score what matters
# (`tan_hc`, `kdb`: cross-validated accuracy). On car BIC finds no arc worth its numbers, but two parents
# for each feature, unasked (`kdb_mi`), catch how they work together: no score is right everywhere.
#
# ## Directions
#
# Networks with the same conditional independences have the same score, except for K2, so the direction of an
# arc need not mean anything. With BIC, a tree can have any root:

# %%
for root in ("class", "safety"):
    print(f"root {root}:", round(network_score(chow_liu("class", car, root=root), car), 3))

# %% [markdown]
# Of an arc and its reverse that gain the same, `hc` and `ban` take the one that comes first in the order of
# the columns. That may decide what can come after it, as below with `pima`.
#
# ## Ask a network anything
#
# A network with tables is a joint distribution. `query` gives that of any variables, given any others,
# exactly; what is not mentioned is summed out. Which party were those who voted for the MX missile but
# against the freeze of physicians' fees? And how did the parties vote on immigration among those for the
# missile?

# %%
x = lp(ban("Class", votes), votes, smooth=1)
print(query(x, "Class", {"mx_missile": "y", "physician_fee_freeze": "n"}).round(3).to_string(), "\n")
print(query(x, ["Class", "immigration"], {"mx_missile": "y"}).round(3).to_string())

# %% [markdown]
# `sample` draws rows. They have the dependences that the network knows, and no others, so one look at what it
# has understood is whether the drawn rows look like the data (`smooth=1` pulls them a little to the middle):

# %%
drawn = sample(x, 10_000, rng=0)
pair = ["crime", "education_spending"]
shares = {
    name: table.value_counts(pair, normalize=True) for name, table in (("votes", votes), ("drawn", drawn))
}
print(pd.DataFrame(shares).round(3).to_string())

# %% [markdown]
# `impute` fills in what is missing, all of it in a row at once, by what is likeliest together. To learn from
# incomplete rows EM is better, since it does not take a guess for certain.

# %%
everyone = load_voting()
whole = impute(x, everyone)
row = everyone.index[everyone.isna().sum(axis=1) == 4][0]
gaps = everyone.columns[everyone.loc[row].isna()]
print(int(everyone.isna().sum().sum()), "values were missing; of member", row, "now:")
print(whole.loc[row, gaps].to_string())

# %% [markdown]
# ## Dependency networks
#
# Gámez, Mateo and Puerta (2006) let each feature choose its parents alone, by tests of independence given the
# class. As nobody watches for cycles, two features may choose each other; such a pair is drawn as one
# arc with two heads.

# %%
by_tests = chisq_dn("class", pima)
plot(by_tests)

# %% [markdown]
# Their Table 3 has the Markov blankets of a BAN on these data, their Table 4 the features that a dependency
# network links. The columns stand in opposite order here, because the first move, between `preg` and
# `age`, gains the same both ways, and only one of these leads to their network. Table 3 comes out exactly.

# %%
by_score = ban("class", pima[pima.columns[::-1]])


def linked(structure, feature):
    """The features at the other end of an arc, whichever way it points."""
    above = {v: set(family[1:]) for v, family in families(structure).items()}
    return {v for v in numbers if v in above[feature] or feature in above[v]}


found = {
    "BAN, blankets (Table 3)": {v: set(markov_blanket(by_score, v)) - {"class"} for v in numbers},
    "tests, links (Table 4)": {v: linked(by_tests, v) for v in numbers},
}
print(pd.DataFrame(found).map(lambda names: ", ".join(sorted(names))).to_string())

# %%
plot(by_score)

# %% [markdown]
# Of the eight links in Table 4 seven are here; `plas` is linked with `pres` where the paper has `preg` with
# `pres`, which no test accepts once `age` is known.
#
# The product of the tables is no joint distribution. So a dependency network predicts, by the product
# normalised over the classes, and explains, but it answers no queries, and rows must be complete:

# %%
try:
    query(lp(by_tests, pima, smooth=1), "plas")
except TypeError as refused:
    print(refused)

# %% [markdown]
# ## Which to take
#
# | learner | graph | found by | take it when |
# |---|---|---|---|
# | `chow_liu` | a tree over all variables | exactly, from pairs | for a first picture of the data |
# | `hc` | any acyclic graph | hill climbing on a score | where all variables are of interest |
# | `tan_cl` | the class and a forest | exactly, from pairs | to predict, at little cost |
# | `ban` | the class and any acyclic graph | hill climbing on a score | to predict, with rows enough |
# | `kdb_mi` | the class and k parents each | ranks, no search | to predict, with many rows |
# | `chisq_dn` | the class and arcs in any direction | tests of independence | for its graph |

# %% [markdown]
# ## References
#
# - Buntine, W. (1991). Theory refinement on Bayesian networks. UAI 1991.
# - Chow, C. K., Liu, C. N. (1968). Approximating discrete probability distributions with dependence trees.
#   IEEE Transactions on Information Theory 14.
# - Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning 29.
# - Gámez, J. A., Mateo, J. L., Puerta, J. M. (2006). Dependency networks based classifiers: learning models
#   by using independence tests. PGM 2006.
# - Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the combination of
#   knowledge and statistical data. Machine Learning 20.
# - Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.
