# %% [markdown]
# # Ten minutes
#
# From a CSV file to a model that is explained: read, learn, look, predict, ask why, measure, keep. The file has
# measurements of 768 women and whether a test for diabetes was positive. Each step is a line or two; the links lead
# to pages that have more on it.
#
# ## Read

# %%
from pathlib import Path

import pandas as pd

from bnclassify import (
    bnc,
    confusion,
    cv,
    cv_predict,
    explain,
    load,
    plot,
    plot_cpt,
    plot_explanation,
    plot_importance,
    predict,
    save,
)

# %%
women = pd.read_csv(Path(__file__).parents[1] / "data" / "pima_clean.csv")
women.columns = [
    "pregnancies",
    "glucose",
    "pressure",
    "skin",
    "insulin",
    "bmi",
    "pedigree",
    "age",
    "diabetes",
]
women["diabetes"] = women["diabetes"].map({"tested_negative": "no", "tested_positive": "yes"})

# %% [markdown]
# Whoever made the file filled in what had not been measured by the mean of a column, which has more decimals than
# the other numbers. Nothing needs to be filled in here, so out it goes again:

# %%
numbers = women.columns[:-1]
women[numbers] = women[numbers].mask((women[numbers] - women[numbers].round(3)).abs() > 1e-9)
print(women.head(4).to_string())
print("\nshare missing:", women.isna().mean().loc[lambda share: share > 0].round(2).to_dict())

# %% [markdown]
# Of your own file, leave out identifiers, such as a number of the customer: they say who a row is, not what it is
# like. Text, flags and integers can stay as they are.
#
# ## Learn
#
# `bnc` learns a structure, then its tables. `"tan_cl"` lets each feature depend on the class and on one other
# feature, where that is worth it by the score; `discretize="mdlp"` cuts numbers where the classes differ;
# `smooth=1` adds one imagined row to each count, so that nothing is impossible only because it was not seen.

# %%
options = {"smooth": 1, "discretize": "mdlp"}
model = bnc("tan_cl", "diabetes", women, dag_args={"score": "bic"}, **options)
print(model)

# %% [markdown]
# ## Look
#
# An arc between two features means that they depend on each other given the class. It does not mean a cause,
# and `root=` can reverse it. All features depend on the class.

# %%
plot(model)

# %% [markdown]
# A model is its tables. The table of glucose in the network above depends on another feature, too. To keep the
# picture simple, this is the table of a naive Bayes, in which glucose depends on the class only:

# %%
plot_cpt(bnc("nb", "diabetes", women, **options), "glucose")

# %% [markdown]
# ## Predict
#
# New rows may contain numbers and missing values. This network marginalizes over
# [missing features](incomplete.py) exactly.

# %%
new = pd.DataFrame(
    {"age": [24, 51], "glucose": [98, 171], "bmi": [None, 34.2], "pregnancies": [1, 4]}, index=["Ada", "Bea"]
).reindex(columns=numbers)
predict(model, new, prob=True).round(3)

# %% [markdown]
# ## Why?
#
# Each feature adds to the log odds of the class that is predicted, against the other; above 0 it speaks for it,
# below 0 against it. With the prior, the row of the class, they sum to the log odds of the posterior.

# %%
explain(model, new.loc["Bea"]).round(2)

# %%
plot_explanation(model, new.loc["Bea"])

# %% [markdown]
# What counts on average, over all women:

# %%
plot_importance(model, women)

# %% [markdown]
# ## How good is it?
#
# `cv` learns everything again in each fold, cut points included, and tests on the rows left out. Accuracy alone says
# little where one class is common; AUC, the chance that a woman with diabetes gets a higher probability than one
# without, and log-loss, which punishes being sure of what is false, say more. [Judging a classifier](judging.py) has
# all of them, [comparing](compare.py) says when a difference is more than luck.

# %%
models = {"tan_cl": model, "nb": bnc("nb", "diabetes", women, **options)}
cv(models, women, rng=0, metric=["accuracy", "auc", "log_loss"]).unstack().round(3)  # noqa: PD010

# %% [markdown]
# Every woman predicted by a model that was learned without her, and which are taken for which:

# %%
out_of_fold = cv_predict(model, women, rng=0, prob=False)
confusion(out_of_fold, women["diabetes"])

# %% [markdown]
# ## Keep it
#
# One file of readable JSON holds the model with its cut points and how it was learned. It holds no code, so it can
# come from anywhere.

# %%
save(model, "diabetes.json")
again = load("diabetes.json")
print(predict(again, new).equals(predict(model, new)))

# %% [markdown]
# ## Where next
#
# - Which learner? [The classifiers](overview.py), one by one, with a table to choose from.
# - All verbs in one tour: [using bnclassify](usage.py).
# - Numbers, cut points, and how to fool oneself with them: [from a file to a classifier](numeric.py).
# - Pipelines and grid searches: [coming from scikit-learn](coming_from_sklearn.py).
