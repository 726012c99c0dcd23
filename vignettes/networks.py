# %% [markdown]
# # General networks
#
# A Bayesian network describes the joint distribution of all variables. On this page you learn general networks, in
# which the class is a variable like any other, compare them with classifiers that give the class a special role, and
# find groups of rows without any class. You should know [the basic classifiers](overview.py). It takes fifteen minutes
# and needs scikit-learn.
#
# ```{index} ! d-separation, ! Markov blanket, ! latent classes
# ```

# %%
import pandas as pd
from bnclassify import (
    ban,
    chisq_dn,
    chow_liu,
    cloglik,
    cv,
    d_separated,
    discretize,
    families,
    hc,
    kdb_mi,
    lca,
    load_car,
    load_pima,
    load_voting,
    loglik,
    lp,
    markov_blanket,
    modelstring,
    narcs,
    nb,
    network_score,
    plot,
    predict,
    query,
    search_steps,
    stratified_folds,
    tan_cl,
)
from bnclassify.models import DN

try:
    from sklearn.datasets import load_digits
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn"
    ) from None

# %% [markdown]
# ## The data
#
# `car` grades cars. `votes` contains members of the US House of Representatives and their party. `pima` contains eight
# discretized measurements of women and the result of a diabetes test. `digits` contains handwritten digits with 64 binary
# pixels each. (The measurements of `pima` are discretized once on all rows, which favors all learners equally.)

# %%
car, votes = load_car(), load_voting().dropna()
measured = load_pima()
measured = measured.fillna(measured.mean(numeric_only=True))  # as in the paper
numbers = [column for column in measured if column != "diabetes"]
pima, cuts = discretize(measured, class_var="diabetes", columns=numbers)
scans = load_digits(as_frame=True)
ink = (scans.data >= 8).replace({True: "ink", False: "paper"})
blank = (ink == "paper").all()
digits = ink.loc[:, ~blank].assign(digit=scans.target.astype(str))
DATA = {
    "car": ("class", car),
    "votes": ("Class", votes),
    "pima": ("diabetes", pima),
    "digits": ("digit", digits),
}
for name, (_, frame) in DATA.items():
    print(f"{name}: {len(frame)} rows, {frame.shape[1] - 1} features")

# %% [markdown]
# ## A tree over all variables
#
# The algorithm of Chow and Liu finds the tree over all variables, including the class, with the largest likelihood. The weight
# of a pair is its mutual information I(X;Y), and the tree is the maximum spanning tree. Given the neighbors of the class in
# this tree, the class is independent of all other features; another sample may have other neighbors.

# %%
tree = chow_liu("Class", votes)
print("features joined to the party:", markov_blanket(tree, "Class"))
plot(tree)

# %% [markdown]
# The neighbors of a variable in a tree are its *Markov blanket*: given their values, all other variables are uninformative
# about it. The prediction of the class depends only on them. TAN makes the class a parent of every feature instead, so that
# its Markov blanket contains all features:

# %%
print(
    "features in the Markov blanket in TAN:",
    len(markov_blanket(tan_cl("Class", votes), "Class")),
)

# %% [markdown]
# ## General networks by hill climbing
#
# `hc` allows any number of parents. It starts from a network without arcs. In each step, it adds, deletes or reverses the one
# arc that increases the score most, until no change increases it. BIC is the log-likelihood minus ½ ln N per free parameter.
# `search_steps` returns the steps.

# %%
network = hc("class", car)
print(search_steps(network).round(1).to_string(index=False))
plot(network)

# %% [markdown]
# ## Independence in a network: d-separation
#
# In this network, the class has the parents safety and persons, and prices have the class as a parent. The arcs say which
# variables are independent of each other. In a path, information passes along a chain (safety → class → buying) and from
# a common parent (buying ← class → maint), unless the variable between is known. Where two arcs meet
# (safety → class ← persons), it is the other way round: it passes only if this variable, or a descendant of it, is known.
# Two variables are *d-separated* if no path lets information pass.

