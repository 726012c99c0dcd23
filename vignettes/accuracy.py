# %% [markdown]
# # The default classifier
#
# This page explains the model of `bnc(class_var=..., dataset=...)` and `BNCClassifier()`: what it is, how it is fitted, how to
# read it, and when another model is better. You should know [How it works](how_it_works.py). The data are measurements of 569
# tumors from scikit-learn. It takes ten minutes.
#
# ## What it is
#
# The score of a class c, for a row x, is
#
# $$
# s_c(x) = a_c + \sum_j f_{jc}(x_j) + \sum_{j<k} f_{jkc}(x_j, x_k),
# $$
#
# with a constant, an effect of each feature, and an effect of some pairs of features. The probability of the class is
# proportional to $e^{s_c(x)}$, so with two classes, the difference of the two scores is the log odds. Each effect is a table,
# so the model is a table: `effects` writes it, and a prediction is a few look-ups and one sum.
#
# ## How it is fitted
#
# 1. **Contrasts.** The effect of a numeric feature is a sum of a line, a square, and cosines of increasing frequency over the
#    ranks of its values. The effect of a category has one contrast per level. A missing value is one more level. A pair has
#    products of the contrasts of both features.
# 2. **Variances.** Each type of contrast has a prior variance: the larger it is, the further its effects may be from 0.
#    Variances are chosen by the likelihood of rows that are held out. Effects that do not help are close to 0.
# 3. **Pairs.** Pairs are ranked without the held-out rows, and as many are used as these rows favor. `pairs=0` uses none,
#    `pairs=5` five, and `pairs=[("age", "dose")]` those that you name.
# 4. **Weights.** Given the variances, one penalized logistic regression on all rows estimates the weights of all contrasts
#    together, so that dependent features share their evidence and do not count it twice.
# 5. **Exact values.** Names, identifiers and numbers that repeat can also have an effect of each exact value, and two such
#    features an effect of each pair of values. This effect compares how often a class occurs in the rows with the value with how
#    often the other effects predict it there. Such effects are used only if they help to predict rows that are left out one by
#    one. Their sign can be reversed. For example, if each person has one row of each class, and one of them is in the training
#    data, the new row of this person is probably of the other class.
#
# Statisticians know this as a smoothing-spline analysis of variance of the log odds (Wahba et al. 1995; Wood 2017).
# [Formulas](methods.py#the-default-a-sum-of-effects) has the details. The fit uses no random numbers. Rows that belong
# together, such as visits of a patient, should be held out together: name their column by `groups=`.

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    bnc,
    cv,
    effects,
    explain,
    load_car,
    plot_effect,
    plot_importance,
    predict,
    stratified_folds,
)

try:
    from sklearn.datasets import load_breast_cancer
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn"
    ) from None

# %% [markdown]
# ## On data
#
# The class is whether a tumor is malignant. Ten of the thirty features keep the page short. The models learn from one
# half of the rows, 285 tumors, and are evaluated on the other half:

# %%
cells = load_breast_cancer(as_frame=True)
frame = cells.data[[name for name in cells.data if name.startswith("mean")]].rename(
    columns=lambda name: name.removeprefix("mean ").replace(" ", "_")
)
frame["tumor"] = pd.Categorical.from_codes(cells.target, cells.target_names)
half = stratified_folds(frame["tumor"], 2, rng=0)
train, test = frame[half == 0], frame[half == 1]
options = {"smooth": 1, "discretize": "mdlp"}
model = bnc(class_var="tumor", dataset=train)
models = {
    "naive Bayes": bnc("nb", "tumor", train, **options),
    "tree": bnc("tan_cl", "tumor", train, dag_args={"score": "aic"}, **options),
    "sum": bnc(class_var="tumor", dataset=train, pairs=0),
    "default": model,
}


def evaluate(x):
    """Return the error in the test half, and the log-loss in nats."""
    posterior = predict(x, test, prob=True)
    own = posterior.to_numpy()[np.arange(len(test)), test["tumor"].cat.codes]
    wrong = posterior.idxmax(axis=1) != test["tumor"].astype(str)
    return {"error": wrong.mean(), "log-loss": -np.log(own).mean()}


print(pd.DataFrame({name: evaluate(x) for name, x in models.items()}).T.round(3))
print(model)

