# %% [markdown]
# # Numeric features
#
# Most networks of this package are discrete, but most tables have numeric columns. This page shows how to discretize such
# columns, how to read the resulting model, and when a density serves you better. The default needs none of this: it fits a
# curve to each numeric column ([The default classifier](accuracy.py)). You should know the [first page](start.py). It takes ten
# minutes, and needs scikit-learn.
#
# ```{index} ! continuous features, ! numeric features, ! binning, ! bins, ! discretization, ! MDLP
# ```
#
# In short, `bnc(learner, class_var, df, smooth=1, discretize="mdlp")` fits a model that accepts raw rows. The cut points are
# part of the model, so `cv` learns them again in each training fold. `min_count=10` also merges rare levels, and
# `discretize="averaged"` averages over nine discretizations ([Formulas](methods.py#averaged-cut-points)).

# %%
from io import StringIO

import numpy as np
import pandas as pd
from bnclassify import (
    accuracy,
    bnc,
    cpt,
    cv,
    discretize,
    explain,
    plot_cpt,
    plot_explanation,
    predict,
    preparation,
    stratified_folds,
)

try:
    from sklearn.datasets import load_wine
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn"
    ) from None

# %% [markdown]
# ## A file
#
# The data are chemical analyses of 178 wines from three cultivars, with a bottle number, an irrelevant column, a column of text
# and missing values, as in a real file:

# %%
rng = np.random.default_rng(0)
wines = load_wine(as_frame=True)
made = wines.data[
    ["alcohol", "malic_acid", "magnesium", "flavanoids", "hue", "proline"]
].assign(
    color=pd.cut(
        wines.data["color_intensity"],
        [0, 3, 6, 20],
        labels=["pale", "ruby", "deep"],
    ).astype(str),
    shelf=rng.choice(["left", "right"], len(wines.data)),
)
made = made.mask(rng.random(made.shape) < 1 / 12)
made.insert(0, "bottle", 1001 + rng.permutation(len(made)))
made["cultivar"] = np.array(["first", "second", "third"])[wines.target]
file = StringIO(made.to_csv(index=False))

# %%
table = pd.read_csv(file)
print(table.head(4).to_string())
print("\nmissing:", table.isna().sum().loc[lambda count: count > 0].to_dict())
print(table.dtypes.astype(str).to_dict())

# %% [markdown]
# The bottle number identifies a row, so we drop it. We convert text to categories before we split the data, so that all
# levels are known in both subsets.

# %%
table = table.drop(columns="bottle").astype(
    {"color": "category", "shelf": "category", "cultivar": "category"}
)
tested = stratified_folds(table["cultivar"], 4, rng=0) == 0
known, new = table[~tested], table[tested]
print(f"{len(known)} training wines, {len(new)} test wines")

# %% [markdown]
# ## Fit and read
#
# MDLP chooses cut points by the class, and stops when another cut point does not shorten the description of the classes by
# more than it costs to describe the cut point. `preparation` shows the result:

# %%
model = bnc(
    "nb", "cultivar", known, smooth=1, discretize="mdlp", missing_level=False
)
print(preparation(model).cut_points.to_string())

# %% [markdown]
# Read each column of a table from top to bottom. For example, four in five
# wines of the third cultivar are in the lowest interval of flavanoids.

# %%
plot_cpt(model, "flavanoids")

# %% [markdown]
# `discretize="quantile"` and `"width"` do not use the class: they make `bins` intervals with equal numbers of rows, or of equal
# width. To use the intervals elsewhere, call `discretize`, which returns the discretized data, and a function for other data:

# %%
frame, discretizer = discretize(known, method="quantile", bins=4)
print(frame.head(2).to_string())
print(discretizer(new.head(2)).to_string())

# %% [markdown]
# ## Predict new rows
#
# Pass new rows as they are. Values outside the range of the training data are in the first or last interval. Missing
# values stay missing, and the model averages over them.

# %%
print(
    "accuracy on the test wines:",
    round(accuracy(predict(model, new), new["cultivar"]), 3),
)
bottle = {"alcohol": 15.9, "flavanoids": 3.1, "color": "ruby"}
print(predict(model, bottle, prob=True).round(3).to_string(index=False))

# %% [markdown]
# In `explain`, missing values contribute 0:

# %%
plot_explanation(model, bottle)

# %% [markdown]
# ## Densities in place of intervals
#
# Instead of discretizing a column, a model can use its density given the class: `numbers="gaussian"` is a normal
# distribution, as in scikit-learn's `GaussianNB`, and `numbers="kernel"` the mean of normal densities around the
# training values. The other columns keep their tables, and the model still has a joint distribution, so it marginalizes
# over missing values exactly.

# %%
gaussian = bnc("nb", "cultivar", known, smooth=1, numbers="gaussian")
print(cpt(gaussian, "flavanoids").round(2))
print(explain(gaussian, bottle).round(2).to_string())

# %% [markdown]
# An alcohol content far above all others is very strong evidence under normal distributions: 11.4 nats multiply the odds by
# 90,000. An interval without an upper end would limit this.
#
# `plot_effect` draws the contribution of such a feature, a parabola. `sample` draws values, `impute` fills in conditional
# means, and `update` adds rows. In `tan_cl` and `kdb_mi`, numeric features can have categorical parents, but are never parents
# themselves.

# %%
treatments = {
    "MDLP": {"discretize": "mdlp"},
    "averaged": {"discretize": "averaged"},
    "Gaussian": {"numbers": "gaussian"},
    "kernel": {"numbers": "kernel"},
}
models = {
    name: bnc("nb", "cultivar", table, smooth=1, **how)
    for name, how in treatments.items()
}
print(
    cv(models, table, k=10, rng=0, metric=["accuracy", "log_loss"])
    .round(3)
    .to_string()
)

# %% [markdown]
# On these wines, the accuracies are within 0.006 of each other, which is one wine of 178. These are means over 18 public data
# sets ([Benchmarks](project/benchmarks.md#accuracy)) in which at least half of the features are numeric, fitted to one half and
# evaluated on the other:
#
# <!-- numeric -->
#
# | treatment | mean error | mean log-loss (nats) | lower, higher error than MDLP | lower, higher log-loss |
# |---|---|---|---|---|
# | MDLP | 0.192 | 0.94 |  |  |
# | averaged | 0.192 | 0.92 | 5, 10 | 10, 8 |
# | Gaussian | 0.225 | 1.56 | 5, 13 | 4, 14 |
# | kernel | 0.203 | 1.40 | 6, 11 | 5, 12 |
#
# <!-- end -->
#
# Averaged cut points have the lowest log-loss; Gaussian and kernel densities have more extreme posteriors, and therefore higher
# log-losses. Use
#
# - `discretize="averaged"` for accurate predictions by a network, and the default of `BNCClassifier` if you need no network,
# - `discretize="mdlp"` for a few readable intervals per column,
# - `numbers="gaussian"` for densities, for samples of numeric columns, and to replace `GaussianNB`, with categories and
#   missing values in the same model; take logarithms of skewed columns first,
# - `numbers="kernel"` if a density has several modes. Prediction takes time proportional to the number of
#   distinct training values.
#
# ## Summary
#
# Use `discretize=` in `bnc` or `BNCClassifier`, so that cut points are learned in each training fold. If you discretize a table
# before you split it, results are too good: see [Evaluating a classifier](judging.py#discretizing-before-splitting). A [grid
# search](coming_from_sklearn.py#grid-search) can choose the method.
