"""The probability of each class as a model holds it before any feature is known."""

from __future__ import annotations

from functools import singledispatch

from ..backoff.averaged_cuts import AveragedCuts
from ..backoff.conditionals import class_probabilities
from ..backoff.powered import Powered
from ..backoff.weighted import Weighted
from ..base.arrays import Array
from ..model.model import Model
from .bnc import BNC


@singledispatch
def class_shares(x: Model) -> Array:
    """Return P(class), (classes,): by default the posterior of a row of which nothing is known.

    A kind without a joint distribution registers here what it learned in place of that.
    """
    return x._class_prior()


@class_shares.register
def _(x: BNC) -> Array:
    if x.cpts is not None and len(x.families[-1]) == 1:  # all others sum to 1, whatever their number
        return x.cpts[-1]
    return class_shares.dispatch(Model)(x)


@class_shares.register(Weighted)
@class_shares.register(AveragedCuts)
def _(x: Weighted | AveragedCuts) -> Array:
    """Return the smoothed shares of the classes in training, whatever the power of the class."""
    return next(class_probabilities(x.networks[0].tables[-1].shortened(0), [], 1))[0]


@class_shares.register
def _(x: Powered) -> Array:
    return class_shares(x.base)
