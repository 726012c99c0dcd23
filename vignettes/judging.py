# %% [markdown]
# # Evaluating a classifier
#
# A classifier with an accuracy of 0.96 can be useless. This page shows how to evaluate yours if classes are imbalanced, costs
# differ, probabilities matter (calibration), or the class proportions change, and [seven mistakes](#pitfalls) that lead to
# wrong conclusions. You should know how to [fit a model](start.py). It takes twenty minutes. The charts need the extra `plot`.
#
# ```{index} ! ROC, ! AUC, ! calibration, ! imbalanced classes, ! confusion matrix, ! threshold, ! thresholds, ! precision, ! recall, ! costs, ! pitfalls
# ```

# %%
import warnings

import numpy as np
import pandas as pd
from bnclassify import (
    accuracy,
    bnc,
    calibration,
    confusion,
    cv,
    cv_predict,
    discretize,
    load_car,
    load_voting,
    plot_calibration,
    plot_confusion,
    plot_cv,
    predict,
    stratified_folds,
)
from scipy.stats import entropy

# %% [markdown]
# ## Imbalanced classes
#
# The task is to find very good cars. One car in 27 is very good.

# %%
car = load_car()
car["class"] = (
    (car["class"] == "vgood")
    .map({False: "other", True: "very good"})
    .astype("category")
)
print(car["class"].value_counts())
shares = car["class"].value_counts(normalize=True)
print("log-loss of the proportions:", round(entropy(shares), 3))

# %% [markdown]
# ## Accuracy, AUC (area under the ROC curve) and log-loss
#
# The code evaluates three models by ten-fold cross-validation. The dashed line in the chart is the baseline, a model that
# labels every car "other":

# %%
models = {
    name: bnc(name, "class", car, smooth=1) for name in ("nb", "tan_cl", "aode")
}
metrics = ["accuracy", "balanced_accuracy", "auc", "log_loss"]
results = cv(models, car, rng=0, metric=metrics, mean=False)
print(results.mean().unstack().round(3))  # noqa: PD010
plot_cv(results, metric="accuracy")

# %% [markdown]
# Naive Bayes has an accuracy of 0.97, and the baseline has 0.96. The other metrics show more:
#
# - *Balanced accuracy* is the mean over the classes of the proportion of correct labels (the mean recall). Its baseline is 0.5.
#   Naive Bayes has 0.64, because it misses most very good cars.
# - *AUC* is the probability that a very good car gets a higher probability of "very good" than another car. Its baseline is
#   0.5. All models rank the very good cars first.
# - *Log-loss* is the mean of −ln P(actual class). The baseline, with the class proportions as probabilities, is 0.160.
#
# ## Out-of-fold probabilities
#
# `cv_predict(x, df)` returns the probabilities of every row by a model that was fitted without this row, and with
# `prob=False` the labels. `confusion` counts them, with actual classes as rows:

# %%
labels = cv_predict(models["nb"], car, rng=0, prob=False)
counts = confusion(labels, car["class"])
plot_confusion(counts)
counts

# %% [markdown]
# Naive Bayes finds only 18 of 65 very good cars (recall 0.28), and every car it labels very good is (precision 1). `cv`
# computes such metrics: `metric=["f1", "precision", "recall", "kappa", "mcc"]`; the first three are means over the classes. The
# ranking is good, but the labels are poor, because the default decision rule assumes equal costs for both errors.
#
# ## Misclassification costs
#
# Suppose that missing a very good car costs five times as much as inspecting another car unnecessarily. In the cost matrix,
# rows are actual classes and columns are predicted classes. With `predict(x, df, costs=costs)`, you get the label with the
# lowest expected cost, Σ P(actual | row) · cost(actual, label). Here it is computed from out-of-fold probabilities:

# %%
costs = pd.DataFrame([[0, 1], [5, 0]], index=counts.index, columns=counts.columns)
print(costs)
posteriors = cv_predict(models["nb"], car, rng=0)
by_cost = confusion((posteriors @ costs).idxmin(axis=1), car["class"])
print(by_cost)
print("cost of the most probable labels:     ", (counts * costs).to_numpy().sum())
print(
    "cost of the labels of lowest expected cost:",
    (by_cost * costs).to_numpy().sum(),
)

# %% [markdown]
# All 65 very good cars are found, at the price of 28 unnecessary inspections. If costs matter, use them as the metric: `cv`
# accepts any function of posteriors and actual classes, such as `lambda p, actual: ...`.

