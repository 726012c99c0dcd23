"""Expectation maximization: of tables, of structures, and of latent classes.

Two passes through a network, up and down, give the expected counts of all tables.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log as ln
from math import prod
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from .. import elimination
from ..classifiers import BNC, Dirichlet, Prior, PseudoCounts, count_parameters
from ..counts import Scope, contingency_table, count_families, flat_index
from ..dataset import Data, Dataset
from ..elimination import Belief, Factor, groups_of_equal_columns, sum_terms
from ..frames import AnyTable, check_have_levels, open_data
from ..model import CountedModel, Model, Step, TrainingRows, check_counted, replace_unchecked
from ..parameters import Method, method_of_lp
from ..structure import WITH_MISSING_VALUES, LocalScores, network
from ..tools.arrays import (
    BLOCK_ROWS,
    TOLERANCE,
    Array,
    Codes,
    Mask,
    Positions,
    log,
    log_sum_exp,
    normalize,
    one_thread,
    slices,
    softmax,
)
from ..tools.calls import advance_bar
from ..tools.checks import ListOf, OneOf, Real, Seed, Whole, check_column_name, check_rng, must_be
from ..tools.immutable import ANY_NUMBER, Immutable, field_bounds, record
from ..tools.messages import warn

P = TypeVar("P")  # parameters
X = TypeVar("X")  # what is expected under parameters


@record
@dataclass(frozen=True)
class Run(Immutable):
    """The course of EM: the objective at the start and after each iteration.

    It has converged if the last iteration gained no more than the tolerance.
    """

    bounds = field_bounds(objectives=ANY_NUMBER)

    converged: bool
    objectives: tuple[float, ...]

    def __str__(self) -> str:
        ending = "converged" if self.converged else "stopped before it converged"
        n = len(self.objectives) - 1
        return f"{n} iteration{'' if n == 1 else 's'}, {ending}"


def _check_can_run_em(x: Model) -> None:
    """Raise a TypeError unless `maximize` is defined for a model and for what it averages."""
    if not isinstance(x, CountedModel) or type(x).maximize is CountedModel.maximize:
        if not x.no_joint:
            raise TypeError(f'missing: "em" is not defined for {x.type_in_words}; omit it')
        raise TypeError(f'missing: "em" needs a joint distribution; {x.no_joint}')
    for member in x.members if x.is_average else ():
        _check_can_run_em(member)


@method_of_lp
@record
@dataclass(frozen=True)
class EM(Method):
    """Maximizes the posterior of tables given all rows, to ``tolerance`` nats per row."""

    iterations: int = 200
    tolerance: float = 1e-6

    argument = "missing"
    takes_rows_without_class = True
    progress = "EM", " iterations"

    @classmethod
    def requested(cls, given: Mapping[str, Any]) -> EM | None:
        missing = given.get("missing", "available")
        if not isinstance(missing, Mapping):
            return cls() if OneOf(("available", "em")).check("missing", missing) == "em" else None
        for name in missing:
            OneOf(("iterations", "tolerance")).check("each key of missing", name)
        return cls(**missing)

    def __post_init__(self) -> None:
        Whole(least=1).check("iterations in missing", self.iterations)
        Real(least=0).check("tolerance in missing", self.tolerance)

    def check(self, x: Model, prior: Prior) -> None:
        _check_can_run_em(x)
        if not isinstance(prior, PseudoCounts):
            raise ValueError('missing: "em" requires a prior; pass smooth, ess or m')

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        return check_counted(x).maximize(data, prior, self)

    def maximize_tables(
        self, data: Dataset, scopes: Sequence[Scope], prior: PseudoCounts
    ) -> tuple[list[Array], Run]:
        """Return a network's tables that maximize their posterior, and the course of EM.

        The objective is Σ ln P(row) + a Σ ln θ over all cells, with the
        pseudo-counts a of the prior. Its maximum on complete data is the usual
        estimate (N + a) / (N· + r a) (Lauritzen, 1995).
        """
        observed = [contingency_table(data, scope) for scope in scopes]
        completed = rows_completed_with_each_class(data.codes, data.cards)

        def counts_and_objective(tables: Sequence[Array]) -> tuple[list[Array], float]:
            hidden, evidence = expected_counts(scopes, tables, completed, data.weights)
            total = 0.0  # a Σ ln θ over all cells, with the pseudo-counts a of the prior
            for table in tables:
                added = float(prior.pseudo_count_per_cell(len(table), table[0].size))
                if added:  # without pseudo-counts, θ can be 0, and 0 · ln 0 is 0
                    total += added * float(log(table).sum())
            return list(map(np.add, observed, hidden)), evidence + total

        complete = not data.incomplete.any()
        # Zeros would stay zeros, so the start is always smoothed.
        start = prior if complete or prior.is_positive else Dirichlet(1)
        tables, _, run = run_em(
            counts_and_objective,
            lambda counts: [prior(table) for table in counts],
            [start(counts) for counts in observed],
            iterations=0 if complete else self.iterations,
            tolerance=self.tolerance * data.size,
            report=lambda objective: advance_bar(f"{objective:.6g} nats"),
        )
        run = replace(run, converged=run.converged or complete)
        warn_if_not_converged(
            run, "Raise iterations or tolerance in missing={'iterations': ..., 'tolerance': ...}."
        )
        return tables, run


def run_em(
    expect: Callable[[P], tuple[X, float]],
    maximize: Callable[[X], P],
    parameters: P,
    *,
    iterations: float,
    tolerance: float,
    report: Callable[[float], None] = lambda objective: None,
) -> tuple[P, X, Run]:
    """Repeat expectation and maximization until the objective gains no more than a tolerance.

    ``expect`` returns what is expected under parameters, and the objective at
    these, ``maximize`` the next parameters. Return the last parameters, what is
    expected under them, and the course.
    """
    expected, objective = expect(parameters)
    objectives, converged = [objective], False
    while not converged and len(objectives) <= iterations:
        parameters = maximize(expected)
        expected, objective = expect(parameters)
        converged = not objective - objectives[-1] > tolerance  # also if it is not a number
        objectives.append(objective)
        report(objective)
    return parameters, expected, Run(converged, tuple(objectives))


def warn_if_not_converged(run: Run, remedy: str) -> None:
    if not run.converged:
        gain = run.objectives[-1] - run.objectives[-2]
        n = len(run.objectives) - 1
        warn(
            f"EM stopped after {n} iterations, the last of which still gained "
            f"{gain:.3g} nats. {remedy}"
        )


class CompletedRows(NamedTuple):
    """Rows with a class each: rows without a label are repeated, once for each class.

    With three classes, rows [4, 7] without labels become six copies with
    ``classes`` 0, 1, 2, 0, 1, 2.
    """

    rows: Positions
    labeled: bool
    copies: int  # of each row
    codes: Codes  # (features, rows · copies), -1 if missing
    classes: Positions


def rows_completed_with_each_class(codes: Codes, cards: Sequence[int]) -> list[CompletedRows]:
    """Return blocks of rows of (variables, rows) codes, the class last, a copy per class."""
    n_classes = cards[-1]
    is_labeled = codes[-1] >= 0
    completed = []
    for labeled, copies in ((True, 1), (False, n_classes)):
        positions = np.flatnonzero(is_labeled == labeled)
        for block in slices(len(positions), copies, BLOCK_ROWS):
            rows = positions[block]
            features, labels = codes[:-1, rows], codes[-1, rows]
            classes = labels.astype(np.intp) if labeled else np.tile(np.arange(copies), len(rows))
            copied = features.repeat(copies, axis=1)
            completed.append(CompletedRows(rows, labeled, copies, copied, classes))
    return completed


def expected_counts(
    scopes: Sequence[Scope],
    tables: Sequence[Array],
    completed: Sequence[CompletedRows],
    weights: Array | None = None,
) -> tuple[list[Array], float]:
    """Return expected counts of incomplete families, Σ over rows P(cell | row), Σ ln P(row)."""
    of_class = len(scopes) - 1
    factors = []  # whose context is the class, which every copy has
    for scope, table in zip(scopes, tables, strict=True):
        logs = log(table)
        if scope[0] == of_class:
            logs = np.moveaxis(logs, 0, -1)
        elif scope[-1] != of_class:
            logs = np.repeat(logs[..., None], len(tables[-1]), axis=-1)
        factors.append(Factor(tuple([v for v in scope if v != of_class]), logs[..., None]))
    counts = [np.zeros(factor.table.shape[:-1]) for factor in factors]
    evidence = 0.0
    for block in completed:
        rows = block.codes, block.classes
        log_joints = sum_terms(factors, *rows)
        if elimination.is_forest(factors):
            known = list(elimination.collect_evidence(log_joints, factors, *rows, leaves=True))
            beliefs = elimination.distribute_posteriors(known, factors, *rows)
        else:
            elimination.add_terms_by_elimination(log_joints, factors, *rows)
            beliefs = elimination.posteriors_of_families(factors, *rows)
        logs_by_row = log_joints.reshape(-1, block.copies)
        times = np.ones(len(logs_by_row)) if weights is None else weights[block.rows]
        evidence += float(times[times > 0] @ log_sum_exp(logs_by_row)[times > 0])
        # The weight of each copy of a row: that of the row times P(class of the copy | row).
        shares = (softmax(logs_by_row, axis=1) * times[:, None]).ravel()
        alone = list[Belief]()  # of each family with the class, if only the class is missing
        for i, scope in enumerate(scopes):
            if of_class in scope and not block.labeled:
                others = np.flatnonzero((block.codes[list(factors[i].scope)] >= 0).all(axis=0))
                alone.append(Belief(i, others, (), np.ones(len(others))))
        for belief in chain(beliefs, alone):
            scope = factors[belief.factor].scope
            _add_expected_counts(counts[belief.factor], scope, belief, block, shares)
    for i, scope in enumerate(scopes):  # from features and class to the axes of the family
        if scope[0] == of_class:
            counts[i] = np.moveaxis(counts[i], -1, 0)
        elif scope[-1] != of_class:
            counts[i] = counts[i].sum(axis=-1)
    return counts, evidence


def _add_expected_counts(
    counts: Array, scope: Scope, belief: Belief, block: CompletedRows, shares: Array
) -> None:
    """Add the posteriors of a family's missing members, at the values of its observed members."""
    # If counts are (2 levels of u, 3 levels of v, 2 classes), the strides of u and v are 6 and 2. A
    # copy of class 1 with v = 2 and u missing adds to the cells 1 + 2·2 + {0, 6}: the first is 5,
    # the steps are 0, 6.
    strides = {v: prod(counts.shape[i + 1 :]) for i, v in enumerate(scope)}
    first = block.classes[belief.rows]
    for v in set(scope) - set(belief.free):
        codes: Codes = block.codes[v, belief.rows]
        first = first + strides[v] * codes.astype(np.intp)  # may not fit in the type of the codes
    steps = np.zeros(1, dtype=np.intp)
    for v in belief.free:
        steps = (steps[:, None] + strides[v] * np.arange(counts.shape[scope.index(v)])).ravel()
    mass = belief.shares.reshape(len(first), len(steps)) * shares[belief.rows, None]
    cells = np.bincount((first[:, None] + steps).ravel(), mass.ravel(), minlength=counts.size)
    counts += cells.reshape(counts.shape)


