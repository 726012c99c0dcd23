"""Hill climbing: the additions, deletions and reversals of arcs, the best of which is made.

`hc` learns general networks; `ban` keeps the class as a parent of every feature.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from ..classifiers import BNC
from ..dataset import Countable, Dataset
from ..frames import AnyTable, prepare_training_data
from ..model import Step
from ..structure import (
    Arc,
    ArcRules,
    LocalScores,
    check_missing_option,
    check_no_missing_values,
    check_score_and_ess,
    network,
    parents_in_start,
    warn_of_fractional_weights,
)
from ..tools.arrays import TOLERANCE, Array, Mask, Positions
from ..tools.calls import Bar, progress_bar
from ..tools.checks import Flag, ListOf, OneOf, Optional, ScoreName, Seed, Whole, check_rng
from ..tools.graphs import ChangingDag
from .em import ParentLists, structural_em

MOVES = ("add", "delete", "reverse")
"""The operations on an arc, in the order in which ties are broken."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a search; `required` and `forbidden` are (from, to) arrays of bool."""

    required: Mask
    forbidden: Mask
    max_parents: int
    moves: Collection[str]


class ArcMove(NamedTuple):
    """An operation on an arc."""

    operation: str
    source: int
    target: int


class HillClimber:
    """The current network of a search; after each step, only families that changed are scored."""

    def __init__(self, scores: LocalScores, parents: ParentLists, limits: Limits) -> None:
        self.scores, self.limits = scores, limits
        self.parents = [list(ps) for ps in parents]
        n = len(self.parents)
        self._graph = ChangingDag(n, [(p, v) for v, ps in enumerate(parents) for p in ps])
        # Gains of the addition and the deletion of each arc, (to, from), and of additions that
        # close no cycle, with the largest to each variable; -inf if it is impossible.
        self._added, self._deleted, self._open = np.full((3, n, n), -np.inf)
        self._largest, self._local = np.full(n, -np.inf), np.zeros(n)
        self._update_gains_of_families(*range(n))
        self._update_acyclic_additions(range(n))

    @property
    def score_of_network(self) -> float:
        return float(self._local.sum())

    @property
    def arc_matrix(self) -> Mask:
        """Whether there is an arc, (from, to)."""
        return self._graph.arcs.copy()

    def gains_of_moves(self) -> Array:
        """Return the gains of operations on arcs, (operations, from, to); impossible is -inf."""
        gains = np.full((len(MOVES), *self._added.shape), -np.inf)
        sources, targets, deletions, reversals = self._gains_of_deletions_and_reversals()
        turns = self._graph.reversible_arcs(sources, targets)
        gains[0] = self._open.T
        gains[1, sources, targets] = deletions
        gains[2, sources[turns], targets[turns]] = reversals[turns]
        return gains

    def _gains_of_deletions_and_reversals(self) -> tuple[Positions, Positions, Array, Array]:
        """Return the ends of the arcs, in order, and the gains of their deletions and reversals."""
        sources, targets = self._graph.arc_ends()
        deletions: Array = self._deleted[targets, sources]
        reversals: Array = deletions + self._added[sources, targets]
        for gains, move in ((deletions, "delete"), (reversals, "reverse")):
            if move not in self.limits.moves:
                gains[:] = -np.inf
        return sources, targets, deletions, reversals

    def best_move(
        self, tolerance: float, tabu: Collection[Mask] = ()
    ) -> tuple[ArcMove, float] | None:
        """Return the best move to a network that is not `tabu` and its gain, the first if tied."""
        sources, targets, deletions, reversals = self._gains_of_deletions_and_reversals()
        refused = list[int]()
        while True:
            found = self._first_of_tied_moves(tolerance, sources, targets, deletions, reversals)
            if found is None or not tabu or not self._leads_to_tabu_network(found[0], tabu):
                break
            operation, source, target = found[0]
            if operation == "add":
                self._open[target, source] = -np.inf
                self._largest[target] = self._open[target].max()
                refused.append(target)
            else:
                gains = deletions if operation == "delete" else reversals
                gains[(sources == source) & (targets == target)] = -np.inf
        self._update_acyclic_additions(refused)
        return found

    def _leads_to_tabu_network(self, move: ArcMove, networks: Collection[Mask]) -> bool:
        after = self.arc_matrix
        after[move.source, move.target] = move.operation == "add"
        after[move.target, move.source] |= move.operation == "reverse"
        return any(np.array_equal(after, network) for network in networks)

    def _first_of_tied_moves(
        self,
        tolerance: float,
        sources: Positions,
        targets: Positions,
        deletions: Array,
        reversals: Array,
    ) -> tuple[ArcMove, float] | None:
        largest: float = max(self._largest.max(initial=-np.inf), deletions.max(initial=-np.inf))
        least: float = largest - tolerance
        better = np.flatnonzero(reversals >= least)  # only these are checked for cycles
        reversals[better[~self._graph.reversible_arcs(sources[better], targets[better])]] = -np.inf
        least = max(least, reversals.max(initial=-np.inf) - tolerance)
        if least == -np.inf:
            return None
        reached = np.flatnonzero(self._largest >= least)
        if len(reached):
            tied: Mask = self._open[reached] >= least
            source = int(tied.any(axis=0).argmax())
            target = int(reached[tied[:, source].argmax()])
            return ArcMove("add", source, target), float(self._open[target, source])
        operation, gains = "delete", deletions
        if not (deletions >= least).any():
            operation, gains = "reverse", reversals
        at = int((gains >= least).argmax())
        return ArcMove(operation, int(sources[at]), int(targets[at])), float(gains[at])

    def _update_acyclic_additions(self, targets: Sequence[int] | Positions) -> None:
        """Update which additions of arcs to some variables close no cycle."""
        if len(targets) and "add" in self.limits.moves:
            self._open[targets] = np.where(
                self._graph.reach[targets], -np.inf, self._added[targets]
            )
            self._largest[targets] = self._open[targets].max(axis=1)

    def draw_move(self, rng: np.random.Generator) -> tuple[ArcMove, float] | None:
        """Draw one of the possible moves, and return it with its gain."""
        gains = self.gains_of_moves()
        possible = np.flatnonzero(gains > -np.inf)
        if not len(possible):
            return None
        drawn = int(possible[rng.integers(len(possible))])
        operation, source, target = map(int, np.unravel_index(drawn, gains.shape))
        return ArcMove(MOVES[operation], source, target), float(gains.flat[drawn])

    def make_move(self, move: ArcMove) -> None:
        """Make a possible move. Paths change from an end of the arc and its ancestors only."""
        operation, source, target = move
        changed = self._graph.reach[:, source] | (
            self._graph.reach[:, target] & (operation == "reverse")
        )
        if operation == "add":
            self.parents[target].append(source)
            self._graph.add_arc(source, target)
        else:
            self.parents[target].remove(source)
            self._graph.remove_arc(source, target)
        if operation == "reverse":
            self.parents[source].append(target)
            self._graph.add_arc(target, source)
            self._update_gains_of_families(source, target)
        else:
            self._update_gains_of_families(target)
        changed[target] = True
        self._update_acyclic_additions(np.flatnonzero(changed))

    def _update_gains_of_families(self, *variables: int) -> None:
        """Score families, and their gains by one more or one fewer parent."""
        families = [(v, *self.parents[v]) for v in variables]
        shorter = ((v, *p) for v in variables for _, p in self._deletable_parents_and_others(v))
        self.scores.count_families_ahead(
            [family for family in families if len(family) <= self.limits.max_parents],
            chain(families, shorter),
        )
        for v, *parents in families:
            self._added[v] = self._deleted[v] = -np.inf
            if len(parents) < self.limits.max_parents:
                option = ~self.limits.forbidden[:, v]
                option[[v, *parents]] = False
                gains = self.scores.gains_by_added_parent(v, parents)
                np.copyto(self._added[v], gains, where=option)
            score = self._local[v] = self.scores.score_of_family(v, parents)
            for parent, others in self._deletable_parents_and_others(v):
                self._deleted[v, parent] = self.scores.score_of_family(v, others) - score

    def _deletable_parents_and_others(self, variable: int) -> Iterator[tuple[int, list[int]]]:
        if self.limits.moves != ("add",):
            for parent in self.parents[variable]:
                if not self.limits.required[parent, variable]:
                    yield parent, [p for p in self.parents[variable] if p != parent]