# %%
print("safety, persons:", d_separated(network, "safety", "persons"))
print(
    "safety, persons, given the class:",
    d_separated(network, "safety", "persons", given="class"),
)
print(
    "buying, maint, given the class:",
    d_separated(network, "buying", "maint", given="class"),
)


# %% tags=["remove-input"]
class Paths:
    """Pictures of a path, in which a known variable is gray and a blocked path is dashed."""

    def _repr_html_(self):
        pictures = []
        for ends in (("buying", "maint"), ("safety", "persons")):
            for given in ((), ("class",)):
                blocked = d_separated(network, *ends, given=given)
                path = plot(network, fontsize=14)
                path.clear(keep_attrs=True)
                path.attr("graph", label="", rankdir="LR")
                for name in given:
                    path.node(name, style="filled", fillcolor="#c8ced4")
                path.attr("edge", color="#c2410c" if blocked else "#1f4e79")
                path.attr("edge", style="dashed" if blocked else "bold")
                for end in ends:
                    down = "class" in families(network)[end][1:]
                    path.edge(*(("class", end) if down else (end, "class")))
                text = path.pipe(format="svg", encoding="utf-8")
                state = f"class {'known' if given else 'unknown'}: "
                state += "blocked" if blocked else "open"
                role = f'<svg role="img" aria-label="{" and ".join(ends)}, {state}"'
                svg = text[text.find("<svg") :].replace("<svg", role, 1)
                pictures.append(
                    f"<figure>{svg}<figcaption>{state}</figcaption></figure>"
                )
        columns = "grid-template-columns: 1fr 1fr"
        return f'<div class="graphs" style="{columns}">{"".join(pictures)}</div>'


Paths()

# %% [markdown]
# Safety and the number of persons are independent among all cars, but not among cars of one grade: of two good cars, the
# less safe one probably seats more people. The two prices depend on each other only because both depend on the grade.
#
# ## Prior knowledge, and other searches
#
# The search treats the class like any other variable. You can require or forbid arcs, for example because of temporal order, and
# `max_parents` limits the size of tables. Here, arcs from the class to the prices are forbidden. The class already has
# two parents, so the prices have no arcs:

# %%
told = hc(
    "class", car, max_parents=2, forbidden=[("class", "buying"), ("class", "maint")]
)
for family in families(told).values():
    print(
        " <- ".join([family[0], ", ".join(family[1:])]) if family[1:] else family[0]
    )

# %% [markdown]
# The other learners accept such constraints, too. In `tan_cl` and `chow_liu`, where the directions of arcs depend on
# the root, `required` and `forbidden` are pairs of features. Suppose that a dealer sets the price and the cost of
# maintenance together, and that we do not want an arc between price and safety:

# %%
free = tan_cl("class", car)
constrained = tan_cl(
    "class", car, required=[("buying", "maint")], forbidden=[("buying", "safety")]
)
for name, tree in (("free", free), ("constrained", constrained)):
    print(
        f"{name:12} {network_score(tree, car, score='loglik'):.1f} ",
        modelstring(tree),
    )

# %% [markdown]
# The constraints lower the log-likelihood by 9 nats: safety now has maint as its parent instead of buying.
#
# Hill climbing stops at the first network that no single change improves. Tabu search continues with the change that
# decreases the score least, avoids the last 10 networks, and returns the best network found. `restarts` makes random
# changes and climbs again.

# %%
searches = {"hill climbing": network, "tabu search": hc("class", car, tabu=10)}
searches["20 restarts"] = hc("class", car, restarts=20, rng=1)
for name, found in searches.items():
    print(
        f"{name:14} {network_score(found, car):.1f}",
        f"{len(search_steps(found)):3} steps",
        modelstring(found),
    )

# %% [markdown]
# Both find a network with a BIC that is 13 higher, in which the two prices are the parents of the class, and persons and safety
# are its children.

