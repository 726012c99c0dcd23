# %% [markdown]
# # Using bnclassify
#
# From a data frame to a classifier that can be read: load, learn, inspect, draw, evaluate, predict, explain,
# hand on. This page is a script, `vignettes/usage.py`, whose cells run in any editor that knows `# %%`.

# %%
import numpy as np
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
    discretize,
    explain,
    families,
    features,
    greedy_scores,
    load,
    load_car,
    load_voting,
    loglik,
    lp,
    members,
    modelstring,
    nparams,
    params,
    plot,
    plot_cpt,
    plot_cv,
    plot_explanation,
    plot_importance,
    plot_scores,
    predict,
    read_bif,
    save,
    stratified_folds,
    tan_cl,
    tan_hc,
    tan_hcsp,
    write_bif,
)

try:
    import matplotlib.pyplot as plt
except ImportError:  # the extra `plot` installs it, for charts
    plt = None

# %% [markdown]
# ## Load
#
# `car` has 1,728 cars, six features and a class, all categorical. Data of your own needs columns of type
# category, text, bool or integer; what is missing is NaN. Measurements are cut into intervals first, by
# `discretize`: see "Data of your own" below.

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
# How much do two features know about each other, once the class is known? `cmi` is the conditional mutual
# information, in nats, by which `tan_cl` chooses arcs.

# %%
print("I(buying; maint | class) =", round(cmi("buying", "maint", car, z="class"), 4))
print("I(doors;  maint | class) =", round(cmi("doors", "maint", car, z="class"), 4))

# %% [markdown]
# ## Draw
#
# `plot` draws the network: the class dark, its arcs grey, the arcs between features strong. In a notebook
# the picture shows itself; elsewhere `.view()` opens it, and `.render(outfile="car.svg", cleanup=True)`
# writes it to a file. Graphviz draws it, or where there is none, what the extra `plot` installs.

# %%
plot(tan)

# %% [markdown]
# `plot_cpt` draws a table, here the chances of each grade of safety in each class of car, for each number
# of persons. What is hatched occurs in no row: a car for two persons is never acceptable, so all that is
# known of its safety there is the prior. (Charts need matplotlib, from the same extra. They return its
# axes, so all of it is at hand.)

# %%
if plt is not None:
    plot_cpt(tan, "safety", dataset=car).figure.savefig("safety.png", dpi=120)

# %% [markdown]
# ## Evaluate
#
# Log-likelihood, AIC and BIC rate the model of all variables; larger is better, as in R. Conditional
# log-likelihood and accuracy rate what is predicted. All are of the data learned from here, which favours
# models with many parameters; AIC and BIC charge for these.

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
if plt is not None:
    plot_scores(searched)

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
# single lucky fold. ([Comparing classifiers](compare.py) has more on this.)

# %%
if plt is not None:
    plot_cv(accuracies)

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
# An ensemble predicts as one model, and has its networks as `members`, to be inspected one by one.

# %%
print(predict(ensemble, offers, prob=True).round(3))
for member in members(ensemble)[:2]:
    print(modelstring(member))

# %% [markdown]
# ## Explain
#
# Why is the second offer what it is? Each feature adds to the log odds of the predicted class against its
# strongest rival, and with the prior they sum to the log odds of the posterior. Above 0 it speaks for the
# prediction, below 0 for the rival.

# %%
reasons = explain(tan, offers.loc["second"])
print(reasons.round(2))
print("log odds of the posterior:", round(reasons["log_odds"].sum(), 2))

# %% [markdown]
# The same as bars, and on the network: blue speaks for the class, orange against it.

# %%
if plt is not None:
    plot_explanation(tan, offers.loc["second"])

# %%
plot(tan, row=offers.loc["second"])

# %% [markdown]
# Explained all at once, the rows of a data frame tell what the model relies on. `explain(tan, car)` is the
# table, `plot_importance` the mean of its absolute values by feature.

# %%
if plt is not None:
    plot_importance(tan, car)

# %% [markdown]
# And what is probable altogether? `distributions=True` draws it for each variable, given a row or nothing:
# here for a car of which no more is known than that it is safe and for four persons.

# %%
plot(tan, distributions=True, row=dict.fromkeys(features(tan)) | {"safety": "high", "persons": "4"})

# %% [markdown]
# ## Missing values
#
# Nothing has to be filled in. Tables are counted over the rows in which their whole family is observed, and
# at prediction missing features are summed out exactly. [Incomplete data](incomplete.py) has more on this.

# %%
voting = load_voting()
votes = lp(tan_cl("Class", voting, score="bic"), voting, smooth=1)
print(voting.isna().any(axis=1).sum(), "of", len(voting), "rows are incomplete")
print(predict(votes, voting.head(3), prob=True).round(4))

