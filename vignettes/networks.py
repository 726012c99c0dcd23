# %% [markdown]
# # Networks and queries
#
# A Bayesian network describes the joint distribution of all variables, so it answers more questions than "which class?". On
# this page you learn networks in which the class is a variable like any other, find groups of rows without a class, and ask for
# the distribution of any variable, for samples, and for missing values. You should know [Choosing a classifier](overview.py).
# It takes twenty minutes.
#
# ```{index} ! d-separation, ! Markov blanket, ! latent classes, ! imputation, ! multiple imputation
# ```

# %%
import math

import numpy as np
import pandas as pd
from bnclassify import (
    ban,
    chisq_dn,
    chow_liu,
    cloglik,
    cpt,
    cv,
    d_separated,
    families,
    from_tables,
    hc,
    impute,
    kdb_mi,
    lca,
    load_car,
    load_voting,
    loglik,
    lp,
    markov_blanket,
    modelstring,
    nb,
    network_score,
    plot,
    predict,
    query,
    sample,
    search_steps,
    stratified_folds,
    tan_cl,
    update,
    with_table,
)

# %% [markdown]
# `car` grades 1,728 cars. `votes` contains 232 members of the US House of Representatives and their party.

# %%
car, votes = load_car(), load_voting().dropna()

# %% [markdown]
# ## A tree over all variables
#
# The algorithm of Chow and Liu finds the tree over all variables, including the class, with the largest likelihood.

# %%
tree = chow_liu("Class", votes)
print("features joined to the party:", markov_blanket(tree, "Class"))

# %%
plot(tree)

# %% [markdown]
# The neighbors of a variable in a tree are its *Markov blanket*: given their values, all other variables are uninformative
# about it. In TAN, the class is a parent of every feature instead, so its Markov blanket contains all features:

# %%
print(
    "features in the Markov blanket in TAN:",
    len(markov_blanket(tan_cl("Class", votes), "Class")),
)

# %% [markdown]
# ## General networks by hill climbing
#
# `hc` allows any number of parents. In each step, it adds, deletes or reverses the one arc that increases the score most, until
# no change increases it. BIC is the log-likelihood minus ½ ln N per free parameter.

# %%
network = hc("class", car)
print(search_steps(network).round(1).to_string(index=False))
plot(network)

# %% [markdown]
# ## Independence in a network: d-separation
#
# In this network, the class has the parents safety and persons, and prices have the class as a parent. Information passes along
# a chain (safety → class → buying) and from a common parent (buying ← class → maint), unless the variable between is known.
# Where two arcs meet (safety → class ← persons), it passes only if this variable, or a descendant of it, is known. Two
# variables are *d-separated* if no path lets information pass.

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


# %% [markdown]
# Safety and the number of persons are independent among all cars, but not among cars of one grade: of two good cars, the less
# safe one probably seats more people. The two prices depend on each other only because both depend on the grade.
#
# ## Prior knowledge, and other searches
#
# You can require or forbid arcs, for example because of temporal order, and `max_parents` limits the size of tables. Here, arcs
# from the class to the prices are forbidden:

# %%
told = hc(
    "class", car, max_parents=2, forbidden=[("class", "buying"), ("class", "maint")]
)
for family in families(told).values():
    print(
        " <- ".join([family[0], ", ".join(family[1:])]) if family[1:] else family[0]
    )

# %% [markdown]
# Other learners accept such constraints, too; in `tan_cl` and `chow_liu`, they are pairs of features without a direction.
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
# ## The classical experiment
#
# Friedman, Geiger and Goldszmidt (1997) compared general networks with naive Bayes and TAN. We repeat it on two data sets:

# %%
LEARNERS = {
    "naive Bayes": nb,
    "tree over all (Chow-Liu)": chow_liu,
    "general network (BIC)": hc,
    "TAN (likelihood)": tan_cl,
    "BAN (BIC)": ban,
    "k-dependence, k = 2": kdb_mi,
}
found = {}
for name, target, frame in (("car", "class", car), ("votes", "Class", votes)):
    models = {
        learner: lp(learn(target, frame), frame, smooth=1)
        for learner, learn in LEARNERS.items()
    }
    folds = stratified_folds(frame[target], 10, rng=1)
    found[name, "accuracy"] = cv(models, frame, folds=folds)
    for learner, x in models.items():
        column = found.setdefault((name, "blanket"), {})
        column[learner] = len(markov_blanket(x, target))
        column = found.setdefault((name, "share"), {})
        column[learner] = cloglik(x, frame) / loglik(x, frame)
