"""The base class of all models, and the checks that an argument is a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from ..dataset import Countable, Dataset, Levels, OpenedData, as_floats, codes_by_levels
from ..elimination import Density
from ..numbers import Discretizer, Preparation
from ..scores import Formula, Rows, add_to_scores, scores_at
from ..tools.arrays import Array, ArrayOf, Codes, log_normalize
from ..tools.checks import OneOf, Optional
from ..tools.immutable import EMPTY, Immutable, cached_property
from ..tools.messages import listed
from .class_prior import PROPORTIONS, ClassProportions, log_prior_ratio
from .recipes import Recipe, Step, TrainingRows

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
    def preparation(self) -> Preparation | None:
        """The steps from raw data to categories, if the model accepts raw data."""
        return None if self.recipe is None else self.recipe.preparation

    @property
    def discretizer(self) -> Discretizer | None:
        """The cut points of the columns that it discretizes itself."""
        return None if self.preparation is None else self.preparation.discretizer

    @property
    def cuts(self) -> Mapping[Hashable, tuple[float, ...]]:
        """The cut points of each column that it discretizes itself."""
        return EMPTY if self.discretizer is None else self.discretizer.cuts

    @property
    def trained_on(self) -> TrainingRows | None:
        """The rows that its parameters were estimated from, if they are known."""
        return None if self.recipe is None else self.recipe.rows

    @cached_property
    def training_ranges(self) -> Mapping[Hashable, tuple[float, float]]:
        """The smallest and the largest training value of each numeric column, as far as known.

        They include those of columns that it dropped, because no cut point was found.
        """
        own = {} if self.discretizer is None else self.discretizer.training_ranges
        return own if self.trained_on is None else {**own, **self.trained_on.ranges}

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """The variables that it predicts: the class, or several class variables."""
        return (self.class_var,)

    @property
    def variables(self) -> tuple[Hashable, ...]:
        """The features, then the targets."""
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
        short = (
            () if self.discretizer is None else self.discretizer.short_interval_labels.get(name, ())
        )
        return (*short, *self.levels_by_name[name][len(short) :])

    @property
    def levels_by_name(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The levels of each variable."""
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
        """Return the model with class proportions, or itself if none are given."""
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
        """Return P(class), (classes,), which is given or learned."""
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
    """Return the error about a model that cannot do something."""
    return TypeError(f"x must be a model that can {action}; got {x.type_in_words}.")


def replace_unchecked(x: M, **changes: Any) -> M:
    """Return a model with some of its fields changed, without repeating its checks."""
    copy = object.__new__(type(x))
    copy.__dict__.update({name: x.__dict__[name] for name in x.__dataclass_fields__} | changes)
    copy._freeze(**changes)
    return copy
