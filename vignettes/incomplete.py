# %% [markdown]
# # Missing values
#
# Nearly half of the members of the US House of Representatives of 1984 have an unknown position on at least one of 16
# issues. With these data, this page shows how to fit models to incomplete rows, how to predict them, and how accuracy
# falls as more votes are missing. It is for you if your table has empty cells, and takes fifteen minutes.
#
# ```{index} ! missing, ! missing values, ! NaN, ! NULL, ! None, ! unknown, ! unknown values
# ```

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    accuracy,
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

try:
    import matplotlib.pyplot as plt
except ImportError:  # the extra `plot` installs it
    plt = None

voting = load_voting()
print(f"{voting.isna().any(axis=1).sum()} of {len(voting)} rows are incomplete")
print(voting.isna().mean().sort_values(ascending=False).head(4).round(3))

# %% [markdown]
# ## What each model does with missing values
#
# | model | missing at fit | missing at prediction | joint distribution (`loglik`) | `explain` | `query` |
# |---|---|---|---|---|---|
# | networks by `lp` (`nb`, `tan_cl`, `kdb_mi`, `hc`, …), MANB, AWNB | available cases, or EM | marginalized over | yes | yes | yes |
# | `aode`, `Ensemble` | available cases, or EM | marginalized over | yes | yes | yes |
# | `lca` | EM | marginalized over | yes | yes | yes |
# | `numbers="gaussian"` or `"kernel"` | available cases | marginalized over | yes | yes | categorical variables only |
# | `wanbia=True` | available cases for naive Bayes, an error for other structures | marginalized over | yes | yes | yes |
# | the default of `bnc` and `BNCClassifier`, `held_out="weights"` | available cases | weighted average with a model that marginalizes | no | yes | no |
# | `additive=True` | available cases | given the effect of "(missing)"; what is unknown is estimated from the rest | no | yes | no |
# | `held_out="power"` | available cases | marginalized over, then raised to the power | no | yes | no |
# | `discretize="averaged"` | available cases | ignored | no | yes | no |
# | `subsumption=30` | available cases | averaged over; implied values too | no | yes | no |
# | `ande` | available cases | ignored | no | yes | no |
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
# - A feature that a record (a dict or a Series) omits is *unknown*, and no evidence. So are whole columns that
#   `predict(x, rows, unknown=["crime"])` names, and the empty fields of a page. In SQL, `NULL` is missing.
#
# A network marginalizes over both, unless missing values are a level. A sum of effects (`additive=True`) regards the unknown
# effects as jointly normal with the known ones: their mean and variance are those of the training rows, given what is known. If
# nothing is known, the posteriors are the shares of the classes. A missing value of a feature that no training row lacks is
# unknown, too. For such a row, the SQL of a sum has no answer (`NULL`), because it contains only the effects.
#
# ## Learn and predict as usual
#
# Each table is estimated from the rows in which its whole family is observed: the *available cases*. At prediction, the
# networks on this page marginalize over a missing feature: the posterior is P(class | observed features), exactly.
# `BNCClassifier()` and other models with leave-one-out weights do not define a joint distribution. They marginalize
# approximately, and the default also uses missing values as evidence ([see below](#the-default-classifier)). `ande` ignores a missing feature.
#
# Estimating the tables and predicting a new row rest on different assumptions.
#
# - **Estimating from available cases.** Values are *missing completely at random* (MCAR) if whether a value is missing depends on nothing. Available cases are then all you need. A weaker condition is enough for a table: whether one of its values is missing may depend on the parents, but not on the variable itself. For learning the *structure* from available cases it is not enough.
# - **Estimating by EM.** Values are *missing at random* (MAR) if whether a value is missing depends only on values that are observed in the row. This is all that EM requires.
# - **Predicting.** The class is observed in training, but not when you predict. So, given the observed features, missingness must not depend on the class. If it does, for example because members of one party hide a vote more often, then the missing value is evidence, and marginalizing ignores it. The default uses this evidence; with a prior, `missing_level=True` in `bnc` and `BNCClassifier` treats missing values as a separate level.

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
# Dropping incomplete rows would halve the data and would not predict the other half. If all votes of a member are missing, the
# posterior is the class prior:

