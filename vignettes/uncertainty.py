# %% [markdown]
# # Uncertainty
#
# Another sample of the same size would give other arcs, other tables and other posteriors. This page shows how to measure how
# much they would differ. You should know [Choosing a classifier](overview.py). The data are 1,728 cars and the votes of 232
# members of Congress. It takes 15 minutes.
#
# ```{index} ! uncertainty, ! bootstrap, ! credible interval, ! confidence interval, ! conformal prediction, ! prediction sets
# ```

# %%
import pandas as pd
from bnclassify import (
    arc_strength,
    averaged_network,
    cpt,
    hc,
    load_car,
    load_voting,
    lp,
    narcs,
    nb,
    plot,
    plot_cpt,
    plot_strength,
    predict,
    query,
    shd,
    tan_cl,
)

# %% [markdown]
# ## Arcs
#
# `arc_strength` learns a structure again from 400 bootstrap samples, each of 1,728 cars drawn with replacement. The *strength*
# of an arc is the proportion of the structures that contain it:

# %%
car = load_car()
tan = tan_cl("class", car, score="aic")
strength = arc_strength(tan, car, replicates=400, rng=0)
plot(tan, strength=strength)


# %%
def between_features(
    strength: pd.DataFrame, class_var: str = "class"
) -> pd.DataFrame:
    """Return the arcs between features, the strongest first."""
    arcs = strength[(strength["from"] != class_var) & (strength["to"] != class_var)]
    return (
        arcs[arcs["direction"] >= 0.5]
        .sort_values("strength", ascending=False)
        .round(2)
    )


between_features(strength).head(6)

# %% [markdown]
# All three arcs of the picture are in all structures, but two things vary. An arc between buying and safety, which the picture
# lacks, is in 57 % of the structures. The arc between persons and safety leads to safety in the picture, but to persons in 68 %
# of the structures: in such a tree, directions depend only on the choice of the root, and are not evidence of causes. With
# fewer cars, arcs are less certain: from 200, `tan_cl` learns none between features.

# %%
few = car.sample(200, random_state=1)
of_few = arc_strength(tan_cl("class", few, score="aic"), few, replicates=400, rng=0)
between_features(of_few).head(3)

# %% [markdown]
# ## From strengths to a network
#
# Which arcs should you keep? `attrs["threshold"]` follows the rule of Scutari and Nagarajan (2013), which compares the
# distribution of all strengths with an ideal one, in which every strength is 0 or 1. The rule has no error rate: with AIC, arcs
# above the threshold occur even in pure noise, and with BIC rarely. Here `hc`, by BIC, learns a general network of the votes:

# %%
votes = load_voting().dropna()
network = hc("Class", votes)
votes_strength = arc_strength(network, votes, replicates=200, rng=0)
plot_strength(votes_strength)

# %% [markdown]
# Bars that cross the dashed line (threshold 0.415) are blue. On the network, strong arcs are wide and dark:

# %%
plot(network, strength=votes_strength)

# %% [markdown]
# Of the 26 arcs, 7 are in more than 90 % of the structures and 5 in less than half of them. `averaged_network` builds a network
# from the arcs above the threshold, and omits arcs that would close a cycle:

# %%
average = averaged_network(votes_strength, "Class")
narcs(network), narcs(average), shd(network, average)

# %% [markdown]
# The average has 21 arcs. Apart from directions without effect on independence, the networks differ in 13 pairs of variables.
#
# For trees, no samples are needed: with the score "bde", `arc_strength(x, df, method="exact")` sums over all trees of the
# features, weighted by their posterior probability (Meilă and Jaakkola 2006). It states which edges are most probable, given
# that the features form a tree.
#
# ## Tables
#
# Given the structure, the counts and the pseudo-counts of `smooth`, `ess` or `m`, each entry of a table has a Beta
# distribution. With `interval=0.9`, 5 % of it is below `lower` and 5 % above `upper`:

# %%
model = lp(tan, car, smooth=1)
cpt(model, "safety", interval=0.9).xs("vgood", axis="columns", level="class").round(
    2
)

# %% [markdown]
# No car for two persons is very good, so the first three columns show the prior alone, with intervals from 0.03 to 0.78. For
# four persons, P(high) is between 0.86 and 0.99. `plot_cpt` writes the intervals below the probabilities:

# %%
plot_cpt(lp(nb("class", car), car, smooth=1), "safety", interval=0.9)

