# %% [markdown]
# # Using bnclassify
#
# From a data frame to a classifier that can be read: load, learn, inspect, evaluate, predict, draw.
# Run the cells in an editor that knows `# %%`, or the whole file with `python vignettes/usage.py`.

# %%
import pandas as pd

from bnclassify import (
    AIC,
    BIC,
    accuracy,
    anb,
    aode,
    bnc,
    cloglik,
    cmi,
    cpt,
    cv,
    explain,
    families,
    greedy_scores,
    load_car,
    load_voting,
    loglik,
    lp,
    members,
    modelstring,
    nb,
    nparams,
    params,
    plot,
    plot_cpt,
    plot_cv,
    plot_explanation,
    predict,
    tan_cl,
    tan_hc,
    tan_hcsp,
)

# %% [markdown]
# ## Load
#
# `car` has 1,728 cars, six features and a class, all categorical. Data of your own needs columns of type
# category, text, bool or integer; what is missing is NaN. Numbers with fractions are cut into intervals
# first, for example with `pd.cut`.

# %%
car = load_car()
print(car.head())
print(car["class"].value_counts())

# %% [markdown]
# ## Learn
#
# Learning is two steps: a structure, then parameters. `nb` is naive Bayes, in which the class is the only
# parent of every feature; `tan_cl` adds the best tree or forest of arcs between features; `aode` averages
# the estimators that have one feature as parent of all others.

# %%
structure = tan_cl("class", car, score="aic")
tan = lp(structure, car, smooth=1)
print(tan)

# %% [markdown]
# `bnc` is both steps in one. Nothing is ever changed in place: each verb returns a new value.

# %%
naive = bnc("nb", "class", car, smooth=1)
ensemble = lp(aode("class", car), car, smooth=1)
print(naive)
print(ensemble)

# %% [markdown]
# A structure can also be written down: `anb` takes the feature parents of each feature.

# %%
by_hand = lp(anb("class", {"maint": ["buying"], "persons": ["safety"]}, car), car, smooth=1)
print(modelstring(by_hand))

# %% [markdown]
# ## Inspect
#
# `families` tells the parents of each variable, `modelstring` the whole structure in one line. `cpt` is a
# table to be read: here the maintenance price given the buying price, for cars of the best class.

# %%
print(families(tan)["maint"])
print(modelstring(tan))
print(cpt(tan, "maint").xs("vgood", axis="columns", level="class").round(2))

# %% [markdown]
# `params` has the same tables as arrays, an axis for each member of the family.

# %%
print(params(tan)["maint"].shape, "free parameters in all:", nparams(tan))

# %% [markdown]
# The class tells how much two features know about each other: `cmi` is the conditional mutual information,
# in nats, that decides about arcs.

# %%
print("I(buying; maint | class) =", round(cmi("buying", "maint", car, z="class"), 4))
print("I(doors;  maint | class) =", round(cmi("doors", "maint", car, z="class"), 4))

# %% [markdown]
# ## Evaluate
#
# Log-likelihood, AIC and BIC rate the model of all variables; larger is better, as in R. Conditional
# log-likelihood and accuracy rate what is predicted. These figures are of the data learned from, so they
# favour models with many parameters.

# %%
models = {"nb": naive, "tan_cl": tan, "by hand": by_hand}
print(
    pd.DataFrame(
        {
            name: {
                "loglik": loglik(x, car),
                "AIC": AIC(x, car),
                "BIC": BIC(x, car),
                "cloglik": cloglik(x, car),
                "accuracy": accuracy(predict(x, car), car["class"]),
            }
            for name, x in models.items()
        }
    ).round(3)
)
print("accuracy of the AODE:", round(accuracy(predict(ensemble, car), car["class"]), 3))

# %% [markdown]
# ## Search
#
# Greedy learners look for the structure that predicts best: they try all structures one step away, score
# each by cross-validated accuracy, and go to the best as long as it is better by `epsilon`. `tan_hc` adds
# arcs between features, `fssj` and `bsej` join features and leave out those that do not help.

# %%
searched = lp(tan_hc("class", car, k=5, epsilon=0.001, smooth=1, rng=0), car, smooth=1)
print(modelstring(searched))
print("accuracy after each step:", [round(score, 3) for score in greedy_scores(searched)])

# %% [markdown]
# ## Compare by cross-validation
#
# `cv` learns each model again in every fold, structure and parameters, as it was learned, so nothing of the
# tested rows is known to it. All models see the same folds; `rng` makes the figures repeatable.