ParentLists = Sequence[Sequence[int]]

_MOST_COMPLETIONS = 2**22
_LIKELIHOOD = Dirichlet(0)


class Completions(Generic[Data]):
    """All completions of the rows of data, in order, with the row numbers, (completions,)."""

    def __init__(self, data: Data) -> None:
        is_missing: Mask = data.codes < 0
        n_completions: Array = np.where(is_missing, np.array(data.cards)[:, None], 1.0).prod(axis=0)
        if n_completions.sum() > _MOST_COMPLETIONS:
            raise ValueError(
                f"missing must not be 'em' if incomplete rows have more than {_MOST_COMPLETIONS:,} "
                f"completions; got {n_completions.sum():,.0f}. Drop rows or columns with "
                "many missing values."
            )
        # Of a row with 2 · 3 completions and a complete row, rows are [0, 0, 0, 0, 0, 0, 1] and
        # starts [0, 6].
        numbers = n_completions.astype(np.intp)
        self.rows = np.repeat(np.arange(len(data)), numbers)
        self.starts = np.cumsum(numbers) - numbers
        codes = data.codes.take(self.rows, axis=1)
        for hidden, alike in groups_of_equal_columns(is_missing):
            if hidden:
                # all values of the hidden columns, (columns, completions), in each of these rows
                values = np.indices([data.cards[column] for column in hidden])
                values = values.reshape(len(hidden), -1)
                places = self.starts[alike][:, None] + np.arange(values.shape[1])
                codes[np.array(hidden)[:, None], places.ravel()] = np.tile(values, len(alike))
        self.rows_given = data
        self.weights = data.row_weights
        self.data = replace(
            data, codes=codes, index=pd.RangeIndex(len(self.rows)), weights=self.weights[self.rows]
        )

    def weighted_completions(
        self, scopes: Sequence[Scope], tables: Sequence[Array]
    ) -> tuple[Data, float]:
        """Return completions, weighted by their probability given their row, and Σ ln P(row)."""
        logs = np.zeros(len(self.rows))
        for scope, table in zip(scopes, tables, strict=True):
            cells = flat_index([self.data.codes[column] for column in scope], table.shape)
            logs += log(table).ravel().take(cells)
        highest = np.maximum.reduceat(logs, self.starts)
        shares = np.exp(logs - highest[self.rows])
        totals = np.add.reduceat(shares, self.starts)
        shares *= (self.weights / totals)[self.rows]
        return replace(self.data, weights=shares), float(self.weights @ (highest + np.log(totals)))


