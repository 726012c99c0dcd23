# %% [markdown]
# # Common pitfalls
#
# This page shows seven mistakes that lead to wrong conclusions, each beside the correct way. If you fit classifiers to
# tables, you have probably met some of them. It takes ten minutes, and all examples run on the data sets of the
# package.

# %%
import warnings

import numpy as np
import pandas as pd
from bnclassify import (
    accuracy,
    bnc,
    cv,
    discretize,
    encode,
    load_pima,
    load_voting,
    lp,
    nb,
    predict,
)

women, voting = load_pima(), load_voting()

# %% [markdown]
# ## Evaluating on the training data
#
# **Wrong.** Accuracy on the rows that the model was fitted to favors models with many parameters. Here, the labels are
# drawn at random, so no classifier can have an expected accuracy above one half:

# %%
rng = np.random.default_rng(0)
members = voting.dropna()
noise = members.assign(Class=rng.choice(["a", "b"], len(members)))
model = bnc("kdb_mi", "Class", noise, smooth=0.01, dag_args={"kdbk": 3})
print(
    "accuracy on the training data:",
    round(accuracy(predict(model, noise), noise["Class"]), 3),
)

# %% [markdown]
# **Right.** `cv` fits the model again in each training fold and evaluates the held-out rows.

# %%
print("cross-validated accuracy:", round(cv(model, noise, rng=0), 3))

# %% [markdown]
# The cross-validated accuracy is close to 0.5, as it should be. The difference between the two accuracies is due to
# overfitting: the tables of the model describe the noise in the training data.
#
# ## Discretizing before splitting
#
# **Wrong.** MDLP chooses cut points by the class. If the whole table is discretized first, the cut points contain
# information about the classes of the test rows. Here, the features are random numbers, so the expected accuracy is one
# half:

# %%
random = pd.DataFrame(rng.normal(size=(60, 300))).add_prefix("x")
random["class"] = rng.choice(["a", "b"], 60)
with warnings.catch_warnings(action="ignore"):
    cut, _ = discretize(random, class_var="class")
    kept = [name for name in cut if len(cut[name].unique()) > 1]
    leak = cv(bnc("nb", "class", cut[kept], smooth=1), cut[kept], rng=0)
print("discretized before splitting:", round(leak, 3))

# %% [markdown]
# **Right.** With `discretize=`, the cut points are part of the model and are learned in each training fold.

# %%
with warnings.catch_warnings(action="ignore"):
    model = bnc("nb", "class", random, smooth=1, discretize="mdlp")
    print("discretized in each fold:", round(cv(model, random, rng=0), 3))

# %% [markdown]
# The first result is far above one half although the features are random numbers.
#
# ## Accuracy with rare classes
#
# **Wrong.** If 96 % of the rows belong to one class, a classifier without features has an accuracy of 96 %, and a
# model with 97 % may miss most of the rare class.
#
# **Right.** Use a metric that depends on the rare class, such as balanced accuracy, AUC or log-loss, and compare it with its
# baseline. If errors have different costs, pass `costs`. [Evaluating a classifier](judging.py) shows each of these.
#
# ## Identifiers as features
#
# **Wrong.** A column with a different value in each row cannot help you to predict new rows. With smoothing it does
# little harm, but it makes models larger, and it can attract arcs:

# %%
numbered = women.assign(patient=[f"P{i:04}" for i in range(len(women))])
options = {"smooth": 1, "discretize": "mdlp", "missing_level": False}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    bnc("nb", "diabetes", numbered, **options)
print(caught[0].message)

# %% [markdown]
# **Right.** Drop identifiers before you fit a model. `check_data(df, "y")` lists most of them, as well as numbers written as text
# and copies of the class, and shows the code to type. It also finds identifiers that group rows (several rows per
# patient), if rows of a group have the same class more often than by chance, and so do warnings of a fit. Name them:
# `cv(model, df, groups="patient")` keeps all rows of a patient in the same fold, and `bnc(..., groups="patient")` holds
# them out together when it chooses weights.
#
# ## Copies of rows, and oversampling
#
# **Wrong.** If a row is in the table twice, one copy can be in the training fold and the other in the test fold. The model
# then only has to recognize it. Oversampling a rare class does the same. Here the labels are random, and each member is in
# the table twice:

# %%
twice = pd.concat([noise, noise], ignore_index=True)
deep = bnc("kdb_mi", "Class", twice, smooth=0.01, dag_args={"kdbk": 3})
print("copies in other folds:", round(cv(deep, twice, rng=0), 3))

# %% [markdown]
# **Right.** Drop duplicates before you split, or keep all copies of a row, and all rows of a patient, in the same fold.
# Do not oversample a rare class: state `costs=` or `prior=` instead.

# %%
member = np.tile(np.arange(len(noise)), 2)
print("copies in the same fold:", round(cv(deep, twice, folds=member % 10), 3))

# %% [markdown]
# The labels are noise, so the second result, near one half, is the honest one.
#
# ## Frequencies and weights
#
# **Wrong.** A table of frequencies has one row per combination and a column with the number of cases. If this column is
# ignored, each combination counts once:

# %%
table = (
    voting[["physician_fee_freeze", "immigration", "Class"]]
    .value_counts()
    .rename("n")
)
table = table.reset_index()
print(table.head(3).to_string(index=False))
unweighted = bnc("nb", "Class", table.drop(columns="n"), smooth=0)
print(predict(unweighted, table.head(3), prob=True).round(3).to_string())

# %% [markdown]
# **Right.** `encode(df, weights="n", weights_are="frequencies")` turns the column into weights. Cross-validation then splits the cases, not the
# rows, over the folds.

# %%
weighted = encode(table, weights="n", weights_are="frequencies")
model = lp(nb("Class", weighted), weighted, smooth=0)
print(predict(model, table.head(3), prob=True).round(3).to_string())
print("accuracy:", round(cv(model, weighted, rng=0), 3))

# %% [markdown]
# ## Informative missing values
#
# **Wrong.** With a prior such as `smooth=1`, missing values are ignored. If the fact that a value is missing depends on the
# class, this discards information. Here the votes of half of the democrats on one issue are removed:

# %%
hidden = voting[["Class", "immigration", "crime", "mx_missile"]].copy()
hidden.loc[(voting["Class"] == "democrat") & (rng.random(435) < 0.5), "crime"] = (
    None
)
ignored = bnc("tan_cl", "Class", hidden, smooth=1)
print("missing values ignored:", round(cv(ignored, hidden, rng=0), 3))

# %% [markdown]
# **Right.** Treat "missing" as a level if missing values will be as informative in new data. The default
# recipe has a constant per class for a missing value, and estimates it:

# %%
level = bnc("tan_cl", "Class", hidden, smooth=1, missing_level=True)
print("missing as a level:", round(cv(level, hidden, rng=0), 3))
default = bnc(class_var="Class", dataset=hidden)
print("the default:", round(cv(default, hidden, rng=0), 3))

# %% [markdown]
# Be careful: if the reason for missing values changes in new data (another clinic, another form), this information is
# misleading. [Missing values](incomplete.py) explains the assumptions.
#
# ## Summary
#
# Fit everything within each training fold, use a metric and a baseline that fit the task, drop identifiers, declare
# weights, and decide whether missingness is information.
