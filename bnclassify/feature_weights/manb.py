"""MANB: a naive Bayes averaged over the presence of each arc from the class.

The posterior of an arc depends only on its feature, because the prior of structures and the likelihood are
products over features. Therefore, the exact average over 2^n structures needs n terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaln, expit, gammaln, logit

from ..base.arrays import Array
from ..base.checks import Real
from ..base.immutable import record
from ..counts.contingency import count_families
from ..frames.schema import Countable
from ..model.model import Model
from ..model.questions import is_nb
from ..network.classifiers import BNC
from ..network.priors import Method, Prior, PseudoCounts, check_augmented, check_positive


@record
@dataclass(frozen=True)
class MANB(Method):
    """Average a naive Bayes over the presence of each arc from the class, given its prior probability."""

    probability: float

    argument = "manb_prior"
    counts_alone = True

    def __post_init__(self) -> None:
        Real(above=0, below=1).check("manb_prior", self.probability)

    def settings(self) -> Mapping[str, Any]:
        """Return the argument of `lp` that requests this."""
        return {"manb_prior": self.probability}

    def check(self, x: Model, prior: Prior) -> None:
        """Raise unless the structure is a naive Bayes and the prior adds pseudo-counts."""
        check_augmented(x, self.argument)
        if not is_nb(x):
            raise ValueError("manb_prior requires a naive Bayes. Learn the structure with nb.")
        check_positive(prior, self.argument)
        if not isinstance(prior, PseudoCounts):
            raise ValueError("manb_prior requires smooth, ess or m.")

    def __call__(self, x: Model, data: Countable, prior: Prior, rng: np.random.Generator) -> BNC:
        """Return the network with averaged tables, and the posteriors of its arcs."""
        if not isinstance(prior, PseudoCounts):
            raise TypeError("prior must define pseudo-counts.")
        fitted = check_augmented(x, self.argument)._estimate(data, prior)
        class_column = len(x.features)
        counts = count_families(data, [(i, class_column) for i in range(class_column)])
        averaged = [_average(table, prior, float(self.probability)) for table in counts]
        learned = {**fitted.learned, "arc_posteriors": tuple([posterior for _, posterior in averaged])}
        return replace(fitted, cpts=(*[table for table, _ in averaged], fitted.cpts[-1]), learned=learned)


def _average(counts: Array, prior: PseudoCounts, probability: float) -> tuple[Array, float]:
    """Return θ·P(arc|D) + θ₀·(1 − P(arc|D)), θ given the class and θ₀ without it, and P(arc|D)."""
    merged = counts.sum(axis=1, keepdims=True)
    evidence = _log_evidence(counts, prior) - _log_evidence(merged, prior)
    posterior = float(expit(evidence + logit(probability)))
    return prior(counts) * posterior + prior(merged) * (1 - posterior), posterior


def _log_evidence(counts: Array, prior: PseudoCounts) -> float:
    """Return Σ_j [ln Γ(rα) − ln Γ(N_j + rα) + Σ_k (ln Γ(N_jk + α) − ln Γ(α))], k over the first axis."""
    pseudo = prior.per_cell(*counts.shape)
    rising = _log_rising(pseudo, counts).sum(axis=0) - _log_rising(pseudo * len(counts), counts.sum(axis=0))
    return float(rising.sum())


def _log_rising(start: float, steps: Array) -> Array:
    """Return ln Γ(start + steps) − ln Γ(start), exact for a large start: ln Γ(n) − ln B(start, n)."""
    n = np.where(steps > 0, steps, 1.0)
    return np.where(steps > 0, gammaln(n) - betaln(start, n), 0.0)
