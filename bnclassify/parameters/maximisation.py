"""Expectation maximisation: tables from incomplete rows, those without a class included.

The expected count of a cell of a family's table is a sum of posterior probabilities over rows,
P(cell | what the row shows). It is the joint with the family's missing members set to the cell,
over the joint without, both by exact inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log, log_sum_exp
from ..base.checks import check_whole
from ..base.messages import warn
from ..frames.counting import contingency_tables, flat_index
from ..frames.schema import Dataset
from ..inference.factors import Factor
from ..inference.joint import joint_in_blocks
from ..model.ensembles import Ensemble
from ..model.kinds import Model
from ..model.networks import BNC
from .methods import Method, check_augmented
from .priors import Dirichlet, Prior, PseudoCounts

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Run:
    """How expectation maximisation went.

    Attributes
    ----------
    converged : bool
        Whether the last iteration gained no more than the tolerance.
    objectives : tuple of float
        What it maximises, at the start and after each iteration.
    """

    converged: bool
    objectives: tuple[float, ...]

    def __str__(self) -> str:
        how = "converged" if self.converged else "stopped before it converged"
        n = len(self.objectives) - 1
        return f"{n} iteration{'' if n == 1 else 's'}, {how}"


@dataclass(frozen=True)
class EM(Method):
    """Maximise the posterior of the tables given all that rows show, those without a class included.

    Attributes
    ----------
    iterations : int
        The most that are made.
    tolerance : float
        It has converged when an iteration gains no more than this a row, in nats.
    """

    iterations: int = 200
    tolerance: float = 1e-6

    argument = "missing"
    takes_rows_without_class = True

    def __post_init__(self) -> None:
        check_whole("em_iterations", self.iterations, least=1)
        tolerance = self.tolerance
        if isinstance(tolerance, bool) or not isinstance(tolerance, Real):
            raise TypeError(f"em_tolerance: expected a number, got {tolerance!r}")
        if not float(tolerance) >= 0:
            raise ValueError(f"em_tolerance: expected 0 or more, got {tolerance}")

    def settings(self) -> Mapping[str, Any]:
        """Return the arguments of `lp` that ask for this, those at their default left out."""
        usual = EM()
        chosen = {"em_iterations": self.iterations, "em_tolerance": self.tolerance}
        defaults = {"em_iterations": usual.iterations, "em_tolerance": usual.tolerance}
        return {"missing": "em"} | {key: v for key, v in chosen.items() if v != defaults[key]}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless every network is an augmented naive Bayes and the prior adds pseudo-counts."""
        for member in x.members if not isinstance(x, BNC) else (x,):
            check_augmented(member, 'missing="em"')
        if not isinstance(prior, PseudoCounts):
            raise ValueError('missing: "em" goes with smooth, ess or m; give one of them')

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return a structure with the tables that EM ends at."""
        if not isinstance(prior, PseudoCounts):
            raise TypeError("prior: expected pseudo-counts")
        return maximise(x, data, prior, int(self.iterations), float(self.tolerance))


@singledispatch
def maximise(x: Model, data: Dataset, prior: PseudoCounts, iterations: int, tolerance: float) -> Any:
    """Give a structure the tables that maximise its posterior given all that rows show.

    A kind of model registers here how EM learns its parameters.
    """
    raise TypeError(f'missing: "em" is not defined for a {type(x).__name__}')


@maximise.register
def _(x: Ensemble, data: Dataset, prior: PseudoCounts, iterations: int, tolerance: float) -> Ensemble:
    return replace(x, members=tuple([maximise(m, data, prior, iterations, tolerance) for m in x.members]))


@maximise.register
def _(x: BNC, data: Dataset, prior: PseudoCounts, iterations: int, tolerance: float) -> BNC:
    """Maximise the posterior of one network.

    Parameters
    ----------
    x : BNC
        A structure.
    data : Dataset
        The variables of ``x`` in its order, coded by the levels to be taken.
    prior : PseudoCounts
    iterations : int
        The most that are made.
    tolerance : float
        It has converged when an iteration gains no more than this a row, in nats.

    Notes
    -----
    What is maximised is Σ ln P(row) + a Σ ln θ over all cells of all tables, a what the prior adds
    to a cell: the log posterior under Dirichlet priors with hyperparameters a + 1, whose maximum
    on complete data is the usual estimate (N + a) / (N· + r a).

    References
    ----------
    .. [1] Dempster, A. P., Laird, N. M., Rubin, D. B. (1977). Maximum likelihood from incomplete
       data via the EM algorithm. Journal of the Royal Statistical Society B 39.
    .. [2] Lauritzen, S. L. (1995). The EM algorithm for graphical association models with missing
       data. Computational Statistics & Data Analysis 19.
    """
    scopes = x.scopes
    observed = [contingency_tables(data, [scope])[0] for scope in scopes]
    # Zeros would stay zeros, so without smoothing the start has some.
    start = prior if prior.is_positive else Dirichlet(1)
    tables = [start(counts) for counts in observed]
    counts, objective = _expect(tables, observed, scopes, data, prior)
    trace, converged = [objective], not data.incomplete.any()
    if converged:
        tables = [prior(table) for table in counts]
    while not converged and len(trace) <= iterations:
        tables = [prior(table) for table in counts]
        counts, objective = _expect(tables, observed, scopes, data, prior)
        converged = objective - trace[-1] <= tolerance * len(data)
        trace.append(objective)
    if not converged:
        warn(
            f"em_iterations: EM stopped after {iterations} iterations, the last of which still gained "
            f"{trace[-1] - trace[-2]:.3g} nats; raise em_iterations or em_tolerance"
        )
    return replace(x, levels=data.levels, cpts=tuple(tables), learned={"em": Run(converged, tuple(trace))})


def _expect(
    tables: Sequence[Array],
    observed: Sequence[Array],
    scopes: Sequence[tuple[int, ...]],
    data: Dataset,
    prior: PseudoCounts,
) -> tuple[list[Array], float]:
    """Return expected counts of all families under tables, and the objective at the tables."""
    network = [
        Factor(scope[:-1], log(table)[..., None, :]) for scope, table in zip(scopes, tables, strict=True)
    ]
    codes, classes, n_classes = data.codes[:-1], data.codes[-1].astype(np.intp), data.cards[-1]
    # Classes that a row does not have are as good as impossible in it.
    excluded = (classes[:, None] >= 0) & (classes[:, None] != np.arange(n_classes))
    joint = np.where(excluded, -np.inf, joint_in_blocks([network], codes))
    evidence = log_sum_exp(joint)
    known = classes >= 0
    added = [prior.per_cell(len(table), table[0].size) for table in tables]
    prior_mass = sum(a * float(log(table).sum()) for a, table in zip(added, tables, strict=True) if a)
    expected = [table.copy() for table in observed]
    expected[-1] += _posterior(joint[~known], evidence[~known]).sum(axis=0)
    for table, scope in zip(expected[:-1], (np.array(s[:-1]) for s in scopes[:-1]), strict=True):
        for rows, filled in _completions(codes[scope], known, table.shape[:-1]):
            whole = codes.take(rows, axis=1)
            whole[scope] = filled
            # With only the class missing, the joint is there already.
            whole_is_row = np.array_equal(whole, codes[:, rows])
            logs = joint[rows] if whole_is_row else joint_in_blocks([network], whole)
            share = _posterior(np.where(excluded[rows], -np.inf, logs), evidence[rows])
            cells = flat_index(list(whole[scope]), table.shape[:-1])
            np.add.at(table.reshape(-1, n_classes), cells, share)
    return expected, float(evidence.sum()) + prior_mass


def _posterior(joint: Array, evidence: Array) -> Array:
    """Return P(what the joint holds | row); nothing for a row that is impossible."""
    possible = np.isfinite(evidence)
    return np.exp(joint - np.where(possible, evidence, 0.0)[:, None]) * possible[:, None]


def _completions(
    codes: Codes, known: NDArray[np.bool_], cards: Sequence[int]
) -> Iterator[tuple[Rows, Codes]]:
    """Yield rows in which a family is incomplete, once with each way to fill its features in.

    Rows come by which of the features are missing. Those in which only the class is
    missing come as they are.

    Parameters
    ----------
    codes : (features of the family, rows) array
    known : (rows,) array
        Whether the class is observed.
    cards : sequence of int
        Numbers of levels of the features.

    Yields
    ------
    (some,) array
        Rows.
    (features of the family, some) array
        Their codes, none missing.
    """
    kind = (1 << np.arange(len(codes))) @ (codes < 0)
    for number in np.unique(kind):
        hidden = [bool(number >> i & 1) for i in range(len(codes))]
        rows = np.nonzero((kind == number) & (any(hidden) | ~known))[0]
        choices = [range(card) if hide else (-1,) for hide, card in zip(hidden, cards, strict=True)]
        for values in product(*choices) if len(rows) else ():
            filled = np.array(values)[:, None]
            yield rows, np.where(filled < 0, codes[:, rows], filled).astype(codes.dtype)