print(pd.DataFrame(found).round(3).to_string())

# %% [markdown]
# On votes, the general network is more accurate than naive Bayes; on car it is among the least accurate. A network with a
# higher likelihood can predict worse, because the log-likelihood has two parts,
#
# $$
# \ln P(\text{class}, \text{features}) = \ln P(\text{class} \mid \text{features}) + \ln P(\text{features})
# $$
#
# and only the first, a small *share* of the total, matters for prediction. There are two remedies: make the class a parent of
# every feature (`tan_cl`, `ban`, `kdb_mi`), or maximize cross-validated accuracy (`tan_hc`, `kdb`).
#
# ## Latent classes
#
# Latent class analysis finds groups of rows without a class. It is a naive Bayes whose class is not observed, estimated by EM
# from random starts. `k=range(2, 9)` compares two to eight groups by BIC:

# %%
ballots = load_voting().drop(columns="Class")
groups = lca("group", ballots, k=range(2, 9), rng=0)
print(search_steps(groups).round(1).to_string())

# %% [markdown]
# BIC is largest, which is best, for five groups. (Groups mean nothing if the model has more parameters, `nparams(groups)`, than
# the data have combinations.) Two groups correspond to the parties:

# %%
two = lca("group", ballots, k=2, rng=0)
print(pd.crosstab(predict(two, ballots), load_voting()["Class"]).to_string())
unusual = loglik(two, ballots, by_row=True).nsmallest(3)
print("\nThe most unusual members:", unusual.round(1).to_dict())

# %% [markdown]
# The party was not used, but 87 % of members are in the group of their party. `loglik(..., by_row=True)` finds unusual rows;
# compare rows with the same number of missing votes, because each vote adds a term.
#
# ## Dependency networks
#
# In a dependency network (Gámez, Mateo and Puerta 2006), each feature chooses its parents separately, by tests of independence
# given the class. Two features can choose each other, so the product of the tables is not a joint distribution: `query`,
# `sample` and `impute` use Gibbs sampling (Heckerman et al. 2000), and their answers are proportions of draws.

# %%
by_tests = chisq_dn("class", car)
plot(by_tests)

# %%
drawn = query(
    lp(by_tests, car, smooth=1), "safety", {"class": "vgood"}, draws=10_000, rng=0
)
print(drawn.round(3).to_dict())

# %% [markdown]
# Very good cars mostly have high safety.
#
# ## Queries: any variable, given any others
#
# `query` returns the exact distribution of any variables given any others. The first query is the party of members who voted
# for the MX missile and against the physician fee freeze; the second is the party and the vote on immigration of those who
# voted for the missile.

# %%
x = lp(ban("Class", votes), votes, smooth=1)
print(
    query(x, "Class", {"mx_missile": "y", "physician_fee_freeze": "n"})
    .round(3)
    .to_string(),
    "\n",
)
print(query(x, ["Class", "immigration"], {"mx_missile": "y"}).round(3).to_string())

# %% [markdown]
# Members who voted for the missile and against the freeze are democrats with probability 0.988.
#
# ## Uncertain evidence
#
# Suppose that the vote on the missile is known only from a newspaper that reports 80 % of the votes correctly. A dict contains
# the likelihood of the observation under each label:

# %%
print("voted:   ", query(x, "Class", {"mx_missile": "y"}).round(3).to_dict())
print(
    "reported:",
    query(x, "Class", {"mx_missile": {"y": 0.8, "n": 0.2}}).round(3).to_dict(),
)
print("unknown: ", query(x, "Class").round(3).to_dict())

# %% [markdown]
# The posterior given the report lies between the other two. A list contains the possible labels. `attrs["log_evidence"]` is the
# log probability of the evidence:

# %%
grades = lp(hc("class", car), car, smooth=1)
found = query(grades, "class", {"safety": "high", "doors": ["2", "3"]})
print(
    found.round(3).to_dict(),
    "P(evidence):",
    round(math.exp(found.attrs["log_evidence"]), 3),
)

