# %% [markdown]
# # Missing values
#
# This page shows how to fit models to incomplete rows, and how to predict them. The data are the votes of the US House of
# Representatives of 1984: nearly half of the members have no known position on at least one of 16 issues. It takes ten minutes.
#
# ```{index} ! missing, ! missing values, ! NaN, ! NULL, ! None, ! unknown, ! unknown values
# ```

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    anb,
    aode,
    bnc,
    cpt,
    cv,
    em_objectives,
    hc,
    load_voting,
    loglik,
    lp,
    nb,
    params,
    predict,
    search_steps,
    tan_cl,
    value_of_information,
)

voting = load_voting()
print(f"{voting.isna().any(axis=1).sum()} of {len(voting)} rows are incomplete")
print(voting.isna().mean().sort_values(ascending=False).head(4).round(3))

# %% [markdown]
# ## What each model does with missing values
#
# | model | missing at fit | missing at prediction | joint distribution (`loglik`) | `explain` | `query` |
# |---|---|---|---|---|---|
# | networks by `lp` (`nb`, `tan_cl`, `kdb_mi`, `hc`, …), MANB, AWNB | available cases, or EM | marginalized over | yes | yes | yes |
# | `aode`, `lca` | available cases (`lca`: EM) | marginalized over | yes | yes | yes |
# | `numbers="gaussian"` or `"kernel"` | available cases | marginalized over | yes | yes | categorical variables only |
# | `wanbia=True` | available cases for naive Bayes, an error for other structures | marginalized over | yes | yes | yes |
# | the default of `bnc` and `BNCClassifier` | an effect of "(missing)" | the effect of "(missing)"; what is unknown is estimated from the rest | no | yes | no |
# | `held_out="weights"` | available cases | weighted average with a model that marginalizes | no | yes | no |
# | `held_out="power"`, `subsumption=30` | available cases | marginalized over (`subsumption`: implied values too) | no | yes | no |
# | `discretize="averaged"`, `ande` | available cases | ignored | no | yes | no |
# | dependency networks, `chisq_dn` | available cases | marginalized over | no | yes | yes, by Gibbs sampling |
# | `mbc`, `maode` | available cases | marginalized over | yes | yes | no |
# | `chain` | available cases | as the models of its learner | no | yes | no |
#
# By default, `hc` and `ban` require complete rows; with `missing="em"` they do not. EM requires `smooth`, `ess` or `m`.
#
# ## Unknown or missing?
#
# A value can be missing, or nobody has asked for it. The two are different:
#
# - `None`, `NaN` and `pandas.NA` are *missing*, as in the training data. A missing value is evidence as far as it was there.
# - A feature that a record (a dict or a Series) omits is *unknown*, which is not evidence. So are whole columns that
#   `predict(x, rows, unknown=["crime"])` names, and the empty fields of a page. In SQL, `NULL` is missing.
#
# A network marginalizes over both, unless missing values are a level. The default regards the effects of unknown features as
# jointly normal with the known ones, with the means and covariances of the training rows. If nothing is known, the posteriors
# are the shares of the classes. A missing value of a feature that no training row lacks is unknown, too, and so are all missing
# values of a row that lacks more values than five training rows do, because so few rows do not show what that many add up to;
# `print(x)` has the number. For such rows, also of the training data, the SQL of a sum has no answer (`NULL`).
#
# ## Learn and predict as usual
#
# Each table of a network is estimated from the rows in which its whole family is observed: the *available cases*. At
# prediction, networks marginalize over a missing feature: the posterior is P(class | observed features), exactly. Estimating
# and predicting rest on different assumptions.
#
# - **Estimating from available cases.** Values are *missing completely at random* (MCAR) if whether a value is missing depends
#   on nothing. For a table, a weaker condition suffices: whether one of its values is missing may depend on the parents, but
#   not on the variable itself.
# - **Estimating by EM** requires only that values are *missing at random* (MAR): whether a value is missing depends only on
#   values that are observed in the row.
# - **Predicting.** Given the observed features, missingness must not depend on the class. If it does, for example because
#   members of one party hide a vote more often, the missing value is evidence. The default uses it; in networks,
#   `missing_level=True` treats missing values as a level.

# %%
models = {
    "nb": lp(nb("Class", voting), voting, smooth=1),
    "tan_cl": lp(tan_cl("Class", voting, score="bic"), voting, smooth=1),
    "aode": lp(aode("Class", voting), voting, smooth=1),
}
incomplete = voting[voting.isna().any(axis=1)]
print(predict(models["tan_cl"], incomplete.head(3), prob=True).round(4))
print(cv(models, voting, k=10, rng=0).round(3))

# %% [markdown]
# If all votes of a member are missing, the posterior is the class prior:

# %%
unknown = pd.DataFrame(
    {vote: pd.Categorical([None]) for vote in voting.columns[:-1]}
)
print(predict(models["tan_cl"], unknown, prob=True).round(4))
print("P(Class):", params(models["tan_cl"])["Class"].round(4))

# %% [markdown]
# A value that did not occur in the training data raises an error. With `unseen="missing"`, it is treated as missing; a warning
# names the column if this happens often, or if a value reads like a known level, such as "Low" for "low":

