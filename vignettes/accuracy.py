# %% [markdown]
# # The default classifier
#
# If you call `BNCClassifier()`, or `bnc` without a prior, you get a recipe that chooses structure, cut points,
# smoothing and weights by itself. On this page we build it step by step, measure what each step is worth, and see
# what held-out rows decide: on 12 of 29 public data sets, they leave no arcs between features. You should know
# [Numeric features](numeric.py). The data are measurements of 569 tumors from scikit-learn, so the page needs
# scikit-learn. Reading it takes 15 minutes.

# %%
import numpy as np
import pandas as pd
from bnclassify import (
    bnc,
    cv,
    explain,
    families,
    feature_weights,
    load_car,
    loo_summary,
    lp,
    nb,
    plot_effect,
    plot_weights,
    predict,
    stratified_folds,
)

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn"
    ) from None

# %% [markdown]
# The class is whether a tumor is malignant. Ten of the thirty features keep the page short. The models learn from one
# half of the rows, 285 tumors, and are evaluated on the other half.

# %%
cells = load_breast_cancer(as_frame=True)
frame = cells.data[[name for name in cells.data if name.startswith("mean")]].rename(
    columns=lambda name: name.removeprefix("mean ").replace(" ", "_")
)
frame["tumor"] = pd.Categorical.from_codes(cells.target, cells.target_names)
half = stratified_folds(frame["tumor"], 2, rng=0)
train, test = frame[half == 0], frame[half == 1]


def evaluate(model) -> pd.Series:
    """Return the error in the test half, and the log-loss in nats."""
    posterior = predict(model, test, prob=True)
    own = posterior.to_numpy()[np.arange(len(test)), test["tumor"].cat.codes]
    wrong = posterior.idxmax(axis=1) != test["tumor"].astype(str)
    return pd.Series({"error": wrong.mean(), "log-loss": -np.log(own).mean()})


# %% [markdown]
# ## Step by step
#
# 1. Naive Bayes with plain tables. MDLP discretizes each column once.
# 2. `discretize="averaged_mdlp"`: each column is discretized four times at quantiles, into 4 and 8 intervals, and the logs of
#    the tables are averaged, so that no single cut point matters much. `backoff=True` (hierarchical smoothing) shrinks each table by the amount that maximizes the marginal likelihood.
# 3. `held_out="weights"`: each table gets a weight that maximizes the leave-one-out likelihood, so that redundant features
#    are not counted twice.
# 4. Additional terms: each numeric feature adds a Gaussian term ("zscores") and a linear term ("slopes"), each categorical
#    one a constant per level and class ("shifts").
# 5. The default. In addition, a discretization by MDLP and one into 16 intervals have weights of their own, and numbers that
#    repeat, such as grades, are also read by their own values. A missing value has a constant per class. One fifth of the rows
#    is held out at a time, until about 600 rows have been held out, and arcs, tables and weights are learned again from the
#    others. Three models are added up, each with the power that is best for these held-out rows: a logistic regression, the
#    model without arcs between features, and the step from this to a model with at most four feature parents.

# %%
smooth = {"discretize": "averaged_mdlp", "backoff": True}
weights = smooth | {"held_out": "weights"}
terms = weights | {"held_out_args": {"terms": ("zscores", "slopes", "shifts")}}
steps = {
    "1. naive Bayes": bnc("nb", "tumor", train, discretize="mdlp", smooth=1),
    "2. averaged, smoothed": bnc("nb", "tumor", train, **smooth),
    "3. weights": bnc("nb", "tumor", train, **weights),
    "4. additional terms": bnc("nb", "tumor", train, **terms),
    "5. the default": bnc(class_var="tumor", dataset=train),
}
table = pd.DataFrame({name: evaluate(model) for name, model in steps.items()}).T
forest = RandomForestClassifier(random_state=0).fit(
    train.drop(columns="tumor"), train["tumor"].cat.codes
)
votes = forest.predict_proba(test.drop(columns="tumor"))
own = votes[np.arange(len(test)), test["tumor"].cat.codes]
table.loc["forest"] = [
    (votes.argmax(axis=1) != test["tumor"].cat.codes).mean(),
    -np.log(own.clip(1e-15)).mean(),
]
print(table.round(3))