def hc(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    score: ScoreName = "bic",
    ess: float = 1,
    start: BNC | None = None,
    features: Iterable[Hashable] | None = None,
    max_parents: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    moves: Collection[str] = MOVES,
    tabu: int = 0,
    restarts: int = 0,
    missing: Literal["error", "em"] = "error",
    rng: Seed = None,
    progress: bool | None = None,
) -> BNC:
    """Learn a general network by hill climbing, the class like any variable.

    From an initial structure, the search makes the addition, deletion or
    reversal of an arc that improves the score most, until none improves it.
    `ban` keeps the class as a parent of every feature.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data, by default without missing values. All columns become
        variables.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        Score to maximize, as in `network_score`. "loglik" needs `max_parents`,
        because every arc improves it.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12; a larger value
        gives more arcs.
    start : BNC, optional
        Initial structure, such as ``nb(class_var, dataset)``. By default, it
        has no arcs.
    features : list of str, optional
        Columns to use as features.
    max_parents : int, optional
        Maximum number of parents per variable, including the class. By default,
        it is not limited.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` that are part of the initial structure and stay, and
        arcs that are never added.
    moves : collection of {"add", "delete", "reverse"}
        Operations on an arc; all three by default. ``("add",)`` gives Buntine's
        algorithm B.
    tabu : int, default 0
        Number of steps that continue from a maximum by the change with the
        smallest loss, without returning to the last networks, up to this
        number.
    restarts : int, default 0
        Number of further searches, each from the best network after 5 random
        changes, or fewer if one of them leads to a better network.
    missing : {"error", "em"}, default "error"
        With "em", structural EM replaces missing values by their expectation;
        not with "bde" and "k2".
    rng : int or numpy.random.Generator, optional
        Seed of the random moves of `restarts`.
    progress : bool, optional
        Whether to show a progress bar; by default after 3 seconds, in an
        interactive session.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them and
        `search_steps` to see the search.

    Raises
    ------
    KeyError, TypeError, ValueError
        If values are missing or, with "em", the incomplete rows have too many
        completions, or the initial structure and the arguments contradict each
        other.

    Notes
    -----
    Use it if all variables are of interest; for prediction alone, `tan_cl` is
    usually better. The result is better than all networks that differ by one
    arc, but need not be the best of all; `tabu` and `restarts` often find a
    better one. Of tied changes, additions come before deletions and reversals,
    each in column order. The page :doc:`Formulas </methods>` has the tolerances
    and describes structural EM; `search_steps` returns its scores.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning
       Bayesian networks: the combination of knowledge and statistical data.
       Machine Learning 20.
    .. [2] Friedman, N. (1997). Learning belief networks in the presence of
       missing values and hidden variables. ICML 1997.

    Examples
    --------
    >>> from bnclassify import hc, load_car, modelstring
    >>> modelstring(hc("class", load_car()))
    '[doors] [persons] [safety] [class|safety:persons] [buying|class] [maint|class]
     [lug_boot|class]'
    """
    search = _Search(
        score, ess, max_parents, moves, missing, tabu, restarts, rng=rng, progress=progress
    )
    data = prepare_training_data(dataset, (class_var,), features, rows_needed=missing == "em")
    rows = data.in_original_column_order
    rules = ArcRules.check(required, forbidden, rows.columns)
    given = parents_in_start(start, class_var, rows.columns)
    parents = rules.add_required_parents(
        {name: given.get(name, ()) for name in rows.columns}, "max_parents", max_parents
    )
    settings = rules.recipe_settings() | {"start": start, "features": features}
    return search.climb_from(hc, class_var, rows, parents, rules, settings)


