"""General networks by hill climbing: hc, and ban, which keeps the class a parent of every feature."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from ..base.arrays import TOLERANCE, Array
from ..base.checks import OneOf, must_be
from ..base.graphs import ChangingDag
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
from .arc_rules import MOVES, Arc, Limits, Rules, place_start, written
from .fixed import general_network
from .local_scores import LocalScores, check_complete, warn_of_fractions


class Change(NamedTuple):
    """The operation of a step, the arc before it, the gain, and the score after it."""

    operation: str
    source: int
    target: int
    gain: float
    score: float


def hc(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: str = "bic",
    ess: float = 1,
    start: BNC | None = None,
    max_parents: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    moves: Collection[str] = MOVES,
    progress: bool = False,
) -> BNC:
    """Learn a general network by hill climbing; the class is a variable like any other.

    From an initial structure, the search makes the addition, deletion or reversal of an arc that improves
    the score most, until none improves it. The class can have parents, and features need not have the
    class as a parent: the network models all variables and predicts the class by its Markov blanket. In
    contrast, `ban` keeps the class as a parent of every feature.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data without missing values. All columns become variables.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        Score to maximize, as in `network_score`. Every arc improves "loglik", so it needs `max_parents`.
    ess : float, default 1
        Equivalent sample size of the prior, from 1e-100 to 1e12. Used only by "bde"; a larger value
        gives more arcs.
    start : BNC, optional
        Initial structure, such as ``nb(class_var, dataset)``. By default, it has no arcs.
    max_parents : int, optional
        Maximum number of parents per variable, including the class. By default, there is no maximum.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` that are part of the initial structure and stay, and arcs that are never added.
    moves : collection of {"add", "delete", "reverse"}
        Operations on an arc; all three by default. ``("add",)`` gives Buntine's algorithm B.
    progress : bool, default False
        If True, show a bar with the number of steps and the score.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them and `search_steps` to see the search.

    Raises
    ------
    KeyError
        If `class_var`, or a variable of `start`, `required` or `forbidden`, is not a column of `dataset`.
    TypeError, ValueError
        If values are missing, an argument is out of range, an arc is required or in `start` and also
        forbidden, the arcs of the initial structure form a cycle, or a variable has more than
        `max_parents` of them.

    Warns
    -----
    UserWarning
        If the class is missing in some rows, which are then ignored, all values of a column are
        distinct, or weights are not whole numbers and sum to less than the number of rows.

    See Also
    --------
    ban : Keep the class as a parent of every feature.
    tan_cl : Find the best forest over the features exactly.
    network_score : Score a structure.
    search_steps : Show the steps of a search.

    Notes
    -----
    The score of a network is a sum over its families, so a step changes one or two terms. Candidates are
    all additions, then all deletions, then all reversals, each in the column order of the first and then
    the second variable of the arc. Gains within max(1e-9, 1e-12 · abs(score)) are tied, the first wins,
    and a step must gain more than that.

    The result is a maximum only among its neighbors. If both directions of an arc have the same score,
    the first is chosen, and the search may end in another structure than with the second.

    References
    ----------
    .. [1] Heckerman, D., Geiger, D., Chickering, D. M. (1995). Learning Bayesian networks: the
       combination of knowledge and statistical data. Machine Learning 20.
    .. [2] Buntine, W. (1991). Theory refinement on Bayesian networks. UAI 1991.

    Examples
    --------
    >>> from bnclassify import hc, load_car, modelstring
    >>> modelstring(hc("class", load_car()))
    '[doors] [persons] [safety] [class|safety:persons] [buying|class] [maint|class] [lug_boot|class]'
    """
    rules = Rules(score, ess, max_parents, required, forbidden, moves, progress)
    data = prepare(dataset, (class_var,))
    parents = _parents_of(start, class_var, data)
    settings = rules.settings() | ({} if start is None else {"start": start})
    return _climb(data, parents, rules, Step("hc", hc, settings))


def ban(
    class_var: Hashable,
    dataset: InFull | InParts,
    *,
    score: str = "bic",
    ess: float = 1,
    max_parents: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    moves: Collection[str] = ("add",),
    progress: bool = False,
) -> BNC:
    """Learn an augmented naive Bayes by hill climbing on a decomposable score (BAN).

    The class is a parent of every feature and has no parents. The search starts from naive Bayes and adds
    arcs between features as long as one improves the score of the network.

    Parameters
    ----------
    class_var : str
        Name of the class variable.
    dataset : pandas.DataFrame, Dataset, or partitioned data
        Training data without missing values. All columns except `class_var` are features.
    score, ess, progress : optional
        As in `hc`.
    max_parents : int, optional
        Maximum number of parents per feature, including the class: 1 gives naive Bayes, and 2 allows one
        feature as a parent. By default, there is no maximum.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features, as in `hc`.
    moves : collection of {"add", "delete", "reverse"}, default ("add",)
        Operations on an arc between features. Additions alone are Buntine's algorithm B.

    Returns
    -------
    BNC
        Structure without parameters. Use `lp` to estimate them and `search_steps` to see the search.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `hc`.

    Warns
    -----
    UserWarning
        As in `hc`.

    See Also
    --------
    hc : Learn a general network.
    tan_cl : Find the best forest over the features exactly.
    kdb : Add arcs that improve the cross-validated accuracy.

    Notes
    -----
    Features can have several parents. In contrast to `tan_cl`, the search need not find the best network.

    References
    ----------
    .. [1] Friedman, N., Geiger, D., Goldszmidt, M. (1997). Bayesian network classifiers.
       Machine Learning 29.
    .. [2] Buntine, W. (1991). Theory refinement on Bayesian networks. UAI 1991.

    Examples
    --------
    >>> from bnclassify import ban, load_car, modelstring
    >>> modelstring(ban("class", load_car(), score="bde"))
    '[class] [buying|class] [doors|class] [persons|class] [maint|buying:class] [safety|persons:class]
     [lug_boot|safety:class]'
    """
    rules = Rules(score, ess, max_parents, required, forbidden, moves, progress)
    data = prepare(dataset, (class_var,))
    for argument, arcs, end in (("required", rules.required, 1), ("forbidden", rules.forbidden, 0)):
        lost = [arc for arc in arcs if arc[end] == class_var]
        if lost:
            raise ValueError(
                f"{argument} must be arcs between features in ban, where the class is a parent of every "
                f"feature; got {written(lost)}. Use hc for other networks."
            )
    naive = dict.fromkeys(data.features, (class_var,)) | {class_var: ()}
    inner = rules.with_arcs(
        required=[(class_var, feature) for feature in data.features],
        forbidden=[(feature, class_var) for feature in data.features],
    )
    return _climb(data, naive, inner, Step("ban", ban, rules.settings()))


def _parents_of(start: object, class_var: Hashable, data: Learnable) -> dict[Hashable, Sequence[Hashable]]:
    """Return the parents of each column in the initial structure."""
    parents: dict[Hashable, Sequence[Hashable]] = dict.fromkeys(data.columns, ())
    if start is None:
        return parents
    if not isinstance(start, BNC):
        raise TypeError(must_be("start", "a structure such as nb(class_var, dataset)", start))
    for variable in start.variables:
        OneOf(parents, "a network over columns of `dataset`").check("start", variable)
    return parents | {family[0]: family[1:] for family in start.families}


def _climb(data: Learnable, parents: Mapping[Hashable, Sequence[Hashable]], rules: Rules, step: Step) -> BNC:
    """Return the structure found with its recipe and steps."""
    rows = data.as_given
    check_complete(rows)
    warn_of_fractions(rows, rules.score)
    limits, start = rules.limits(rows), place_start(parents, rows, rules)
    structure, steps = climb(
        LocalScores(rows, rules.score, rules.ess), start, limits, progress=rules.progress
    )
    names = rows.columns
    named = {names[v]: [names[p] for p in numbers] for v, numbers in enumerate(structure)}
    trace = tuple((s.operation, names[s.source], names[s.target], s.gain, s.score) for s in steps)
    return general_network(data.class_var, named, rows.schema, step, trace={"steps": trace})


class HillClimber:
    """The current network of a search: `parents` lists those of each variable in the order of addition.

    The gain of an arc changes only if the family of its target does, so one or two families are scored
    after each step.
    """

    def __init__(self, scores: LocalScores, parents: Sequence[Sequence[int]], limits: Limits) -> None:
        self.scores, self.limits = scores, limits
        self.parents = [list(ps) for ps in parents]
        n = len(self.parents)
        self._graph = ChangingDag(n, [(p, v) for v, ps in enumerate(parents) for p in ps])
        # Gains of the addition and the deletion of each arc; -inf if it is impossible.
        self._added, self._deleted = np.full((2, n, n), -np.inf)
        self._local = np.zeros(n)
        self._score(*range(n))

    @property
    def score(self) -> float:
        """The score of the network."""
        return float(self._local.sum())

    def step(self) -> Change | None:
        """Make the best move, the first if several are tied; None if no move improves the score."""
        options = [(move, *self._gains(move)) for move in MOVES if move in self.limits.moves]
        tolerance = max(TOLERANCE, 1e-12 * abs(self.score))
        best = max(float(gains.max(initial=-np.inf)) for _, gains, _ in options)
        if best <= tolerance:
            return None
        move, gains, arcs = next(o for o in options if o[1].max(initial=-np.inf) >= best - tolerance)
        first = int((gains >= best - tolerance).argmax())
        source, target = divmod(first if arcs is None else int(arcs[first]), len(self.parents))
        gain = float(gains[first])
        self.make(move, source, target)
        return Change(move, source, target, gain, self.score)

    def gain(self, move: str, source: int, target: int) -> float:
        """Return the gain of a move; -inf if it is impossible."""
        gains, arcs = self._gains(move)
        where = np.arange(gains.size) if arcs is None else arcs
        return float(gains[where == source * len(self.parents) + target].max(initial=-np.inf))

    def _gains(self, move: str) -> tuple[Array, NDArray[np.intp] | None]:
        """Return the gain of a move of each arc, and the numbers of these arcs; None if they are all.

        The arc from i to j of n variables has the number i n + j.
        """
        if move == "add":
            return np.where(self._graph.closes_cycle, -np.inf, self._added).ravel(), None
        sources, targets = self._graph.present() if move == "delete" else self._graph.reversible()
        gains = self._deleted[sources, targets]
        if move == "reverse":
            gains += self._added[targets, sources]
        return gains, sources * len(self.parents) + targets

    def make(self, move: str, source: int, target: int) -> None:
        """Make a possible move."""
        if move == "add":
            self.parents[target].append(source)
            self._graph.add(source, target)
        else:
            self.parents[target].remove(source)
            self._graph.remove(source, target)
        if move == "reverse":
            self.parents[source].append(target)
            self._graph.add(target, source)
            self._score(source, target)
        else:
            self._score(target)

    def _score(self, *variables: int) -> None:
        """Score families, and their gains by one more or one fewer parent."""
        self.scores.prefetch(
            [(v, *self.parents[v]) for v in variables if len(self.parents[v]) < self.limits.max_parents],
            [(v, *self.parents[v]) for v in variables]
            + [(v, *p) for v in variables for _, p in self._lesser(v)],
        )
        for variable in variables:
            self._score_family(variable)

    def _lesser(self, variable: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the parents that may be deleted, each with the other parents."""
        if self.limits.moves != ("add",):
            for parent in self.parents[variable]:
                if not self.limits.required[parent, variable]:
                    yield parent, [p for p in self.parents[variable] if p != parent]

    def _score_family(self, variable: int) -> None:
        parents, scores = self.parents[variable], self.scores
        score = self._local[variable] = scores.family(variable, parents)
        self._added[:, variable] = -np.inf
        if len(parents) < self.limits.max_parents:
            option = ~self.limits.forbidden[:, variable]
            option[[variable, *parents]] = False
            np.copyto(self._added[:, variable], scores.gains(variable, parents), where=option)
        self._deleted[:, variable] = -np.inf
        for parent, others in self._lesser(variable):
            self._deleted[parent, variable] = scores.family(variable, others) - score


def climb(
    scores: LocalScores, parents: Sequence[Sequence[int]], limits: Limits, *, progress: bool = False
) -> tuple[list[list[int]], list[Change]]:
    """Make moves until none improves the score; return the parents of each variable, and the steps."""
    climber = HillClimber(scores, parents, limits)
    steps: list[Change] = []
    with tqdm(disable=not progress, desc="search", unit=" steps") as bar:
        while (step := climber.step()) is not None:
            steps.append(step)
            if progress:
                bar.update()
                bar.set_postfix(score=f"{step.score:.4f}")
    return climber.parents, steps
