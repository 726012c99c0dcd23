"""Greedy search: steps to the best neighbor as long as the cross-validated score improves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypedDict

import numpy as np

from ..accessors import check_size_of_scores, is_semi_naive
from ..classifiers import BNC, find_prior
from ..frames import InFull, TrainingData, prepare_training_rows
from ..metrics import METRICS
from ..model import Step, is_recipe_running
from ..structure import Arc, ArcRules, arcs_in_words, network, parents_in_start
from ..tools.arrays import TOLERANCE, Array
from ..tools.calls import progress_bar
from ..tools.checks import Flag, OneOf, Optional, Real, SearchMetric, Seed, Whole, check_rng
from ..tools.foreign_words import METRICS_ELSEWHERE
from ..tools.graphs import connected_components
from ..tools.messages import warn
from ..validation import Folds, drawn_or_given_folds
from .neighbors import Arcs, Edit, Parents, Structure, apply_edit, describe_edit
from .scoring import CrossValidatedScore, FoldedData


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
        """The argument that selects the prior, as in `lp`; ``smooth=0`` by default."""
        amounts = {"smooth": self.smooth, "ess": self.ess, "m": self.m}
        given = {name: amount for name, amount in amounts.items() if amount is not None}
        return given or {"smooth": 0}

    def search_network(
        self,
        learner: Callable[..., BNC],
        moves: Moves,
        class_var: Hashable,
        dataset: InFull,
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
        folds = _data_sorted_by_fold(data, self.k, self.folds, generator)
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
        """Return the trace for `search_steps` and the summary."""
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


def _data_sorted_by_fold(
    data: TrainingData, k: int, folds: Folds | None, rng: np.random.Generator
) -> FoldedData:
    split = drawn_or_given_folds(data, k, folds, rng, pairs=False)
    tests = [fold.rows for fold in split]
    units = [fold.units for fold in split if fold.units is not None]
    if units:  # A row in several folds becomes several rows that share its weight.
        ends = np.cumsum([len(test) for test in tests])[:-1]
        data = replace(data.take_rows(np.concatenate(tests)), weights=np.concatenate(units))
        tests = np.split(np.arange(len(data)), ends)
    for fold, test in enumerate(tests):
        counted = len(test) if data.weights is None else np.count_nonzero(data.weights[test])
        if not counted or len(test) == len(data):
            raise ValueError(
                f"folds must each test at least one of the {len(data)} rows with a class and a "
                f"positive weight, and not all of them; fold {fold} tests {counted}."
            )
    return FoldedData(data, tests)