# %% [markdown]
# A sixth of the cars have these properties. A likelihood is not a probability of the label. If a source states *probabilities*,
# for example that 70 % of the members of a committee voted for the missile, divide them by the probabilities of the model,
# `query(x, "mx_missile")`: this gives equivalent likelihoods (Jeffrey's rule).
#
# ## Samples and imputation
#
# `sample` draws rows from the joint distribution. To check the network, compare drawn rows with the data:

# %%
drawn = sample(x, 10_000, rng=0)
pair = ["crime", "education_spending"]
shares = {
    name: table.value_counts(pair, normalize=True)
    for name, table in (("votes", votes), ("drawn", drawn))
}
print(pd.DataFrame(shares).round(3).to_string())

# %% [markdown]
# The proportions agree within 0.04. With `evidence=`, `sample` draws from the distribution given what is known.
#
# `impute` replaces all missing values of a row by their jointly most probable values:

# %%
everyone = load_voting()
whole = impute(x, everyone)
row = everyone.index[everyone.isna().sum(axis=1) == 4][0]
gaps = everyone.columns[everyone.loc[row].isna()]
print(
    int(everyone.isna().sum().sum()), "values were missing; of member", row, "now:"
)
print(whole.loc[row, gaps].to_string())

# %% [markdown]
# ### Multiple imputation
#
# Filled-in values look more certain than they are. For *multiple imputation*, draw several completions with `draws=`, each from
# tables that are drawn from their posterior, compute the estimate in each, and pool the results by Rubin's rules. We estimate
# the share of democrats in favor of the act on exports to South Africa, on which nearly a third of them have no known position:

# %%
vote, m = "export_administration_act_south_africa", 20
model = lp(tan_cl("Class", everyone), everyone, smooth=1)
completed = impute(model, everyone, draws=m, rng=0)
yes = completed.loc[completed["Class"] == "democrat", vote] == "y"
estimates = yes.groupby(level="draw").mean()
variances = estimates * (1 - estimates) / len(yes.loc[0])
within, between = variances.mean(), estimates.var()
total = within + (1 + 1 / m) * between
known = everyone.loc[everyone["Class"] == "democrat", vote].dropna() == "y"
print(f"share: {np.mean(estimates):.3f}, standard error {np.sqrt(total):.3f}")
print(f"variance within completions {within:.5f}, between them {between:.5f}")
print(f"known votes only: {known.mean():.3f} of {len(known)} members")

# %% [markdown]
# The pooled variance is the mean variance within the completions plus (1 + 1/m) times that between them. The standard error is
# 0.016; from the known votes alone it would be 0.018, because the other votes contain information. Values must be missing at
# random.

# %% [markdown]
# ## Given tables
#
# `with_table` replaces one table by expert knowledge, in the form in which `cpt` returns it. Suppose that both parties
# have the same number of members in the next Congress:

# %%
even = cpt(x, "Class") * 0 + 0.5
print(query(with_table(x, "Class", even), "mx_missile").round(3).to_string())

# %% [markdown]
# `from_tables` builds a network from tables, without data. Here, a test detects 90 % of the cases of an illness that 1 % of
# people have, and gives 5 % false alarms:

# %%
ill = pd.DataFrame({"probability": [0.99, 0.01]}, index=["no", "yes"])
test = pd.DataFrame(
    [[0.95, 0.10], [0.05, 0.90]],
    index=["negative", "positive"],
    columns=pd.Index(["no", "yes"], name="ill"),
)
screening = from_tables("ill", {"ill": ill, "test": test})
print(query(screening, "ill", {"test": "positive"}).round(3).to_string())
# %% [markdown]
# With `rows=200`, the tables are worth as much as 200 people, so `update` can combine them with data, and they have intervals:

# %%
expert = from_tables("ill", {"ill": ill, "test": test}, rows=200)
for name, model in {
    "expert": expert,
    "with 1,000 people": update(expert, sample(screening, 1000, rng=0)),
}.items():
    print(
        name,
        cpt(model, "test", interval=0.9)["yes"].loc["positive"].round(2).to_dict(),
    )

# %% [markdown]
# Only two of the 200 people would be ill, so the expert's 90 % is uncertain. The data narrow the interval.

# %% [markdown]
# ## Summary
#
# Use `chow_liu` for an overview of the data, `hc` if all variables are of interest, and `ban` or the learners of [Choosing a
# classifier](overview.py) to predict. A network then answers queries, draws samples and completes rows.
#
# [Formulas](methods.py#references) lists the sources.