# %% [markdown]
# ## Refer difficult cases
#
# A decision need not be a class. Suppose that a wrong party costs 1, and that checking a member by hand costs 0.1. The
# columns of `costs` are the decisions, and "refer" is one of them:

# %%
voting = load_voting()
tree = bnc("tan_cl", "Class", voting, smooth=1, missing_level=False)
parties = ["democrat", "republican"]
refer = pd.DataFrame([[0, 1, 0.1], [1, 0, 0.1]], parties, [*parties, "refer"])
print(refer)
print(predict(tree, voting, costs=refer).value_counts())

# %% [markdown]
# The tree refers the members whose most probable party has a probability below 1 − 0.1 = 0.9 (Chow 1970). Is it right to be
# unsure about these?

# %%
for name in ("nb", "tan_cl", "aode"):
    x = bnc(name, "Class", voting, smooth=1, missing_level=False)
    p = cv_predict(x, voting, rng=0)
    wrong = p.idxmax(axis=1) != voting["Class"]
    sure = p.max(axis=1) >= p.max(axis=1).quantile(0.2)
    print(
        f"{name:7} all {wrong.mean():.3f}, the surest 80 % {wrong[sure].mean():.3f}"
    )

# %% [markdown]
# Yes, for the tree: among the 80 % of the members of which it is surest, only 0.3 % of the labels are wrong, compared with 5.5 %
# among all. Naive Bayes is wrong ten times as often when it is sure, for 2.9 % of them.
#
# ## Calibration
#
# Expected costs are only as good as the probabilities. A model is *calibrated* if 80 % of the rows to which it gives
# probability 0.8 are of that class. If features are correlated, as votes on similar bills are, naive Bayes is overconfident:

# %%
voting = load_voting()
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False)
    for name in ("nb", "tan_cl", "aode")
}
metrics = ["accuracy", "log_loss", "calibration_error"]
print(cv(models, voting, rng=0, metric=metrics).unstack().round(3))  # noqa: PD010
shares = voting["Class"].value_counts(normalize=True)
print("log-loss of the proportions:", round(entropy(shares), 3))

# %%
posteriors = {name: cv_predict(x, voting, rng=0) for name, x in models.items()}
for name in ("nb", "tan_cl"):
    ax = plot_calibration(posteriors[name], voting["Class"], bins=5)
    ax.set_title(f"{name}: {ax.get_title('left')}", loc="left")
    ax.figure.savefig(f"calibration_{name}.png", dpi=120)

# %% [markdown]
# Each point represents the rows whose predicted probability falls in one bin. Its size is proportional to the number of rows,
# the bar is a 95 % confidence interval, and points on the diagonal are calibrated. The calibration error, the mean distance
# between predicted probability and observed proportion, is 0.035 for the tree and 0.088 for naive Bayes; the log-losses are
# 0.137 and 0.631 (baseline 0.667). The calibration errors of `cv` (most probable class, 15 bins), the chart (one class, here
# five bins) and `calibration` (each class, ten bins) differ slightly.
#
# `calibration` shows how probabilities are wrong. A slope below 1 means that they are too extreme, and an intercept other than
# 0 that the class is predicted too often or too rarely. The Brier score is about reliability − resolution + uncertainty:

# %%
columns = [
    "intercept",
    "slope",
    "brier",
    "reliability",
    "resolution",
    "calibration_error",
    "expected_error",
]
found = {
    name: calibration(p, voting["Class"]).loc["republican"]
    for name, p in posteriors.items()
}
print(pd.DataFrame(found).T[columns].round(3))

# %% [markdown]
# The log odds of naive Bayes are about five times as extreme as the data support (slope 0.21), those of the other two about 1.5
# times (0.63 and 0.67). Calibrated probabilities would show an error of 0.013 to 0.018 on 435 rows by chance; all three models
# exceed it.
#
# ## Classes with an order
#
# If classes have an order, as stages or grades do, declare it before the fit: `pd.Categorical(y, categories=["low",
# "medium", "high"], ordered=True)`. Tables, pages and pictures then have the classes in this order,
# `predict(x, df, prob=True, at_least="medium")` returns the probability of a class or a higher one, and the metrics
# "rps" (ranked probability score) and "mean_absolute_error" of `cv` count how far a prediction is from the actual class.
#
# ## Prior shift
#
# If new rows come from a population with other class proportions, pass these as `prior`. This is correct only if the features
# are distributed within each class as in the training data (Saerens et al. 2002). Suppose that half of the cars of a dealer are
# very good:

