"""Expectation maximization: tables from incomplete rows, with or without a class.

Two passes through a network, up and down, give the expected counts of all
tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import elimination
from ..classifiers import Dirichlet, Prior, PseudoCounts
from ..counts import Scope, contingency_table
from ..dataset import Dataset
from ..elimination import Belief, Factor, sum_terms
from ..model import CountedModel, Model, check_counted
from ..parameters import Method, method_of_lp
from ..tools.arrays import (
    BLOCK_ROWS,
    Array,
    Codes,
    Positions,
    log,
    log_sum_exp,
    slices,
    softmax,
)
from ..tools.calls import advance_bar
from ..tools.checks import OneOf, Real, Whole
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
        """Raise unless the model has a joint distribution and the prior adds pseudo-counts."""
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
    """Warn if EM has not converged."""
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