# %% [markdown]
# The error falls from 7.4 % to 3.5 %, and the log-loss from 0.357 to 0.111 nats, to less than a third. The weights gain most:
# naive Bayes counts the radius, the perimeter and the area as three pieces of evidence, although they measure the
# same. The fifth step hardly changes the log-loss on these data; it protects you on others, as you will see. A random
# forest of 100 trees has an error of 6.0 % and a log-loss of 0.152. One half of one small data set is weak evidence,
# because a difference of 0.02 in error is six tumors. [The benchmarks](project/benchmarks.md#accuracy) compare the
# default with other classifiers on 29 data sets.

# %%
model = steps["5. the default"]
print(model)

# %% [markdown]
# This is how to read it. *arcs*: arcs between features did not help on held-out rows, so the model has none. *learning algorithm*:
# `kdb_gain` looks for feature parents. *discretized*: all columns are read in six discretizations. *confidence*: the log odds are
# shrunk by 7 %, because held-out rows showed that the model was too sure, and 27 % of the sum is logistic regression. *missing
# values*: the fewer values a row has, the more weight a naive Bayes gets, which marginalizes over the others. *joint distribution*:
# it has none, so `query` and `sample` raise an error. `cv` repeats everything in each training fold:

# %%
metrics = ["accuracy", "log_loss", "calibration_error"]
print(cv(model, frame, k=3, metric=metrics, rng=0).round(3).to_string())

# %% [markdown]
# On all 569 tumors, the accuracy is 0.946, and the calibration error is 0.012.
#
# ## What held-out rows decide
#
# A structure that was learned from a row predicts this row too well, even if the tables are computed without it. So
# the default measures the worth of each of its parts on rows that none of them has seen. Why are there often no arcs
# between features? The weights already remove what dependent features count twice, and a table with more parents has
# few rows per entry. On 12 of the [29 public sets](project/benchmarks.md#accuracy), the models have no arcs. On the
# cars, features interact, and they have:

# %%
car = load_car()
cars = bnc(class_var="class", dataset=car)
print(families(cars)["safety"], families(cars)["buying"])
tree = bnc("tan_cl", "class", car, smooth=1)
found = cv({"tree": tree, "default": cars}, car, k=5, metric=metrics, rng=0)
print(found.unstack().round(3).to_string())  # noqa: PD010

# %% [markdown]
# The price of a car, `buying`, has two feature parents. The default raises the accuracy of the tree from 0.943 to 0.973, and
# more than halves its log-loss. If the features are not informative about the class, the posteriors should be the class
# proportions, here one half. These are 200 rows of 30 random numbers, with random labels:

# %%
rng = np.random.default_rng(0)
noise = pd.DataFrame(rng.normal(size=(400, 30))).add_prefix("x")
noise["label"] = rng.choice(["a", "b"], 400)
known, new = noise[:200], noise[200:]
candidates = {
    "nb": bnc("nb", "label", known, smooth=1, discretize="quantile"),
    "default": bnc(class_var="label", dataset=known),
}
for name, candidate in candidates.items():
    posterior = predict(candidate, new, prob=True)
    own = posterior.to_numpy()[np.arange(200), (new["label"] == "b").astype(int)]
    top = posterior.max(axis=1).mean()
    print(
        f"{name:8} log-loss {-np.log(own).mean():.3f}, mean top probability {top:.3f}"
    )

# %% [markdown]
# With one half for every row, the log-loss is ln 2 = 0.693. Naive Bayes is confidently wrong. The most probable class has a mean
# probability of 0.542 by the default, which is about one half.
#
# Every row counts on its own, even if it equals another. Rows that belong together, such as visits of a patient,
# should be held out together: name their column by `groups=`. Which rows are held out together depends on their contents, so
# the same rows give the same model in any order; `rng=`, or `random_state=` in scikit-learn, draws the folds at random.
#
# ## How sure is it?
#
# With `interval=True`, `bnc` fits the model 20 times more, each time without a twentieth of the rows, and `predict` shows how
# much the posteriors vary:
#
# %%
sure = bnc(class_var="tumor", dataset=train, interval=True)
predict(sure, test.head(3), prob=True, interval=0.9)["malignant"].round(3)

# %% [markdown]
# The intervals of the first and the third tumor begin at 0.895 and 0.984. That of the second reaches from 0.229 to 1: its
# estimate, 0.973, depends on few rows.
#
# ## Reading the model
#
# A prediction is a sum: the class, and one contribution per feature, which adds up all its terms.

# %%
explain(model, test.iloc[0]).round(2)

