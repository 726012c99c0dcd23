"""One class variable of several as a model of its own, the others summed out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from ..base.arrays import Array, Codes
from ..base.checks import is_among
from ..base.immutable import EMPTY
from ..base.messages import listed, shown, suggestion
from ..frames.schema import Levels
from ..functions.explanation import of_one_class
from ..model.model import Model
from ..model.recipes import Recipe
from ..network.log_joints import joint_of_codes
from .class_inference import log_marginals
from .mbc import MBC, MultiModel


@dataclass(frozen=True, eq=False, repr=False)
class ClassView(Model):
    """An ordinary model of one class variable: what a model of several says of it.

    Attributes
    ----------
    whole : MultiModel
        With parameters.
    class_var : str
        One of its class variables.
    """

    whole: MultiModel
    class_var: Hashable
    recipe: Recipe | None = None

    @property
    def features(self) -> tuple[Hashable, ...]:
        """The features, to which the other class variables do not belong."""
        return self.whole.features

    @property
    def levels(self) -> Levels | None:
        """The labels of the features and of the class variable."""
        levels = self.whole.levels or ()
        return (*levels[: len(self.features)], levels[len(self.features) + self.number])

    @property
    def number(self) -> int:
        """The position of the class variable."""
        return self.whole.class_vars.index(self.class_var)

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether the whole has parameters."""
        return self.whole.fitted

    @property
    def learned(self) -> Mapping[str, Any]:
        """Nothing of its own."""
        return EMPTY

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of each variable but for other class variables; none where there is no one graph."""
        parents = self.whole.parents if isinstance(self.whole, MBC) else {}
        variables = set(self.variables)
        return {v: tuple([p for p in parents.get(v, ()) if p in variables]) for v in self.variables}


@joint_of_codes.register
def _(x: ClassView, codes: Codes) -> Array:
    return log_marginals(x.whole, codes)[x.number]


@of_one_class.register
def _(x: MultiModel, class_var: Hashable | None) -> ClassView:
    if class_var is None:
        raise TypeError(
            "class_var: the model predicts several class variables; say which is meant, "
            f"{listed(x.class_vars)}"
        )
    if not is_among(class_var, x.class_vars):
        hint = suggestion(class_var, x.class_vars)
        raise ValueError(f"class_var: the model predicts no {shown(class_var)}; {hint}")
    return ClassView(x, class_var)