def structural_em(
    data: Data,
    start: ParentLists,
    learn: Callable[[Data, ParentLists], list[list[int]]],
    score: str,
    others: Sequence[ParentLists] = (),
) -> tuple[list[list[int]], list[float]]:
    """Return the parents in the structure that `learn` finds step by step, and scores of the data.

    The first structure is the best one of those of the complete rows and ``others``.
    """
    data = data.with_positive_weights()
    complete: Mask = data.codes.min(axis=0) >= 0
    first = [list(parents) for parents in start]
    if complete.any():
        first = learn(data.take_rows(complete), first)
    completions, observed = Completions(data), list[float]()
    further = [[list(parents) for parents in other] for other in others]
    starts = [first, *[structure for structure in further if structure != first]]
    fits = [_expected_completions_and_score(completions, found, None, score) for found in starts]
    best = int(np.argmax([value for _, value in fits]))
    found, (expected, value) = starts[best], fits[best]
    while True:
        observed.append(value)
        learned, scores = learn(expected, found), LocalScores(expected, score)
        if scores.score_of_network(learned) <= scores.score_of_network(found) + TOLERANCE:
            return found, observed
        found = learned
        expected, value = _expected_completions_and_score(completions, found, expected, score)


def _expected_completions_and_score(
    completions: Completions[Data], found: ParentLists, expected: Data | None, score: str
) -> tuple[Data, float]:
    """Return the weighted completions and the score of a structure at the tables that EM finds."""
    scopes, data = [(v, *parents) for v, parents in enumerate(found)], completions.rows_given
    counts: Sequence[Array] = count_families(data if expected is None else expected, scopes)
    if expected is None:
        counts = [table + 1 for table in counts]  # EM would keep zeros
    _, weighted, run = run_em(
        lambda tables: completions.weighted_completions(scopes, tables),
        lambda weighted: list(map(_LIKELIHOOD, count_families(weighted, scopes))),
        list(map(_LIKELIHOOD, counts)),
        iterations=np.inf,
        # 1e-6: minimum gain of an iteration in nats per row, as in `lp`
        tolerance=1e-6 * float(completions.weights.sum()),
    )
    penalty = LocalScores(weighted, score).score.penalty
    return weighted, run.objectives[-1] - penalty * count_parameters(scopes, data.cards)


