"""Parameters of averaged n-dependence estimators: counts of levels, and the prior to be asked for tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..backoff.leave_one_out import left_out_joint
from ..backoff.prior import BackOff
from ..backoff.tables import LeftOut
from ..base.arrays import Array
from ..base.messages import shown
from ..frames.schema import Countable, Dataset
from ..network.em import EM, maximise
from ..network.estimation import estimate
from ..network.priors import Dirichlet, EquivalentSize, MEstimate, Prior, PseudoCounts
from .ande import ANDE
from .cooccurrence import count_cooccurrence
from .left_out import joint_without


@estimate.register
def _(x: ANDE, data: Countable, prior: Prior) -> ANDE:
    if not isinstance(prior, Dirichlet | MEstimate):
        name = {EquivalentSize: "ess", BackOff: "backoff"}.get(type(prior), "prior")
        raise TypeError(
            f"{name}: averaged n-dependence estimators take smooth or m, by which the joint probability of "
            f"superparents and class is defined, too; got {shown(prior)}"
        )
    return replace(x, levels=data.levels, counts=count_cooccurrence(data, x.most_counted), prior=prior)


@left_out_joint.register
def _(x: ANDE, data: Dataset, prior: Prior, rows: NDArray[np.intp], left_out: LeftOut) -> Array:
    return joint_without(estimate(x, data, prior), data.codes[:-1, rows], left_out)


@maximise.register
def _(x: ANDE, data: Dataset, prior: PseudoCounts, em: EM) -> ANDE:
    raise TypeError(
        "missing: EM needs a joint distribution, and averaged n-dependence estimators have none, as what "
        "is missing neither votes nor is a child; leave it out, or learn aode or a network"
    )
