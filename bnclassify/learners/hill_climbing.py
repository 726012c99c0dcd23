"""General networks by hill climbing: hc, and ban, which keeps the class a parent of every feature."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from ..base.arrays import TOLERANCE, Array
from ..base.graphs import ChangingDag
from ..base.messages import listed, suggestion
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable
from ..frames.training import prepare
from ..model.recipes import Step
from ..network.classifiers import BNC
from .arc_rules import MOVES, Arc, Limits, Rules, place_start, written
from .fixed import general_network
from .local_scores import LocalScores, check_complete


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
    """Learn a general network by hill climbing, the class a variable like any other.

    From a start, the arc whose addition, deletion or reversal raises the score most is changed, again
    and again, until no change raises it. The class may end up with parents, and features without the
    class among theirs: the network describes all variables, and predicts the class by its Markov
    blanket. `ban` keeps the class a parent of every feature.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        Without missing values.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        What to raise, as in `network_score`. "loglik" gains by every arc, so it needs ``max_parents``
        to make sense.
    ess : float, default 1
        Equivalent sample size of "bde", from 1e-100 to 1e12. A larger value gives more arcs.
    start : BNC, optional
        A structure to start from, such as ``nb(class_var, dataset)``; by default the one without arcs.
    max_parents : int, optional
        The most parents of a variable, the class counted; by default as many as there are.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` that are in the network from the start and stay, and that never come in.
    moves : collection of {"add", "delete", "reverse"}
        What a step may do to an arc; all three by default. With ``("add",)`` this is Buntine's
        algorithm B.
    progress : bool, default False
        Whether to show a bar with the steps and the score.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `search_steps` tells how the search went.

    Raises
    ------
    KeyError
        If ``class_var``, or a variable of ``start``, ``required`` or ``forbidden``, is not a column.
    TypeError, ValueError
        If values are missing, an argument is out of range, an arc is both required and forbidden or
        forbidden and in the start, the arcs at the start form a cycle, or a variable has more than
        ``max_parents`` of them.

    Warns
    -----
    UserWarning
        If rows have no class; they are left out. If every row has a value of its own in a column.

    Notes
    -----
    A score of a network is a sum over its families, so a step changes one or two terms of it. Each
    family is scored once, and which arcs would close a cycle is kept up to date from step to step.
    Additions come first, then deletions, then reversals, each in the order of the columns that the arc
    goes from and to; of gains within 1e-9, or 1e-12 of the score, the first is taken. A step must gain
    more than that.

    The end is a maximum only among its neighbours, and of arcs that score the same in both directions
    the first is taken, which can lead elsewhere than the second would have.

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
    """Learn an augmented naive Bayes by a decomposable score (BAN).

    The class is a parent of every feature and has none; arcs between features are added to the naive
    Bayes as long as one raises the score of the whole network.

    Parameters
    ----------
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame, Dataset, or data in parts
        All columns but the class are features; without missing values.
    score, ess, progress : optional
        As in `hc`.
    max_parents : int, optional
        The most parents of a feature, the class counted: 1 leaves the naive Bayes, 2 allows one
        feature as a parent. By default as many as there are.
    required, forbidden : pairs of str
        Arcs ``(from, to)`` between features, as in `hc`.
    moves : collection of {"add", "delete", "reverse"}, default ("add",)
        What a step may do to an arc between features. Additions alone are Buntine's algorithm B.

    Returns
    -------
    BNC
        A structure; `lp` gives it parameters, `search_steps` tells how the search went.

    Raises
    ------
    KeyError, TypeError, ValueError
        As in `hc`.

    Warns
    -----
    UserWarning
        As in `hc`.

    Notes
    -----
    Where `tan_cl` finds the best forest exactly, this climbs, and so is not sure to find the best
    network; but features may have several parents. `kdb` adds arcs that help prediction, by
    cross-validation, which takes far longer.

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
                f"{argument}: in ban the class is a parent of every feature and has none, so "
                f"{written(lost)} cannot be; hc learns networks of any kind"
            )
    naive = dict.fromkeys(data.features, (class_var,)) | {class_var: ()}
    inner = rules.with_arcs(
        required=[(class_var, feature) for feature in data.features],
        forbidden=[(feature, class_var) for feature in data.features],
    )
    return _climb(data, naive, inner, Step("ban", ban, rules.settings()))


def _parents_of(start: object, class_var: Hashable, data: Learnable) -> dict[Hashable, Sequence[Hashable]]:
    """Return the parents of each column in a structure to start from; without one, none."""
    parents: dict[Hashable, Sequence[Hashable]] = dict.fromkeys(data.columns, ())
    if start is None:
        return parents
    if not isinstance(start, BNC):
        raise TypeError(
            f"start: expected a structure such as nb(class_var, dataset), got {type(start).__name__}"
        )
    strange = [variable for variable in start.variables if variable not in parents]
    if strange:
        raise KeyError(f"start: no column {listed(strange)} in the data; {suggestion(strange[0], parents)}")
    return parents | {family[0]: family[1:] for family in start.families}


def _climb(data: Learnable, parents: Mapping[Hashable, Sequence[Hashable]], rules: Rules, step: Step) -> BNC:
    """Check the start, climb, and return the structure found with its recipe and steps."""
    rows = data.as_given
    check_complete(rows)
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