# %% [markdown]
# A value that training did not have is an error that names it. It can be taken as missing instead.

# %%
strange = offers.replace({"safety": {"med": "unknown"}})
try:
    predict(tan, strange)
except ValueError as error:
    print(error)
print(predict(tan, strange, unseen="missing").tolist())

# %% [markdown]
# ## Data of your own
#
# As a file might hold it: an identifier, measurements, whole numbers that gaps made floats, text, holes.
# (These customers are invented: those who earn much or have children tend to buy.)

# %%
rng = np.random.default_rng(0)
income, children = rng.normal(40, 15, 300).round(1), rng.integers(4, size=300)
buys = rng.random(300) < 1 / (1 + np.exp(-(income - 45) / 4 - children + 1))
raw = pd.DataFrame(
    {
        "customer": range(1, 301),
        "income": income,
        "children": children.astype(float),
        "town": rng.choice(["Aden", "Bari", "Cork"], 300),
        "buys": np.where(buys, "yes", "no"),
    }
)
raw[["income", "children", "town"]] = raw[["income", "children", "town"]].mask(rng.random((300, 3)) < 0.1)
print(raw.head())
print(raw.dtypes)

# %% [markdown]
# Four things make it ready. Identifiers are left out. Whole numbers with gaps become categories, if they are
# codes or counts to be taken as they are. Text becomes categories *before* the data is split, so that both
# parts know all labels. And measurements are cut into intervals, at points learned on training data alone:
# `discretize` returns the data cut, and the function that cuts new data at the same points.

# %%
ready = raw.drop(columns="customer").assign(
    children=raw["children"].astype("Int64").astype("category"), town=raw["town"].astype("category")
)
seen, new = ready.iloc[:200], ready.iloc[200:]
train, discretizer = discretize(seen, class_var="buys")
print(discretizer)

customers = lp(tan_cl("buys", train, score="bic"), train, smooth=1)
print(cpt(customers, "income").round(2))
print("of the new ones predicted right:", accuracy(predict(customers, discretizer(new)), new["buys"]))

# %% [markdown]
# `cv` of data that was cut before knows, through the cut points, the rows it tests. An honest figure comes
# from cutting anew in each fold; [numbers](numeric.py#the-leak) have a page of their own.

# %%
folds = stratified_folds(ready["buys"], k=5, rng=0)
right = []
for fold in range(5):
    train, discretizer = discretize(ready[folds != fold], class_var="buys")
    model = lp(tan_cl("buys", train, score="bic"), train, smooth=1)
    tested = ready[folds == fold]
    right.append(accuracy(predict(model, discretizer(tested)), tested["buys"]))
print("accuracy:", round(float(np.mean(right)), 3))
print("of always saying no:", (ready["buys"] == "no").mean().round(3))

# %% [markdown]
# ## Hand on
#
# `write_bif` writes a model to a file that bnlearn, pgmpy and pyAgrum read too, the last if all labels are
# words or integers, and `read_bif` reads one.
# `to_networkx`, `to_pgmpy` and `to_pyagrum` convert a model to objects of those libraries, for example to use
# their causal or dynamic models.
#
# `save` keeps a model of any kind whole, with its levels and with how it was learned, in a file of JSON that
# people can read; `load` gives it back. The file holds no code, so it can come from anywhere.

# %%
save(tan, "car.json")
print(predict(load("car.json"), car).equals(predict(tan, car)))

# %%
write_bif(tan, "car.bif")
again = read_bif("car.bif", "class")
print(modelstring(again) == modelstring(tan), predict(again, car).equals(predict(tan, car)))

# %% [markdown]
# ## In scikit-learn
#
# `BNCClassifier` does what `bnc` and `predict` do, in pipelines and grid searches; its `model_` is a model
# like any other.

# %%
try:
    from sklearn.model_selection import GridSearchCV

    from bnclassify.sklearn import BNCClassifier
except ImportError as no_sklearn:  # the extra `sklearn` installs it
    print(no_sklearn)
else:
    grid = {"learner": ["nb", "tan_cl", "aode"], "smooth": [0.1, 1]}
    search = GridSearchCV(BNCClassifier(missing_level=False), grid, cv=5).fit(
        voting.drop(columns="Class"), voting["Class"]
    )
    print(search.best_params_, round(search.best_score_, 3))
    print(search.best_estimator_.model_)

# %% [markdown]
# ## Read on
#
# - [The classifiers](overview.py) side by side
# - [Comparing](compare.py): which of them is better, and whether the difference is more than chance
# - [Numbers](numeric.py): measurements, cut points, honest cross-validation
# - [Incomplete data](incomplete.py): missing values in training and prediction, expectation maximisation
# - [Methods](methods.py): every formula beside its call