WITH_MISSING_VALUES["em"] = structural_em


@record
def lca(
    class_var: Hashable,
    dataset: AnyTable,
    *,
    k: int | Iterable[int],
    smooth: float = 1,
    restarts: int = 10,
    rng: Seed = None,
) -> BNC:
    """Find groups of rows by latent class analysis.

    The model is a naive Bayes whose class is not observed.

    Parameters
    ----------
    class_var : str
        Name of the new variable, different from the columns of `dataset`. Its
        labels are 1, 2, …, k in descending order of their shares of the rows.
    dataset : pandas.DataFrame or Dataset
        Categorical data. All columns are features. Missing values are
        marginalized over.
    k : int or list of int
        Number of classes, at most 1000, or candidates such as ``range(2, 7)``;
        the number with the largest BIC is chosen.
    smooth : float, default 1
        Dirichlet hyperparameter added to every expected count; 0 gives
        maximum-likelihood estimates.
    restarts : int, default 10
        Number of random starts for each number of classes. The best result is
        returned.
    rng : int or numpy.random.Generator, optional
        Seed of the starts.

    Returns
    -------
    BNC
        A naive Bayes with parameters. `predict` assigns rows to classes,
        `search_steps` returns the numbers of classes that were compared, and
        `loglik` and `BIC` marginalize over the class, so they need no column of
        classes.

    Notes
    -----
    EM finds a local maximum of Σ ln P(row) + smooth Σ ln θ, with θ all
    probabilities of the model, from each start: uniform P(c) and tables drawn
    uniformly. It ends if an iteration gains less than 1e-12. Fit the model with
    several seeds: if the objectives agree but the tables differ, do not
    interpret the classes.

    References
    ----------
    .. [1] Lazarsfeld, P. F., Henry, N. W. (1968). Latent Structure Analysis.
       Houghton Mifflin.
    .. [2] Linzer, D. A., Lewis, J. B. (2011). poLCA: an R package for
       polytomous variable latent class analysis. Journal of Statistical
       Software 42.

    Examples
    --------
    Two groups of members of the US House by their votes alone, which nearly
    coincide with the parties:

    >>> import pandas as pd
    >>> from bnclassify import lca, load_voting, predict
    >>> voting = load_voting()
    >>> votes = voting.drop(columns="Class")
    >>> model = lca("group", votes, k=2, rng=0)
    >>> pd.crosstab(predict(model, votes), voting["Class"])
    Class  democrat  republican
    group
    1           218           8
    2            49         160
    """
    check_column_name(class_var)
    data = open_data(dataset).check_in_memory("dataset").encode()
    if class_var in data.columns:
        raise ValueError(
            must_be("class_var", "the name of a new variable, not of a column", class_var)
        )
    is_one = isinstance(k, int | np.integer)
    given = [k] if is_one else ListOf("numbers of classes", filled=True).check("k", k)
    sizes = [Whole(least=1, most=1000).check("k", size) for size in given]
    smooth, generator = float(Real(least=0).check("smooth", smooth)), check_rng(rng)
    restarts = Whole(least=1, most=100_000).check("restarts", restarts)
    check_have_levels(data, data.columns)
    if not data.size:
        raise ValueError(
            "dataset must have rows to fit a model to; got none, or only rows of weight 0."
        )
    cards = np.array(data.cards)
    patterns, row_of = np.unique(data.codes, axis=1, return_inverse=True)
    times = np.bincount(row_of.ravel(), data.weights).astype(np.float64)
    feature = np.repeat(np.arange(len(cards)), cards)
    level = np.concatenate([np.arange(n) for n in cards])
    hot: Array = (patterns[feature] == level[:, None]).astype(np.float64)
    fits = []
    for size in sizes:
        masses = [generator.standard_exponential((size, len(level))) for _ in range(restarts)]
        of_starts = [_fit_from_start(hot, times, cards, mass, smooth) for mass in masses]
        fits.append(max(of_starts, key=lambda fit: fit[-1].objectives[-1]))
    n_levels = sum(data.cards) - len(data.columns)
    free = [size - 1 + size * n_levels for size in sizes]
    logliks = [loglik for _, loglik, _ in fits]
    bics = [own - ln(data.size) / 2 * n for own, n in zip(logliks, free, strict=True)]
    best = int(np.argmax(bics))
    tables, _, run = fits[best]
    steps = tuple(zip(sizes, logliks, free, bics, strict=True))
    settings = {"k": tuple(sizes) if len(sizes) > 1 else sizes[0], "smooth": smooth}
    step = Step("lca", lca, settings | {"restarts": restarts}, draws=True)
    trace = {"classes": steps, "latent": True}
    structure = network(class_var, dict.fromkeys(data.columns, ()), None, step, trace)
    levels = (*data.levels, tuple(range(1, sizes[best] + 1)))
    if free[best] > (cells := prod(data.cards) - 1):
        warn(
            f"the model of {sizes[best]} classes has {free[best]:,} parameters, but the joint "
            f"table of the features has {cells:,} free cells, so different tables fit equally "
            "well. Use fewer classes."
        )
    elif len(sizes) > 1 and sizes[best] == max(sizes):
        warn(
            f"the largest number of classes, {sizes[best]}, has the best BIC. Pass "
            "larger numbers, too."
        )
    warn_if_not_converged(run, "The result may depend on the start.")
    recipe = structure.recipe and replace(structure.recipe, rows=TrainingRows.from_data(data, ()))
    return replace_unchecked(
        structure, recipe=recipe, levels=levels, cpts=tables, learned={"em": run}
    )


