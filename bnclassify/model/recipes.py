"""The recipe of a model, to repeat on other data, the counts of its tables, and intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..counts import to_narrowest_type
from ..dataset import Countable, Schema, as_floats
from ..numbers import Preparation
from ..tools.arrays import map_by_shape
from ..tools.immutable import ANY_NUMBER, COUNT, Immutable, field_bounds, is_within_bounds, record
from ..tools.messages import setting_variable

A_NETWORK = "bnc('tan_cl', class_var, dataset, smooth=1, discretize='mdlp')"
"""The call, for messages, that fits a network with tables, counts and a joint distribution."""

NO_JOINT = (
    "provides P(class | features), but does not define a joint distribution. Use predict, explain, "
    f"cloglik or cv, or fit a network, which defines one: {A_NETWORK}."
)
"""The rest of the message about a model type without a joint distribution, after its name."""

_REPEATED = ContextVar("_REPEATED", default=False)


def is_recipe_running() -> bool:
    """Whether a recipe runs a learner, whose warnings were issued before."""
    return _REPEATED.get()


@dataclass(frozen=True)
class Step(Immutable):
    """A call that can be repeated: ``name`` or text, ``settings``, if it ``draws`` by ``rng``."""

    name: str
    function: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    draws: bool = False

    def __call__(self, *arguments: Any, rng: np.random.Generator | None = None) -> Any:
        """Call the function, with ``rng`` in place of its seed if it draws and ``rng`` is given."""
        drawn = {"rng": rng} if self.draws and rng is not None else {}
        return self.function(*arguments, **{**self.settings, **drawn})

    @property
    def first(self) -> Step:
        """The step that estimates parameters, if this one changes what others returned."""
        inner = self.settings.get("parameters")
        return inner.first if isinstance(inner, Step) else self

    def __str__(self) -> str:
        if " " in self.name:  # a text in place of a call
            return self.name
        texts = {key: repr(value) for key, value in self.settings.items()}
        short = [
            # 40: length of the longest argument that is printed
            f"{key}={text if len(text) <= 40 else '...'}"
            for key, text in texts.items()
        ]
        return f"{self.name}({', '.join(short)})"


@record
@dataclass(frozen=True)
class TrainingRows(Immutable):
    """The rows of parameters: weight, features with gaps, (label, weight) pairs per class variable.

    If several rows, or parts of their weight, are one case, ``given`` rows are
    ``cases`` cases. The labels of the ``ordered`` class variables were declared
    to have an order. ``ranges`` has the smallest and the largest value of each
    numeric feature.
    """

    bounds = field_bounds(size=COUNT, given=COUNT, cases=COUNT)

    size: float
    classes: tuple[tuple[tuple[Hashable, float], ...], ...] = ()
    incomplete: tuple[Hashable, ...] = ()
    given: int = 0
    cases: int = 0
    ordered: tuple[Hashable, ...] = ()
    ranges: Mapping[Hashable, tuple[float, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(
            is_within_bounds(weight, *COUNT) for pairs in self.classes for _, weight in pairs
        ):
            raise ValueError("classes must be pairs of a label and a weight of at least 0.")
        for low, high in self.ranges.values():
            if not (is_within_bounds((low, high), *ANY_NUMBER) and low <= high):
                raise ValueError("ranges must have two ascending finite numbers per column.")

    @classmethod
    def from_data(cls, data: Countable, targets: tuple[Hashable, ...]) -> TrainingRows:
        """Return the facts of data with these class variables."""
        numbers = getattr(data, "numbers", {})
        lacking = [
            name for name, gap in zip(data.columns, data.incomplete.tolist(), strict=True) if gap
        ]
        coded = [
            n for n in lacking if n not in data.schema.numeric or np.isnan(numbers.get(n, 0)).any()
        ]
        levels: list[tuple[Hashable, ...]] = [data.levels[data.positions[name]] for name in targets]
        counts = [data.level_weights(name).tolist() for name in targets]
        classes = [tuple(zip(*pair, strict=True)) for pair in zip(levels, counts, strict=True)]
        labels, given = getattr(data, "cases", None), getattr(data, "given", 0)
        cases = 0 if labels is None else len(np.unique(labels))
        if given or cases:
            given, cases = given or len(data), cases or len(data)
        ordered = tuple([name for name in targets if name in data.schema.ordered])
        ranges = dict[Hashable, tuple[float, float]]()
        for name, values in numbers.items():
            known = as_floats(values)[~np.isnan(as_floats(values))]
            if len(known) and name not in targets:
                ranges[name] = float(known.min()), float(known.max())
        return cls(float(data.size), tuple(classes), tuple(coded), given, cases, ordered, ranges)

    def __add__(self, more: TrainingRows) -> TrainingRows:
        classes = []
        for own, others in zip(self.classes, more.classes, strict=False):
            weights = dict(own)
            for label, weight in others:
                weights[label] = weights.get(label, 0.0) + weight
            classes.append(tuple(weights.items()))
        incomplete = dict.fromkeys((*self.incomplete, *more.incomplete))
        given, cases = self.given + more.given, self.cases + more.cases
        if not (self.cases and more.cases):
            given = cases = 0  # rows and units of weight are not added up
        ordered = tuple([name for name in self.ordered if name in more.ordered])
        ranges = dict(self.ranges)
        for name, (low, high) in more.ranges.items():
            least, most = ranges.get(name, (low, high))
            ranges[name] = min(low, least), max(high, most)
        return TrainingRows(
            self.size + more.size, tuple(classes), tuple(incomplete), given, cases, ordered, ranges
        )


@record
@dataclass(frozen=True)
class Recipe:
    """The learner, columns and method of estimation of a model.

    ``structure`` is called with the class and the data, ``parameters`` (`lp`)
    with a structure and the data. ``columns`` are the features passed to the
    learner; if None, it used all columns, which ``seen`` lists. With a
    ``preparation``, the steps accept raw data. ``rows`` describes the rows that
    the parameters were estimated from.
    """

    class_var: Hashable
    structure: Step
    columns: tuple[Hashable, ...] | None = None
    parameters: Step | None = None
    preparation: Preparation | None = None
    seen: tuple[Hashable, ...] | None = None
    rows: TrainingRows | None = field(default=None, compare=False)

    @classmethod
    def from_step(cls, class_var: Hashable, step: Step, schema: Schema | None) -> Recipe:
        """Return the recipe of a step; its setting ``features``, if any, becomes those of data."""
        settings = {name: value for name, value in step.settings.items() if value is not None}
        if "features" in settings and schema is not None:
            settings["features"] = tuple([name for name in schema.columns if name != class_var])
        columns = settings.get("features")
        seen = schema.columns if schema is not None and columns is None else None
        return cls(class_var, replace(step, settings=settings), columns, seen=seen)

    def fit(self, data: Countable, rng: np.random.Generator | None = None) -> Any:
        """Learn structure and parameters from other data."""
        with setting_variable(_REPEATED, True):
            structure = self.structure(self.class_var, data, rng=rng)
        return self.refit(structure, data, rng)

    def refit(self, x: Any, data: Countable, rng: np.random.Generator | None = None) -> Any:
        """Learn the parameters of a structure in the same way."""
        return self.parameters(x, data, rng=rng) if self.parameters is not None else x


GIVEN: set[Callable[..., Any]] = set()
"""The functions of steps that return, in whole or in part, what was given and not fitted."""


def contains_given(value: object) -> bool:
    """Whether a recipe, or a step or a setting of one, returns something that is not fitted."""
    if isinstance(value, Step):
        return value.function in GIVEN or contains_given(tuple(value.settings.values()))
    if isinstance(value, Recipe):
        return contains_given((value.structure, value.parameters))
    return isinstance(value, tuple | list) and any(map(contains_given, value))


def recipe_with_parameter_step(recipe: Recipe | None, step: Step | None) -> Recipe | None:
    """Return a recipe with another step of parameters, if there is one."""
    return recipe if recipe is None or step is None else replace(recipe, parameters=step)


@dataclass(frozen=True, eq=False)
class Tally(Immutable):
    """The counts of the tables of a model, and their prior; None if the tables depend on more."""

    bounds = field_bounds(counts=COUNT)

    counts: tuple[Any, ...]
    prior: Any

    def with_narrow_arrays(self) -> Tally:
        """Return the same with arrays of the smallest suitable type."""
        return Tally(map_by_shape(self.counts, to_narrowest_type), self.prior)
