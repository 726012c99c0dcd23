"""Ensembles: models whose joint distribution is the mean over their members."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np

from ..dataset import Countable, Dataset
from ..elimination import draw_column_per_row, fill_in_by_enumeration
from ..model.counted import CountedModel, check_counted
from ..model.derived import forward_to_basis
from ..model.model import MISSING_RULE, Model, replace_unchecked
from ..model.recipes import Recipe, Step, TrainingRows
from ..scores import Formula, Mixture, Rows, scores_at
from ..tools.arrays import Array, Codes, Mask, Positions, log, log_sum_exp
from ..tools.immutable import cached_property, record
from ..tools.messages import listed
from .priors import Prior

ArcShares = dict[tuple[Hashable, Hashable], float]


class Average(CountedModel):
    """Base of models that average the joint distributions of their members."""

    is_average = True

    @property
    def log_weights(self) -> Array:
        """The logs of the weights of the members, which sum to 1; equal by default."""
        return log(np.full(len(self.members), 1 / len(self.members)))

    @cached_property
    def formula(self) -> Formula:
        """The mean of the joint distributions."""
        return self.mixture_of_members()

    def mixture_of_members(self) -> Mixture:
        """Return the mean of the joint distributions of the members."""
        return Mixture(tuple([member.score for member in self.members]), self.log_weights)

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        if self.class_shift.any():
            nothing = np.full((len(self.variables), n), -1, dtype=np.intp)
            return self.fill_in_codes(Rows(nothing[:-1]), nothing[-1], rng)
        picks = rng.choice(len(self.members), size=n, p=np.exp(self.log_weights))
        return self._codes_drawn_by_member(picks, lambda member, rows: member.draw(len(rows), rng))

    def _codes_drawn_by_member(
        self, picks: Positions, draw: Callable[[Model, Positions], Codes]
    ) -> Codes:
        """Return (variables, rows) codes, each row drawn by the member that is picked for it."""
        codes = np.empty((len(self.variables), len(picks)), dtype=np.intp)
        for i, member in enumerate(self.members):
            rows = np.flatnonzero(picks == i)
            if len(rows):
                codes[:, rows] = draw(member, rows)
        return codes

    def fill_in_codes(
        self, rows: Rows, labels: Codes, rng: np.random.Generator | None = None, *, burn_in: int = 0
    ) -> Codes:
        if rng is None:
            cards = [len(known) for known in self.levels or ()]
            codes = np.vstack([rows.codes, labels])
            return fill_in_by_enumeration(
                lambda found: scores_at(self.score, Rows(found)), cards, codes
            )
        if self.class_shift.any():  # features given the class do not depend on its proportions
            drawn = draw_column_per_row(scores_at(self.score, rows), rng)
            labels = np.where(labels < 0, drawn, labels)
        # ln P(row, class | member), (rows, members, classes), of the class of each row if known
        logs = np.stack([scores_at(member.score, rows) for member in self.members], axis=1)
        possible: Mask = (labels[:, None] == np.arange(logs.shape[-1])) | (labels[:, None] < 0)
        of_members = log_sum_exp(np.where(possible[:, None], logs, -np.inf)) + self.log_weights
        picks = draw_column_per_row(of_members, rng)
        return self._codes_drawn_by_member(
            picks, lambda member, at: member.fill_in_codes(rows.subset(at), labels[at], rng)
        )

    def arc_shares(self) -> ArcShares:
        return mean_arc_shares(self.members, np.exp(self.log_weights).tolist())

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: Any
    ) -> Array:
        logs = np.stack(
            [check_counted(m).log_joint_left_out(data, prior, rows, left_out) for m in self.members]
        )
        return log_sum_exp(logs + self.log_weights[:, None, None], axis=0)


def mean_arc_shares(members: Sequence[Model], weights: Sequence[float]) -> ArcShares:
    """Average the shares of arcs over members exactly."""
    mean: ArcShares = {}
    for member, weight in zip(members, weights, strict=True):
        for arc, share in member.arc_shares().items():
            mean[arc] = mean.get(arc, 0.0) + weight * share
    return {arc: round(share, 9) for arc, share in mean.items()}


@record
@forward_to_basis("class_var", "features", "levels", "fitted")
@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Average):
    """An average of models: P(row, class) is the weighted mean of members.

    Attributes
    ----------
    members : tuple of models
        Networks or ensembles over the same features in the same order, with the
        same levels.
    weights : tuple of float, or None
        A positive weight per member, which need not sum to 1; None for equal
        weights.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Results of learning, by name.

    Examples
    --------
    >>> from bnclassify import Ensemble, load_car, lp, nb, predict, tan_cl
    >>> car = load_car()
    >>> both = Ensemble((nb("class", car), tan_cl("class", car)))
    >>> predict(lp(both, car, smooth=1), car.tail(1), prob=True).round(2)
    class  unacc   acc  good  vgood
    1727    0.11  0.17  0.14   0.58
    """

    members: tuple[Model, ...]
    weights: tuple[float, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        _check_members(self.members)
        if self.weights is not None:
            object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
            positive = all(isfinite(weight) and weight > 0 for weight in self.weights)
            if len(self.weights) != len(self.members) or not positive:
                raise ValueError(
                    "weights must be a positive number for each of the members; got "
                    f"{listed(self.weights)}."
                )
        if self.recipe is None and all(member.recipe for member in self.members):
            object.__setattr__(self, "recipe", _recipe_of_ensemble(self))
        super().__post_init__()

    @property
    def basis(self) -> Model:
        """The first member, which has the class, features and levels of all members."""
        return self.members[0]

    def facts(self) -> dict[str, object]:
        rule = self.basis.facts().get(MISSING_RULE)
        return super().facts() | ({} if rule is None else {MISSING_RULE: rule})

    @property
    def no_joint(self) -> str:
        """The reason why it has no joint distribution, if a member has none."""
        return next((member.no_joint for member in self.members if member.no_joint), "")

    @property
    def trained_on(self) -> TrainingRows | None:
        return super().trained_on or self.members[0].trained_on

    @cached_property
    def log_weights(self) -> Array:
        """The logs of the weights, which sum to 1."""
        weights = np.asarray(self.weights or [1.0] * len(self.members))
        return log(weights / float(weights.sum()))

    def estimate(self, data: Countable, prior: Prior) -> Ensemble:
        members = [member.estimate(data, prior) for member in self.members]
        return replace(self, members=tuple(members))

    def map_counted_parts(self, function: Callable[..., Model], *others: Model) -> Ensemble:
        alike: Iterable[tuple[Model, ...]] = zip(*[x.members for x in (self, *others)], strict=True)
        members = [member.map_counted_parts(function, *rest) for member, *rest in alike]
        return replace(self, members=tuple(members))

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {
            **super().properties_to_agree,
            "number of members": len(self.members),
            "weights": self.weights,
        }

    def maximize(self, data: Dataset, prior: Any, em: Any) -> Ensemble:
        members = [check_counted(member).maximize(data, prior, em) for member in self.members]
        return replace(self, members=tuple(members))

    def with_class_exchanged(self, variable: int) -> Ensemble | None:
        members = [check_counted(member).with_class_exchanged(variable) for member in self.members]
        if None in members or self.class_shift.any():
            return None
        return replace_unchecked(self, members=tuple(members))


def _recipe_of_ensemble(x: Ensemble) -> Recipe:
    """Return the recipe of an ensemble whose members were learned one by one."""
    recipes = tuple([member.recipe for member in x.members])
    columns = [recipe.columns for recipe in recipes if recipe is not None]
    features = None if None in columns else tuple(x.features)
    settings = {"recipes": recipes, "weights": x.weights}
    structure = Step("Ensemble", learn_members, settings, draws=True)
    parameters = (
        Step("each member", refit_members, {"recipes": recipes}, draws=True) if x.fitted else None
    )
    seen = next((recipe.seen for recipe in recipes if recipe is not None and recipe.seen), None)
    return Recipe(x.class_var, structure, features, parameters, seen=seen)


@record
def learn_members(
    class_var: Hashable,
    data: Dataset,
    *,
    recipes: tuple[Recipe, ...],
    weights: tuple[float, ...] | None,
    rng: np.random.Generator | None = None,
) -> Ensemble:
    """Learn each member by its own recipe."""
    return Ensemble(tuple([recipe.fit(data, rng) for recipe in recipes]), weights)


@record
def refit_members(
    x: Ensemble,
    data: Dataset,
    *,
    recipes: tuple[Recipe, ...],
    rng: np.random.Generator | None = None,
) -> Ensemble:
    """Learn the parameters of each member by its own recipe."""
    members = [
        recipe.refit(member, data, rng) for recipe, member in zip(recipes, x.members, strict=True)
    ]
    return Ensemble(tuple(members), x.weights)


def _check_members(members: tuple[Model, ...]) -> None:
    """Raise unless members are models that can be averaged."""
    strange = [type(member).__name__ for member in members if not isinstance(member, Model)]
    if strange:
        raise TypeError(f"members must be models; got {listed(strange)}.")
    if not members:
        raise ValueError("members must contain at least one model; got none.")
    first = members[0]
    for i, member in enumerate(members):
        if member.preparation is not None or member.numeric_features:
            raise ValueError(
                f"members must be models of categories; member {i} accepts numbers or raw data. "
                "Use discretize and merge_rare once, and learn the members from the result."
            )
    for i, member in enumerate(members):
        for name in ("class_var", "features", "levels", "fitted"):
            if getattr(member, name) != getattr(first, name):
                raise ValueError(
                    f"members must have the same {name}; member {i} differs from the first. "
                    "Learn all of them from the same data."
                )
