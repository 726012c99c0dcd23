"""Distances between two networks: of their arcs, and of their distributions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ..accessors import check_categorical_network, check_fitted, check_single_graph
from ..classifiers import BNC
from ..model import Model
from ..questions.query import log_joint_table
from ..scores import Rows
from ..structure import Arc
from ..tools import special
from ..tools.graphs import find_cycle
from ..tools.messages import listed


def shd(x: Model, y: Model) -> int:
    """Return the structural Hamming distance between two networks.

    Networks with the same independences can have different directions.
    Therefore the distance compares their equivalence classes, and not their
    arcs.

    Parameters
    ----------
    x, y : BNC or another model of a single network
        With or without parameters, over the same variables.

    Returns
    -------
    int
        The number of pairs of variables with different edges: absent,
        undirected, or directed one way or the other. 0 if the structures are
        equivalent.

    Raises
    ------
    TypeError, ValueError
        If a model averages several networks, its arcs form a cycle, or the
        networks are over different variables.

    Notes
    -----
    In the graph of an equivalence class, an arc is directed if all equivalent
    networks direct it in the same way [1]_.

    References
    ----------
    .. [1] Tsamardinos, I., Brown, L. E., Aliferis, C. F. (2006). The max-min
       hill-climbing Bayesian network structure learning algorithm. Machine
       Learning 65.

    Examples
    --------
    The arc between buying and maint can be reversed without changing an
    independence:

    >>> from bnclassify import anb, load_car, nb, shd
    >>> car = load_car()
    >>> one, other = anb("class", {"maint": "buying"}, car), anb("class", {"buying": "maint"}, car)
    >>> shd(one, other), shd(one, nb("class", car))
    (0, 1)
    """
    graphs = [check_single_graph(each, "shd", sized=True) for each in (x, y)]
    _check_same_variables(*[set(graph.variables) for graph in graphs])
    for graph in graphs:
        if find_cycle(graph.parents):
            raise TypeError(
                "shd requires networks without cycles; got a dependency network with a cycle."
            )
    first, second = [_equivalence_class(graph.parents) for graph in graphs]
    return len({frozenset(arc) for arc in first ^ second})


def kl_divergence(x: Model, y: Model) -> float:
    r"""Return the Kullback-Leibler divergence between two networks.

    The divergence is 0 if both networks define the same distribution over
    features and class. In general, it is the expected loss of log-likelihood
    per row if data come from `x` and are described by `y`.

    Parameters
    ----------
    x, y : BNC
        Models of single networks with parameters, over the same variables with
        the same levels.

    Returns
    -------
    float
        In nats, at least 0; infinite if a row that is possible under `x` is
        impossible under `y`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a model does not define a joint distribution, or the networks are
        over different variables or levels.

    Notes
    -----
    The divergence is :math:`\sum_v P(v) \ln (P(v) / Q(v))` over all
    configurations v, and is not symmetric.

    References
    ----------
    .. [1] Kullback, S., Leibler, R. A. (1951). On information and sufficiency.
       Annals of Mathematical Statistics 22.

    Examples
    --------
    >>> from bnclassify import kl_divergence, load_car, lp, nb, tan_cl
    >>> car = load_car()
    >>> tan, naive = [lp(learner("class", car), car, smooth=1) for learner in (tan_cl, nb)]
    >>> round(kl_divergence(tan, naive), 3), kl_divergence(tan, tan)
    (0.143, 0.0)
    """
    first, second = [
        check_categorical_network(check_fitted(each), "kl_divergence") for each in (x, y)
    ]
    levels, labels = first.levels_by_name, second.levels_by_name
    _check_same_variables(set(levels), set(labels))
    different = [name for name in levels if levels[name] != labels[name]]
    if different:
        raise ValueError(
            f"x and y must have the same levels; the levels of {listed(different)} differ."
        )
    position = {name: i for i, name in enumerate(first.variables)}
    nothing = Rows(np.full((len(position), 1), -1, dtype=np.int8))

    def mean_log_probability(network: BNC) -> float:
        """Return the mean of the log of the tables of a network over the distribution of x."""
        total = 0.0
        for family, table in zip(network.families, network.cpts or (), strict=True):
            shares = np.exp(log_joint_table(first, [position[name] for name in family], nothing))
            total += float(special.xlogy(shares, table).sum())
        return total

    return max(0.0, mean_log_probability(first) - mean_log_probability(second))


def _check_same_variables(first: set[Hashable], second: set[Hashable]) -> None:
    if first != second:
        differing = listed(sorted(first ^ second, key=str))
        raise ValueError(
            f"x and y must be over the same variables; only one of them has {differing}."
        )


def _equivalence_class(parents: Mapping[Hashable, Sequence[Hashable]]) -> set[Arc]:
    """Return the arcs of the completed partially directed graph; an undirected edge is two arcs."""
    arcs = {(p, v) for v, ps in parents.items() for p in ps}
    adjacent: dict[Hashable, set[Hashable]] = {v: set() for v in parents}
    for p, v in arcs:
        adjacent[p].add(v)
        adjacent[v].add(p)
    colliders = [(a, b, v) for v, ps in parents.items() for a, b in combinations(ps, 2)]
    directed = {(p, v) for a, b, v in colliders if b not in adjacent[a] for p in (a, b)}
    changed = True
    while changed:
        found = {arc for arc in arcs - directed if _is_compelled(*arc, adjacent, directed)}
        directed |= found
        changed = bool(found)
    return directed | {arc for a, b in arcs - directed for arc in ((a, b), (b, a))}


def _is_compelled(
    a: Hashable, b: Hashable, adjacent: Mapping[Hashable, set[Hashable]], directed: set[Arc]
) -> bool:
    """Whether one of Meek's first three rules directs an edge from a to b."""
    if any((c, a) in directed and c not in adjacent[b] for c in adjacent[a]):
        return True
    both = adjacent[a] & adjacent[b]
    if any((a, c) in directed and (c, b) in directed for c in both):
        return True
    into = [c for c in both if (c, b) in directed and not directed & {(a, c), (c, a)}]
    return any(d not in adjacent[c] for c, d in combinations(into, 2))