# %%
unknown = pd.DataFrame(
    {vote: pd.Categorical([None]) for vote in voting.columns[:-1]}
)
print(predict(models["tan_cl"], unknown, prob=True).round(4))
print("P(Class):", params(models["tan_cl"])["Class"].round(4))

# %% [markdown]
# By default, a value that did not occur in the training data raises an error. With `unseen="missing"`, it is treated as
# missing, and a warning names the column if this happens to more than a tenth of its known values, or if a value reads like
# a level that is written in another way, such as "Low" for "low".

# %%
odd = voting.head(20).astype(object)
odd.loc[0, "crime"] = "abstained"
print(predict(models["tan_cl"], odd, unseen="missing").tolist()[:2])

# %% [markdown]
# ## The default classifier
#
# `bnc` without a prior and `BNCClassifier()` add up weighted terms, which ignore missing features. If a share h of the features
# that are usually known is missing in a row, the weight of these terms is 1 − h, and a model that marginalizes over missing
# features has the weight h. If a feature is missing that no training row lacks, the weight of the terms may decrease faster; the
# rate is estimated from copies of training rows in which such features are hidden at random. In addition, a missing value of a feature adds a constant per class, estimated from
# the training rows that lack it: if missing values are not evidence, it is near 0. [Formulas](methods.py) has the formula.
#
# The table shows the log-loss of the default classifier and of `tan_cl` (AIC, `smooth=1`, numeric columns by MDLP). Both are
# fitted to one half of each data set (stratified by class, seed 0) and evaluated on the other half, as it is and with 25, 50 or
# 90 % of its values hidden at random, means of four draws:
#
# | data | as it is: default / tree | 25 % | 50 % | 90 % |
# |---|---|---|---|---|
# | voting | 0.085 / 0.127 | 0.140 / 0.165 | 0.197 / 0.194 | 0.474 / 0.461 |
# | car | 0.101 / 0.240 | 0.414 / 0.433 | 0.592 / 0.590 | 0.789 / 0.792 |
# | tic-tac-toe | 0.060 / 0.509 | 0.530 / 0.563 | 0.584 / 0.588 | 0.641 / 0.641 |
# | pima | 0.495 / 0.529 | 0.520 / 0.543 | 0.561 / 0.577 | 0.626 / 0.625 |
# | vehicle | 0.387 / 0.792 | 0.696 / 0.818 | 0.833 / 0.894 | 1.168 / 1.181 |
#
# The default is ahead on rows as they are and with a quarter of the values hidden. With more hidden values, it is at most 0.013
# behind the tree. This happens on voting, where all 16 votes have missing values in training, so that the default learns what they
# are evidence for. It treats votes that are hidden at random in new rows in the same way, although these are not evidence. If a row
# lacks more values than training rows usually do, the constants are scaled down, so that their sum stays small.
#
# If nearly all features have missing values in training, and new rows lack many more values for other reasons, do one of these:
#
# - Fit the model with `missing_level=False`, as `by_values` does below. Missing values are then not evidence. On the same
#   halves, the log-loss is 0.084, 0.138, 0.195 and 0.470 on voting, and 0.484, 0.506, 0.550 and 0.621 on pima.
# - Use a network, such as `tan_cl` with `smooth=1`, which marginalizes: the tree of the table.
#
# `missing_level=True` does not help, because a level "(missing)" is evidence, too: with half of the votes hidden, the
# log-loss of the default is then 0.889, and that of the tree 1.280.