def ban(
    class_var: Hashable,
    dataset: AnyTable | Countable,
    *,
    score: ScoreName = "bic",
    ess: float = 1,
    start: BNC | None = None,
    features: Iterable[Hashable] | None = None,
    max_parents: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    moves: Collection[str] = ("add",),
    missing: Literal["error", "em"] = "error",
    progress: bool | None = None,
) -> BNC:
    """Learn an augmented naive Bayes (BAN) by hill climbing on a score.

    The class is a parent of every feature and has no parents. The search starts
    from naive Bayes and adds arcs between features while the score of the
    network improves.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data, by default without missing values. All columns except
        `class_var` are features.
    score, ess, features, missing, progress : optional
        As in `hc`.
    start : BNC, optional
        Initial structure, an augmented naive Bayes. By default, it is naive
        Bayes.
    max_parents : int, optional
        Maximum number of parents per feature, including the class: 1 gives
        naive Bayes, and 2 allows one feature as a parent. By default, it is not
        limited.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features, as in `hc`.
    moves : collection of {"add", "delete", "reverse"}, default ("add",)
        Operations on an arc between features. Additions alone are Buntine's
        algorithm B.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them and
        `search_steps` to see the search.

    Notes
    -----
    Use it in place of `tan_cl` if features depend on several others and there
    are enough rows. The search need not find the best network.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network
       classifiers. Machine Learning 29.
    .. [2] Buntine, W. (1991). Theory refinement on Bayesian networks. UAI 1991.

    Examples
    --------
    >>> from bnclassify import ban, load_car, modelstring
    >>> modelstring(ban("class", load_car(), score="bde"))
    '[class] [buying|class] [doors|class] [persons|class] [maint|buying:class]
     [safety|persons:class] [lug_boot|safety:class]'
    """
    search = _Search(score, ess, max_parents, moves, missing, progress=progress)
    data = prepare_training_data(dataset, (class_var,), features, rows_needed=missing == "em")
    rules = ArcRules.check(required, forbidden, data.columns, apart=class_var)
    inner = ArcRules(
        (*[(class_var, feature) for feature in data.features], *rules.required),
        (*[(feature, class_var) for feature in data.features], *rules.forbidden),
    )
    given = parents_in_start(start, class_var, data.columns, augmented=True)
    naive = {name: (class_var, *given.get(name, ())) for name in data.order}
    naive[class_var] = ()
    parents = inner.add_required_parents(naive, "max_parents", max_parents)
    settings = rules.recipe_settings() | {"start": start, "features": features}
    rows = data.in_original_column_order
    return search.climb_from(ban, class_var, rows, parents, inner, settings)