# %% [markdown]
# The contributions are to the log odds of "benign", the last class. The concave points contribute most, and the low texture is
# evidence for "benign". A large value can be, too, such as that of the compactness: it corrects for evidence that correlated
# features count twice. The sum is exact, but with correlated features do not read one contribution alone.
#
# The contribution of a feature over its range is a curve. It has steps at the cut points of all six discretizations, and bends
# between them, because of the Gaussian and linear terms:

# %%
plot_effect(model, "concave_points", target="malignant", dataset=train)

# %%
plot_effect(model, "texture", target="malignant", dataset=train)

# %% [markdown]
# ## What leave-one-out estimates
#
# A row is excluded from a table by subtracting 1 from a few counts, and from a Gaussian by a formula, so no model is
# refitted. `feature_weights` has one row per feature and one column per type of term:

# %%
print(feature_weights(model).round(2).to_string())

# %% [markdown]
# The columns *mdlp* and *fine* are the weights of the tables at the cut points of MDLP and in 16 intervals. The largest weights
# of *tables*, the mean of the others, are those of texture and symmetry, which are not redundant. A weight can be negative, such as that of compactness. "slopes" is the root mean square of the coefficients over the classes. Each type of term has a *ridge*, the
# precision of a normal prior of its weights: a type that does not help gets a large ridge and therefore weights near 0.

# %%
plot_weights(model)

# %%
print(pd.Series(loo_summary(model)["ridges"]).round(1).to_dict())

# %% [markdown]
# Such a model provides P(class | features), but does not define a joint distribution, so `loglik`, `AIC` and `BIC` raise
# an error. If you need a table of effects, use `additive=True`, as in the [first page](start.py).
#
# ## Steps of the recipe
#
# You can use each step alone, with any structure. For example, `held_out="power"` estimates only a power, for a model of any
# type. It makes overconfident posteriors more moderate and does not change labels:

# %%
naive = lp(nb("class", car), car, smooth=1)
powered = lp(nb("class", car), car, smooth=1, held_out="power")
scores = cv(
    {"naive": naive, "powered": powered},
    car,
    k=5,
    metric=["accuracy", "log_loss"],
    rng=0,
)
print(scores.unstack().round(3))  # noqa: PD010

# %% [markdown]
# ## What each part gains and costs
#
# `python -m tests.benchmarks.prices` leaves out one part of the default at a time. These are the means over 18 of the public
# sets; the time is the processor time of the fits, relative to the default:
#
# | without | error | log-loss | calibration error | time |
# |---|---|---|---|---|
# | (all parts) | 0.1674 | 0.4025 | 0.0297 | 100 % |
# | shifts of levels, and regression | 0.1737 | 0.4184 | 0.0281 | 87 % |
# | slopes of numbers, and regression | 0.1686 | 0.4080 | 0.0304 | 88 % |
# | Gaussian terms | 0.1665 | 0.4047 | 0.0293 | 85 % |
# | codings by MDLP and by own values | 0.1680 | 0.4095 | 0.0291 | 92 % |
# | depths | 0.1678 | 0.4031 | 0.0286 | 99 % |
# | shifts of missing values | 0.1674 | 0.4025 | 0.0297 | 97 % |
# | regression | 0.1687 | 0.4052 | 0.0278 | 98 % |
# | searched precisions | 0.1676 | 0.4047 | 0.0288 | 98 % |
# | feature parents | 0.1759 | 0.4323 | 0.0328 | 47 % |
# | folds | 0.1796 | 0.4588 | 0.0632 | 27 % |
#
# "Depths" are the tables with fewer parents of a feature with several, which have weights of their own, and "searched
# precisions" are those of the penalties of weights, which are constants without the search. The folds take the most time, and
# gain the most: without them, the log-loss is 0.06 nats higher, and the calibration error doubles. Nothing is missing in these
# sets, so shifts of missing values gain nothing here. The regression requires slopes and shifts, so it is left out with either.

# %% [markdown]
# ## When ensembles of trees are more accurate
#
# - On rules over many categories, such as endgames of chess, because a table has at most four feature parents.
# - If the classes are separated by sharp boundaries in a few continuous features, such as those of phonemes, because a
#   table divides a feature into a few intervals.
#
# The benchmarks list these sets. Evaluate with `cv` on your own data, and not by the leave-one-out likelihood.
#
# ## Summary
#
# Averaged cut points, hierarchical smoothing, weights and additional terms by leave-one-out, and powers by held-out rows
# give a model with a lower error and log-loss than naive Bayes. On noise, its posteriors are close to the class proportions.
