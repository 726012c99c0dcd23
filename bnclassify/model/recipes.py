"""How a model was learned, as values that can be called again on other data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.immutable import Immutable
from ..base.records import record
from ..frames.schema import Dataset
from ..numbers.preparation import Preparation

_REPEATED = ContextVar("_REPEATED", default=False)


def is_repeated() -> bool:
    """Tell whether a learner runs by a recipe: what there is to warn of was told when it ran first."""
    return _REPEATED.get()


@dataclass(frozen=True)
class Step(Immutable):
    """A call that can be made again, written as a user would write it.

    Attributes
    ----------
    name : str
        What users call the function, or words that say what was done.
    function : callable
    settings : dict
        The arguments by name, those at their default left out.
    draws : bool
        Whether the function takes ``rng``.
    """

    name: str
    function: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    draws: bool = False

    def __call__(self, *arguments: Any, rng: np.random.Generator | None = None) -> Any:
        """Call the function, with ``rng`` in place of its seed if it draws at random and one is given."""
        drawn = {"rng": rng} if self.draws and rng is not None else {}
        return self.function(*arguments, **{**self.settings, **drawn})

    def __str__(self) -> str:
        if " " in self.name:  # words in place of a call
            return self.name
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.settings.items())})"


@record
@dataclass(frozen=True)
class Recipe:
    """How a model was learned: from which columns, by which learner, with which parameters.

    Attributes
    ----------
    class_var : str
    structure : Step
        The learner, called with the name of the class and the data.
    columns : tuple or None
        The features that the learner was told to take; None for all there are.
    parameters : Step or None
        `lp`, called with a structure and the data; None for a mere structure.
    seen : tuple or None
        The columns of the data, where the learner took all there were.
    preparation : Preparation or None
        What makes categories of raw data, if that was learned too; the steps then take raw data.
    """

    class_var: Hashable
    structure: Step
    columns: tuple[Hashable, ...] | None = None
    parameters: Step | None = None
    preparation: Preparation | None = None
    seen: tuple[Hashable, ...] | None = None

    def fit(self, data: Dataset, rng: np.random.Generator | None = None) -> Any:
        """Learn structure and parameters again."""
        token = _REPEATED.set(True)
        try:
            structure = self.structure(self.class_var, data, rng=rng)
        finally:
            _REPEATED.reset(token)
        return self.refit(structure, data, rng)

    def refit(self, x: Any, data: Dataset, rng: np.random.Generator | None = None) -> Any:
        """Learn the parameters of a structure as those of this model were learned."""
        return self.parameters(x, data, rng=rng) if self.parameters is not None else x
