"""Expectation maximisation: tables from incomplete rows, those without a class included.

The expected count of a cell of a family's table is a sum of posterior probabilities over rows,
P(cell | what the row shows). It is the joint with the family's missing members set to the cell,
over the joint without, both by exact inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, log, log_sum_exp
from ..base.messages import warn
from ..frames.counting import contingency_tables, flat_index
from ..frames.encoding import Dataset
from ..inference.factors import Factor
from ..inference.joint import joint_in_blocks
from ..model.networks import BNC, EM
from .tables import dirichlet_cpt

Rows = NDArray[np.intp]


def maximise(x: BNC, data: Dataset, smooth: float, iterations: int, tolerance: float) -> BNC:
    """Give a structure the tables that maximise its posterior given all that rows show.

    Parameters
    ----------
    x : BNC
        A structure.
    data : Dataset
        The variables of ``x`` in its order, coded by the levels to be taken.
    smooth : float
        Dirichlet hyperparameter.
    iterations : int
        The most that are made.
    tolerance : float
        It has converged when an iteration gains no more than this a row, in nats.

    Notes
    -----
    What is maximised is Σ ln P(row) + smooth Σ ln θ over all cells of all tables: the log
    posterior under Dirichlet priors with hyperparameters smooth + 1, whose maximum on
    complete data is the usual estimate (N + smooth) / (N· + r smooth).

    References
    ----------
    .. [1] Dempster, A. P., Laird, N. M., Rubin, D. B. (1977). Maximum likelihood from incomplete
       data via the EM algorithm. Journal of the Royal Statistical Society B 39.
    .. [2] Lauritzen, S. L. (1995). The EM algorithm for graphical association models with missing
       data. Computational Statistics & Data Analysis 19.
    """
    position = {family[0]: i for i, family in enumerate(x.families)}
    scopes = [tuple(position[v] for v in family) for family in x.families]
    observed = [contingency_tables(data, [scope])[0] for scope in scopes]
    # Zeros would stay zeros, so without smoothing the start has some.
    tables = [dirichlet_cpt(counts, smooth or 1.0) for counts in observed]
    counts, objective = _expect(tables, observed, scopes, data, smooth)
    trace, converged = [objective], not data.incomplete.any()
    if converged:
        tables = [dirichlet_cpt(table, smooth) for table in counts]
    while not converged and len(trace) <= iterations:
        tables = [dirichlet_cpt(table, smooth) for table in counts]
        counts, objective = _expect(tables, observed, scopes, data, smooth)
        converged = objective - trace[-1] <= tolerance * len(data)
        trace.append(objective)
    if not converged:
        warn(
            f"em_iterations: EM stopped after {iterations} iterations, the last of which still gained "
            f"{trace[-1] - trace[-2]:.3g} nats; raise em_iterations or em_tolerance"
        )
    return replace(x, levels=data.levels, cpts=tuple(tables), em=EM(converged, tuple(trace)))


def _expect(
    tables: Sequence[Array],
    observed: Sequence[Array],
    scopes: Sequence[tuple[int, ...]],
    data: Dataset,
    smooth: float,
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
    prior_mass = smooth * sum(float(log(table).sum()) for table in tables) if smooth else 0.0
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
