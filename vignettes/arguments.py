# %% [markdown]
# # Which arguments matter
#
# The functions have many arguments, and most of them you will never need. This page lists those that are worth trying,
# and measures how much each one changes the result, so that you tune two hyperparameters and not twenty. It takes ten
# minutes. You should have [fitted a model](start.py).
#
# ```{index} hyperparameters, tuning
# ```
#
# ## In short
#
# Start with `BNCClassifier()` or `bnc(class_var=..., dataset=...)`, which choose structure, cut points, smoothing and
# weights by themselves. There is hardly anything to tune. If you use a learner of your own, these arguments matter, the
# most important first:
#
# | argument | default | values to try | what it changes | what it costs |
# |---|---|---|---|---|
# | the learner | the recipe of `bnc` | `"nb"`, `"tan_cl"`, `"aode"`, `"kdb_mi"` | which dependences the model can represent | naive Bayes is the fastest; `aode` keeps a table per pair |
# | `score` of `tan_cl` (in `dag_args`) | `"loglik"` | `"aic"`, `"bic"` | how many arcs between features are kept | nothing |
# | `discretize` | `"auto"` | `"mdlp"`, `"averaged"`, `"quantile"` | the intervals of numeric columns | `"averaged"` is about nine times as slow, and has no joint distribution |
# | `smooth` | none: choose a prior | 0.01, 1, 10 | how far small counts are pulled towards equal probabilities | nothing |
# | `backoff` | `False` | `True`, in place of `smooth` | small tables are pulled towards tables with fewer parents | a search for the amounts of smoothing |
# | `held_out` | none | `"weights"`, `"power"` | dependent features are not counted twice | some seconds; no joint distribution |
# | `missing_level` | `"auto"`, which is `False` | `True` | whether a missing value is a level; the default recipe has a constant for it anyway | one more level per column |
# | `min_count` | none | 5, 10 | rare levels are merged | nothing |
# | `kdbk` of `kdb_mi` | 2 | 1, 2, 3 | number of feature parents | the tables grow by a factor per parent |
# | `alpha`, `max_parents`, `tabu`, `restarts` | see `hc`, `chisq_dn` | | the search for general networks | time |
#
# These do not change the fit, but often the decision, and usually matter more:
#
# | argument | what it tells the model |
# |---|---|
# | `costs` of `predict` | which error is more serious |
# | `prior` of `predict` | how frequent the classes are where the model is used |
# | `metric` of `cv` | what you want to be good at |
# | `groups` of `bnc` and `cv` | which rows belong together, such as the visits of a patient |
# | `weights_are` of `encode` | whether weights are frequencies, or a survey's |

# %%
import pandas as pd
from bnclassify import bnc, cv, load_car, load_pima, stratified_folds

women, car = load_pima(), load_car()
FOLDS = {
    "diabetes": stratified_folds(women["diabetes"], 10, rng=0),
    "class": stratified_folds(car["class"], 10, rng=0),
}


def measure(models, data, target):
    """Return the error and the log-loss of models on the same ten folds."""
    metrics = ["accuracy", "log_loss"]
    found = cv(models, data, folds=FOLDS[target], metric=metrics).unstack()  # noqa: PD010
    return found.assign(accuracy=1 - found["accuracy"]).rename(
        columns={"accuracy": "error"}
    )


# %% [markdown]
# ## The learner and its score
#
# On the cars, features interact, so the learner matters most. On the diabetes data the features hardly interact, and it
# matters little.

# %%
options = {"smooth": 1}
numeric = {"discretize": "mdlp", "missing_level": False}
learners = {
    "nb": {"dag_learner": "nb"},
    "tan_cl, bic": {"dag_learner": "tan_cl", "dag_args": {"score": "bic"}},
    "tan_cl, aic": {"dag_learner": "tan_cl", "dag_args": {"score": "aic"}},
    "tan_cl, loglik": {"dag_learner": "tan_cl"},
    "kdb_mi, 2 parents": {"dag_learner": "kdb_mi"},
    "aode": {"dag_learner": "aode"},
}
on_cars = {
    name: bnc(class_var="class", dataset=car, **how, **options)
    for name, how in learners.items()
}
on_women = {
    name: bnc(class_var="diabetes", dataset=women, **how, **options, **numeric)
    for name, how in learners.items()
}
pd.concat(
    {
        "cars": measure(on_cars, car, "class"),
        "diabetes": measure(on_women, women, "diabetes"),
    },
    axis=1,
).reindex(learners).round(3)