# %%
training = stratified_folds(car["class"], 2, rng=0) == 0
model = bnc("nb", "class", car[training], smooth=1)
dealer = car[~training].groupby("class", observed=True).sample(32, random_state=0)
equal = {"other": 0.5, "very good": 0.5}
print(confusion(predict(model, dealer), dealer["class"]))
print(confusion(predict(model, dealer, prior=equal), dealer["class"]))

# %% [markdown]
# Without `prior`, most very good cars are missed; with it, nearly all labels are correct. The model is not refitted: the class
# prior is replaced by Bayes' rule. `with_prior(model, equal)` returns a model with these proportions, which you can save,
# export and explain.
#
# (pitfalls)=
# ## Seven mistakes
#
# ### Evaluating on the training data
#
# Accuracy on the rows to which a model was fitted favors models with many parameters. Here the labels are drawn at random, so
# no classifier can have an expected accuracy above one half:

# %%
rng = np.random.default_rng(0)
complete = load_voting().dropna()
noise = complete.assign(Class=rng.choice(["a", "b"], len(complete)))
deep = bnc("kdb_mi", "Class", noise, smooth=0.01, dag_args={"kdbk": 3})
fitted = accuracy(predict(deep, noise), noise["Class"])
print("on the training data:", round(fitted, 3))
print("cross-validated:     ", round(cv(deep, noise, rng=0), 3))

# %% [markdown]
# The difference is overfitting: the tables describe the noise in the training data.
#
# ### Discretizing before splitting
#
# MDLP chooses cut points by the class. If the whole table is discretized first, the cut points contain information about the
# classes of the test rows; `discretize=` learns them in each training fold. Here the features are random numbers:

# %%
random = pd.DataFrame(rng.normal(size=(60, 300))).add_prefix("x")
random["class"] = rng.choice(["a", "b"], 60)
with warnings.catch_warnings(action="ignore"):
    cut, _ = discretize(random, class_var="class")
    kept = [name for name in cut if len(cut[name].unique()) > 1]
    leak = cv(bnc("nb", "class", cut[kept], smooth=1), cut[kept], rng=0)
    print("discretized before splitting:", round(leak, 3))
    model = bnc("nb", "class", random, smooth=1, discretize="mdlp")
    print("discretized in each fold:    ", round(cv(model, random, rng=0), 3))

# %% [markdown]
# The first result is far above one half, although the features are noise. The same holds for selecting features and merging
# levels.
#
# ### Copies of rows, and rows that belong together
#
# If one copy of a row is in the training fold and the other in the test fold, the model only has to recognize it. Oversampling
# a rare class does the same. Drop duplicates, or keep copies, and all rows of a patient, in the same fold (`groups="patient"`
# in `bnc` and `cv`):

# %%
twice = pd.concat([noise, noise], ignore_index=True)
copied = bnc("kdb_mi", "Class", twice, smooth=0.01, dag_args={"kdbk": 3})
print("copies in other folds:   ", round(cv(copied, twice, rng=0), 3))
member = np.tile(np.arange(len(noise)), 2)
print("copies in the same fold: ", round(cv(copied, twice, folds=member % 10), 3))

# %% [markdown]
# The labels are noise, so the second result, near one half, is the honest one.
#
# ### Four more
#
# - **Accuracy with rare classes.** Compare a metric that depends on the rare class with its baseline. Do not oversample: state
#   `costs=` or `prior=`.
# - **Identifiers as features.** A column with another value in each row cannot help to predict new rows. `check_data(df, "y")`
#   finds most of them.
# - **Frequencies that are ignored.** If a column `n` has the number of cases of each row, use
#   `encode(df, weights="n", weights_are="frequencies")`.
# - **Missing values that mean something.** If the fact that a value is missing depends on the class, use the default, or
#   `missing_level=True` in a network. But if the reason changes in new data (another clinic, another form), this misleads: see
#   [Missing values](incomplete.py).
#
# ## Summary
#
# Fit everything within each training fold, compare every metric with its baseline, use metrics and costs that fit the task,
# check calibration if you use probabilities, and state the class proportions of new rows.
#
# [Formulas](methods.py#references) lists the sources.
