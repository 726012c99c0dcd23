"""General networks by hill climbing: hc, and ban, which keeps the class a parent of every feature."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..base.checks import check_flag, check_whole
from ..base.graphs import find_cycle
from ..base.messages import listed, suggestion
from ..frames.schema import Dataset
from ..frames.training import TrainingData, prepare
from ..model.networks import BNC
from ..model.recipes import Step
from .ascent import MOVES, Limits, climb
from .fixed import general_network
from .local_scores import LocalScores, check_complete, check_score

Arc = tuple[Hashable, Hashable]


def hc(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
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
    dataset : pandas.DataFrame or Dataset
        Without missing values.
    score : {"bic", "aic", "bde", "k2", "loglik"}, default "bic"
        What to raise, as in `network_score`. "loglik" gains by every arc, so it needs ``max_parents``
        to make sense.
    ess : float, default 1
        Equivalent sample size of "bde", above 0; a larger one gives more arcs.
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
    plan = _Plan(score, ess, max_parents, required, forbidden, moves, progress)
    data = prepare(dataset, class_var)
    parents = _parents_of(start, class_var, data)
    settings = plan.settings() | ({} if start is None else {"start": start})
    return _climb(data, parents, plan, Step("hc", hc, settings))


def ban(
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
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
    dataset : pandas.DataFrame or Dataset
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
    plan = _Plan(score, ess, max_parents, required, forbidden, moves, progress)
    data = prepare(dataset, class_var)
    for argument, arcs, end in (("required", plan.required, 1), ("forbidden", plan.forbidden, 0)):
        lost = [arc for arc in arcs if arc[end] == class_var]
        if lost:
            raise ValueError(
                f"{argument}: in ban the class is a parent of every feature and has none, so "
                f"{_written(lost)} cannot be; hc learns networks of any kind"
            )
    naive = dict.fromkeys(data.features, (class_var,)) | {class_var: ()}
    inner = plan.with_arcs(
        required=[(class_var, feature) for feature in data.features],
        forbidden=[(feature, class_var) for feature in data.features],
    )
    return _climb(data, naive, inner, Step("ban", ban, plan.settings()))


@dataclass(frozen=True)
class _Plan:
    """What a search was asked for, checked.

    Attributes
    ----------
    required, forbidden : tuple of pairs
    moves : tuple of str
        In the order in which ties are decided.
    """

    score: str = "bic"
    ess: float = 1
    max_parents: int | None = None
    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    moves: Collection[str] = MOVES
    progress: bool = False

    def __post_init__(self) -> None:
        checked = {
            "ess": check_score(self.score, self.ess),
            "required": _as_arcs("required", self.required),
            "forbidden": _as_arcs("forbidden", self.forbidden),
            "moves": _as_moves(self.moves),
            "progress": check_flag("progress", self.progress),
        }
        if self.max_parents is not None:
            checked["max_parents"] = check_whole("max_parents", self.max_parents)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def settings(self) -> dict[str, Any]:
        """Return the arguments to learn with again, those at their default in `hc` left out."""
        usual = vars(_Plan()) | {"progress": self.progress}
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def with_arcs(self, required: Sequence[Arc], forbidden: Sequence[Arc]) -> _Plan:
        """Return the plan with further arcs required and forbidden."""
        return replace(self, required=(*self.required, *required), forbidden=(*self.forbidden, *forbidden))


def _as_arcs(argument: str, arcs: object) -> tuple[Arc, ...]:
    """Return pairs of names as tuples, or raise."""
    if isinstance(arcs, str | Mapping) or not isinstance(arcs, Iterable):
        raise TypeError(f"{argument}: expected pairs of names such as [('a', 'b')], got {arcs!r}")
    pairs = list(arcs)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(
                f"{argument}: expected pairs of names such as [('a', 'b')], got {pair!r} among them"
            )
        if pair[0] == pair[1]:
            raise ValueError(f"{argument}: {_written([pair])} is an arc from a variable to itself")
    return tuple((source, target) for source, target in pairs)


def _as_moves(moves: object) -> tuple[str, ...]:
    if isinstance(moves, str) or not isinstance(moves, Iterable):
        raise TypeError(f"moves: expected a list of {listed(MOVES)}, got {moves!r}")
    chosen = list(moves)
    strange = [move for move in chosen if move not in MOVES]
    if strange or not chosen:
        raise ValueError(f"moves: expected some of {listed(MOVES)}, got {listed(strange)}")
    return tuple(move for move in MOVES if move in chosen)


def _written(arcs: Iterable[Sequence[Hashable]]) -> str:
    """Write arcs for a message."""
    some = list(arcs)
    rest = f" and {len(some) - 8} more" if len(some) > 8 else ""
    return ", ".join(f"{source!r} -> {target!r}" for source, target in some[:8]) + rest


def _parents_of(start: object, class_var: Hashable, data: TrainingData) -> dict[Hashable, Sequence[Hashable]]:
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


def _climb(
    data: TrainingData, parents: Mapping[Hashable, Sequence[Hashable]], plan: _Plan, step: Step
) -> BNC:
    """Check the start, climb, and return the structure found with its recipe and steps."""
    rows = data.as_given
    check_complete(rows)
    n = len(rows.columns)
    required, forbidden = (
        _arc_matrix(rows, which, getattr(plan, which)) for which in ("required", "forbidden")
    )
    numbers = [[rows.positions[p] for p in parents[v]] for v in rows.columns]
    for source, target in np.argwhere(required).tolist():
        if source not in numbers[target]:
            numbers[target].append(source)
    _check_start(rows.columns, numbers, plan)
    most = n if plan.max_parents is None else plan.max_parents
    limits = Limits(required, forbidden, most, plan.moves)
    found, steps = climb(LocalScores(rows, plan.score, plan.ess), numbers, limits, progress=plan.progress)
    names = rows.columns
    return general_network(
        data.class_var,
        {names[v]: [names[p] for p in above] for v, above in enumerate(found)},
        rows.schema,
        step,
        trace={
            "steps": tuple((s.operation, names[s.source], names[s.target], s.gain, s.score) for s in steps)
        },
    )


def _arc_matrix(data: Dataset, argument: str, arcs: Iterable[Arc]) -> NDArray[np.bool_]:
    """Turn arcs into a matrix, (variables, variables), rows the variables that they come from."""
    matrix = np.zeros((len(data.columns), len(data.columns)), dtype=bool)
    for arc in arcs:
        strange = [name for name in arc if name not in data.positions]
        if strange:
            raise KeyError(
                f"{argument}: no column {listed(strange)} in the data; {suggestion(strange[0], data.columns)}"
            )
        matrix[tuple(data.positions[name] for name in arc)] = True
    return matrix


def _check_start(names: Sequence[Hashable], parents: Sequence[Sequence[int]], plan: _Plan) -> None:
    """Raise a ValueError for a start that breaks the rules of its own search, naming the arcs."""
    arcs = [(names[p], names[v]) for v, above in enumerate(parents) for p in above]
    both = [arc for arc in plan.required if arc in plan.forbidden]
    if both:
        raise ValueError(f"required, forbidden: drop from one what is in both, {_written(both)}")
    lost = [arc for arc in arcs if arc in plan.forbidden]
    if lost:
        raise ValueError(f"forbidden: the start has {_written(lost)}; start from a structure without")
    cycle = find_cycle({names[v]: [names[p] for p in above] for v, above in enumerate(parents)})
    if cycle:
        raise ValueError(
            f"required: with the arcs of the start, there would be a cycle, {' -> '.join(map(str, cycle))}; "
            "drop one of them"
        )
    if plan.max_parents is not None:
        crowded = [v for v, above in enumerate(parents) if len(above) > plan.max_parents]
        if crowded:
            into = [arc for arc in arcs if arc[1] == names[crowded[0]]]
            raise ValueError(
                f"max_parents: {names[crowded[0]]!r} has more than {plan.max_parents} at the start, "
                f"{_written(into)}; raise max_parents or drop some"
            )