# %% [markdown]
# The sums have much lower log-losses than the networks: naive Bayes counts the radius, the perimeter and the area as three
# pieces of evidence, although they measure the same. The difference between the two sums is within noise: 0.01 in error is
# three tumors. In the printout, *form* says how many pairs are used, *parameters* which arguments differ from the default, and
# *missing values* what happens to them. *discretized: in steps* means that the effect of a numeric feature is kept as a table
# with one number per interval. *joint distribution: no* means that the model predicts the class only, so `query`, `sample` and
# `loglik` need a network. [Benchmarks](project/benchmarks.md) compares the default with other classifiers on many data sets.
#
# On the cars, features interact, and pairs help a lot:

# %%
car = load_car()
found = {
    "tree": bnc("tan_cl", "class", car, smooth=1),
    "sum": bnc(class_var="class", dataset=car, pairs=0),
    "default": bnc(class_var="class", dataset=car),
}
metrics = ["accuracy", "log_loss", "calibration_error"]
cv(found, car, k=3, metric=metrics, rng=0).unstack().round(3)  # noqa: PD010

# %% [markdown]
# The pairs lower the log-loss from 0.163 to 0.047, and the calibration error is small with and without them.
#
# If the features are not informative about the class, the posteriors should be the class proportions, here one half. These are
# 200 rows of 30 random numbers, with random labels:

# %%
rng = np.random.default_rng(0)
noise = pd.DataFrame(rng.normal(size=(400, 30))).add_prefix("x")
noise["label"] = rng.choice(["a", "b"], 400)
known, new = noise[:200], noise[200:]
for name, x in {
    "naive Bayes": bnc("nb", "label", known, smooth=1, discretize="quantile"),
    "default": bnc(class_var="label", dataset=known),
}.items():
    posterior = predict(x, new, prob=True)
    own = posterior.to_numpy()[np.arange(200), (new["label"] == "b").astype(int)]
    print(f"{name:12} log-loss {-np.log(own).mean():.3f}, largest", end=" ")
    print(round(posterior.to_numpy().max(), 3))

# %% [markdown]
# With one half for every row, the log-loss is ln 2 = 0.693. Naive Bayes has 0.967: it gives high probabilities to wrong labels.
# The default has 0.733, because effects that do not help with held-out rows are shrunk. They are not exactly 0, because 200
# rows contain some patterns by chance, so its largest probability is 0.846.
#
# ## Reading the model
#
# `explain` has one row for the class, one per feature and one per pair, and their sum is the log odds:

# %%
explain(model, test.iloc[0]).round(2)

# %%
plot_importance(model, train)

# %%
plot_effect(model, "concave_points", target="malignant", dataset=train)

# %% [markdown]
# A curve is smooth unless values repeat. The effect is that of the feature *given the others*: with correlated features, such
# as the radius and the area, do not read one contribution alone. `effects` has all numbers. For a table that fits on a page,
# use `pairs=0`:

# %%
table = effects(models["sum"])
print(len(effects(model)), "rows with pairs,", len(table), "rows without")
print(table[table["feature"] == "symmetry"].tail(4).round(2).to_string())

# %% [markdown]
# [Your table in ten minutes](start.py#the-model-as-a-table-and-as-a-card) edits such a table and makes a card of points of it.
#
# ## How sure is it?
#
# With `interval=True`, `bnc` also draws effects from their posterior, and `predict` shows how much the probabilities vary:

# %%
sure = bnc(class_var="tumor", dataset=train, interval=True)
predict(sure, test.head(3), prob=True, interval=0.9)["malignant"].round(3)

# %% [markdown]
# A wide interval, such as that of the first tumor, means that few rows decide about it. [Uncertainty](uncertainty.py) explains
# the intervals of all models.
#
# ## Unknown and missing values
#
# A *missing* value has an effect of its own. A feature that is *unknown*, because a record leaves it out, is not evidence: its
# contribution is 0, and known features take its place as far as they predict it. See [Missing
# values](incomplete.py#unknown-or-missing).
#
# ## When another model is better
#
# - If more than two features act together, as in endgames of chess, ensembles of trees can be more accurate.
# - With hundreds of rows and many classes, naive Bayes can be more accurate, because it estimates each table on its own.
# - If you need answers about other variables than the class, samples, imputed values, or updates with more rows, use a
#   [network](networks.py).
#
# Evaluate with `cv` on your own data.
#
# ## Summary
#
# The default is a sum of effects of features and pairs, estimated together, whose size held-out rows decide. It is a table that
# you can read, explain and export.
#
# [Formulas](methods.py#references) lists the sources.