# %% [markdown]
# The widest intervals, from 0.46 to 0.65 and from 0.34 to 0.53, are those of good cars, which are rare. Those of
# unacceptable cars are never wider than 0.05.
#
# ## Posteriors
#
# `predict` draws all tables 1,000 times, computes the posterior of each row from every draw, and returns quantiles. These are
# three models of the last car:

# %%
last = car.tail(1)
structures_and_data = {"tree, 1,728 cars": (tan, car), "tree, 200 cars": (tan, few)}
structures_and_data["naive Bayes, 1,728 cars"] = nb("class", car), car
intervals = {
    name: predict(lp(x, data, smooth=1), last, prob=True, interval=0.9, rng=0).iloc[
        0
    ]["vgood"]
    for name, (x, data) in structures_and_data.items()
}
pd.DataFrame(intervals).T.round(2)

# %% [markdown]
# With all cars, the probability that this car is very good is between 0.56 and 0.82. From 200 cars, the estimate is 0.44, with
# an interval from 0.05 to 0.78. `query` has the same arguments:

# %%
query(
    model, "class", {"safety": "high", "persons": "4"}, interval=0.9, rng=0
).round(2)

# %% [markdown]
# ## What the intervals are not
#
# - *They do not include the uncertainty about the structure*. In the last line of the table above, naive Bayes gives 0.36 to
#   0.64 for the same car and data. Strengths of arcs and [cross-validation](judging.py) measure this part.
# - *They are not sets of classes*: see [below](#sets-of-classes).
# - *They depend on the prior* if there are few rows, as in the columns for two persons. If pseudo-counts are small, the
#   estimate can be outside its interval.
# - *They assume that new rows come from the population of the training data*. The car data contain every combination once, so
#   here the intervals illustrate the calculation.
#
# Under these assumptions, with a correct structure among them, 90 % intervals contain 90 % of the true probabilities.
#
# Weighted models, back-off and EM have no intervals. With `bnc(..., interval=True)`, the default keeps draws of its effects
# from their approximate posterior, and `predict(..., prob=True, interval=0.9)` computes the interval from these. Monotone
# tables and cards keep the draws.
#
# ## Sets of classes
#
# A *prediction set* is a list of classes, as short as possible, that contains the actual class of a new row with a frequency
# that you choose, such as 90 %. The library [MAPIE](https://mapie.readthedocs.io) makes such sets by conformal prediction: on
# rows that the model has not seen, it chooses the threshold that 90 % of the posteriors of the actual class exceed, and a new
# row gets all classes above it. New rows must come from the same population. MAPIE first calls every classifier with a row of
# zeros, so pass text, in which `BNCClassifier` treats numbers as missing values.

# %%
import warnings

import numpy as np

try:
    from bnclassify.sklearn import BNCClassifier
    from mapie.classification import SplitConformalClassifier
    from sklearn.model_selection import train_test_split
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install scikit-learn mapie"
    ) from None

X = car.drop(columns="class").astype(str).to_numpy()
y = car["class"].astype(str).to_numpy()
X_fit, X_rest, y_fit, y_rest = train_test_split(
    X, y, train_size=0.5, stratify=y, random_state=0
)
X_conf, X_test, y_conf, y_test = train_test_split(
    X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=0
)
fitted = BNCClassifier("tan_cl", smooth=1).fit(X_fit, y_fit)
conformal = SplitConformalClassifier(fitted, confidence_level=0.9, prefit=True)
with warnings.catch_warnings(action="ignore"):
    conformal.conformalize(X_conf, y_conf)
members = conformal.predict_set(X_test)[1][:, :, 0]
right = members[np.arange(len(y_test)), np.searchsorted(sorted(set(y)), y_test)]
print("mean size:", members.sum(axis=1).mean().round(2))
print("coverage: ", right.mean().round(2))
print(pd.Series(right).groupby(y_test).mean().round(2).to_dict())

# %% [markdown]
# The coverage, the proportion of sets that contain the actual class, is about 90 %, but rare classes have less. If the
# guarantee has to hold for each class, choose a threshold for each from its rows.
#
# ## Summary
#
# `arc_strength` says which arcs other samples would have, `interval=0.9` how uncertain tables and posteriors are, given the
# structure, and sets of classes contain the actual class with a frequency that you choose.
#
# [Comparing classifiers](compare.py) is about the uncertainty of an accuracy.