# %%
default = bnc(class_var="Class", dataset=voting)
by_values = bnc(class_var="Class", dataset=voting, missing_level=False)
print(predict(default, unknown, prob=True).round(4))
print(predict(by_values, unknown, prob=True).round(4))

# %% [markdown]
# Without any known vote, `by_values` and the tree predict the party shares, and the default 0.432 for "republican" in place of 0.387: in the training
# rows, missing votes are evidence. As this row lacks sixteen votes and a training row few, the sum of their constants is scaled down.
#
# ## Accuracy with more missing values
#
# One half of the members is used to fit the models. Growing shares of the votes of the other half are removed at
# random, and their parties are predicted.

# %%
rng = np.random.default_rng(0)
half = rng.random(len(voting)) < 0.5
trained, tested = voting[half], voting[~half]
shares = np.linspace(0, 0.95, 8)
learned = {
    "nb": lp(nb("Class", trained), trained, smooth=1),
    "tan_cl": lp(tan_cl("Class", trained, score="bic"), trained, smooth=1),
}
rows = []
for share in shares:
    hide = rng.random((4, *tested.shape)) < share
    hide[:, :, -1] = False
    rows.append(
        {
            name: np.mean(
                [
                    accuracy(predict(x, tested.mask(h)), tested["Class"])
                    for h in hide
                ]
            )
            for name, x in learned.items()
        }
    )
curve = pd.DataFrame(rows, index=pd.Index(shares.round(2), name="hidden"))
print(curve.round(3))

# %%
if plt is None:
    print("matplotlib is not installed, so the curve is not drawn")
else:
    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, color in zip(curve.columns, ["#1f4e79", "#b3470f"], strict=True):
        axes.plot(
            curve.index,
            curve[name],
            marker="o",
            markersize=4,
            color=color,
            label=name,
        )
    prior = tested["Class"].value_counts(normalize=True).max()
    axes.axhline(
        prior, color="#9aa5b1", linewidth=1, linestyle="--", label="larger party"
    )
    axes.set(xlabel="share of votes hidden", ylabel="accuracy, mean of 4 draws")
    axes.legend(frameon=False)
    figure.savefig("hidden_votes.png", dpi=120)

# %% [markdown]
# The accuracy of naive Bayes falls by about 0.02 until half of the votes are removed, and that of the tree by more than twice as
# much: its advantage depends on pairs of votes, which are observed together less and less often. With two thirds of the votes
# removed, both are still correct for nearly nine of ten members.
#
# Here votes were removed at random from rows to predict. Before you fit a model, look for columns that are nearly empty, and for
# pairs of columns that are never observed together, such as answers to two versions of a form. An arc between such columns cannot
# be estimated, and `tan_cl` with "aic" or "bic" omits it.

# %% [markdown]
# ## EM and available cases
#
# `missing="em"` uses all observed values. It replaces missing values by their expected counts, re-estimates the tables from
# these, and repeats both steps until convergence. The objective never decreases. In a naive Bayes with observed classes, features
# are independent given the class, so the result is the same as from available cases; in a tree it differs.

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
# Most observed values of y belong to rows with a low z, in which y is more often "no". The estimate from available cases is biased,
# and more rows do not help. EM uses z to infer y, and its estimate is close to the truth.
#
# If values are missing completely at random, EM gains less; the gain grows with the proportion of missing values. Here shares of the
# training votes are removed, and the models are evaluated by the log-likelihood of held-out members. (A larger tolerance saves
# iterations with little effect.)

# %%
draws = pd.RangeIndex(3, name="draw")
gains = pd.DataFrame(
    index=draws, columns=pd.Index([0.1, 0.25, 0.4], name="removed"), dtype=float
)
for draw in draws:
    rng = np.random.default_rng(draw)
    half = rng.random(len(voting)) < 0.5
    for share in gains.columns:
        hide = rng.random(voting[half].shape) < share
        hide[:, -1] = False
        with_missing = voting[half].mask(hide)
        by_em = lp(structure, with_missing, smooth=1, missing={"tolerance": 1e-4})
        by_counts = lp(structure, with_missing, smooth=1)
        gains.loc[draw, share] = loglik(by_em, voting[~half]) - loglik(
            by_counts, voting[~half]
        )
