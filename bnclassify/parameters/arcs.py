"""MANB: a naive Bayes averaged over the presence of each arc from the class, exactly.

The posterior of an arc depends on its feature alone, because the prior of structures and the
likelihood are products over features; so an average over 2^n structures costs n terms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import betaln, expit, gammaln, logit

from ..base.arrays import Array
from ..frames.counting import contingency_tables
from ..frames.encoding import Dataset
from ..model.networks import BNC
from .tables import dirichlet_cpt


def average_arcs(x: BNC, data: Dataset, smooth: float, prior: float) -> BNC:
    """Average the tables of a fitted naive Bayes over the presence of arcs from the class."""
    columns = [data.positions[family[0]] for family in x.families]
    averaged = [
        averaged_cpt(contingency_tables(data, [[column, columns[-1]]])[0], smooth, prior)
        for column in columns[:-1]
    ]
    *_, prior_of_class = x.cpts or ()
    tables = tuple(table for table, _ in averaged)
    return replace(
        x, cpts=(*tables, prior_of_class), arc_posteriors=tuple(posterior for _, posterior in averaged)
    )


def averaged_cpt(counts: Array, smooth: float, prior: float) -> tuple[Array, float]:
    """Average the table of a feature with the arc and without it, by the posterior of the arc.

    Parameters
    ----------
    counts : (levels, classes) array
    smooth : float
        Dirichlet hyperparameter, positive.
    prior : float
        Probability of the arc before data is seen.

    Returns
    -------
    (levels, classes) array
        θ·P(arc|D) + θ₀·(1 − P(arc|D)), θ estimated given the class, θ₀ without it.
    float
        The posterior P(arc|D).

    References
    ----------
    .. [1] Dash, D., Cooper, G. F. (2002). Exact model averaging with naive Bayesian
       classifiers. ICML 2002.
    .. [2] Wei, W., Visweswaran, S., Cooper, G. F. (2011). The application of naive Bayes model
       averaging to predict Alzheimer's disease from genome-wide data. JAMIA 18.
    """
    merged = counts.sum(axis=1, keepdims=True)
    evidence = log_marginal_likelihood(counts, smooth) - log_marginal_likelihood(merged, smooth)
    posterior = float(expit(evidence + logit(prior)))
    with_arc, without = dirichlet_cpt(counts, smooth), dirichlet_cpt(merged, smooth)
    return with_arc * posterior + without * (1 - posterior), posterior


def log_marginal_likelihood(counts: Array, smooth: float) -> float:
    """Return ln P(D) of a table, its parameters integrated out under a Dirichlet prior.

    Σ_j [ln Γ(rα) − ln Γ(N_j + rα) + Σ_k (ln Γ(N_jk + α) − ln Γ(α))], k over the first axis.

    >>> import numpy as np
    >>> round(float(np.exp(log_marginal_likelihood(np.array([[1.0], [0.0]]), 1.0))), 12)
    0.5
    """
    mass = smooth * counts.shape[0]
    per_column = _log_rising(smooth, counts).sum(axis=0) - _log_rising(mass, counts.sum(axis=0))
    return float(per_column.sum())


def _log_rising(start: float, steps: Array) -> Array:
    """Return ln Γ(start + steps) − ln Γ(start), exact for a large start too: ln Γ(n) − ln B(start, n)."""
    n = np.maximum(steps, 1)
    return np.where(steps > 0, gammaln(n) - betaln(start, n), 0.0)
