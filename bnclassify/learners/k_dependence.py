"""Sahami's k-dependence classifiers: parents by mutual information."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from ..base.arrays import TOLERANCE, Array, xlogx
from ..base.checks import check_whole
from ..base.graphs import descending
from ..counts.contingency import count_alike
from ..counts.information import pair_statistics
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import averages_views, prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
from .fixed import network


@averages_views
def kdb_mi(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    kdbk: int = 2,
    features: Iterable[Hashable] | None = None,
) -> BNC:
    """Learn a k-dependence Bayesian classifier by mutual information (Sahami's k-DB).

    Features are ranked by what they tell about the class. Each takes as parents, beside the class,
    those ``kdbk`` of higher rank that tell most about it within a class, whether or not that is much.
    There is no search: one pass over pairs of features gives all that is needed. `kdb` has the same
    kind of structure, but adds an arc only where it raises cross-validated accuracy.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        Gives the features, all columns but the class.
    kdbk : int, default 2
        The number of feature parents: 0 gives the naive Bayes. As tables grow with each parent, a
        larger number wants more rows, or tables that back off.
    features : list of str, optional
        The columns to take.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters. Parents stand best first.

    Raises
    ------
    KeyError
        If the class or a feature is not a column.
    TypeError, ValueError
        If ``kdbk`` is not a whole number of 0 or more, or the data has no rows, or no class.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out. If every row has a value of its own in a column.

    Notes
    -----
    Features are ranked by I(X;C), parents of X by I(X;Y|C), both over the rows in which the variables
    concerned are observed; what differs by no more than 1e-9 nats is tied, and the first column goes
    first. A feature that is never observed together with X is no candidate.

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 96.

    Examples
    --------
    >>> from bnclassify import kdb_mi, load_car, modelstring
    >>> modelstring(kdb_mi("class", load_car(), kdbk=1))
    '[class] [safety|class] [buying|safety:class] [persons|safety:class] [lug_boot|safety:class]
     [maint|buying:class] [doors|lug_boot:class]'
    """
    k = check_whole("kdbk", kdbk)
    data = prepare(dataset, (class_var,), features)
    chosen = None if features is None else data.features
    step = Step("kdb_mi", kdb_mi, {"kdbk": k, "features": chosen})
    return network(class_var, _best_parents(data, k), data.schema, step, columns=chosen)


def _best_parents(data: Learnable, k: int) -> dict[Hashable, tuple[Hashable, ...]]:
    """Map each feature to its feature parents, best first."""
    names, class_column = data.features, len(data.features)
    pairs = [pair_statistics(view, range(class_column), class_column) for view in data.views]
    rank = np.argsort(descending(np.mean([_class_information(view) for view in data.views], axis=0)))
    is_candidate = (rank < rank[:, None]) & (pairs[0].rows > 0)
    information = np.where(is_candidate, np.mean([view.information for view in pairs], axis=0), -np.inf)
    parents: list[list[Hashable]] = [[] for _ in names]
    each = np.arange(len(names))
    for _ in range(min(k, len(names) - 1)):
        best = information.max(axis=1)
        first = (information >= best[:, None] - TOLERANCE).argmax(axis=1)
        for v in np.nonzero(best > -np.inf)[0].tolist():
            parents[v].append(names[first[v]])
        information[each, first] = -np.inf
    return {name: tuple(best_first) for name, best_first in zip(names, parents, strict=True)}


def _class_information(data: Learnable) -> Array:
    """Return I(X;C) of each feature in nats, over the rows in which it is observed."""
    information = np.zeros(len(data.features))
    n = len(data.features)
    for features, tables in count_alike(data, [(feature, n) for feature in range(n)]):
        information[features] = _information(tables)
    return information


def _information(tables: Array) -> Array:
    """Return the mutual information that tables of two variables show, (tables, levels, levels)."""
    n = tables.sum(axis=(1, 2))
    x, y = xlogx(tables.sum(axis=2)).sum(axis=1), xlogx(tables.sum(axis=1)).sum(axis=1)
    total: Array = xlogx(tables).sum(axis=(1, 2)) - x - y + xlogx(n)
    return np.maximum(total / np.maximum(n, 1), 0.0)