# %% [markdown]
# On the cars, the error falls from 0.145 to 0.050, and the log-loss by nearly half. On the diabetes data, the errors of all
# learners are within 0.018 of each other, which is 14 women of 768.
#
# ## Discretization

# %%
cuttings = {
    "mdlp": {"discretize": "mdlp"},
    "quantile, 4 bins": {"discretize": "quantile", "bins": 4},
    "quantile, 10 bins": {"discretize": "quantile", "bins": 10},
    "width, 4 bins": {"discretize": "width", "bins": 4},
    "averaged": {"discretize": "averaged"},
}
models = {
    name: bnc("nb", "diabetes", women, smooth=1, missing_level=False, **how)
    for name, how in cuttings.items()
}
measure(models, women, "diabetes").reindex(cuttings).round(3)

# %% [markdown]
# Averaging over nine sets of cut points has the lowest log-loss here. Of the methods with one set of cut points, MDLP
# chooses the number of intervals itself, which is why it has no `bins`.
#
# ## Smoothing
#
# Smoothing matters if tables are large and rows are few, and how much is best depends on how noisy the classes are:

# %%
amounts = {
    f"smooth={amount}": {"smooth": amount} for amount in (0.01, 0.1, 1, 10)
} | {"backoff=True": {"backoff": True}}
data = {"cars": ("class", car, {}), "diabetes": ("diabetes", women, numeric)}
losses = {}
for name, (target, frame, how) in data.items():
    for learner in ("nb", "kdb_mi"):
        models = {
            amount: bnc(learner, target, frame, **how, **prior)
            for amount, prior in amounts.items()
        }
        losses[name, learner] = cv(
            models, frame, folds=FOLDS[target], metric="log_loss"
        )
pd.DataFrame(losses).reindex(amounts).round(3)

# %% [markdown]
# The tables of naive Bayes have many rows per cell, so `smooth` hardly matters from 0.01 to 1. Those of `kdb_mi` have up to
# 256 cells for 1,728 cars. The grade of a car follows from its features without noise, so there the least smoothing is
# best; whether a woman has diabetes does not, so there the most is. In practice, try 0.01, 1 and 10 if the learner has
# two parents or more. `backoff=True` needs no choice, and is in between on both.
#
# ## Weights
#
# `held_out="weights"` and `held_out="power"` correct the overconfidence that dependent features cause. They change the error less than
# the log-loss:

# %%
weightings = {
    "plain": {},
    "power": {"held_out": "power"},
    "weights": {"held_out": "weights"},
}
models = {
    name: bnc("nb", "diabetes", women, smooth=1, **numeric, **how)
    for name, how in weightings.items()
}
measure(models, women, "diabetes").reindex(weightings).round(3)

# %% [markdown]
# ## How to search
#
# If you tune, tune few values, with a metric that fits your task, and evaluate the winner on rows that the search did not
# see: the best of many noisy results is too optimistic. In scikit-learn, arguments of the learner are
# `dag_args__score`, and those of `lp` are `lp_args__ess`:
#
# ```python
# from sklearn.model_selection import GridSearchCV
# from bnclassify.sklearn import BNCClassifier
#
# grid = [
#     {"learner": ["nb", "aode"], "smooth": [0.1, 1]},
#     {"learner": ["tan_cl"], "smooth": [0.1, 1], "dag_args__score": ["aic", "bic"]},
# ]
# search = GridSearchCV(BNCClassifier(), grid, scoring="neg_log_loss", cv=5)
# ```
#
# ## Summary
#
# Choose the learner first, then its score and the discretization. Try several amounts of smoothing only if tables are
# large. State costs and class proportions before you tune anything.
