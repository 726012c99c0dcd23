# %% [markdown]
# # Queries
#
# A Bayesian network over all variables answers more questions than "which class?". On this page you ask a network for
# the distribution of any variable given any others, give it uncertain evidence, draw samples, fill in missing values,
# and replace a table by your own knowledge. You should know [General networks](networks.py). It takes ten minutes.
#
# ```{index} ! imputation, ! multiple imputation
# ```
#
# The models with leave-one-out weights, among them the default classifier, do not define a joint distribution, so they
# cannot answer queries. Here we use `ban`, a network of the votes in which the party is a parent of every vote.

# %%
import math

import numpy as np
import pandas as pd
from bnclassify import (
    ban,
    cpt,
    from_tables,
    hc,
    impute,
    load_car,
    load_voting,
    lp,
    query,
    sample,
    tan_cl,
    update,
    with_table,
)

car, votes = load_car(), load_voting().dropna()

# %% [markdown]
# ## Any variable, given any others
#
# A network with tables represents a joint distribution. `query` returns the exact distribution of any variables given
# any others, and marginalizes over the rest. The first query is the party of members who voted for the MX missile and
# against the physician fee freeze. The second is the party and the vote on immigration of the members who voted for the
# missile.

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
# Evidence can be uncertain. Suppose that the vote on the missile is known only from a newspaper that reports 80 % of the votes
# correctly. A dict contains the likelihood of the observation under each label:

# %%
print("voted:   ", query(x, "Class", {"mx_missile": "y"}).round(3).to_dict())
print(
    "reported:",
    query(x, "Class", {"mx_missile": {"y": 0.8, "n": 0.2}}).round(3).to_dict(),
)
print("unknown: ", query(x, "Class").round(3).to_dict())

# %% [markdown]
# The posterior given the report lies between the posterior given the vote and the class prior. A list contains the
# possible labels. This query is the grade of cars with high safety and two or three doors. `attrs["log_evidence"]` is
# the log probability of the evidence.

# %%
grades = lp(hc("class", car), car, smooth=1)
found = query(grades, "class", {"safety": "high", "doors": ["2", "3"]})
print(
    found.round(3).to_dict(),
    "P(evidence):",
    round(math.exp(found.attrs["log_evidence"]), 3),
)

# %% [markdown]
# A sixth of the cars have these properties: a third have high safety, and half of these have two or three doors. A
# likelihood is not a probability of the label: an observation with equal likelihoods changes nothing, regardless of the
# probabilities of the labels. If a source states the *probabilities* of the labels instead, for example that 70 % of
# the members of a committee voted for the missile, use Jeffrey's rule: the posterior is the average of the posteriors
# given each label, weighted by the stated probabilities. Dividing the stated probabilities by the probabilities of the
# model gives equivalent likelihoods:

# %%
stated = pd.Series({"y": 0.7, "n": 0.3})
likelihoods = stated / query(x, "mx_missile")
by_rule = sum(
    p * query(x, "Class", {"mx_missile": vote}) for vote, p in stated.items()
)
print(
    "by likelihoods:",
    query(x, "Class", {"mx_missile": likelihoods.to_dict()}).round(4).to_dict(),
)
print("by the rule:   ", by_rule.round(4).to_dict())

# %% [markdown]
# Both results are equal.
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
# The proportions agree within 0.04; `smooth=1` makes them slightly more equal.
#
# With `evidence=`, `sample` draws from the distribution given what is known, exactly and without discarding rows. Here
# are 10,000 members who voted for the missile:

# %%
hawks = sample(x, 10_000, evidence={"mx_missile": "y"}, rng=0)
print(hawks["Class"].value_counts(normalize=True).round(3).to_dict())
print(query(x, "Class", {"mx_missile": "y"}).round(3).to_dict())

# %% [markdown]
# `impute` replaces all missing values of a row by their jointly most probable values. To estimate parameters from incomplete
# rows, use EM instead, which does not treat imputed values as certain.

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
# ## Multiple imputation
#
# Filled-in values look more certain than they are, so do not compute standard errors from them. For *multiple imputation*,
# draw several completions with `draws=`, compute the estimate in each, and pool the results by Rubin's rules. We estimate
# the share of democrats in favor of the act on exports to South Africa, on which nearly a third of them have no known
# position. Each completion uses other tables, drawn from their posterior, because the tables are uncertain too:

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
# The pooled variance is the mean variance within the completions plus (1 + 1/m) times the variance between them. Here the
# standard error is 0.016, and it would be 0.018 from the known votes alone: the other votes of the members without a
# position contain information about it. Imputation from a model needs values missing at random, as EM does.

# %% [markdown]
# ## Given tables
#
# `with_table` replaces one table by expert knowledge, in the form in which `cpt` returns it. Suppose that both parties
# have the same number of members in the next Congress:

# %%
even = cpt(x, "Class") * 0 + 0.5
print(query(with_table(x, "Class", even), "mx_missile").round(3).to_string())

# %% [markdown]
# `from_tables` builds a network from tables, without data, for example for simulations. Here, a test detects 90 % of
# the cases of an illness that 1 % of people have, and gives 5 % false alarms:

# %%
ill = pd.DataFrame({"probability": [0.99, 0.01]}, index=["no", "yes"])
test = pd.DataFrame(
    [[0.95, 0.10], [0.05, 0.90]],
    index=["negative", "positive"],
    columns=pd.Index(["no", "yes"], name="ill"),
)
screening = from_tables("ill", {"ill": ill, "test": test})
print(query(screening, "ill", {"test": "positive"}).round(3).to_string())
simulated = sample(screening, 10_000, rng=0)
print("\nin a simulation, of the positive tests:")
print(
    simulated.loc[simulated["test"] == "positive", "ill"]
    .value_counts(normalize=True)
    .round(3)
    .to_string()
)

# %% [markdown]
# 15 % of the people with a positive test are ill, and the simulation agrees within its sampling error.
#
# Such tables are certain. With `rows=200`, they are worth as much as 200 people, so that `update` can combine them with
# data, and intervals show how certain they are:

# %%
expert = from_tables("ill", {"ill": ill, "test": test}, rows=200)
for name, model in {
    "expert": expert,
    "with 1,000 people": update(expert, simulated.head(1000)),
}.items():
    print(
        name,
        cpt(model, "test", interval=0.9)["yes"].loc["positive"].round(2).to_dict(),
    )

# %% [markdown]
# Only two of the 200 people would be ill, so the expert's 90 % is uncertain. The data narrow the interval.
#
# ## Summary
#
# `query` returns exact distributions given certain, uncertain or partial evidence, `sample` draws rows, `impute` fills
# in the jointly most probable values, and `with_table` and `from_tables` build networks from your own tables.