# %%
odd = voting.head(20).astype(object)
odd.loc[0, "crime"] = "abstained"
print(predict(models["tan_cl"], odd, unseen="missing").tolist()[:2])

# %% [markdown]
# ## The default classifier
#
# The effect of a missing value is estimated from the training rows that lack the value, which is right if new rows lack it for
# the same reasons. If not, for example because another form asks fewer questions, leave the features out of the record, or name
# them by `unknown=`. With `missing_level=False`, missing values are never evidence:

# %%
default = bnc(class_var="Class", dataset=voting)
by_values = bnc(class_var="Class", dataset=voting, missing_level=False)
votes = list(voting.columns[:-1])
answers = {
    "missing": predict(default, unknown, prob=True),
    "unknown": predict(default, unknown, prob=True, unknown=votes),
    "missing, never evidence": predict(by_values, unknown, prob=True),
}
print(pd.concat(answers).droplevel(1).round(3).to_string())

# %% [markdown]
# The answer is the share of the parties in all three: one member of the training data without any vote, a republican, does not
# show how members without votes decide. A few missing votes are evidence, as far as they were in training.
#
# Look for columns that are nearly empty, and for pairs of columns that are never observed together, such as answers to two
# versions of a form: their arc or pair cannot be estimated.
#
# ## EM and available cases
#
# `missing="em"` replaces missing values by their expected counts, re-estimates the tables from these, and repeats both steps
# until convergence. In a naive Bayes with observed classes, the result is the same as from available cases; in a tree it
# differs.

# %%
structure = tan_cl("Class", voting)
available = lp(structure, voting, smooth=1)
em = lp(structure, voting, smooth=1, missing="em")
print(em)
print("objective:", [round(value, 3) for value in em_objectives(em)])

# %% [markdown]
# EM matters most if values are missing at random but not completely at random. In this example, y is measured mostly if
# its child z is low, and z is always observed:

# %%
rng = np.random.default_rng(0)
n = 50_000
c, y = rng.random(n) < 0.5, rng.random(n)
y = y < np.where(c, 0.7, 0.4)
z = rng.random(n) < np.where(y, 0.8, 0.3)
made = pd.DataFrame(
    {
        "c": np.where(c, "b", "a"),
        "y": np.where(y, "yes", "no"),
        "z": np.where(z, "high", "low"),
    }
)
made["y"] = made["y"].mask(z & (rng.random(n) < 0.8))
tree = anb("c", {"z": ["y"]}, made)
estimates = {
    how: cpt(lp(tree, made, smooth=1, missing=how), "y").loc["yes"]
    for how in ("available", "em")
}
print(
    pd.DataFrame(
        {
            "true": [0.4, 0.7],
            **{how: list(table) for how, table in estimates.items()},
        }
    ).round(3)
)

# %% [markdown]
# Most observed values of y belong to rows with a low z, in which y is more often "no". The estimate from available cases is
# biased, however many rows there are; that of EM is close to the truth. If values are missing completely at random, EM gains
# less. It also uses rows without a class (semi-supervised learning), but maximizes the likelihood of all variables, so accuracy
# need not increase.

# %% [markdown]
# ## The structure of incomplete rows
#
# `hc` and `ban` compare families on the same rows, so by default they reject missing values; dropping incomplete rows would
# leave 232 of 435 members. With `missing="em"`, they learn by *structural EM* (Friedman 1997): the search for the structure
# with the best expected score alternates with EM. `tan_cl` accepts it, too; by default, it counts each pair of features in the
# rows in which both are observed. The maximum log-likelihood of all observed votes under three trees:

# %%
trees = {
    "complete rows": tan_cl("Class", voting.dropna()),
    "available cases": tan_cl("Class", voting),
    "structural EM": tan_cl("Class", voting, missing="em"),
}
for name, tree in trees.items():
    print(
        f"{name:16} {loglik(lp(tree, voting, smooth=0, missing='em'), voting):.1f}"
    )
network = hc("Class", voting, missing="em")
print(
    "BIC of the general network:",
    [round(score, 1) for score in search_steps(network).attrs["scores"]],
)

# %% [markdown]
# Structural EM gains 19 nats over the complete rows. Available cases are nearly as good here, because few votes are missing,
# and in practice often better: compare both by the score. The BIC of the general network rises by 19 in one more search.
#
# ## Which value to find out next
#
# `value_of_information` ranks the missing features of a row by how much their values are expected to reduce the entropy of the
# class, in nats (0.69 nats is the entropy of a fair coin):

# %%
asking = bnc("tan_cl", "Class", voting, smooth=1, missing_level=False)
print(value_of_information(asking, {"crime": "y"}).head(3).round(3))

# %% [markdown]
# With `costs=costs`, it ranks by the expected reduction of the cost of the best decision, and the pages of `write_page` show
# the value of each unknown field.
#
# ## Summary and next steps
#
# Tables and structures are estimated from available cases or, with `missing="em"`, from all observed values.
# Prediction marginalizes over missing features. If another program needs a complete table, see
# [Networks and queries](networks.py#multiple-imputation) for single and multiple imputation.
#
# Friedman, N. (1997). Learning belief networks in the presence of missing values and hidden variables. ICML 1997.
