"""Expectation maximisation: tables from incomplete rows, those without a class included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from numbers import Real
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from ..base.arrays import Array, log
from ..base.checks import check_flag, check_whole
from ..base.messages import shown, warn
from ..base.records import record
from ..counts.contingency import contingency_tables
from ..frames.schema import Dataset
from ..model.model import Model
from .bnc import BNC
from .ensemble import Average, Ensemble
from .expectations import expect, lay_out
from .methods import Method
from .priors import Dirichlet, Prior, PseudoCounts


@record
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
        ending = "converged" if self.converged else "stopped before it converged"
        n = len(self.objectives) - 1
        return f"{n} iteration{'' if n == 1 else 's'}, {ending}"


@record
@dataclass(frozen=True)
class EM(Method):
    """Maximise the posterior of the tables given all that rows show, those without a class included.

    Attributes
    ----------
    iterations : int
        The most that are made.
    tolerance : float
        It has converged when an iteration gains no more than this a row, in nats.
    progress : bool
        Whether to show a progress bar.
    """

    iterations: int = 200
    tolerance: float = 1e-6
    progress: bool = False

    argument = "missing"
    takes_rows_without_class = True

    def __post_init__(self) -> None:
        check_whole("em_iterations", self.iterations, least=1)
        check_flag("progress", self.progress)
        tolerance = self.tolerance
        if isinstance(tolerance, bool) or not isinstance(tolerance, Real):
            raise TypeError(f"em_tolerance: expected a number, got {shown(tolerance)}")
        if not float(tolerance) >= 0:
            raise ValueError(f"em_tolerance: expected 0 or more, got {tolerance}")

    def settings(self) -> Mapping[str, Any]:
        """Return the arguments of `lp` that ask for this, those at their default left out."""
        default = EM()
        settings = {"em_iterations": self.iterations, "em_tolerance": self.tolerance}
        defaults = {"em_iterations": default.iterations, "em_tolerance": default.tolerance}
        return {"missing": "em"} | {key: v for key, v in settings.items() if v != defaults[key]}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the model has a joint distribution to maximise and the prior adds pseudo-counts."""
        if maximise.dispatch(type(x)) is maximise.dispatch(object) and not x._takes_em:
            reason = x.no_joint or f"it is not defined for a {type(x).__name__}; leave it out"
            raise TypeError(f'missing: "em" needs a joint distribution; {reason}')
        for member in x.members if isinstance(x, Average) else ():
            self.check(member, prior)
        if not isinstance(prior, PseudoCounts):
            raise ValueError('missing: "em" goes with smooth, ess or m; give one of them')

    def __call__(self, x: Model, data: Dataset, prior: Prior, rng: np.random.Generator) -> Model:
        """Return a structure with the tables that EM ends at."""
        return maximise(x, data, prior, self)


@singledispatch
def maximise(x: Model, data: Dataset, prior: Any, em: EM) -> Any:
    """Give a structure the tables that maximise its posterior given all that rows show.

    A kind of model registers here how EM learns its parameters.
    """
    return x._maximize(data, prior, em)


@maximise.register
def _(x: Ensemble, data: Dataset, prior: PseudoCounts, em: EM) -> Ensemble:
    return replace(x, members=tuple([maximise(member, data, prior, em) for member in x.members]))


@maximise.register
def _(x: BNC, data: Dataset, prior: PseudoCounts, em: EM) -> BNC:
    """Maximise the posterior of one network.

    Parameters
    ----------
    x : BNC
        A structure.
    data : Dataset
        The variables of ``x`` in its order, coded by the levels to be taken.
    prior : PseudoCounts
    em : EM
        When to stop.

    Notes
    -----
    An iteration is two passes of messages through the network, see `expect`. Nothing is changed in place,
    so an interrupt leaves all as it was before.

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
    observed = [contingency_tables(data, [scope])[0] for scope in x.scopes]
    cases = lay_out(data.codes, data.cards)

    def expected(tables: Sequence[Array]) -> tuple[list[Array], float]:
        """Return the expected counts of all families under tables, and the objective at the tables."""
        hidden, evidence = expect(x.scopes, tables, cases, data.weights)
        counts = [full + partial for full, partial in zip(observed, hidden, strict=True)]
        return counts, evidence + _log_prior(tables, prior)

    complete = not data.incomplete.any()
    # Zeros would stay zeros, so without smoothing the start has some.
    start = prior if complete or prior.is_positive else Dirichlet(1)
    tables = [start(counts) for counts in observed]
    counts, objective = expected(tables)
    objectives, converged = [objective], complete
    with tqdm(disable=not em.progress, desc="EM", unit=" iterations") as bar:
        while not converged and len(objectives) <= em.iterations:
            tables = [prior(table) for table in counts]
            counts, objective = expected(tables)
            converged = objective - objectives[-1] <= em.tolerance * data.size
            objectives.append(objective)
            bar.update()
            bar.set_postfix_str(f"{objective:.6g} nats")
    if not converged:
        warn(
            f"em_iterations: EM stopped after {em.iterations} iterations, the last of which still gained "
            f"{objectives[-1] - objectives[-2]:.3g} nats; raise em_iterations or em_tolerance"
        )
    run = Run(converged, tuple(objectives))
    return replace(x, levels=data.levels, cpts=tuple(tables), learned={"em": run})


def _log_prior(tables: Sequence[Array], prior: PseudoCounts) -> float:
    """Return a Σ ln θ over all cells of all tables, a what the prior adds to a cell."""
    added = [prior.per_cell(len(table), table[0].size) for table in tables]
    return sum(a * float(log(table).sum()) for a, table in zip(added, tables, strict=True) if a)