# %% [markdown]
# Other scores are AIC, which has a smaller penalty, K2, and BDe, the marginal likelihood under a prior with an equivalent
# sample size of `ess` rows. The result depends on this choice, so report it together with the network:

# %%
for size in (1, 5, 20, 100):
    learned = hc("Class", votes, score="bde", ess=size)
    print(
        f"ess = {size:3}: {narcs(learned)} arcs,",
        len(markov_blanket(learned, "Class")),
        "in the blanket",
    )

# %% [markdown]
# ## The classical experiment
#
# Friedman, Geiger and Goldszmidt (1997) compared general networks with naive Bayes and with TAN, which their paper introduced.
# We repeat the comparison by cross-validation on the same folds:

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
    models = {
        name: lp(learn(target, frame), frame, smooth=1)
        for name, learn in LEARNERS.items()
    }
    folds = stratified_folds(frame[target], 5 if data == "digits" else 10, rng=1)
    accuracy[data] = cv(models, frame, folds=folds)
    blankets[data] = {
        name: len(markov_blanket(model, target)) for name, model in models.items()
    }
    joint = {
        name: model for name, model in models.items() if not isinstance(model, DN)
    }
    fit[data] = {
        name: (loglik(model, frame), cloglik(model, frame))
        for name, model in joint.items()
    }
print(pd.DataFrame(accuracy).round(3).to_string(), "\n")
print("features in the blanket of the class")
print(pd.DataFrame(blankets).to_string())

# %% [markdown]
# On votes, where features are correlated, general networks do better than their reputation suggests: naive Bayes counts
# every correlated feature, while a Markov blanket of five features does not. On digits they are more accurate than
# naive Bayes but less accurate than TAN and BAN. This is the classical finding: with many features and classes, the
# search omits arcs between the class and features that would help prediction. A network with a higher likelihood can
# predict worse, because the log-likelihood has two parts,
#
# $$
# \ln P(\text{class}, \text{features}) = \ln P(\text{class} \mid \text{features}) + \ln P(\text{features})
# $$
#
# Only the first part matters for prediction, and it is a small share of the total:

# %%
parts = pd.DataFrame(fit["digits"], index=["all", "of the class"]).T.round(0)
parts["share"] = (parts["of the class"] / parts["all"]).round(3)
print(parts.to_string())

# %% [markdown]
# A search that maximizes the total can reduce the first part to increase the second. There are two remedies: make the
# class a parent of every feature and learn the arcs between features (`tan_cl`, `ban`, `kdb_mi`), or maximize
# cross-validated accuracy (`tan_hc`, `kdb`). On car, no arc between features improves the BIC, yet two parents per
# feature (`kdb_mi`) capture the interactions. No score is best for every data set.
#
# ## Directions
#
# Networks with the same conditional independences have the same score (except K2), so the direction of an arc need not
# be meaningful. With BIC, a tree can have any root:

# %%
for root in ("class", "safety"):
    print(
        f"root {root}:",
        round(network_score(chow_liu("class", car, root=root), car), 3),
    )

# %% [markdown]
# If an arc and its reverse have the same gain, `hc` and `ban` choose the one that comes first in column order. This choice can
# affect later steps, as in the example with `pima` below.
#
# ## Latent classes
#
# Latent class analysis finds groups of rows without a class. It is a naive Bayes whose class is not observed, estimated
# by EM from random starts. Here it finds groups of members from their votes alone. `k=range(2, 9)` compares two to
# eight groups by BIC:

# %%
ballots = load_voting().drop(columns="Class")
groups = lca("group", ballots, k=range(2, 9), rng=0)
print(search_steps(groups).round(1).to_string())

# %% [markdown]
# BIC is largest, which is best, for five groups: within the parties, the votes are still dependent. If the largest
# number had won, it would be a reason to try more. (With few features of few levels, a model can have more parameters
# than the data have combinations; then different tables have the same likelihood, and the groups mean nothing. Compare
# `nparams(groups)` with the number of combinations.) Two groups correspond to the parties:

