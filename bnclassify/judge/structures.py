"""Structures compared: strengths of arcs over samples or networks, and distances of networks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Literal

import numpy as np
import pandas as pd

from ..accessors import (
    check_categorical_network,
    check_fitted,
    check_single_graph,
    unwrap_estimator,
)
from ..classifiers import BNC
from ..dataset import Countable
from ..folds import check_recipe, check_training_columns, training_data_of_models
from ..frames import AnyTable, TrainingData, open_data
from ..model import Model, Step
from ..questions.query import log_joint_table
from ..scores import Rows
from ..structure import Arc, edge_posterior, fixed_again, network_with_families
from ..tools import special
from ..tools.arrays import TOLERANCE, Array
from ..tools.calls import progress_bar
from ..tools.checks import Flag, OneOf, Optional, Real, Seed, Whole, check_rng, must_be
from ..tools.graphs import ChangingDag, find_cycle
from ..tools.messages import listed

_COLUMNS = ["from", "to", "strength", "direction"]


def arc_strength(
    x: Model | Iterable[Model],
    dataset: AnyTable | Countable | None = None,
    *,
    replicates: int = 200,
    method: Literal["bootstrap", "exact"] = "bootstrap",
    rng: Seed = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    r"""Estimate the strength of each arc of a structure.

    The model is refitted to bootstrap samples of the data, by the same learner
    with the same settings. The strength of an arc is the proportion of these
    structures that have it.

    Parameters
    ----------
    x : Model, or list of Model
        A model of a single network that was learned from data. Its parameters
        are also estimated again, because some methods of `lp` drop arcs. Or a
        list of networks over the same variables, such as structures by other
        methods.
    dataset : pandas.DataFrame, Dataset, or partitioned data, optional
        The training data of `x`; None if `x` is a list.
    replicates : int, default 200
        Number of bootstrap samples, at least 1.
    method : {"bootstrap", "exact"}, default "bootstrap"
        "exact" computes the posterior probability of each edge between features
        over all spanning trees, for a structure learned by
        ``tan_cl(..., score="bde")``.
    rng : int or numpy.random.Generator, optional
        Seed of the samples, and of the learner if it draws at random.
    progress : bool, optional
        Whether to show a progress bar; by default after 3 seconds, in an
        interactive session.

    Returns
    -------
    pandas.DataFrame
        One row per ordered pair of variables, including the class, in column
        order. *strength* is the proportion of structures with an arc between
        the two variables in either direction, *direction* the proportion of
        such structures with the arc *from* → *to*, or 0. ``attrs["threshold"]``
        is the strength that divides the strengths into two groups; see Notes.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `x` averages several networks or does not record how it was learned,
        or `method` is "exact" and `x` was not learned by
        ``tan_cl(..., score="bde")`` from categories, without required or
        forbidden pairs.

    Notes
    -----
    A bootstrap sample has the size of the data, and is drawn with replacement
    [1]_. For whole weights, units are drawn; for fractional weights, rows are
    drawn and keep their weight. Rows of bootstrap samples are repeated, which
    overstates dependence: with "aic" or "loglik", strong arcs occur in noise. A
    strong arc does not imply a causal effect. The page
    :doc:`Formulas </methods>` defines the threshold and the exact posterior
    [2]_.

    References
    ----------
    .. [1] Friedman, N., Goldszmidt, M., Wyner, A. (1999). Data analysis with
       Bayesian networks: a bootstrap approach. UAI 1999.
    .. [2] Meilă, M., Jaakkola, T. (2006). Tractable Bayesian learning of tree
       belief networks. Statistics and Computing 16.

    Examples
    --------
    >>> from bnclassify import arc_strength, load_car, tan_cl
    >>> car = load_car()
    >>> strength = arc_strength(tan_cl("class", car), car, replicates=50, rng=0)
    >>> arcs = strength[(strength["from"] != "class") & (strength["direction"] >= 0.5)]
    >>> arcs.sort_values(["strength", "direction"], ascending=False).head(3)
          from        to  strength  direction
    0   buying     maint       1.0       1.00
    34  safety  lug_boot       1.0       0.96
    33  safety   persons       1.0       0.84
    """
    replicates = Whole(least=1, most=1_000_000).check("replicates", replicates)
    OneOf(["bootstrap", "exact"]).check("method", method)
    Optional(Flag()).check("progress", progress)
    x = unwrap_estimator(x)
    if not isinstance(x, Model):
        if isinstance(x, str | bytes) or not isinstance(x, Iterable) or dataset is not None:
            raise TypeError(must_be("x", "a model, or without dataset a list of networks", x))
        graphs = [check_single_graph(each, "arc_strength", sized=True) for each in x]
        if not graphs:
            raise ValueError("x must contain at least one network; got none.")
        if method == "exact":
            raise ValueError(
                "method must be 'bootstrap' if x is a list of networks, which are then counted."
            )
        first = graphs[0]
        for graph in graphs:
            differing = set(graph.variables) ^ set(first.variables)
            if differing:
                raise ValueError(
                    "x must be networks over the same variables; only some have "
                    f"{listed(differing)}."
                )
        names = [name for name in first.training_columns if name in first.variables]
        names = names if len(names) == len(first.variables) else list(first.variables)
        return _tabulate_strengths(
            names, *np.mean([_adjacency_and_directions(graph, names) for graph in graphs], axis=0)
        )
    check_single_graph(x, "arc_strength", sized=True)
    recipe = check_recipe(x, fitted=False)
    if dataset is None:
        raise ValueError("dataset must be given unless x is a list of networks; got None.")
    opened = open_data(dataset).check_in_memory("dataset")
    check_training_columns({0: x}, opened, "same", True)
    data = training_data_of_models({0: x}, opened, opened.columns, dag=True)
    names = list(data.order)
    if method == "exact":
        settings = recipe.structure.settings
        is_tree = recipe.structure.name == "tan_cl" and settings.get("score") == "bde"
        if not is_tree or settings.keys() & {"required", "forbidden", "numbers"}:
            expected = (
                "learned by tan_cl(..., score='bde') from categories, without required "
                "or forbidden pairs"
            )
            raise ValueError(must_be("x", expected, recipe.structure, "Use method='bootstrap'."))
        # the probabilities of edges between features, and certain arcs from the class
        at, of_class = [names.index(feature) for feature in data.features], names.index(x.class_var)
        joined = np.zeros((len(names), len(names)))
        joined[np.ix_(at, at)] = edge_posterior(data, settings.get("ess", 1))
        forward = joined / 2
        joined[of_class, at] = joined[at, of_class] = forward[of_class, at] = 1
        result = _tabulate_strengths(names, joined, forward)
        result.attrs["threshold"] = 0.5
        return result
    generator = check_rng(rng)
    counted = np.zeros((2, len(names), len(names)))
    with progress_bar(progress, total=replicates, desc="arc_strength", unit=" samples") as bar:
        for _ in range(replicates):
            learned = recipe.fit(_bootstrap_sample(data, generator), generator)
            counted += _adjacency_and_directions(learned, names)
            bar.update()
    return _tabulate_strengths(names, *counted / replicates)


def _adjacency_and_directions(x: Model, names: Sequence[Hashable]) -> Array:
    """Return whether two variables are joined, and the share of the direction, (2, from, to)."""
    # Of a → b, joined is [[0, 1], [1, 0]] and forward [[0, 1], [0, 0]]; an arc in both directions
    # is half in each.
    position = {name: i for i, name in enumerate(names)}
    arcs = np.zeros((len(names), len(names)))
    for variable, parents in x.parents.items():
        for parent in parents:
            if variable in position and parent in position:
                arcs[position[parent], position[variable]] = 1
    joined = np.maximum(arcs, arcs.T)
    return np.stack([joined, (arcs + joined - arcs.T) / 2])


def _tabulate_strengths(names: Sequence[Hashable], joined: Array, forward: Array) -> pd.DataFrame:
    """Return one row per ordered pair from shares of networks, and the strength threshold."""
    pairs = np.array(list(permutations(range(len(names)), 2)), dtype=np.intp).reshape(-1, 2)
    tails, heads = pairs.T
    strength = joined[tails, heads]
    result = pd.DataFrame(
        {
            "from": pd.Series([names[i] for i in tails], dtype=object),
            "to": pd.Series([names[i] for i in heads], dtype=object),
            "strength": strength,
            "direction": forward[tails, heads] / np.where(strength > 0, strength, 1),
        }
    )
    result.attrs["threshold"] = inclusion_threshold(strength)
    return result


def inclusion_threshold(strengths: Array) -> float:
    """Return the least strength where their distribution function reaches its weighted median."""
    # Of the strengths 0, 0, .1 and .9, the distribution function is 1/2 from 0, 3/4 from .1 and 1
    # from .9. It is 3/4 over most of the range of 1, the median weighted by length, and reaches it
    # at the threshold .1.
    values, counts = np.unique(strengths, return_counts=True)
    if not len(values):
        return 0.0
    distribution = np.concatenate([[0.0], np.cumsum(counts) / len(strengths)])
    covered = np.cumsum(np.diff(values, prepend=0.0, append=1.0))
    p = float(distribution[np.searchsorted(covered, float(covered[-1]) / 2 - TOLERANCE)])
    return float(values[np.searchsorted(distribution[1:], p - TOLERANCE)])


def averaged_network(
    strength: pd.DataFrame, class_var: Hashable, *, threshold: float | None = None
) -> BNC:
    """Build a network from the strongest arcs.

    Parameters
    ----------
    strength : pandas.DataFrame
        A result of `arc_strength`.
    class_var : str
        Name of the class variable.
    threshold : float, optional
        Strength from 0 to 1 that an arc must exceed; arcs of strength 1 are
        always included. By default, the threshold of `strength`.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them.

    Raises
    ------
    KeyError, TypeError, ValueError
        If `strength` is not a result of `arc_strength`.

    Notes
    -----
    Arcs are included in descending order of strength (for ties, in the order of
    the rows) if their direction is at least 0.5 and they do not close a cycle.
    If both directions have 0.5, the arc from the class is included, or the one
    from the earlier column; if it closes a cycle, the other one.

    Examples
    --------
    >>> from bnclassify import arc_strength, averaged_network, load_car, modelstring, tan_cl
    >>> car = load_car()
    >>> strength = arc_strength(tan_cl("class", car), car, replicates=50, rng=0)
    >>> modelstring(averaged_network(strength, "class", threshold=0.9))
    '[class] [buying|class] [doors|class] [safety|class] [maint|buying:class] [persons|safety:class]
     [lug_boot|safety:class]'
    """
    check_strength(strength)
    names: list[Hashable] = list(dict.fromkeys(strength["from"]))
    class_var = OneOf(names, "a variable of strength").check("class_var", class_var)
    limit = chosen_threshold(strength, threshold)
    position = {
        name: i for i, name in enumerate([class_var, *[n for n in names if n != class_var]])
    }
    graph = ChangingDag(len(names))
    parents: dict[Hashable, list[Hashable]] = {name: [] for name in names}
    # by descending strength, both directions of an arc without a preferred one
    passed, arcs = set[Arc](), list[Arc]()
    rows = strength.sort_values("strength", ascending=False, kind="stable")
    found: Iterator[tuple[Hashable, Hashable, float, float]] = rows.itertuples(False, None)
    for tail, head, value, direction in found:
        if not (value > limit + TOLERANCE or value >= 1 - TOLERANCE) or direction < 0.5 - TOLERANCE:
            continue
        is_late = abs(direction - 0.5) <= TOLERANCE and position[tail] > position[head]
        if not is_late or (head, tail) in passed:
            arcs.append((tail, head))
        if not is_late and (head, tail) in passed:
            arcs.append((head, tail))
        passed.add((tail, head))
    for tail, head in arcs:
        u, v = position[tail], position[head]
        if not graph.reach[v, u]:  # the arc closes no cycle
            graph.add_arc(u, v)
            parents[head].append(tail)
    step = Step("averaged_network", fixed_again)
    return network_with_families(class_var, parents, step, origin="strength")


def check_strength(strength: object) -> pd.DataFrame:
    """Return a result of `arc_strength`, or raise a TypeError."""
    if (
        not isinstance(strength, pd.DataFrame)
        or list(strength.columns) != _COLUMNS
        or strength.empty
    ):
        raise TypeError(must_be("strength", "a result of arc_strength", strength))
    return strength


def chosen_threshold(strength: pd.DataFrame, threshold: float | None) -> float:
    """Return the threshold, by default that of strengths, or raise if it is not from 0 to 1."""
    Optional(Real(least=0, most=1)).check("threshold", threshold)
    if threshold is not None:
        return threshold
    known = strength.attrs.get("threshold")
    return float(inclusion_threshold(strength["strength"].to_numpy()) if known is None else known)


def _bootstrap_sample(data: TrainingData, rng: np.random.Generator) -> TrainingData:
    """Draw as many units as the rows have; rows keep fractional weights."""
    rows, weights = len(data), data.weights
    if weights is None or (weights % 1).any():
        drawn = np.bincount(rng.integers(rows, size=rows), minlength=rows).astype(np.float64)
        drawn = drawn if weights is None else drawn * weights
    else:
        total = int(weights.sum())
        drawn = rng.multinomial(total, weights / total).astype(np.float64)
    kept = np.flatnonzero(drawn)
    return replace(data.take_rows(kept), weights=drawn[kept], with_unknown=None)


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
