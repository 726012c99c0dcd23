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
    families,
    load_car,
    load_voting,
    loglik,
    lp,
    members,
    modelstring,
    nparams,
    params,
    plot,
    predict,
    tan_cl,
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
# An ensemble answers through its members.

# %%
for member in members(ensemble)[:2]:
    print(modelstring(member))

# %% [markdown]
# ## Missing values
#
# Tables are counted over the rows in which their whole family is observed, so incomplete data can be
# learned from as it is.

# %%
voting = load_voting()
votes = lp(tan_cl("Class", voting, score="bic"), voting, smooth=1)
print(votes)

# %% [markdown]
# ## Draw
#
# In a notebook the picture shows itself. The class is dark, its arcs pale, the arcs between features strong.

# %%
picture = plot(votes)
picture  # noqa: B018