def _fit_from_start(
    hot: Array, times: Array, cards: Positions, mass: Array, smooth: float
) -> tuple[tuple[Array, ...], float, Run]:
    """Return tables that EM finds from a start, the class last, their log-likelihood and the run.

    ``hot`` is (levels, patterns), ``times`` (patterns,) and ``mass`` (classes, levels).
    """

    def expect(parameters: tuple[Array, Array]) -> tuple[tuple[Array, float], float]:
        """Return the mass of each class in each pattern, and the log-likelihood."""
        log_tables, log_shares = [log(np.maximum(each, 1e-300)) for each in parameters]
        with one_thread:
            logs = log_tables @ hot + log_shares[:, None]
        totals = log_sum_exp(logs, axis=0)
        loglik = float(totals @ times)
        prior = smooth * float(log_tables.sum() + log_shares.sum()) if smooth else 0.0
        return (np.exp(logs - totals) * times, loglik), loglik + prior

    def maximize(expected: tuple[Array, float]) -> tuple[Array, Array]:
        mass, _ = expected
        with one_thread:
            counts = mass @ hot.T
        return _normalized_by_feature(counts + smooth, cards), normalize(mass.sum(axis=1) + smooth)

    shares: Array = np.full(len(mass), 1 / len(mass))
    start = _normalized_by_feature(mass, cards), shares
    last = run_em(expect, maximize, start, iterations=5000, tolerance=1e-12)
    (found, found_shares), (_, loglik), run = last
    # classes in descending order of their shares
    order = np.argsort(-found_shares, kind="stable")
    of_features = np.split(found[order].T, np.cumsum(cards)[:-1])
    return (*[table.copy() for table in of_features], found_shares[order]), loglik, run


def _normalized_by_feature(mass: Array, cards: Positions) -> Array:
    """Divide (…, levels) by sums over the levels of each feature; uniform if a sum is 0."""
    totals = np.repeat(np.add.reduceat(mass, np.cumsum(cards) - cards, axis=-1), cards, axis=-1)
    return np.where(totals > 0, mass, 1.0) / np.where(totals > 0, totals, np.repeat(cards, cards))