# %%
two = lca("group", ballots, k=2, rng=0)
print(pd.crosstab(predict(two, ballots), load_voting()["Class"]).to_string())
unusual = loglik(two, ballots, by_row=True).nsmallest(3)
print("\nThe most unusual members:", unusual.round(1).to_dict())

# %% [markdown]
# The party was not used, but 87 % of members are in the group of their party. `explain`, `cpt` and `plot` work as for
# any other model, and `loglik(..., by_row=True)` finds unusual rows. (A row with missing votes has fewer terms and
# therefore a larger log-likelihood, so compare rows with the same number of votes.)
#
# ## Dependency networks
#
# In the dependency networks of Gámez, Mateo and Puerta (2006), each feature chooses its parents separately, by tests of
# independence given the class. Two features can choose each other; such a pair is drawn as one arc with two heads.

# %%
by_tests = chisq_dn("diabetes", pima)
plot(by_tests)

# %% [markdown]
# Table 3 of the paper contains the Markov blankets of a BAN for these data, Table 4 the links of a dependency network. Here the
# columns are in reverse order, because the first arc, between `pregnancies` and `age`, has the same gain in both directions, and only
# one of them leads to the network of the paper. Table 3 is reproduced exactly.

# %%
by_score = ban("diabetes", pima[pima.columns[::-1]])


def linked(structure, feature):
    """Return the features that are joined to a feature by an arc."""
    above = {v: set(family[1:]) for v, family in families(structure).items()}
    return {v for v in numbers if v in above[feature] or feature in above[v]}


found = {
    "BAN, blankets (Table 3)": {
        v: set(markov_blanket(by_score, v)) - {"diabetes"} for v in numbers
    },
    "tests, links (Table 4)": {v: linked(by_tests, v) for v in numbers},
}
print(pd.DataFrame(found).map(lambda names: ", ".join(sorted(names))).to_string())

# %%
plot(by_score)

# %% [markdown]
# Seven of the eight links in Table 4 are reproduced. Here `glucose` is linked with `pressure`; in the paper,
# `pregnancies` is linked with `pressure`, which no test accepts given `age`.
#
# The product of the tables of a dependency network is not a joint distribution, because its arcs form cycles. The model
# predicts by normalizing the product over the classes, and sums it over the values of missing features. `query`, `sample`
# and `impute(draws=...)` draw the class from this posterior, and then the features by ordered Gibbs sampling (Heckerman
# and others, 2000), one after the other given all others. So the answers of `query` are proportions of draws, here with
# standard errors of at most 0.005:

# %%
answers = query(
    lp(by_tests, pima, smooth=1),
    "glucose",
    {"diabetes": "yes"},
    draws=10_000,
    rng=0,
)
counted = pima.loc[pima["diabetes"] == "yes", "glucose"].value_counts(
    normalize=True
)
print(pd.DataFrame({"draws": answers, "data": counted}).round(3))

# %% [markdown]
# The draws agree with the proportions in the data to within 0.014. If two features are parents of each other, the
# product counts their dependence twice, and the draws count it once.

# %% [markdown]
# ## Summary
#
# | learner | graph | found by | when to use it |
# |---|---|---|---|
# | `chow_liu` | a tree over all variables | exactly, from pairs | for an overview of the data |
# | `hc` | any directed acyclic graph | hill climbing on a score | if all variables are of interest |
# | `tan_cl` | the class and a forest | exactly, from pairs | for prediction at low cost |
# | `ban` | the class and any acyclic graph | hill climbing on a score | for prediction, with enough rows |
# | `kdb_mi` | the class and k parents per feature | ranking, no search | for prediction, with many rows |
# | `chisq_dn` | the class and arcs in any direction | tests of independence | to study dependences |

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
