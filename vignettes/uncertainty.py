# %% [markdown]
# # Uncertainty
#
# A structure is learned from a sample, and another sample of the same size would give another structure, other tables
# and other posteriors. This page shows how to measure how much they would differ. It is for you if you have learned a
# model as in [Choosing a classifier](overview.py) and want to know how far to trust it. It uses the car data (1,728
# cars, six features) and the voting data (232 members of Congress without missing votes). Reading it takes 15 minutes.
#
# ```{index} ! uncertainty, ! bootstrap, ! credible interval, ! confidence interval, ! conformal prediction, ! prediction sets
# ```

# %%
import pandas as pd
from bnclassify import (arc_strength, averaged_network, cpt, hc, kl_divergence, load_car, load_voting, lp, narcs, nb, plot, plot_cpt, plot_strength, predict, query, shd, tan_cl,)

# %% [markdown]
# ## Arcs
#
# `tan_cl` learns a tree-augmented naive Bayes from all cars. Another sample of
# cars could give other arcs. `arc_strength` learns the structure again from 1,000 bootstrap samples, each of 1,728 cars
# drawn with replacement, and returns the proportion of the structures that contain each arc. This is the *strength* of
# the arc.

# %%
car = load_car()
tan = tan_cl("class", car, score="aic")
strength = arc_strength(tan, car, replicates=1_000, rng=0)
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
# All three arcs of the picture have strength 1.00, because all bootstrap samples have them. But two things vary. An arc
# between buying and safety, which the picture lacks, is in 53 % of the structures. The arc between persons and safety
# leads to safety in the picture, but to persons in 67 % of the structures. In such a tree, the directions depend only
# on the choice of the root, so they are not evidence of causes.
#
# With fewer cars, arcs are less certain: from 200 of them, `tan_cl` learns no arc between features.

# %%
few = car.sample(200, random_state=1)
of_few = arc_strength(
    tan_cl("class", few, score="aic"), few, replicates=1_000, rng=0
)
between_features(of_few).head(3)

# %% [markdown]
# ## From strengths to a network
#
# Which arcs should you keep? `attrs["threshold"]` follows the rule of Scutari and Nagarajan (2013): it compares the
# distribution of all strengths with that of an ideal case, in which every strength is 0 or 1. The rule has no error
# rate: with AIC, arcs above the threshold occur even in pure noise, and with BIC rarely. The votes are an example with
# many uncertain arcs. `hc`, whose default score is BIC, learns a general network, in which the party is a variable like any
# other:

# %%
votes = load_voting().dropna()
network = hc("Class", votes)
votes_strength = arc_strength(network, votes, replicates=500, rng=0)
plot_strength(votes_strength)

# %% [markdown]
# Bars that cross the dashed line (threshold 0.44) are blue. On the network, strong arcs are wide and dark:

# %%
plot(network, strength=votes_strength)

# %% [markdown]
# Of the 26 arcs, 6 are in more than 90 % of the structures and 5 in less than half of them.
# `averaged_network` builds a network from the arcs above the threshold, the strongest first, and omits arcs that
# would close a cycle. The result can be fitted with `lp` like any other structure.

# %%
average = averaged_network(votes_strength, "Class")
narcs(network), narcs(average), shd(network, average)

# %% [markdown]
# The average has 21 arcs. It omits the 5 weak arcs of the learned network and reverses two others to the direction
# found in most samples. As equivalence classes, which ignore directions without effect on independence, the networks
# differ in 13 pairs of variables.
#
# For trees, no samples are needed: with the score "bde", `arc_strength(x, df, method="exact")` sums over all trees of the features, weighted by
# their posterior probability (Meilă and Jaakkola 2006). It states which edges are most probable, given that the features form a tree.
#
# ## Tables
#
# The entries of a table are estimated from counts. Given the structure, the counts and the pseudo-counts of `smooth`,
# `ess` or `m`, each entry has a Beta distribution, and `cpt` returns its quantiles. With `interval=0.9`, 5 % of this
# distribution is below `lower` and 5 % above `upper`:

# %%
model = lp(tan, car, smooth=1)
cpt(model, "safety", interval=0.9).xs("vgood", axis="columns", level="class").round(
    2
)

# %% [markdown]
# No car for two persons is very good, so the first three columns show the prior alone: each of the three levels has
# probability 0.33, and the interval reaches from 0.03 to 0.78. For four persons, P(high) is between 0.86 and 0.99.
# `plot_cpt` writes the intervals below the probabilities:

