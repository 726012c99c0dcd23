"""Families of models that are built on another model: what a family of models must define.

A family is a frozen dataclass, a subclass of `BuiltOn`, decorated with
``@record``. `BuiltOn` takes the class, the features and their levels from
another model, usually a network without tables. The family defines

- ``basis``, ``recipe`` and ``learned``: fields, the last two with defaults;
- ``fitted``: whether it has parameters;
- ``estimate(data, prior)``: the model with parameters. ``data.levels`` are the
  levels of the features and then of the class. `count_families` counts the
  columns at some positions, and ``prior(counts)`` makes probabilities that sum
  to 1 along the first axis;
- ``formula``: the formula of the scores. A `Table` has one axis per feature in
  its scope, each with one entry more for a missing value, which
  `pad_for_missing` adds, and the class last. Its owner is -1 if it belongs to
  the class;
- ``no_joint``: if the family does not define a joint distribution, the reason,
  for error messages.

A learner returns the family without parameters. Its recipe is that of the
basis, a network whose `Step` names the learner. `bnc`, `predict`, `explain`,
`cv`, `save` and `to_sql` then work:

>>> from dataclasses import dataclass, field, replace
>>> import numpy as np
>>> from bnclassify import bnc, cv, load_car, predict
>>> from bnclassify.tools.immutable import record
>>> from bnclassify.counts import count_families
>>> from bnclassify.frames import prepare_training_data
>>> from bnclassify.learners.networks import network
>>> from bnclassify.model.recipes import Step
>>> from bnclassify.scores import Sum, Table, pad_for_missing
>>> @record
... @dataclass(frozen=True, eq=False, repr=False)
... class OneTable(BuiltOn):  # P(class | the feature at a position)
...     basis: Model
...     position: int
...     table: np.ndarray | None = None
...     recipe: object = None
...     learned: dict = field(default_factory=dict)
...     no_joint = "models the class given one feature only."
...     @property
...     def fitted(self):
...         return self.table is not None
...     def estimate(self, data, prior):
...         own = len(self.features)  # the position of the class
...         [counts] = count_families(data, [(own, self.position)])  # (classes, values)
...         basis = replace(self.basis, levels=data.levels)
...         return replace(self, basis=basis, table=prior(counts))
...     @property
...     def formula(self):
...         logs = pad_for_missing(np.log(self.table.T))  # (values and missing, classes)
...         return Sum((Table(-1, (self.position,), logs),), marginalizes=False)
>>> def one_table(class_var, dataset, *, name):
...     data = prepare_training_data(dataset, (class_var,))
...     none = dict.fromkeys(data.features, ())
...     step = Step("one_table", one_table, {"name": name})
...     basis = network(class_var, none, data.schema, step)
...     return OneTable(basis, data.features.index(name), recipe=basis.recipe)
>>> car = load_car()
>>> model = bnc(one_table, "class", car, smooth=1, dag_args={"name": "safety"})
>>> predict(model, {"safety": "low"}, prob=True).round(3).to_numpy().tolist()
[[0.995, 0.002, 0.002, 0.002]]
>>> round(cv(model, car, k=5, rng=0), 3)
0.7
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .model import M, Model, replace_unchecked


def forward_to_basis(*names: str) -> Callable[[type[M]], type[M]]:
    """Decorate a model type whose attributes with these names are those of its `basis`."""

    def add_properties(kind: type[M]) -> type[M]:
        for name in names:
            setattr(kind, name, property(attrgetter(f"basis.{name}")))
        return kind

    return add_properties


@forward_to_basis("class_var", "features", "levels")
class BuiltOn(Model):
    """A model that shares class, features and levels with another one."""

    if TYPE_CHECKING:

        @property
        def basis(self) -> Model:
            """The other model."""

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself, because it is a single model."""
        return (self,)


@forward_to_basis("parents", "graph", "trace", "facts", "fitted")
@forward_to_basis("learned_class_prior", "arc_shares", "value_formulas", "rows_from_codes")
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
            f"{self.type_in_words} changes the posterior of another model, so it does not define "
            "a joint distribution. Use predict, explain, cloglik or cv."
        )

    def estimate(self, data: Any, prior: Any) -> Model:
        """Raise an error: tables alone would be those of the other model; see `estimate_base`."""
        raise TypeError(
            f"x must be a model that can be refitted; got {self.type_in_words}, a Derived without "
            "estimate. Make it in a method of lp, which its recipe then repeats, "
            "and define estimate."
        )

    def estimate_base(self, data: Any, prior: Any) -> Model:
        """Return the other model with tables estimated from data; methods derive this from it."""
        return replace_unchecked(self.base, recipe=self.recipe).estimate(data, prior)

    def check_type_of_refit(self, fitted: Model) -> None:
        if type(fitted) is type(self):
            return
        if type(self).estimate is Derived.estimate:
            self.estimate(None, None)  # which raises an error
        raise TypeError(
            f"x must be made in a method of lp to be refitted; got {self.type_in_words}, whose "
            f"recipe makes {fitted.type_in_words}."
        )