# %%
candidates = {
    "nb": naive,
    "tan_cl": tan,
    "aode": ensemble,
    "tan_hc": searched,
    "tan_hcsp": lp(tan_hcsp("class", car, k=5, epsilon=0.001, smooth=1, rng=0), car, smooth=1),
}
accuracies = cv(candidates, car, k=10, rng=0, mean=False)
print(accuracies.round(3))
print(accuracies.agg(["mean", "std"]).round(3))

# %% [markdown]
# The folds one by one: a difference that holds in nearly every fold can be told from one that comes from a
# single lucky fold. (Charts need matplotlib, which the extra `plot` installs.)

# %%
try:
    plot_cv(accuracies).figure.savefig("fold_accuracies.png", dpi=120)
except ImportError as no_matplotlib:
    print("no chart:", no_matplotlib)

# %% [markdown]
# ## Predict
#
# New data is matched by name and label. Columns may come in any order, and others may be there.

# %%
offers = pd.DataFrame(
    {
        "buying": ["low", "med"],
        "maint": ["low", "high"],
        "doors": ["4", "2"],
        "persons": ["more", "4"],
        "lug_boot": ["big", "small"],
        "safety": ["high", "med"],
        "seller": ["Ann", "Bob"],
    },
    index=["first", "second"],
)
print(predict(tan, offers))
print(predict(tan, offers, prob=True).round(3))

# %% [markdown]
# ## Explain
#
# Why is the second offer what it is? Each feature adds to the log odds of the predicted class against its
# strongest rival, and with the prior they sum to the log odds of the posterior.

# %%
reasons = explain(tan, offers.loc["second"])
print(reasons.round(2))
print("log odds of the posterior:", round(reasons["log_odds"].sum(), 2))

# %%
try:
    plot_explanation(tan, offers.loc["second"]).figure.savefig("explanation.png", dpi=120)
    plot_cpt(tan, "safety").figure.savefig("safety.png", dpi=120)
except ImportError as no_matplotlib:
    print("no chart:", no_matplotlib)

# %% [markdown]
# An ensemble answers through its members.

# %%
for member in members(ensemble)[:2]:
    print(modelstring(member))

# %% [markdown]
# ## Data of your own
#
# Most data needs four things first. Identifiers are left out. Measurements are cut into intervals. Whole
# numbers with gaps, which pandas reads as floats, become integers that know of missing values. And text
# columns become categories *before* the data is split, so that both parts know all labels.

# %%
raw = pd.DataFrame(
    {
        "customer": range(100, 112),
        "income": [21.5, 48.0, 33.1, 75.9, 18.2, 52.4, 61.0, 29.9, 40.3, 88.8, 25.0, 57.7],
        "children": [0, 2, None, 1, 0, 3, 2, None, 1, 0, 0, 2],
        "town": list("AABBABCABBAC"),
        "buys": ["no", "yes", "no", "yes", "no", "yes", "yes", "no", "yes", "yes", "no", "yes"],
    }
)
ready = raw.drop(columns="customer").assign(
    income=pd.cut(raw["income"], [0, 30, 60, 100]),
    children=raw["children"].astype("Int64").astype("category"),
    town=raw["town"].astype("category"),
)
seen, new = ready.iloc[:8], ready.iloc[8:]
customers = lp(nb("buys", seen), seen, smooth=1)
print(cpt(customers, "income").round(2))
print(accuracy(predict(customers, new), new["buys"]), "of the new ones predicted right")

# %% [markdown]
# ## Missing values
#
# Tables are counted over the rows in which their whole family is observed, and at prediction missing
# features are summed out exactly. `incomplete.py` has more on this.

# %%
voting = load_voting()
votes = lp(tan_cl("Class", voting, score="bic"), voting, smooth=1)
print(votes)

# %% [markdown]
# ## Draw
#
# In a notebook the picture shows itself. The class is dark, its arcs pale, the arcs between features
# strong. With `row=` it explains a prediction: blue speaks for the class, orange against it.

# %%
picture = plot(votes)
explained = plot(votes, row=voting.iloc[0])
picture  # noqa: B018

# %% [markdown]
# In a script, write it to a file.

# %%
try:
    print("picture:", picture.render(outfile="voting.svg", cleanup=True))
    print("picture:", explained.render(outfile="voting_explained.svg", cleanup=True))
except RuntimeError as no_program:
    print("no picture:", no_program)
