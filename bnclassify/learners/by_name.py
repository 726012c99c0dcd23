"""The table of learners of structure by name, for `bnc`."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter

from ..model import Model
from ..tools.calls import parameters_of
from ..tools.immutable import record
from ..tools.messages import did_you_mean, listed, shown

LEARNERS: dict[str, Callable[..., Model]] = {}
"""The learners that `bnc` accepts by name; the package adds them when it is imported."""


def add_learners(*learners: Callable[..., Model]) -> None:
    """Let `bnc` accept learners by their names."""
    LEARNERS.update({learner.__name__: record(learner) for learner in learners})


_ORDER = "The learner is the first argument, the class the second, the data the third."


def find_learner(learner: object, argument: str) -> Callable[..., Model]:
    """Return a learner of structure given as a function or by name, or raise."""
    if isinstance(learner, str) and learner in LEARNERS:
        return LEARNERS[learner]
    if callable(learner) and not isinstance(learner, type):
        takes = parameters_of(learner)
        if "dataset" in takes or any(p.kind is Parameter.VAR_KEYWORD for p in takes.values()):
            return learner
        raise TypeError(
            f"{argument} must be a function learner(class_var, dataset=...); {shown(learner)} has "
            "no argument 'dataset'. Give the argument of the data this name."
        )
    raise ValueError(
        f"{argument} must be a function or one of {listed(LEARNERS)}; got "
        f"{shown(learner)}. "
        f"{did_you_mean(learner, LEARNERS) if isinstance(learner, str) else _ORDER}".rstrip()
    )
