# %% [markdown]
# # Judging a classifier
#
# A classifier that is right in 96 of 100 rows may be worth nothing. This page looks for rare cases, counts
# what mistakes cost, asks whether probabilities mean what they say, and moves a model to a place where the
# classes are not as common as where it was learned. Which of several models is better, and how sure one can
# be, is the subject of [another page](compare.py).
#
# The charts need the extra `plot`.

# %%
import pandas as pd

from bnclassify import (
    bnc,
    confusion,
    cv,
    cv_predict,
    load_car,
    load_voting,
    plot_calibration,
    plot_confusion,
    plot_cv,
    predict,
    stratified_folds,
)

# %% [markdown]
# ## Rare cases
#
# Which cars are very good? One in 27 is.

# %%
car = load_car()
car["class"] = (car["class"] == "vgood").map({False: "other", True: "very good"}).astype("category")
print(car["class"].value_counts())

# %% [markdown]
# Several metrics at once, in ten folds. The dashed line is what the largest class alone would score: a
# model without features, for which every car is an "other".

# %%
models = {name: bnc(name, "class", car, smooth=1) for name in ("nb", "tan_cl", "aode")}
metrics = ["accuracy", "balanced_accuracy", "auc", "log_loss"]
results = cv(models, car, rng=0, metric=metrics, mean=False)
print(results.mean().unstack().round(3))  # noqa: PD010
plot_cv(results, metric="accuracy").figure.savefig("accuracy.png", dpi=120)

# %% [markdown]
# The accuracy of naive Bayes is 0.97, and that of no model at all 0.96. The other figures tell why that is
# not the whole story:
#
# - *balanced accuracy*, the mean over the classes of the share that is right, is poor: what is rare counts
#   as much as what is common, and here it is mostly overlooked;
# - *AUC*, the chance that a very good car gets a higher probability of being one than another car, is
#   nearly 1: the model knows very well which cars to look at;
# - *log-loss* is low: the probabilities are not far off.
#
# ## Out-of-fold probabilities
#
# `cv_predict(x, df)` gives the probabilities of every row by a model that was learned without it, and with
# `prob=False` the labels. `confusion` counts them:

# %%
labels = cv_predict(models["nb"], car, rng=0, prob=False)
counts = confusion(labels, car["class"])
plot_confusion(counts).figure.savefig("confusion.png", dpi=120)
counts

# %% [markdown]
# So naive Bayes ranks well and labels badly, because a car is called very good only where that is the
# likelier class. What is amiss is not the model but the question.
#
# ## Costs
#
# Say that overlooking a very good car costs five times as much as looking at another one in vain. The table
# has what a row is down, and what it is predicted to be across. With it, `predict` gives the label of least
# expected cost, Σ P(actual | row) · cost(actual, label):

# %%
costs = pd.DataFrame([[0, 1], [5, 0]], index=counts.index, columns=counts.columns)
print(costs)
print(predict(models["nb"], car, costs=costs).value_counts())

# %% [markdown]
# Out of fold the same takes one line, as do all decisions from posteriors:

# %%
posteriors = cv_predict(models["nb"], car, rng=0)
careful = confusion((posteriors @ costs).idxmin(axis=1), car["class"])
print(careful)
print("cost of the likelier class:", (counts * costs).to_numpy().sum())
print("least expected cost:       ", (careful * costs).to_numpy().sum())

# %% [markdown]
# All 65 are found, for 28 looks in vain. If cost is what matters, it is the metric, too: any function of
# posteriors and actual classes will do.


# %%
def cost(posteriors, actual):
    decided = confusion((posteriors @ costs).idxmin(axis=1), actual)
    return (decided * costs).to_numpy().sum() / len(actual)


by_cost = cv(models, car, rng=0, metric=cost, mean=False)
plot_cv(by_cost).figure.savefig("cost.png", dpi=120)
print(by_cost.mean().round(3))

# %% [markdown]
# ## Do probabilities mean what they say?
#
# Expected costs are only as good as the probabilities. A model is *calibrated* if of the rows to which it
# gives 0.8, 80 % are of that class. Naive Bayes takes every feature for new evidence, and where features
# say the same, as votes on similar bills do, it is far too sure:

# %%
voting = load_voting()
models = {
    name: bnc(name, "Class", voting, smooth=1, missing_level=False) for name in ("nb", "tan_cl", "aode")
}
sure = cv(models, voting, rng=0, metric=metrics)
print(sure.unstack().round(3))  # noqa: PD010

# %%
posteriors = {name: cv_predict(x, voting, rng=0) for name, x in models.items()}
for name in ("nb", "tan_cl"):
    ax = plot_calibration(posteriors[name], voting["Class"], bins=5)
    ax.set_title(name, loc="left")
    ax.figure.savefig(f"calibration_{name}.png", dpi=120)

# %% [markdown]
# A dot is the rows of an interval of probabilities, the larger the more they are, with an interval of 95 %
# confidence; on the diagonal, what is said comes true. Of those whom naive Bayes is sure to be republicans
# one in six is none. The tree, which knows of each vote what one other tells of it, keeps close to the
# diagonal. Its calibration error, the mean distance of what is said from what comes true, is half as large,
# and its log-loss, which punishes being sure of what is false, a fifth.
#
# ## Where the classes are not as common
#
# A model also learns how common each class is, from rows that may have been picked, or come from another
# place. Half the cars of a certain dealer are very good. Here the model learns from one half of the data,
# and the dealer's cars come from the other:

# %%
trained = stratified_folds(car["class"], 2, rng=0) == 0
model = bnc("nb", "class", car[trained], smooth=1)
lot = car[~trained].groupby("class", observed=True).sample(32, random_state=0)
even = {"other": 0.5, "very good": 0.5}
print(confusion(predict(model, lot), lot["class"]))
print(confusion(predict(model, lot, prior=even), lot["class"]))

# %% [markdown]
# With `prior`, which says how common the classes are where the new rows come from, nearly all are right:
# what the features tell of a class stays, and P(class) is exchanged by Bayes' rule. Nothing is learned
# anew.
#
# `BNCClassifier(prior=..., costs=...)` does both for scikit-learn's tools.
#
# ## References
#
# - Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI 2001.
# - Hanley, J. A., McNeil, B. J. (1982). The meaning and use of the area under a receiver operating
#   characteristic (ROC) curve. Radiology 143.
# - Niculescu-Mizil, A., Caruana, R. (2005). Predicting good probabilities with supervised learning. ICML
#   2005.
# - Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier to new a priori
#   probabilities: a simple procedure. Neural Computation 14.
