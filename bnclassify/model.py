"""What a model is: variables, levels, a formula, and the recipe that learned it.

`Model` is an immutable value. It has the names of the class and of the features,
their levels, a formula of scores once its parameters are estimated, and what
learning found out. A `Recipe` records the calls that made the model, so that
`cv` can repeat them on other rows. A `CountedModel` follows from counts, which
add up over rows: it can be updated. A `Derived` model changes the predictions
of another one and inherits everything else. The proportions of classes can be
replaced in any model.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from .counts import Recoding, recode_counts, to_narrowest_type
from .dataset import Countable, Dataset, Levels, OpenedData, Schema, as_floats, codes_by_levels
from .elimination import Density
from .numbers import NO_CUTS, NO_MERGER, NO_PREPARATION, Discretizer, Merger, Preparation
from .scores import Formula, Rows, add_to_scores, scores_at
from .tools.arrays import Array, ArrayOf, Codes, Positions, log, log_normalize, map_by_shape
from .tools.checks import Instance, OneOf, Optional, Real
from .tools.immutable import (
    ANY_NUMBER,
    COUNT,
    EMPTY,
    PROBABILITY,
    Immutable,
    cached_property,
    field_bounds,
    is_within_bounds,
    record,
)
from .tools.messages import listed, setting_variable, shown

# The recipe of a model, to repeat on other data, and the counts of its tables.


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
        lacking = [
            name for name, gap in zip(data.columns, data.incomplete.tolist(), strict=True) if gap
        ]
        floats = {name: as_floats(values) for name, values in data.numbers.items()}
        coded = [
            n for n in lacking if n not in data.schema.numeric or np.isnan(floats.get(n, 0)).any()
        ]
        levels: list[tuple[Hashable, ...]] = [data.levels[data.positions[name]] for name in targets]
        counts = [data.level_weights(name).tolist() for name in targets]
        classes = [tuple(zip(*pair, strict=True)) for pair in zip(levels, counts, strict=True)]
        given, cases = data.given, 0 if data.cases is None else len(np.unique(data.cases))
        if given or cases:
            given, cases = given or len(data), cases or len(data)
        ordered = tuple([name for name in targets if name in data.schema.ordered])
        ranges = dict[Hashable, tuple[float, float]]()
        for name, values in floats.items():
            known = values[~np.isnan(values)]
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
        with setting_variable(_REPEATED, True):
            structure = self.structure(self.class_var, data, rng=rng)
        return self.refit(structure, data, rng)

    def refit(self, x: Any, data: Countable, rng: np.random.Generator | None = None) -> Any:
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


# The class proportions of another population, which a model can have in place of learned ones.


PROPORTIONS = "class_proportions"
"""The name of given `ClassProportions` among the results of learning."""

_FEW = 3
"""Number of classes in an example."""

ClassPrior: TypeAlias = "Mapping[Any, float] | pd.Series[Any]"


@record
@dataclass(frozen=True)
class ClassProportions(Immutable):
    """The proportions of the classes that `with_prior` gave to a model, in their order."""

    shares: tuple[float, ...]

    bounds = field_bounds(shares=PROBABILITY)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not abs(sum(self.shares) - 1) <= 1e-6:
            raise ValueError("class proportions must sum to 1")


@record
def with_proportions_again(
    x: Any,
    data: object,
    *,
    parameters: Step,
    proportions: ClassProportions,
    rng: np.random.Generator | None = None,
) -> Any:
    """Estimate the parameters of a structure, and replace the class proportions again."""
    return parameters(x, data, rng=rng).with_class_proportions(proportions)


def check_class_prior(prior: ClassPrior, classes: Sequence[Hashable]) -> Array:
    """Return a probability of each class, in the order of classes, or raise."""
    expected = "a dict or Series with the probability of each class"
    shares_of = ", ".join(f"{shown(name)}: {1 / len(classes):.3g}" for name in classes[:_FEW])
    example = f"An example is {{{shares_of}{', ...' * (len(classes) > _FEW)}}}."
    Instance(Mapping | pd.Series, expected, example).check("prior", prior)
    check_names_of_classes(list(prior.keys()), classes, "prior must have the classes as its names")
    given: dict[Hashable, object] = dict(prior.items())
    shares = np.array(
        [Real(least=0).check(f"prior[{shown(name)}]", given[name]) for name in classes]
    )
    total = float(shares.sum())
    if abs(total - 1) > 1e-6:
        raise ValueError(f"prior must be probabilities that sum to 1; got a sum of {total:g}.")
    return shares / total


def log_prior_ratio(learned: Array, prior: Array, classes: Sequence[Hashable]) -> Array:
    """Return the log of a prior divided by the learned probabilities of the classes, or raise."""
    lacking: list[int] = np.flatnonzero((learned == 0) & (prior > 0)).tolist()
    unknown = [classes[i] for i in lacking]
    if unknown:
        raise ValueError(
            "prior must be 0 for classes that are impossible in the model; got a positive value of "
            f"{listed(unknown, most=8)}. Fit the model with smooth above 0."
        )
    return log(np.where(prior > 0, prior / np.where(learned > 0, learned, 1.0), 0.0))


def check_names_of_classes(
    names: Sequence[Hashable], classes: Sequence[Hashable], requirement: str
) -> None:
    """Raise a ValueError unless names are those of the classes, each once."""
    if set(names) != set(classes) or len(names) > len(classes):
        absent = [name for name in classes if name not in names]
        advice = f" Add {listed(absent)}." if absent else ""
        raise ValueError(f"{requirement}, {listed(classes)}; got {listed(names)}.{advice}")


# The base class of all models, and the checks that an argument is a model.


M = TypeVar("M", bound="Model")
Fit: TypeAlias = Callable[[Any, Any], "Model"]  # of a model and its rows


class PictureNotes(NamedTuple):
    """A note on the members of an average, weights of features, and a note on these."""

    members: str = ""
    shares: Mapping[Hashable, float] = EMPTY
    note: str = ""


MISSING_RULE = "missing values in new rows"
"""How predictions treat missing values; without this fact, they are marginalized over."""

WRITERS: dict[str, Callable[[Any], str]] = {
    "text": lambda x: str(x.type_in_words),
    "html": lambda x: "",
}
"""How models are written as text and, in notebooks, HTML; set with the facts and pictures."""


class Model(Immutable):
    """Base of all models, which learners return and functions such as `predict` accept.

    A model type is a frozen dataclass below this class. It implements the
    methods that depend on the type.
    """

    if TYPE_CHECKING:  # fields or properties of each model type
        recipe: Recipe | None

        @property
        def class_var(self) -> Hashable:
            """The name of the class."""

        @property
        def features(self) -> tuple[Hashable, ...]:
            """The names of the features."""

        @property
        def levels(self) -> Levels | None:
            """The labels of each feature and then of the class; None if no data were seen."""

        @property
        def members(self) -> tuple[Model, ...]:
            """The models that it averages; a single model is its only member."""

        @property
        def fitted(self) -> bool:
            """Whether it has parameters."""

        @property
        def learned(self) -> Mapping[str, Any]:
            """Results of a method of `lp`, by name."""

    one_class = True
    """Whether it predicts a single class variable."""

    trace: Mapping[str, Any] = EMPTY
    """Results of the search for its single graph, by name."""

    densities: Mapping[Hashable, Density] = EMPTY
    """The densities of the features that are numbers, by name."""

    is_average = False
    """Whether it averages networks whose features may have different parents."""

    pairs: tuple[Any, ...] = ()
    """The pairs of features that have effects beyond those of each, in a sum of effects."""

    is_sampled = False
    """Whether questions about features are answered by draws, without a joint distribution."""

    @property
    def preparation(self) -> Preparation:
        """The steps from raw data to categories; none if the model accepts only categories."""
        return (self.recipe and self.recipe.preparation) or NO_PREPARATION

    @property
    def discretizer(self) -> Discretizer:
        return self.preparation.discretizer or NO_CUTS

    @property
    def merger(self) -> Merger:
        return self.preparation.merger or NO_MERGER

    @property
    def training_columns(self) -> tuple[Hashable, ...]:
        """The columns of the data that it was learned from, or those that its learner could use."""
        return () if self.recipe is None else self.recipe.seen or self.recipe.columns or ()

    @property
    def trained_on(self) -> TrainingRows | None:
        """The rows that its parameters were estimated from, if they are known."""
        return None if self.recipe is None else self.recipe.rows

    @cached_property
    def training_ranges(self) -> Mapping[Hashable, tuple[float, float]]:
        """The smallest and the largest training value of each numeric column, as far as known.

        They include those of columns that it dropped, because no cut point was found.
        """
        own = self.discretizer.training_ranges
        return own if self.trained_on is None else {**own, **self.trained_on.ranges}

    @property
    def targets(self) -> tuple[Hashable, ...]:
        return (self.class_var,)

    @property
    def variables(self) -> tuple[Hashable, ...]:
        return (*self.features, *self.targets)

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of each variable; none in an average of different graphs."""
        return dict.fromkeys(self.variables, ())

    @property
    def feature_parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The feature parents of each feature."""
        parents, found = self.parents, dict[Hashable, tuple[Hashable, ...]]()
        for name in self.features:
            found[name] = tuple([parent for parent in parents[name] if parent not in self.targets])
        return found

    @property
    def numeric_features(self) -> tuple[Hashable, ...]:
        """The features that are numbers, which have no levels."""
        named = zip(self.variables, self.levels or (), strict=False)
        return tuple(
            dict.fromkeys([*self.densities, *[name for name, labels in named if not labels]])
        )

    @property
    def graph(self) -> Any:
        """The single graph of the model, or None."""
        return None

    @property
    def network(self) -> Any:
        """The single graph with tables of the model, or None."""
        return None

    @property
    def known_levels(self) -> Levels:
        """The levels, or a ValueError if no data were seen."""
        if self.levels is None:
            raise ValueError(
                "the levels are unknown, because the model was built without data. Call "
                "lp(x, dataset, smooth=...)."
            )
        return self.levels

    @property
    def type_in_words(self) -> str:
        """The model type in messages, with an article."""
        name = type(self).__name__
        return f"{'an' if name[0] in 'AEM' else 'a'} {name}"

    def written_levels(self, name: Hashable) -> tuple[Hashable, ...]:
        """Return the levels of a feature; if they are intervals, as text with readable digits."""
        short = self.discretizer.short_interval_labels.get(name, ())
        return (*short, *self.levels_by_name[name][len(short) :])

    @property
    def levels_by_name(self) -> dict[Hashable, tuple[Hashable, ...]]:
        return dict(zip(self.variables, self.known_levels, strict=True))

    @property
    def no_joint(self) -> str:
        """Reason and remedy if the model type has no joint distribution; empty if it has one."""
        return ""

    def facts(self) -> dict[str, object]:
        """Return the facts that differ by model type; those that are None are omitted."""
        members = {"num. members": len(self.members)} if self.is_average else {}
        return {"num. features": len(self.features), **members}

    def __dir__(self) -> list[str]:
        """Return the documented attributes."""
        documented = self.__dataclass_fields__.keys()
        target = "class_var" if self.one_class else "class_vars"
        return sorted(documented | {target, "features", "members", "preparation"})

    def __repr__(self) -> str:
        return WRITERS["text"](self)

    def _repr_html_(self) -> str:
        return WRITERS["html"](self)

    if not TYPE_CHECKING:  # so that mypy reports unknown attributes

        def __getattr__(self, name: str) -> Any:
            """Raise an error that refers to the functions for models."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                message += "; use functions instead, as in predict(x, newdata) or params(x)"
            raise AttributeError(message)

    # Defaults of the methods that functions call.

    @property
    def formula(self) -> Formula:
        """The learned formula of the class scores, ln P(observed features, class) + a constant."""
        if self.one_class:
            raise NotImplementedError(
                f"the class {type(self).__name__} must define the property formula."
            )
        raise TypeError(
            f"x must predict one class; got a model of {listed(self.targets)}. Use predict(x, "
            "newdata), or explain(x, row, class_var=...) for one of them."
        )

    @cached_property
    def score(self) -> Formula:
        """The formula of the class scores with the given class proportions, if there are some."""
        shift = self.class_shift
        return add_to_scores(self.formula, shift) if shift.any() else self.formula

    @property
    def class_proportions(self) -> ClassProportions | None:
        """The given class proportions, or None if the model has those that it learned."""
        return self.learned.get(PROPORTIONS)

    @cached_property
    def class_shift(self) -> Array:
        """What given class proportions add to the scores, (classes,): ln(given / learned)."""
        given, classes = self.class_proportions, self.known_levels[-1]
        if given is None:
            return np.zeros(len(classes))
        return log_prior_ratio(self.learned_class_prior(), np.array(given.shares), classes)

    def with_class_proportions(self, given: ClassProportions | None) -> Self:
        if given is None:
            return self
        return replace_unchecked(self, learned={**self.learned, PROPORTIONS: given})

    def rows_to_score(self, data: Dataset, unseen: str | None = None) -> Rows:
        """Return rows as `score` reads them."""
        codes = codes_by_levels(
            data, self.features, self.known_levels[: len(self.features)], unseen=unseen
        )
        rows = self.rows_from_codes(codes, data.numbers)
        if data.unsaid is None:
            return rows
        unsaid = data.unsaid[[data.positions[name] for name in self.features]]
        return rows.with_values_unknown(unsaid)

    def rows_from_codes(self, codes: Codes, numbers: Mapping[Hashable, Any] = EMPTY) -> Rows:
        """Return rows with codes, and with the numbers, by name, that `score` reads."""
        if not self.densities:
            return Rows(codes)
        places = {name: self.features.index(name) for name in self.densities}
        found = {i: as_floats(numbers[name]) for name, i in places.items() if name in numbers}
        codes = codes.copy()
        for i, values in found.items():
            codes[i] = np.where(np.isnan(values), -1, 0)
        absent = [name for name, i in places.items() if i not in found and (codes[i] >= 0).any()]
        if absent:
            raise ValueError(
                f"newdata must contain numbers in {listed(absent)}; got categories. Pass the data "
                "before they are discretized."
            )
        return Rows(codes, found)

    def log_marginals(self, rows: Rows) -> list[Array]:
        """Return ln P(label, observed features) for each target variable, (rows, labels) each."""
        return [scores_at(self.score, rows)]

    def class_prior(self) -> Array:
        given = self.class_proportions
        return self.learned_class_prior() if given is None else np.array(given.shares)

    def learned_class_prior(self) -> Array:
        """Return the learned P(class): by default the posterior of a row without known features."""
        nothing = Rows(np.full((len(self.features), 1), -1, dtype=np.int8))
        return np.exp(log_normalize(scores_at(self.formula, nothing))).ravel()

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw n rows, (variables, n) codes with the class last."""
        raise unsupported_error(self, "draw rows")

    def fill_in_codes(
        self, rows: Rows, labels: Codes, rng: np.random.Generator | None = None, *, burn_in: int = 0
    ) -> Codes:
        """Return (variables, rows) codes with the most probable missing values, or drawn by rng.

        ``labels`` are the codes of the class, (rows,), -1 if unknown. If the
        model is sampled, values are drawn after ``burn_in`` sweeps.
        """
        raise unsupported_error(self, "fill in values")

    def model_of_class(self, class_var: Hashable | None) -> Model:
        """Return the model of one of the class variables; with one class, the model itself."""
        Optional(OneOf([self.class_var])).check("class_var", class_var)
        return self

    def estimate(self, data: Countable, prior: Any) -> Model:
        """Return the structure with parameters from data of its variables, coded by its levels."""
        raise unsupported_error(self, "estimate its parameters from data")

    def map_counted_parts(self, function: Callable[..., Model], *others: Model) -> Model:
        """Apply a function to each part of the model with counts, and the same of ``others``."""
        return function(self, *others)

    def fit_chain_links(
        self, function: Fit, dataset: OpenedData, step: Step | None = None
    ) -> Model:
        """Return the model that a function fits to rows, which is applied to each link of a chain.

        ``step`` is the call for the recipe of a chain.
        """
        return function(self, dataset)

    # What pictures show.

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        """Return the share of the members that have each arc, (from, to); 1 in a single model."""
        return {
            (parent, variable): 1.0
            for variable, parents in self.parents.items()
            for parent in parents
        }

    @property
    def picture_notes(self) -> PictureNotes:
        """What pictures of the model say besides its arcs."""
        n = self.facts().get("num. members")
        return PictureNotes() if n is None else PictureNotes(f"average of {n:,} networks")

    # The scores as formulas and points.

    @property
    def value_formulas(self) -> tuple[Formula, ...]:
        """Formulas of P(value of a feature, observed values | class), which are averaged."""
        return (self.score,)

    def points_gained_and_lost(self, rows: Rows, order: Sequence[int]) -> dict[str, ArrayOf[Any]]:
        """Return a scorecard's points by name: its start, and of features, (rows, 1 + features)."""
        return {}


