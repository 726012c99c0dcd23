"""Hill climbing: hc for general networks; ban keeps the class as a parent of every feature."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from ..classifiers import BNC
from ..dataset import Countable, Dataset
from ..frames import InFull, InParts, prepare_training_data
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
from ..tools.checks import Flag, ListOf, OneOf, Optional, ScoreName, Seed, Whole, check_rng
from .arc_moves import MOVES, Change, Climb, Limits
from .structural_em import structural_em


def hc(
    class_var: Hashable,
    dataset: InFull | InParts,
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
    search = _ClimbingOptions(
        score, ess, max_parents, moves, missing, Climb(tabu, restarts, progress), rng
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
    dataset: InFull | InParts,
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
    search = _ClimbingOptions(
        score, ess, max_parents, moves, missing, Climb(progress=progress), None
    )
    data = prepare_training_data(dataset, (class_var,), features, rows_needed=missing == "em")
    rules = ArcRules.check(required, forbidden, data.columns, apart=class_var)
    inner = ArcRules(
        (*[(class_var, feature) for feature in data.features], *rules.required),
        (*[(feature, class_var) for feature in data.features], *rules.forbidden),
    )
    given = parents_in_start(start, class_var, data.columns, augmented=True)
    naive = {feature: (class_var, *given.get(feature, ())) for feature in data.features} | {
        class_var: ()
    }
    parents = inner.add_required_parents(
        {name: naive[name] for name in data.order}, "max_parents", max_parents
    )
    settings = rules.recipe_settings() | {"start": start, "features": features}
    rows = data.in_original_column_order
    return search.climb_from(ban, class_var, rows, parents, inner, settings)


@dataclass(eq=False)
class _ClimbingOptions:
    """The checked arguments of a search that do not name columns."""

    score: str
    ess: float
    max_parents: int | None
    moves: Collection[str]
    missing: str
    climb: Climb
    rng: Seed

    def __post_init__(self) -> None:
        self.ess = check_score_and_ess(self.score, self.ess)
        chosen = ListOf("moves", filled=True).check("moves", self.moves)
        for move in chosen:
            OneOf(MOVES).check("moves", move)
        self.moves = tuple([move for move in MOVES if move in chosen])
        Optional(Whole()).check("max_parents", self.max_parents)
        for argument in ("tabu", "restarts"):
            # 100_000: maximum of `tabu` and `restarts`
            Whole(most=100_000).check(argument, getattr(self.climb, argument))
        Optional(Flag()).check("progress", self.climb.progress)
        check_missing_option(self.missing, "error", self.score)
        check_rng(self.rng)

    def recipe_settings(self) -> dict[str, Any]:
        """Return the arguments for the recipe that are not defaults."""
        usual = {"score": "bic", "ess": 1, "missing": "error", "tabu": 0, "restarts": 0}
        given = {**vars(self), **vars(self.climb)}
        given["rng"] = None if isinstance(self.rng, np.random.Generator) else self.rng
        names = ("score", "ess", "max_parents", "moves", "tabu", "restarts", "missing", "rng")
        return {name: given[name] for name in names if given[name] != usual.get(name)}

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
        rng, position, changes = check_rng(self.rng), rows.positions, list[Change]()

        def improve_structure(data: Countable, start: Sequence[Sequence[int]]) -> list[list[int]]:
            found, made = self.climb(LocalScores(data, self.score, self.ess), start, limits, rng)
            runs = changes[-1].run + 1 if changes else 0
            changes.extend(change._replace(run=change.run + runs) for change in made)
            return found

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
        has_runs = self.climb.restarts > 0 or self.missing == "em"
        steps: list[tuple[Any, ...]] = []
        for (operation, source, target), *figures, run in changes:
            of_run = (run,) if has_runs else ()
            steps.append((operation, names[source], names[target], *figures, *of_run))
        trace["steps"] = tuple(steps)
        settings = {**self.recipe_settings(), **further}
        step = Step(learner.__name__, learner, settings, draws=self.climb.restarts > 0)
        return network(class_var, named, rows.schema, step, trace)
