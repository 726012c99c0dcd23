"""Models that are built on another model: they share its features, or change its posterior."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from .model import Model, renewed

M = TypeVar("M", bound=Model)


def forwarding(*names: str) -> Callable[[type[M]], type[M]]:
    """Decorate a model type whose attributes with these names are those of its `basis`."""

    def decorate(kind: type[M]) -> type[M]:
        for name in names:
            setattr(kind, name, property(attrgetter(f"basis.{name}")))
        return kind

    return decorate


@forwarding("class_var", "features", "parents", "graph", "trace", "levels", "facts")
class BuiltOn(Model):
    """A model that shares class, features, parents and levels with another one."""

    if TYPE_CHECKING:

        @property
        def basis(self) -> Model:
            """The other model."""

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself, because it is a single model."""
        return (self,)


@forwarding("fitted", "class_prior", "arc_shares", "outcomes", "rows_of")
class Derived(BuiltOn):
    """A model that changes the posterior of a fitted one, its attribute ``base``."""

    base: Model

    @property
    def basis(self) -> Model:
        """The fitted model."""
        return self.base

    @property
    def no_joint(self) -> str:
        """The error message of functions that need a joint distribution, which is not defined."""
        return (
            f"{self.called} changes the posterior of another model, so it does not define a joint "
            "distribution. Use predict, explain, cloglik or cv."
        )

    def estimate(self, data: Any, prior: Any) -> Model:
        """Raise an error: tables alone would be those of the other model; see `estimate_base`."""
        raise TypeError(
            f"x must be a model that can be refitted; got {self.called}, a Derived without "
            "estimate. Make it in a method of lp, which its recipe then repeats, "
            "and define estimate."
        )

    def estimate_base(self, data: Any, prior: Any) -> Model:
        """Return the other model with tables estimated from data; methods derive this from it."""
        return renewed(self.base, recipe=self.recipe).estimate(data, prior)

    def check_refitted(self, fitted: Model) -> None:
        if type(fitted) is type(self):
            return
        if type(self).estimate is Derived.estimate:
            self.estimate(None, None)  # which raises an error
        raise TypeError(
            f"x must be made in a method of lp to be refitted; got {self.called}, whose recipe "
            f"makes {fitted.called}."
        )