def unsupported_error(x: Model, action: str) -> TypeError:
    return TypeError(f"x must be a model that can {action}; got {x.type_in_words}.")


def replace_unchecked(x: M, **changes: Any) -> M:
    """Return a model with some of its fields changed, without repeating its checks."""
    copy = object.__new__(type(x))
    copy.__dict__.update({name: x.__dict__[name] for name in x.__dataclass_fields__} | changes)
    copy._freeze(**changes)
    return copy


# Models whose tables follow from counts of rows: what is counted, and how counts become tables.


class CountedModel(Model):
    """Base of models whose tables follow from counts, and of models that consist of such models.

    Counts of different rows add up, so `update` and `pool` accept these models.
    """

    def estimate(self, data: Countable, prior: Any) -> Self:
        """Return the structure with tables from data of its variables, coded by its levels."""
        structure = replace_unchecked(self, levels=data.levels)
        return structure.tabulate(
            Tally(structure.count_all(data, prior), prior).with_narrow_arrays()
        )

    def count(self, data: Dataset, prior: Any) -> tuple[Any, ...]:
        """Return the counts behind the tables; counts of different rows add up."""
        raise unsupported_error(self, "count")

    def count_all(self, data: Countable, prior: Any) -> tuple[Any, ...]:
        return data.sum_from_source_or_parts(partial(self.count, prior=prior))

    def tabulate(self, tally: Tally) -> Self:
        """Return the structure, whose levels are known, with tables and their counts."""
        raise unsupported_error(self, "make tables")

    def distributions(self) -> Iterable[tuple[Hashable, Array]]:
        """Return variables and their tables, which sum to 1 along the first axis."""
        return ()

    def tally(self) -> Tally:
        """Return the counts behind the tables; raise if the tables depend on more than counts."""
        tally = self.learned.get("counts")
        if isinstance(tally, Tally) and tally.prior is not None:
            return tally
        raise no_counts_error(self)

    def recoded_counts(
        self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Model
    ) -> Any:
        """Return counts of the model ``before`` its levels changed, for its present levels."""
        recoded = []
        for table, family in zip(counts, self._families_to_count, strict=True):
            recoded.append(recode_counts(table, [recodings[v] for v in family]))
        return tuple(recoded)

    @property
    def _families_to_count(self) -> tuple[tuple[Hashable, ...], ...]:
        return ()

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        """The properties in which models must agree so that their counts can be added."""
        kinds = [getattr(kind, "__name__", type(kind).__name__) for kind in self.densities.values()]
        return {
            "type": type(self).__name__,
            "class variables": self.targets,
            "features": self.features,
            "families": self._families_to_count,
            "densities": tuple(zip(self.densities, kinds, strict=True)),
            "cut points": tuple(self.discretizer.cuts.items()),
            "preparation": self.preparation,
            "prior": getattr(self.learned.get("counts"), "prior", None),
            "class proportions": getattr(self.class_proportions, "shares", None),
        }

    def maximize(self, data: Dataset, prior: Any, em: Any) -> Self:
        """Return the structure with the tables that EM finds."""
        raise unsupported_error(self, "run EM")

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: Any
    ) -> Array:
        """Return ln P(features, class) of rows, each by the other rows' model, (rows, classes)."""
        raise TypeError(
            f"held_out must be None for {self.type_in_words}, for which 'power' is not defined."
        )

    def with_class_exchanged(self, variable: int) -> Model | None:
        """Return the joint distribution with a feature and the class exchanged, if there is one."""
        return None


