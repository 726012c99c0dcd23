"""Greedy search for the structure with the best cross-validated metric: the wrappers of R.

`fssj` and `bsej` add and remove features and join them in cliques, `tan_hc`,
`tan_hcsp` and `kdb` add arcs to a naive Bayes. All share one loop: candidates
are generated in a fixed order, each is scored by cross-validation within the
training rows, and the best is accepted while it gains more than `epsilon`. A
candidate differs from the current structure in few families, so only their
tables are counted and only their terms are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import signature
from itertools import accumulate, combinations, pairwise, product
from math import log as ln
from math import prod
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd

from .accessors import check_size_of_scores, is_semi_naive
from .classifiers import BNC, Prior, PseudoCounts, find_prior
from .counts import check_table_size, flat_index, number_family_states
from .dataset import Dataset, Schema
from .elimination import Factor, add_marginalized_terms
from .folds import Folds, drawn_or_given_folds
from .frames import AnyTable, TrainingData, prepare_training_rows
from .metrics import ACCURACY, METRICS, Metric
from .model import Step, is_recipe_running
from .structure import Arc, ArcRules, arcs_in_words, network, parents_in_start
from .tools.arrays import (
    TOLERANCE,
    Array,
    ArrayOf,
    Mask,
    Positions,
    code_type,
    first_best,
    log,
    weights_at,
)
from .tools.calls import progress_bar, with_call_advice
from .tools.checks import Flag, OneOf, Optional, Real, SearchMetric, Seed, Whole, check_rng
from .tools.foreign_words import METRICS_ELSEWHERE
from .tools.graphs import connected_components
from .tools.messages import shown, warn, with_shared_text

# Neighbors of a structure: the candidate edits of a step of a search.
#
# Features are numbered. A structure maps each of its features to its feature
# parents. An edit maps the features whose family it changes to their new parents,
# or to None if the feature is removed. Edits are ordered for ties.


Parents = tuple[int, ...]
Structure = Mapping[int, Parents]
Edit = Mapping[int, Parents | None]
Arcs = Collection[tuple[int, int]]


def apply_edit(structure: Structure, edit: Edit) -> dict[int, Parents]:
    """Return the structure after an edit; new features are last.

    >>> apply_edit({0: (), 1: ()}, {0: (1,), 2: ()})
    {0: (1,), 1: (), 2: ()}
    """
    changed = {**structure, **edit}
    return {feature: parents for feature, parents in changed.items() if parents is not None}


def describe_edit(structure: Structure, edit: Edit, *, joins: bool) -> tuple[str, Parents, Parents]:
    """Return the name of an edit, and its source and target features.

    >>> describe_edit({0: (), 1: ()}, {0: (1,)}, joins=True)
    ('join', (1,), (0,))
    >>> describe_edit({0: (), 1: ()}, {0: (1,)}, joins=False)
    ('arc', (1,), (0,))
    >>> describe_edit({0: ()}, {1: ()}, joins=True), describe_edit({0: ()}, {0: None}, joins=True)
    (('add', (), (1,)), ('remove', (0,), ()))
    """
    gone = tuple(feature for feature, parents in edit.items() if parents is None)
    if gone:
        return "remove", gone, ()
    changed = tuple(edit)
    old = structure.get(changed[0], ())
    new = tuple(parent for parent in edit[changed[0]] or () if parent not in old)
    if not new:
        return "add", (), changed
    return "join" if joins else "arc", new, changed


def feature_and_ancestors(structure: Structure, feature: int) -> set[int]:
    """Return a feature and its ancestors.

    >>> sorted(feature_and_ancestors({0: (1,), 1: (2,), 2: ()}, 0))
    [0, 1, 2]
    """
    reached, open_ends = {feature}, [feature]
    while open_ends:
        parents = set(structure[open_ends.pop()]) - reached
        reached |= parents
        open_ends.extend(parents)
    return reached


def _may_join_groups(first: Sequence[int], second: Sequence[int], forbidden: Arcs) -> bool:
    return not any(pair in forbidden for pair in product(first, second))


def additions_and_joins(
    structure: Structure, features: Sequence[int], forbidden: Arcs = frozenset()
) -> list[Edit]:
    """Add a feature alone, or with all members of a group as its parents (FSSJ).

    >>> additions_and_joins({1: ()}, [0, 1, 2])
    [{0: ()}, {2: ()}, {0: (1,)}, {2: (1,)}]
    """
    absent = [feature for feature in features if feature not in structure]
    groups = connected_components(structure)
    additions: list[Edit] = [{feature: ()} for feature in absent]
    joins: list[Edit] = [
        {feature: tuple(group)}
        for feature in absent
        for group in groups
        if _may_join_groups([feature], group, forbidden)
    ]
    return additions + joins


def removals_and_joins(
    structure: Structure, forbidden: Arcs = frozenset(), fixed: Collection[int] = ()
) -> list[Edit]:
    """Remove a feature, or join two groups: the later's members are parents of the other's (BSEJ).

    The `fixed` features are not removed.

    >>> removals_and_joins({0: (), 1: ()})
    [{0: None}, {1: None}, {0: (1,)}]
    """
    edits = list[Edit]()
    for gone in structure:
        if gone not in fixed:
            children = {v: parents for v, parents in structure.items() if gone in parents}
            orphaned = {
                v: tuple([p for p in parents if p != gone]) for v, parents in children.items()
            }
            edits.append({gone: None, **orphaned})
    for earlier, later in combinations(connected_components(structure), 2):
        if _may_join_groups(earlier, later, forbidden):
            edits.append({feature: (*structure[feature], *later) for feature in earlier})
    return edits


def acyclic_arcs(
    structure: Structure,
    parents: Sequence[int],
    children: Sequence[int],
    forbidden: Arcs = frozenset(),
) -> list[tuple[int, int]]:
    """Return the new arcs (parent, child), parent by parent, without cycles and forbidden ones.

    >>> acyclic_arcs({0: (1,), 1: (), 2: ()}, [0], [1, 2])
    [(0, 2)]
    """
    ancestors_of = {parent: feature_and_ancestors(structure, parent) for parent in parents}
    return [
        (parent, child)
        for parent in parents
        for child in children
        if child not in ancestors_of[parent]
        and parent not in structure[child]
        and (parent, child) not in forbidden
    ]


def _additions_of_arcs(structure: Structure, arcs: Sequence[tuple[int, int]]) -> list[Edit]:
    return [{child: (*structure[child], parent)} for parent, child in arcs]


def features_without_parents(structure: Structure) -> list[int]:
    return [feature for feature, parents in structure.items() if not parents]


def tree_arc_additions(structure: Structure, forbidden: Arcs = frozenset()) -> list[Edit]:
    """Add an arc to a feature without a feature parent (TAN hill climbing).

    Between two such features, either direction gives an equivalent structure.
    The arc from the later to the earlier one is the candidate, unless it is
    forbidden.

    >>> tree_arc_additions({0: (), 1: ()})
    [{0: (1,)}]
    """
    free = features_without_parents(structure)
    rank = {feature: i for i, feature in enumerate(free)}
    others = [feature for feature in structure if feature not in rank]
    from_free = [
        (parent, child)
        for parent, child in acyclic_arcs(structure, free, free, forbidden)
        if rank[child] < rank[parent] or (child, parent) in forbidden
    ]
    return _additions_of_arcs(
        structure, acyclic_arcs(structure, others, free, forbidden) + from_free
    )


def superparent_additions(structure: Structure, forbidden: Arcs = frozenset()) -> list[Edit]:
    """Make a feature the parent of all that can have it as their only feature parent (TAN-HCSP).

    >>> superparent_additions({0: (), 1: (), 2: (0,)})
    [{1: (0,)}, {0: (1,)}, {1: (2,)}]
    """
    free = features_without_parents(structure)
    candidates = [
        {child: (parent,) for _, child in acyclic_arcs(structure, [parent], free, forbidden)}
        for parent in structure
    ]
    return [edit for edit in candidates if edit]


def k_dependence_additions(
    structure: Structure, k: int, forbidden: Arcs = frozenset()
) -> list[Edit]:
    """Add an arc to a feature with fewer than ``k`` feature parents (k-dependence).

    Arcs from features without room for parents come first; for other features,
    targets are in cyclic order, starting after the feature.

    >>> k_dependence_additions({0: (), 1: ()}, 1)
    [{1: (0,)}, {0: (1,)}]
    """
    free = [feature for feature, parents in structure.items() if len(parents) < k]
    full = [feature for feature, parents in structure.items() if len(parents) >= k]
    around = [
        arc
        for i, parent in enumerate(free)
        for arc in acyclic_arcs(structure, [parent], free[i + 1 :] + free[:i], forbidden)
    ]
    return _additions_of_arcs(structure, acyclic_arcs(structure, full, free, forbidden) + around)


# Cross-validated scores of structures: one log joint of the tested rows per structure.
#
# A family is a variable and its feature parents; the class is a parent of all.


_KEPT_BYTES = 2**28


class FoldedData:
    """Positions in the order in which the folds test them; the class is observed in all rows.

    The counts of a fold are those of all rows minus those of the tested rows.
    If the folds are not a partition of the rows, all rows are appended as an
    additional fold. Positions ascend in each fold, so that a count of fractions
    without training rows is exactly 0.
    """

    def __init__(self, data: Dataset, tests: Sequence[Positions]) -> None:
        rows = np.concatenate([np.sort(test) for test in tests])
        sizes = list(map(len, tests))
        self.n_tested, self.n_folds, self.n_classes = len(rows), len(tests), data.cards[-1]
        self.folds = [slice(start, end) for start, end in pairwise(accumulate([0, *sizes]))]
        self.partition = bool((np.bincount(rows, minlength=len(data)) == 1).all())
        if not self.partition:
            rows, sizes = np.concatenate([rows, np.arange(len(data))]), [*sizes, len(data)]
        # of each row; two folds of 3 and 2 rows, not a partition of 6: 0 0 0 1 1 2 2 2 2 2 2
        self.fold = np.repeat(np.arange(len(sizes)), sizes)
        self.cards, self.n_groups = data.cards[:-1], len(sizes) * self.n_classes
        # The features and, in place of the class, the group of each row: fold · classes + class.
        columns = Schema(
            (*data.columns[:-1], "fold and class"), (*data.levels[:-1], tuple(range(self.n_groups)))
        )
        codes = data.codes.take(rows, axis=1).astype(code_type(max(columns.cards)), copy=False)
        self.truth = codes[-1, : self.n_tested].copy()
        codes[-1] += (self.fold * self.n_classes).astype(codes.dtype)
        weights = weights_at(data.weights, rows)
        self.grouped = Dataset(columns, codes, pd.RangeIndex(len(rows)), weights)
        self.group, self.tested = codes[-1], codes[:-1, : self.n_tested]
        self.weights = weights_at(weights, slice(self.n_tested))
        # the features with missing values
        self.partial = frozenset(np.nonzero(self.grouped.incomplete)[0].tolist())

    @property
    def lowest_log_probability(self) -> float:
        """A lower bound of the log of an estimated probability that is positive."""
        weights = self.grouped.weights
        least = 1.0 if weights is None else float(weights.min(where=weights > 0, initial=np.inf))
        return ln(least) - ln(self.grouped.size) - ln(max(self.cards, default=1) + self.n_classes)

    def rows_observed_in(self, columns: Sequence[int]) -> Mask | None:
        """Whether rows are complete in these columns; None if all rows are."""
        partial = [self.grouped.codes[column] >= 0 for column in columns if column in self.partial]
        return np.logical_and.reduce(partial) if partial else None

    def training_counts(self, counts: ArrayOf[Any]) -> Array:
        """Convert counts by group, the last axis, to those of training: (..., folds, classes).

        Example: two folds with [2, 1] and [3, 0] rows of two classes are
        trained on [3, 0] and [2, 1]: the sum [5, 1] minus those of the fold.
        """
        by_fold = counts.reshape(*counts.shape[:-1], -1, self.n_classes)
        total = by_fold.sum(axis=-2, keepdims=True) if self.partition else by_fold[..., -1:, :]
        trained: Array = total - by_fold[..., : self.n_folds, :]
        return trained


class CrossValidatedScore:
    """Score structures by the mean of a metric (minus a loss) over folds, by others' tables."""

    def __init__(self, data: FoldedData, prior: Prior, metric: Metric = ACCURACY) -> None:
        if not isinstance(prior, PseudoCounts):
            raise TypeError(
                f"prior must be one of smooth, ess and m for a search; got {shown(prior)}. Search "
                "with one of them, then estimate the parameters with another prior by lp."
            )
        self.data, self.prior, self.metric = data, prior, metric
        # Stands for log 0, so that contributions can be subtracted; lower than any possible log
        # joint.
        self._floor = 8 * (len(data.cards) + 1) * data.lowest_log_probability
        kept = max(2, _KEPT_BYTES // max(1, 8 * data.n_tested * data.n_classes))
        self._log_terms = lru_cache(kept)(self._log_terms_of_family)
        counts = np.bincount(data.group, data.grouped.weights, data.n_groups)
        self._starts = [fold.start for fold in data.folds]
        self._weights = data.grouped.row_weights[: data.n_tested]
        self._sizes = np.add.reduceat(self._weights, self._starts)
        of_fold = self._replace_log_zeros(log(prior(data.training_counts(counts), axis=1)))
        self._of_class = of_fold.T.take(data.fold[: data.n_tested], axis=1)

    def __call__(self, structure: Structure, edits: Sequence[Edit]) -> Array:
        """Return the scores of the structure after each of the edits."""
        total = self._of_class + sum(
            self._log_terms((v, *parents)) for v, parents in structure.items()
        )
        alike: dict[Parents, list[int]] = {}
        for position, edit in enumerate(edits):
            alike.setdefault(tuple(edit), []).append(position)
        scores = np.empty(len(edits))
        for changed, positions in alike.items():
            rest = total - sum(
                self._log_terms((v, *structure[v])) for v in changed if v in structure
            )
            scores[positions] = [
                self._score_of_edit(structure, edits[position], rest) for position in positions
            ]
        return scores

    def _score_of_edit(self, structure: Structure, edit: Edit, rest: Array) -> float:
        """Score an edit, given the log joint of rows, (classes, rows), by unchanged families."""
        added = [
            self._log_terms((v, *parents)) for v, parents in edit.items() if parents is not None
        ]
        total = sum(added, start=rest)
        if self.data.partial:
            total = total + self._logs_of_missing_values(apply_edit(structure, edit))
        logs = total
        if not self.prior.is_positive:
            logs = np.where(total < self._floor / 2, -np.inf, total)
        data, weights = self.data, self.data.weights
        if self.metric == ACCURACY:  # needs no posteriors
            right = np.where(first_best(logs.T) == data.truth, self._weights, 0.0)
            of_folds: Array = np.add.reduceat(right, self._starts) / self._sizes
            return float(of_folds.sum() / data.n_folds)
        values = []
        for fold in data.folds:
            given = weights_at(weights, fold)
            values.append(self.metric.metric_of_rows(logs.T[fold], data.truth[fold], given))
        return float(np.mean(values)) * (-1 if self.metric.is_loss else 1)

    def _replace_log_zeros(self, logs: Array) -> Array:
        return np.maximum(logs, self._floor)

    def _log_terms_of_family(self, family: Parents) -> Array:
        """Return the contribution of a family, (classes, tested rows); 0 if a member is missing."""
        logs, index = self._log_table_and_cells_of_family(family)
        by_class = self._replace_log_zeros(logs).reshape(-1, logs.shape[-1]).T.copy()
        tested = slice(self.data.n_tested)
        added = by_class.take(index[tested] * self.data.n_folds + self.data.fold[tested], axis=1)
        observed = self.data.rows_observed_in(family)
        return added if observed is None else added * observed[tested]

    def _log_table_and_cells_of_family(self, family: Parents) -> tuple[Array, Positions]:
        """Return logs of a table, (levels, configurations, folds, classes), and the rows' cells."""
        data, weights = self.data, self.data.grouped.weights
        index, shape = number_family_states(
            data.grouped, family, numbered=data.partial.isdisjoint(family)
        )
        cells = flat_index([index, data.group], [prod(shape), data.n_groups])
        if (observed := data.rows_observed_in(family)) is not None:
            check_table_size(data.grouped, (*family, -1))
            cells, weights = cells[observed], weights_at(weights, observed)
        counts = np.bincount(cells, weights, prod(shape) * data.n_groups).reshape(*shape, -1)
        trained = data.training_counts(counts)
        card, configurations = shape[0], prod(data.cards[p] for p in family[1:])
        shares = self.prior.smoothed_probabilities(
            trained, trained.sum(axis=0), card, configurations * data.n_classes
        )
        return log(shares), index

    def _logs_of_missing_values(self, structure: Structure) -> Array:
        """Return what missing values add to the log joint of tested rows, (classes, rows)."""
        data, features = self.data, sorted(structure)
        position = {u: i for i, u in enumerate(features)}
        factors = []  # the tables of all families, each given the fold and the class
        for u in features:
            family = (u, *structure[u])
            logs, _ = self._log_table_and_cells_of_family(family)
            table = logs.reshape(*[data.cards[v] for v in family], *logs.shape[-2:])
            factors.append(Factor(tuple([position[v] for v in family]), table))
        factors.append(Factor((), np.zeros((data.n_folds, data.n_classes))))
        codes = data.tested[features]
        rows = np.flatnonzero((codes < 0).any(axis=0))
        logs = np.zeros((len(rows), data.n_classes))
        add_marginalized_terms(logs, factors, codes[:, rows], data.fold[rows])
        added = np.zeros((data.n_classes, data.n_tested))
        added[:, rows] = self._replace_log_zeros(logs).T
        return added


# Greedy search: steps to the best neighbor as long as the cross-validated score improves.


class SearchSpace(NamedTuple):
    """The features, rules for arcs, the score of edits, and ``rng`` if it decides ties."""

    features: range
    required: Arcs
    forbidden: Arcs
    score: Callable[[Structure, Sequence[Edit]], Array]
    rng: np.random.Generator | None

    def best_edit(self, structure: Structure, edits: Sequence[Edit]) -> tuple[Edit, float]:
        """Return the edit with the best score, the first or a random one of those tied."""
        scores = self.score(structure, edits)
        tied = np.flatnonzero(scores >= float(scores.max()) - TOLERANCE)
        best = int(tied[0] if self.rng is None else self.rng.choice(tied))
        return edits[best], float(scores[best])


class SearchResult(NamedTuple):
    """The result of a search; `missed` is the improvement of the best candidate that was too small.

    A step has the name of an edit, its source and target features, its gain,
    and the score after it.
    """

    structure: Structure
    start: float
    steps: list[tuple[str, Parents, Parents, float, float]]
    missed: float


@dataclass(frozen=True)
class Moves:
    """The settings of a greedy learner.

    `neighbors` returns the candidate edits of a step. Steps add arcs, up to
    `most` feature parents per feature; if `joins` is True, they join groups of
    features. If it is `naive`, the initial structure has all features.
    """

    neighbors: Callable[[Structure, SearchSpace], Sequence[Edit]]
    joins: bool = False
    naive: bool = True
    most: int | None = None


def make_improving_edits(
    moves: Moves,
    structure: Structure,
    space: SearchSpace,
    *,
    epsilon: float,
    most: float,
    progress: bool | None,
) -> SearchResult:
    """Make the best edit while it improves the score by epsilon and the score is below `most`."""
    steps, missed = list[tuple[str, Parents, Parents, float, float]](), 0.0
    start = score = float(space.score(structure, [{}])[0])
    with progress_bar(progress, desc="search", unit=" steps") as bar:
        while score < most - TOLERANCE:
            edits = moves.neighbors(structure, space)
            if not edits:
                break
            bar.set_postfix(candidates=len(edits), best=f"{score:.4f}", refresh=False)
            edit, after = space.best_edit(structure, edits)
            if after - epsilon < score - TOLERANCE:
                missed = after - score if after > score + TOLERANCE else 0.0
                break
            steps.append((*describe_edit(structure, edit, joins=moves.joins), after - score, after))
            structure, score = apply_edit(structure, edit), after
            bar.set_postfix(candidates=len(edits), best=f"{score:.4f}", refresh=False)
            bar.update()
    return SearchResult(structure, start, steps, missed)


class SearchOptions(TypedDict, total=False):
    """The arguments of `GreedySearch` except the number of folds, for type checkers."""

    epsilon: float
    smooth: float | None
    ess: float | None
    m: float | None
    metric: SearchMetric
    folds: Folds | None
    start: BNC | None
    required: Iterable[Arc]
    forbidden: Iterable[Arc]
    rng: Seed
    progress: bool | None


@dataclass(frozen=True)
class GreedySearch:
    """The arguments that all greedy learners share."""

    k: int
    epsilon: float = 0.01
    smooth: float | None = None
    ess: float | None = None
    m: float | None = None
    metric: SearchMetric = "accuracy"
    folds: Folds | None = None
    start: BNC | None = None
    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    rng: Seed = None
    progress: bool | None = None

    @property
    def prior_setting(self) -> dict[str, float]:
        amounts = {"smooth": self.smooth, "ess": self.ess, "m": self.m}
        given = {name: amount for name, amount in amounts.items() if amount is not None}
        return given or {"smooth": 0}

    def search_network(
        self,
        learner: Callable[..., BNC],
        moves: Moves,
        class_var: Hashable,
        dataset: AnyTable,
        **further: Any,
    ) -> BNC:
        """Return the structure found; `further` are additional settings for the recipe."""
        self._check_arguments()
        metric, generator = METRICS[self.metric], check_rng(self.rng)
        prior = find_prior(**self.prior_setting)
        data = prepare_training_rows(dataset, class_var)
        check_size_of_scores(len(data), data.cards[-1])
        rules = ArcRules.check(
            self.required, self.forbidden, data.columns, directed=not moves.joins, apart=class_var
        )
        start = self._initial_structure(moves, data, rules)
        split = drawn_or_given_folds(data, self.k, self.folds, generator, pairs=False)
        tests, weighted = [fold.rows for fold in split], data
        units = [fold.units for fold in split if fold.units is not None]
        if units:  # A row in several folds becomes several rows that share its weight.
            ends = np.cumsum([len(test) for test in tests])[:-1]
            some = data.take_rows(np.concatenate(tests))
            weighted = replace(some, weights=np.concatenate(units))
            tests = np.split(np.arange(len(weighted)), ends)
        for number, test in enumerate(tests):
            weights = weights_at(weighted.weights, test)
            n_counted = len(test) if weights is None else np.count_nonzero(weights)
            if not n_counted or len(test) == len(weighted):
                raise ValueError(
                    f"folds must each test at least one of the {len(weighted)} rows with a class "
                    "and a positive weight, and not all of them; "
                    f"fold {number} tests {n_counted}."
                )
        folds = FoldedData(weighted, tests)
        required, forbidden = [
            {(i, j) for i, j in np.argwhere(arcs)}
            for arcs in rules.required_and_forbidden_masks(data.features)
        ]
        space = SearchSpace(
            range(len(data.features)),
            required,
            forbidden,
            CrossValidatedScore(folds, prior, metric),
            None if self.rng is None else generator,
        )
        most = 0.0 if metric.is_loss else 1.0
        found = make_improving_edits(
            moves, start, space, epsilon=self.epsilon, most=most, progress=self.progress
        )
        self._warn_of_result(found, len(data.features))
        parents = {}
        for v, positions in sorted(found.structure.items()):
            parents[data.features[v]] = [data.features[p] for p in positions]
        settings = self.recipe_settings(further) | rules.recipe_settings()
        step = Step(learner.__name__, learner, settings, draws=True)
        return network(
            class_var, parents, data.schema, step, self._trace_of_steps(found, data.features)
        )

    def _check_arguments(self) -> None:
        names = []
        for metric in METRICS.values():
            if not (metric.needs_rows or metric.needs_joint or metric.needs_order):
                names.append(metric.name)
        Whole(least=2).check("k", self.k)
        Real(least=0).check("epsilon", self.epsilon)
        OneOf(names, elsewhere=METRICS_ELSEWHERE).check("metric", self.metric)
        Optional(Flag()).check("progress", self.progress)

    def _initial_structure(self, moves: Moves, data: TrainingData, rules: ArcRules) -> Structure:
        """Return the initial structure, or raise if the moves cannot lead to it."""
        given = parents_in_start(self.start, data.class_var, data.columns, augmented=True)
        ends = [name for arc in rules.required for name in arc] if moves.joins else []
        names = data.features
        if moves.joins and (self.start is not None or not moves.naive):
            names = tuple([name for name in names if name in (*given, *ends)])
        parents: Mapping[Hashable, Sequence[Hashable]]
        parents = {name: given.get(name, ()) for name in names}
        if moves.joins:
            if self.start is not None and not is_semi_naive(self.start):
                arcs = arcs_in_words((p, v) for v, ps in parents.items() for p in ps)
                raise ValueError(
                    "start must be a semi-naive structure, in which all features of a group are "
                    f"joined; got arcs {arcs}. Use tan_hc or kdb for others."
                )
            parents = parents_with_joined_groups(parents, rules.required)
        start = rules.add_required_parents(
            parents, "the number of feature parents per feature", moves.most
        )
        position = data.positions
        return {position[v]: tuple([position[p] for p in ps]) for v, ps in start.items()}

    def recipe_settings(self, further: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings for the recipe: without defaults and settings of these rows."""
        settings = {
            "k": self.k,
            **further,
            "epsilon": self.epsilon,
            **self.prior_setting,
            "metric": self.metric,
            "start": self.start,
            "rng": None if isinstance(self.rng, np.random.Generator) else self.rng,
        }
        usual = {"epsilon": 0.01, "smooth": 0, "metric": "accuracy", "kdbk": 2}
        return {name: value for name, value in settings.items() if usual.get(name) != value}

    def _warn_of_result(self, found: SearchResult, n_features: int) -> None:
        if is_recipe_running():
            return
        if found.missed and not found.steps:
            warn(
                f"No step improves the {self.metric} by `epsilon` = {self.epsilon}, so the search "
                f"returns the initial structure. The best step improves it by {found.missed:.2g}; "
                "use a smaller epsilon, such as epsilon=0."
            )
        elif n_features and not found.structure:
            warn(
                f"No feature improves the {self.metric} of predicting the majority class, so none "
                "was selected. Use metric='log_loss', which evaluates posteriors."
            )

    def _trace_of_steps(self, found: SearchResult, features: Sequence[Hashable]) -> dict[str, Any]:
        steps = []
        for operation, *ends, gain, score in found.steps:
            names: list[Any] = [tuple([features[v] for v in group]) for group in ends]
            if operation != "join":
                names = [next(iter(several), None) for several in names]
            steps.append((operation, *names, gain, score))
        scores = (found.start, *[step[-1] for step in steps])
        settings = {"metric": self.metric, "epsilon": float(self.epsilon)}
        return {"scores": scores, "steps": tuple(steps)} | settings


def parents_with_joined_groups(
    parents: Mapping[Hashable, Sequence[Hashable]], pairs: Iterable[Arc]
) -> dict[Hashable, Sequence[Hashable]]:
    """Join the groups of features of a pair; later features are parents of the earlier ones.

    >>> parents_with_joined_groups({"a": ["b"], "b": [], "c": []}, [("c", "a")])
    {'a': ['b', 'c'], 'b': ['c'], 'c': []}
    """
    links = {v: list(ps) for v, ps in parents.items()}
    for source, target in pairs:
        links[target].append(source)
    result = dict(parents)
    for group in connected_components(links):
        n_arcs = sum(len(parents[v]) for v in group)
        if n_arcs < len(group) * (len(group) - 1) // 2:  # not all features of it are joined
            result |= {v: group[i + 1 :] for i, v in enumerate(group)}
    return result


# The five greedy learners: an initial structure and the candidate edits of a step each.


_SHARED = """\
Parameters
----------
class_var : str
    Name of the class variable.
dataset : pandas.DataFrame or Dataset
    Training data. All columns except `class_var` are features.
k : int
    Number of folds, from 2 to the number of rows or, if weights are whole
    numbers, to their sum.
{own}epsilon : float, default 0.01
    Minimum improvement of the score by a step. With 0, the search also
    makes steps that do not change the score.
smooth, ess, m : float, optional
    Prior of the models that are scored, as in `lp`; give at most one. By
    default ``smooth=0``, as in R.
metric : str, default "accuracy"
    Metric to optimize: "accuracy", "balanced_accuracy", "f1", "precision",
    "recall", "kappa", "mcc", "log_loss", "brier", "rmse" or
    "calibration_error", as in `cv`. If classes are imbalanced, the
    structure without features can have the best accuracy; "log_loss"
    evaluates posteriors.
folds : list of arrays or array of int, optional
    Positions of the rows that each fold tests, or the fold number of each
    row. By default, folds are drawn at random, and if all weights are whole
    numbers, a row of weight 5 counts as five rows, as in `cv`.
start : BNC, optional
    Initial structure, of the type that the learner returns.
    {arcs}
rng : int or numpy.random.Generator, optional
    Seed of the folds. If given, ties are broken at random; by default, the
    first candidate wins.
progress : bool, optional
    Whether to show a progress bar; by default after 3 seconds, in an
    interactive session.

Returns
-------
BNC
    Structure without parameters. Use `lp` to estimate them, and
    `search_steps` to see the search.

Warns
-----
UserWarning
    If a class has fewer rows than there are folds, or the search returns
    the initial structure although a step would have improved the score by
    less than `epsilon`, or selects no feature.

Notes
-----
The search optimizes a cross-validated metric, so evaluate its result by an
outer cross-validation, such as `cv`. The score is the mean of the metric
over folds, or its negative for a loss such as log_loss. The search ends if
no step improves the score by `epsilon`, no step is left, or the score is
maximal. Tables are estimated from available cases, and missing features of
a row are marginalized over exactly."""

_ARCS = """\
Features that it does not contain have no feature parent.
required, forbidden : pairs of str
    Arcs ``(from, to)`` between features that the initial structure
    contains, and arcs that are never added."""
_PAIRS = """\
Features that it does not contain are not selected.
required, forbidden : pairs of str
    Pairs of features that are always joined, and pairs that are never
    joined."""

Decorated = TypeVar("Decorated", bound=Callable[..., BNC])


def _with_search_options(arcs: str, own: str = "") -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds the shared arguments to a learner's docstring and signature."""
    described = with_shared_text(
        {"{search}": _SHARED.replace("{arcs}", arcs).replace("{own}", own)}
    )
    shared = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in signature(GreedySearch).parameters.values()
        if p.name != "k"
    ]

    def with_search_signature(learner: Decorated) -> Decorated:
        *own, _ = signature(learner).parameters.values()
        vars(learner)["__signature__"] = signature(learner).replace(parameters=[*own, *shared])
        return with_call_advice("Pass options by name, such as k=5.")(described(learner))

    return with_search_signature


def _arcs_from_best_superparent(structure: Structure, space: SearchSpace) -> Sequence[Edit]:
    """Select the best superparent; the neighbors add an arc from it to one of its children."""
    candidates = superparent_additions(structure, space.forbidden)
    if not candidates:
        return []
    best, _ = space.best_edit(structure, candidates)
    return [{child: parents} for child, parents in best.items()]


FORWARD = Moves(
    lambda structure, space: additions_and_joins(structure, space.features, space.forbidden),
    joins=True,
    naive=False,
)
BACKWARD = Moves(
    lambda structure, space: removals_and_joins(
        structure, space.forbidden, set().union(*space.required)
    ),
    joins=True,
)
TREE = Moves(lambda structure, space: tree_arc_additions(structure, space.forbidden), most=1)
SUPERPARENT = Moves(_arcs_from_best_superparent, most=1)


@_with_search_options(_PAIRS)
def fssj(
    class_var: Hashable, dataset: AnyTable, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a semi-naive Bayes by forward sequential selection and joining.

    The search starts from the class alone. A step adds a feature alone or joins
    it to a group, and all members of the group become its parents. Features
    that do not improve the score are not selected.

    {search}

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product
       attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import fssj, load_car, modelstring, search_steps
    >>> model = fssj("class", load_car(), k=5, smooth=1, rng=0, epsilon=0)
    >>> modelstring(model)
    '[class] [persons|class] [safety|class] [buying|safety:class] [doors|persons:class]
     [maint|safety:buying:class] [lug_boot|safety:buying:maint:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.7, 0.7, 0.768, 0.811, 0.861, 0.943, 0.948]
    """
    return GreedySearch(k, **options).search_network(fssj, FORWARD, class_var, dataset)


@_with_search_options(_PAIRS)
def bsej(
    class_var: Hashable, dataset: AnyTable, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a semi-naive Bayes by backward sequential elimination and joining.

    The search starts from naive Bayes. A step removes a feature or joins two
    groups of features: the members of the later group become parents of the
    members of the earlier group.

    {search}

    References
    ----------
    .. [1] Pazzani, M. (1996). Constructive induction of Cartesian product
       attributes. ISIS 96.

    Examples
    --------
    >>> from bnclassify import bsej, load_car, modelstring, search_steps
    >>> model = bsej("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> search_steps(model).round(3)
      operation       from           to   gain  score
    0      join   (maint,)    (buying,)  0.050  0.900
    1      join  (safety,)  (lug_boot,)  0.036  0.936
    """
    return GreedySearch(k, **options).search_network(bsej, BACKWARD, class_var, dataset)


@_with_search_options(_ARCS)
def tan_hc(
    class_var: Hashable, dataset: AnyTable, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing.

    The search starts from naive Bayes. A step adds one arc to a feature without
    a feature parent. If both directions give equivalent structures, the arc
    from the later feature is the candidate.

    {search}

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of
       augmented Bayesian classifiers. International Journal on Artificial
       Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, search_steps, tan_hc
    >>> model = tan_hc("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [maint|class] [doors|class] [persons|class] [safety|class] [buying|maint:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.9, 0.936]
    """
    return GreedySearch(k, **options).search_network(tan_hc, TREE, class_var, dataset)


@_with_search_options(_ARCS)
def tan_hcsp(
    class_var: Hashable, dataset: AnyTable, *, k: int, **options: Unpack[SearchOptions]
) -> BNC:
    """Learn a tree-augmented naive Bayes by hill climbing with superparents.

    The search starts from naive Bayes. A step first selects the superparent:
    the feature with the best score as a parent of all features that can still
    have one. Then it adds the best single arc from it. With n features, a step
    scores about 2n structures; `tan_hc` scores about n².

    {search}

    References
    ----------
    .. [1] Keogh, E. J., Pazzani, M. J. (2002). Learning the structure of
       augmented Bayesian classifiers. International Journal on Artificial
       Intelligence Tools 11.

    Examples
    --------
    >>> from bnclassify import load_car, modelstring, search_steps, tan_hcsp
    >>> model = tan_hcsp("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.901, 0.939]
    """
    return GreedySearch(k, **options).search_network(tan_hcsp, SUPERPARENT, class_var, dataset)


@_with_search_options(
    _ARCS, "kdbk : int, default 2\n    Maximum number of feature parents per feature.\n"
)
def kdb(
    class_var: Hashable,
    dataset: AnyTable,
    *,
    k: int,
    kdbk: int = 2,
    **options: Unpack[SearchOptions],
) -> BNC:
    """Learn a k-dependence Bayes by hill climbing, like ``kdb`` in R.

    Each feature has at most `kdbk` feature parents. The search starts from
    naive Bayes, and each step adds the arc that improves the cross-validated
    accuracy most. `kdb_mi`, Sahami's k-DB, has the same kind of structure, but
    ranks parents by mutual information, without a search. The page Choosing a
    classifier sets both side by side.

    {search}

    References
    ----------
    .. [1] Sahami, M. (1996). Learning limited dependence Bayesian classifiers.
       KDD 96, for the structure; the greedy search is from the R package
       bnclassify.

    Examples
    --------
    >>> from bnclassify import kdb, load_car, modelstring, search_steps
    >>> model = kdb("class", load_car(), k=5, smooth=1, rng=0)
    >>> modelstring(model)
    '[class] [buying|class] [doors|class] [persons|class] [safety|class] [maint|buying:class]
     [lug_boot|safety:class]'
    >>> [round(score, 3) for score in search_steps(model).attrs["scores"]]
    [0.85, 0.901, 0.939]
    """
    most = Whole(least=1).check("kdbk", kdbk)
    arcs = Moves(
        lambda structure, space: k_dependence_additions(structure, most, space.forbidden), most=most
    )
    return GreedySearch(k, **options).search_network(kdb, arcs, class_var, dataset, kdbk=most)