print("nats gained by EM")
print(gains.round(1))
print(gains.mean().round(1))

# %% [markdown]
# EM also uses rows without a class (semi-supervised learning): members without a party contain information about the dependences
# between votes. The log-likelihood of new members increases, but accuracy need not, because EM maximizes the likelihood of all
# variables and not of the class.

# %%
results = []
for seed in range(10):
    rng = np.random.default_rng(seed)
    half = rng.random(len(voting)) < 0.5
    few, others = voting[half].copy(), voting[~half]
    few.loc[few.index[20:], "Class"] = np.nan
    for name, x in {
        "20 members with a party": lp(
            nb("Class", voting), few.dropna(subset=["Class"]), smooth=1
        ),
        "and the others without": lp(
            nb("Class", voting), few, smooth=1, missing="em"
        ),
    }.items():
        right = accuracy(predict(x, others), others["Class"])
        results.append(
            {"learned from": name, "loglik": loglik(x, others), "accuracy": right}
        )
print(pd.DataFrame(results).groupby("learned from").mean().round(3))

# %% [markdown]
# ## The structure of incomplete rows
#
# `hc` and `ban` compare families on the same rows, so by default they reject missing values, and dropping incomplete
# rows would leave 232 of 435 members. With `missing="em"`, they learn by *structural EM* (Friedman, 1997): the search
# for the structure with the best expected score alternates with EM of the parameters. `tan_cl` accepts it too: by
# default, it counts each pair of features in the rows in which both are observed. We compare the maximum log-likelihood
# of all observed votes under the trees of the three methods:

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
# Structural EM gains 19 nats over the complete rows. Available cases are nearly as good here, because few votes are
# missing. (In practice they are often better: structural EM tends to keep the structure it starts from. Compare both by
# the score.) The general network starts from that of the complete rows, with a BIC of −3,125.6 for the observed votes
# of all members. One more search increases it by 19, and the next one finds no improvement.
#
# ## Which value to find out next
#
# A missing value can often be found out, at a price. `value_of_information` ranks the missing features of a row by how much
# their values are expected to reduce the entropy of the class, in nats (0.69 nats is the entropy of a fair coin):

# %%
asking = bnc("tan_cl", "Class", voting, smooth=1, missing_level=False)
print(value_of_information(asking, {"crime": "y"}).head(3).round(3))

# %% [markdown]
# Ask each of 60 members the best next question until one party has a probability of at least 95 %:

# %%
questions = []
for _, member in voting.head(60).iterrows():
    answers = dict.fromkeys(voting.columns[:-1])
    while predict(asking, answers, prob=True).max(axis=1).item() < 0.95:
        ranked = value_of_information(asking, answers).index
        open_votes = [vote for vote in ranked if isinstance(member[vote], str)]
        if not open_votes:
            break
        answers[open_votes[0]] = member[open_votes[0]]
    questions.append(sum(vote is not None for vote in answers.values()))
print("mean number of questions:", round(np.mean(questions), 2))

# %% [markdown]
# On average, 1.6 of the 16 votes are enough. `value_of_information(x, row, costs=costs)` ranks by the expected reduction of
# the cost of the best decision instead, and the pages of `write_page` show the value of each unknown field in the
# browser.
#
# ## Summary and next steps
#
# Tables and structures are estimated from available cases or, with `missing="em"`, from all observed values.
# Prediction marginalizes over missing features. If another program needs a complete table, see
# [Networks and queries](networks.py#multiple-imputation) for single and multiple imputation.
#
# Friedman, N. (1997). Learning belief networks in the presence of missing values and hidden variables. ICML 1997.