class SeveralClasses(CountedModel):
    """Base of models of several class variables, whose predictions are tables."""

    one_class = False

    if TYPE_CHECKING:  # each type of model implements it

        def predict(self, newdata: Any, prob: bool, *arguments: Any, **options: Any) -> Any:
            """Return labels or posteriors, with columns for each class variable."""


def check_counted(x: Model) -> CountedModel:
    if not isinstance(x, CountedModel):
        raise no_counts_error(x)
    return x


def no_counts_error(x: Model) -> ValueError:
    """Return the error about a model whose tables do not follow from counts."""
    if how := how_tables_were_given(x):
        return ValueError(f"x must have tables that follow from counts; its tables were {how}.")
    adjusted = [name for name in x.learned if name not in ("counts", PROPORTIONS)]
    reason = "does not contain the counts behind its parameters"
    if adjusted:
        reason = f"has parameters that do not follow from counts: {listed(adjusted)}"
    return ValueError(
        f"x must have tables that follow from counts; it {reason}. Refit it to all rows, or fit a "
        f"model with such tables: {A_NETWORK}."
    )


def how_tables_were_given(x: Model) -> str:
    """Return how tables without counts were given, and what to do; empty if they were estimated."""
    adjusted = x.learned.keys() - {PROPORTIONS}
    steps = () if x.recipe is None or adjusted else (x.recipe.parameters, x.recipe.structure)
    names = [step.name for step in steps if step is not None]
    if any("with_table(" in name for name in names):
        return "given by hand in part. Call with_table last, after the other functions"
    if not {"from_tables", "read_bif"}.isdisjoint(names):
        return (
            "given by hand or read from a file. Say how many rows they are worth, with from_tables("
            f"{x.class_var!r}, {{name: cpt(x, name) for name in families(x)}}, rows=100)"
        )
    return ""


# Models that are built on another model, whose posterior they change.


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