# %%
plot_cpt(lp(nb("class", car), car, smooth=1), "safety", interval=0.9)

# %% [markdown]
# The widest intervals, from 0.46 to 0.65 and from 0.34 to 0.53, are those of good cars, which are rare. Those of
# unacceptable cars are never wider than 0.05.
#
# ## Posteriors
#
# A prediction depends on many entries. So `predict` draws all tables 1,000 times from their distributions, computes the
# posterior of each row from every draw, and returns quantiles. Missing features are marginalized over in every draw.
# The example is the last car, with tables from all 1,728 cars or from the sample of 200:

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
# With all cars, the probability that this car is very good is between 0.54 and 0.83. From 200 cars, the estimate is
# 0.44, with an interval from 0.07 to 0.78, so 0.44 should not be reported without it.
#
# `query` has the same arguments for any other question, such as the classes of safe cars for four persons:

# %%
query(
    model, "class", {"safety": "high", "persons": "4"}, interval=0.9, rng=0
).round(2)

# %% [markdown]
# ## What the intervals are not
#
# - *They do not include the uncertainty about the structure*, and assume that the structure is correct. The last line
#   of the table above shows it: for the same car and the same data, naive Bayes gives 0.36 to 0.66. Strengths of arcs
#   and [cross-validation](judging.py) measure this part.
# - *They are not sets of classes.* The interval of a probability is not the proportion of correct predictions: see
#   [below](#sets-of-classes).
# - *They depend on the prior* if there are few rows, as in the columns for two persons. If pseudo-counts are small, the
#   distributions are skewed, and the estimate can be outside its interval: with `ess=1`, by at most 0.002 for these cars.
# - *They assume that new rows come from the population of the training data*, and that these are a sample of it. The
#   car data contain every combination of the features once, so here the intervals illustrate the calculation.
#
# Under these assumptions, with a correct structure among them, 90 % intervals contain 90 % of the true probabilities.
#
# The tables of weighted models, back-off and EM depend on more than counts, so they have no intervals. With
# `bnc(..., interval=True)`, the default keeps draws of its effects from their approximate posterior, and `predict(..., prob=True, interval=0.9)` computes the interval
# from these. Tables, monotone tables and cards of such a model keep the draws.
#
# ## Sets of classes
#
# Sometimes a single label promises too much. A *prediction set* is a list of classes, as short as possible, that
# contains the actual class of a new row with a frequency that you choose, such as 90 %. The library
# [MAPIE](https://mapie.readthedocs.io) (`pip install mapie`) makes such sets by conformal prediction. On a
# *conformalization set* that the model has not seen, it looks up the posterior of each actual class and chooses the
# threshold that 90 % of these exceed. A new row then gets all classes whose posterior exceeds the threshold. The only
# assumption is that new rows and these rows come from the same population.
#
# MAPIE first calls every classifier with a row of zeros. In columns of text, `BNCClassifier` treats numbers as missing
# values, so pass text. Half of the cars are for training, a quarter for conformalization and a quarter for testing.

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
# The coverage, the proportion of sets that contain the actual class, is about 90 %, as requested, but it differs by class: rare classes have less.
# If the guarantee has to hold for each class, choose a threshold for each from the rows of this class.
#
# ## How different are two networks?
#
# `shd` counts the pairs of variables whose edge differs, and ignores differences of direction that do not change
# which variables are independent. `kl_divergence` compares the distributions: it is the mean difference in
# log-likelihood per row, in nats.

# %%
structures = {
    "naive Bayes": nb("class", car),
    "tree (AIC)": tan,
    "tree": tan_cl("class", car),
}
fitted = {name: lp(x, car, smooth=1) for name, x in structures.items()}
pd.DataFrame(
    {
        name: {
            "shd": shd(fitted["tree"], x),
            "divergence": kl_divergence(fitted["tree"], x),
        }
        for name, x in fitted.items()
    }
).T.round(3)

# %% [markdown]
# The divergence of naive Bayes is 0.143 nats: on average, a row is 1.15 times as probable under the tree (the exponential of 0.143).
#
# ## Summary
#
# `arc_strength` says which arcs other samples would have, and `averaged_network` keeps the strong ones. `cpt`, `predict` and `query` return credible
# intervals with `interval=0.9`, given the structure. Sets of classes contain the actual class with a frequency that you choose. `shd` and
# `kl_divergence` compare two networks.
#
# [Comparing classifiers](compare.py) is about the uncertainty of an accuracy.
