# %% [markdown]
# # Prediction sets
#
# Sometimes a single label promises too much. A *prediction set* is a list of classes, as short as possible, that
# contains the actual class of a new row with a frequency that you choose, such as 90 %. This page shows how to make
# such sets with a `BNCClassifier` and the library [MAPIE](https://mapie.readthedocs.io), and measures how often they
# contain the actual class, in all rows and by class. You should know [how to evaluate a classifier](judging.py). It
# uses the car data (1,728 cars, four classes). Reading it takes ten minutes, and running it takes less than a minute.
# You need the extra `docs`, or `pip install mapie` besides the extra `vignettes`.
#
# ```{index} conformal prediction
# ```

# %%
import warnings

import numpy as np
import pandas as pd
from bnclassify import load_car

try:
    from bnclassify.sklearn import BNCClassifier
    from mapie.classification import (
        CrossConformalClassifier,
        SplitConformalClassifier,
    )
    from sklearn.model_selection import train_test_split
except ImportError as missing:
    raise SystemExit(
        f"{missing}; this page needs: pip install 'pybnclassify[vignettes]' mapie"
    ) from None

# %% [markdown]
# Conformal prediction needs no assumptions about the model. On a *conformalization set* that the model has not seen, it
# looks up the posterior of each actual class and chooses the threshold that 90 % of these exceed. A new row then gets
# all classes whose posterior exceeds the threshold. If new rows and the rows of the conformalization set come from the
# same population, sets contain the actual class in at least 90 % of the rows, on average over such samples.
#
# MAPIE first calls every classifier with a row of zeros. In columns of text, `BNCClassifier` treats numbers as missing
# values, so text can be passed as it is. Half of the cars are for training, a quarter for conformalization and a quarter
# for testing.

# %%
car = load_car()
X = car.drop(columns="class").astype(str).to_numpy()
y = car["class"].astype(str).to_numpy()
classes = sorted(set(y))


def split(seed: int) -> list[np.ndarray]:
    """Return features and classes of three stratified parts of the rows."""
    X_fit, X_rest, y_fit, y_rest = train_test_split(
        X, y, train_size=0.5, stratify=y, random_state=seed
    )
    X_conf, X_test, y_conf, y_test = train_test_split(
        X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=seed
    )
    return [X_fit, X_conf, X_test, y_fit, y_conf, y_test]


X_fit, X_conf, X_test, y_fit, y_conf, y_test = split(seed=0)
classifier = BNCClassifier().fit(X_fit, y_fit)
conformal = SplitConformalClassifier(classifier, confidence_level=0.9, prefit=True)
conformal.conformalize(X_conf, y_conf)
labels, sets = conformal.predict_set(X_test)
pd.DataFrame(sets[:4, :, 0], columns=classes).assign(actual=y_test[:4])

# %% [markdown]
# Each row is a car, and True marks the classes in its set.
#
# ## Measured coverage
#
# One split is not conclusive. The following table uses 20 splits, with 8,640 test rows in total. The score "lac" is the
# rule above. "aps" adds classes, the most probable first, until their posteriors sum to a threshold.


# %%
def describe(found: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Return coverage, mean size, share of empty sets, and coverage by class."""
    members, actual = (np.concatenate(parts) for parts in zip(*found, strict=True))
    right = members[
        np.arange(len(actual)), [classes.index(label) for label in actual]
    ]
    of_class = {label: right[actual == label].mean() for label in classes}
    sizes = members.sum(axis=1)
    return {
        "coverage": right.mean(),
        "size": sizes.mean(),
        "empty": (sizes == 0).mean(),
    } | of_class


def split_sets(seed: int, score: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets of test rows, (rows, classes), and their actual classes."""
    X_fit, X_conf, X_test, y_fit, y_conf, y_test = split(seed)
    made = SplitConformalClassifier(
        BNCClassifier(),
        confidence_level=0.9,
        conformity_score=score,
        prefit=False,
        random_state=0,
    )
    made.fit(X_fit, y_fit).conformalize(X_conf, y_conf)
    return made.predict_set(X_test)[1][:, :, 0], y_test


coverage = {
    score: describe([split_sets(seed, score) for seed in range(20)])
    for score in ("lac", "aps")
}
pd.DataFrame(coverage).T.round(2)

# %% [markdown]
# With "lac", 90 % of the sets contain the actual class, as requested, and they have 0.92 classes on average. In 8 % of
# the rows, the set is empty: no class exceeds the threshold, so the row differs from the rows that the model predicts
# well. The coverage differs by class. It is 95 % for unacceptable cars, the most frequent class, and only 60 % for good
# cars, which are rare. With "aps", nearly all sets contain the actual class. That is more than requested, because a
# set is never empty, and the most probable class alone is correct in more than 90 % of the rows.
#
# ## The same coverage in every class
#
# The guarantee is for all rows together. If it has to hold for each class, each class needs its own threshold: the
# model is conformalized with the rows of one class at a time, and the result decides whether this class is in a set.
# MAPIE warns that the other classes are absent; you can ignore that here.


# %%
def sets_by_class(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sets with a threshold for each class, and the actual classes."""
    X_fit, X_conf, X_test, y_fit, y_conf, y_test = split(seed)
    fitted = BNCClassifier().fit(X_fit, y_fit)
    columns = []
    for number, label in enumerate(classes):
        own = SplitConformalClassifier(fitted, confidence_level=0.9, prefit=True)
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "WARNING: your conformalization dataset has less labels"
            )
            own.conformalize(X_conf[y_conf == label], y_conf[y_conf == label])
        columns.append(own.predict_set(X_test)[1][:, number, 0])
    return np.column_stack(columns), y_test


pd.DataFrame(
    {"by class": describe([sets_by_class(seed) for seed in range(20)])}
).T.round(2)

# %% [markdown]
# Now 97 % of the sets of good cars and 89 % of those of the most frequent class contain the actual class, and the sets
# still have about one class on average. The coverage of rare classes exceeds 90 %, because a threshold from 17 rows is
# conservative.
#
# ## Without a separate conformalization set
#
# If rows are few, cross-conformal prediction uses all of them for both purposes: each row is scored by a model that was
# fitted without its fold.


# %%
def cross_sets(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sets of a quarter of the rows, and their actual classes."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=0.75, stratify=y, random_state=seed
    )
    made = CrossConformalClassifier(
        BNCClassifier(), confidence_level=0.9, cv=5, random_state=0
    )
    made.fit_conformalize(X_train, y_train)
    return made.predict_set(X_test)[1][:, :, 0], y_test


pd.DataFrame({"cross": describe([cross_sets(seed) for seed in range(5)])}).T.round(
    2
)

# %% [markdown]
# The coverage is 89 %, close to the requested 90 %, with five splits and models fitted to 60 % of the cars instead of
# 50 %. Its variation over the classes is similar to that with one conformalization set. Unlike the sets of one split, these
# sets have no guarantee of 90 %.
#
# ## Summary
#
# - `SplitConformalClassifier` and `CrossConformalClassifier` of MAPIE accept a `BNCClassifier`, and their sets contain
#   the actual class about as often as requested, over all rows. Only the first has a guarantee.
# - Check the coverage by class. If it differs, conformalize by class.
# - The guarantee holds on average over rows of the same population. It is not a probability for the one row in front of
#   you.
#
# Next: [Several class variables](several.py).