@dataclass(eq=False)
class _Search:
    """A search with checked arguments that do not name columns, and the moves that it made.

    It continues from a maximum by at most `tabu` steps down, then by `restarts` at random moves.
    Each of the `changes` is a move, its gain, the score after it, and the number of the run.
    """

    score: str
    ess: float
    max_parents: int | None
    moves: Collection[str]
    missing: str
    tabu: int = 0
    restarts: int = 0
    rng: Seed = None
    progress: bool | None = None
    changes: list[tuple[ArcMove, float, float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ess = check_score_and_ess(self.score, self.ess)
        chosen = ListOf("moves", filled=True).check("moves", self.moves)
        for move in chosen:
            OneOf(MOVES).check("moves", move)
        self.moves = tuple([move for move in MOVES if move in chosen])
        Optional(Whole()).check("max_parents", self.max_parents)
        most = Whole(most=100_000)
        self.tabu = most.check("tabu", self.tabu)
        self.restarts = most.check("restarts", self.restarts)
        Optional(Flag()).check("progress", self.progress)
        check_missing_option(self.missing, "error", self.score)
        check_rng(self.rng)

    def climb_from(
        self,
        learner: Callable[..., BNC],
        class_var: Hashable,
        rows: Countable,
        parents: Mapping[Hashable, Sequence[Hashable]],
        rules: ArcRules,
        further: Mapping[str, Any],
    ) -> BNC:
        """Return the structure found; `further` are additional settings for the recipe."""
        if self.missing == "error":
            check_no_missing_values(rows)
        warn_of_fractional_weights(rows, self.score)
        names = rows.columns
        most = len(names) if self.max_parents is None else self.max_parents
        limits = Limits(*rules.required_and_forbidden_masks(names), most, self.moves)
        rng, position = check_rng(self.rng), rows.positions

        def improve_structure(data: Countable, start: ParentLists) -> list[list[int]]:
            return self._best_parents(LocalScores(data, self.score, self.ess), start, limits, rng)

        start = [[position[parent] for parent in parents[name]] for name in names]
        trace: dict[str, tuple[Any, ...]] = {}
        if rows.incomplete.any():
            found, scores = structural_em(
                cast("Dataset", rows), start, improve_structure, self.score
            )
            trace["scores"] = tuple(scores)
        else:
            found = improve_structure(rows, start)
        named = {names[v]: [names[p] for p in parents] for v, parents in enumerate(found)}
        has_runs = self.restarts > 0 or self.missing == "em"
        steps: list[tuple[Any, ...]] = []
        for (operation, source, target), *figures, run in self.changes:
            of_run = (run,) if has_runs else ()
            steps.append((operation, names[source], names[target], *figures, *of_run))
        trace["steps"] = tuple(steps)
        usual = {"score": "bic", "ess": 1, "missing": "error", "tabu": 0, "restarts": 0}
        settings: dict[str, Any] = {}  # of the recipe: those that are not defaults
        for name in ("score", "ess", "max_parents", "moves", "tabu", "restarts", "missing", "rng"):
            value = getattr(self, name)
            if value != usual.get(name) and not isinstance(value, np.random.Generator):
                settings[name] = value
        step = Step(learner.__name__, learner, {**settings, **further}, draws=self.restarts > 0)
        return network(class_var, named, rows.schema, step, trace)

    def _best_parents(
        self, scores: LocalScores, start: ParentLists, limits: Limits, rng: np.random.Generator
    ) -> list[list[int]]:
        """Return the parents of each variable in the best network found."""
        first = self.changes[-1][-1] + 1 if self.changes else 0
        with progress_bar(self.progress, desc="search", unit=" steps") as bar:
            climber = HillClimber(scores, start, limits)
            best, best_score = self._climb_to_maximum(climber, first, bar)
            for run in range(first + 1, first + self.restarts + 1):
                climber = HillClimber(scores, best, limits)
                for _ in range(5):  # random moves before each restart
                    drawn = climber.draw_move(rng)
                    if drawn is not None:
                        self._make_move(climber, *drawn, run, bar)
                    if climber.score_of_network > best_score + TOLERANCE:
                        break
                found, score = self._climb_to_maximum(climber, run, bar)
                if score > best_score + TOLERANCE:
                    best, best_score = found, score
        return best

    def _climb_to_maximum(
        self, climber: HillClimber, run: int, bar: Bar
    ) -> tuple[list[list[int]], float]:
        """Make moves until `tabu` steps did not improve the best score; return the best network."""
        recent = deque([climber.arc_matrix], maxlen=self.tabu)
        best, best_score = [list(ps) for ps in climber.parents], climber.score_of_network
        gained, n_down = 0.0, 0  # since the best network: the sum of gains, and the steps down
        while True:
            tolerance = max(TOLERANCE, 1e-12 * abs(climber.score_of_network))
            if self.tabu:
                tolerance = 1.490116e-8  # the square root of the machine epsilon, as in bnlearn
            found = climber.best_move(tolerance, recent)
            if found is None or (found[1] <= tolerance and n_down == self.tabu):
                return best, best_score
            move, gain = found
            self._make_move(climber, move, gain, run, bar)
            if self.tabu:
                recent.append(climber.arc_matrix)
            gained += gain
            n_down += gain <= tolerance
            if gained >= tolerance:
                best = [list(ps) for ps in climber.parents]
                best_score, gained, n_down = climber.score_of_network, 0.0, 0

    def _make_move(
        self, climber: HillClimber, move: ArcMove, gain: float, run: int, bar: Bar
    ) -> None:
        climber.make_move(move)
        self.changes.append((move, gain, climber.score_of_network, run))
        bar.set_postfix_str(f"score={climber.score_of_network:.4f}", refresh=False)
        bar.update()
