"""The probability of each class as a model holds it before any feature is known."""

from __future__ import annotations

from functools import singledispatch

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
