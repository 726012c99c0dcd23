"""Refined models: their additional terms, and the weights of these by leave-one-out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes
from ..base.immutable import EMPTY, POWER, cached_property, field_bounds, record
from ..model.model import Model, replace_unchecked, rows_from_codes_and_numbers
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from ..scores.evaluate import term_values_at
from ..scores.fading import Fading
from ..scores.formulas import ScaledNumber, Sum, Table, Term
from ..scores.rows import Rows
from .codings import Coarsening, names_of_extra_codings
from .log_linear import LogLinear
from .number_terms import NumberTerms
from .prefix_tables import PrefixTable
from .weighted import StackedModel

KNOWN_TERMS = (
    "gaussians",
    "zscores",
    "densities",
    "slopes",
    "shifts",
    "steps",
    "depths",
    "codings",
    "gaps",
)
"""The terms that can be added, in the order of `feature_weights`."""

ADDITIVE = ("densities", "slopes", "shifts", "steps", "codings", "gaps")
"""The terms that depend on one feature each: the model is a sum of effects of features."""


@record
@dataclass(frozen=True, eq=False, repr=False)
class Refined(LogLinear):
    """The model of the default recipe: weighted tables, and additional terms of single features.

    `bnc` without a prior and `BNCClassifier` return it. The log posterior is a
    sum, up to a constant:

        w₀ ln P(c) + Σ_f T_f(x, c) with T_f = Σ_l a_fl ln P_l(x_f | c, first l
        parents) + Σ_s g_fs ln p_s(x_f | c) + β_fc z_f + γ_fc(x_f)

    It does not define a joint distribution. `feature_weights` returns its
    weights, `summary` describes it, and the page :doc:`Formulas </methods>`
    explains the terms.

    Attributes
    ----------
    base : model
        The tables and their weights.
    numbers, of_numbers : tuple
        The positions of the numeric features, and their terms g and β on each
        scale.
    shifts, gaps : tuple of arrays
        The shifts γ of the levels of each feature, (levels + 1, classes), and
        of its missing values.
    intercept : (classes,) array or None
        A constant per class.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.

    Examples
    --------
    >>> from bnclassify import bnc, load_car
    >>> from bnclassify.models import Refined
    >>> isinstance(bnc(class_var="class", dataset=load_car()), Refined)
    True
    """

    bounds = field_bounds(shifts=POWER, intercept=POWER, gaps=POWER)

    base: LogLinear
    numbers: tuple[int, ...] = ()
    of_numbers: tuple[NumberTerms, ...] = ()
    shifts: tuple[Array | None, ...] = ()
    intercept: Array | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    gaps: tuple[Array | None, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        n, cards = len(self.features), [len(labels) for labels in self.known_levels]
        fits = all(0 <= i < n for i in self.numbers)
        fits &= {len(self.shifts), len(self.gaps)} <= {0, n}
        fits &= all(len(terms.scales) == len(self.numbers) for terms in self.of_numbers)
        of_classes = [terms.slopes[:1].T for terms in self.of_numbers]
        of_classes += [term.shapes for terms in self.of_numbers for term in terms.gaussians]
        of_classes += [] if self.intercept is None else [self.intercept]
        fits &= all(len(values) == cards[-1] for values in of_classes)
        for shift, card in zip(self.shifts, cards[:-1], strict=False):
            fits &= shift is None or shift.shape == (card + 1, cards[-1])
        if not fits:
            raise ValueError(
                "numbers, of_numbers and shifts must be terms of the features of base."
            )

    @property
    def model_of_tables(self) -> LogLinear:
        """The model of the tables alone."""
        return self.base

    @property
    def structure(self) -> BNC:
        return self.model_of_tables.structure

    @property
    def coarsenings(self) -> Sequence[Coarsening]:
        return self.model_of_tables.coarsenings

    @property
    def tables(self) -> Sequence[Sequence[PrefixTable]]:
        return self.model_of_tables.tables

    @property
    def members(self) -> tuple[Model, ...]:
        return self.model_of_tables.members

    def raised_to(self, power: float) -> Refined:
        of_numbers = []
        for terms in self.of_numbers:
            of_numbers.append(
                replace(terms, powers=power * terms.powers, slopes=power * terms.slopes)
            )
        return replace_unchecked(
            self,
            base=self.base.raised_to(power),
            of_numbers=tuple(of_numbers),
            shifts=tuple([None if a is None else power * a for a in self.shifts]),
            gaps=tuple([None if a is None else power * a for a in self.gaps]),
            intercept=None if self.intercept is None else power * self.intercept,
        )

    def sum_with(self, other: Refined) -> Refined:
        """Return the sum of this model and one with the same terms, and tables of equal parents."""
        terms = [a.sum_with(b) for a, b in zip(self.of_numbers, other.of_numbers, strict=True)]
        return replace_unchecked(
            other,
            base=self.base.sum_with(other.base),
            of_numbers=tuple(terms),
            shifts=_sums_or_none(self.shifts, other.shifts),
            gaps=_sums_or_none(self.gaps, other.gaps),
            intercept=_sum_or_none(self.intercept, other.intercept),
        )

    def unstacked(self) -> Refined:
        """Return the same model for long use, with the tables of each coding apart."""
        base = self.base.unstacked()
        return replace_unchecked(self, base=base, learned=base.learned)

    def learned_class_prior(self) -> Array:
        return self.model_of_tables.learned_class_prior()

    @property
    def apart(self) -> int:
        return self.model_of_tables.apart

    @property
    def network(self) -> None:
        """None, because its tables are not what it predicts by."""
        return None

    @property
    def fitted(self) -> bool:
        return True

    def rows_from_codes(self, codes: Codes, numbers: Mapping[Hashable, Any] = EMPTY) -> Rows:
        return rows_from_codes_and_numbers(self, self.numbers, codes, numbers)

    def values_at(self, rows: Rows) -> Iterator[tuple[int, Array]]:
        yield from self.base.values_at(rows)
        yield from term_values_at(self._additional_terms, rows)

    @cached_property
    def sum_of_terms(self) -> Sum:
        """The terms of complete rows: those of the base, and others."""
        more = self._additional_terms
        return replace(more, terms=(*self.base.sum_of_terms.terms, *more.terms))

    @cached_property
    def _additional_terms(self) -> Sum:
        """The terms that are added to those of the base."""
        terms, scales = list[Term](), list[ScaledNumber]()
        for of_numbers in self.of_numbers:
            terms += of_numbers.as_formula_terms(self.numbers, len(scales))
            pairs = zip(self.numbers, of_numbers.scales, strict=True)
            scales += [ScaledNumber(i, scale.knots, scale.scores) for i, scale in pairs]
        terms += [
            Table(i, (i,), shifts) for i, shifts in enumerate(self.shifts) if shifts is not None
        ]
        terms += [] if self.intercept is None else [Table(-1, (), self.intercept)]
        return Sum(tuple(terms), False, tuple(scales))

    def feature_weights(self) -> Any:
        """Return a frame of weights: a row for the class and per feature, a column per term."""
        *of_features, of_class = self.base.powers
        names = [self.class_var, *self.features]
        depth = max(map(np.size, of_features), default=1)
        powers = np.full((len(names), depth), np.nan)
        for row, power in zip(powers, [np.sum(of_class), *of_features], strict=True):
            row[: np.size(power)] = power
        columns: dict[str, Array] = {}
        for i in range(depth):
            columns["tables" if depth == 1 else f"depth {i}"] = powers[:, i]
        extra = zip(names_of_extra_codings(self), self.base.further, strict=False)
        for name, (*of_coding, _) in extra:
            columns[name] = np.array([np.nan, *map(np.sum, of_coding)])
        # of terms with a number per class or level, the square root of the mean square
        of_slopes, of_shifts, of_gaps = np.full((3, len(names)), np.nan)
        at = np.array(self.numbers, dtype=np.intp) + 1
        for terms in self.of_numbers:
            if len(terms.powers):
                columns[terms.name] = np.full(len(names), np.nan)
                columns[terms.name][at] = terms.powers
            if len(terms.slopes):
                of_slopes[at] = np.sqrt(np.square(terms.slopes).mean(axis=1))
        for i, shifts in enumerate(self.shifts):
            if shifts is not None:
                of_shifts[i + 1] = np.sqrt(np.square(shifts[:-1]).mean())
        for i, gaps in enumerate(self.gaps):
            if gaps is not None:
                of_gaps[i + 1] = np.sqrt(np.square(gaps).mean())
        for name, values in {"slopes": of_slopes, "shifts": of_shifts, "gaps": of_gaps}.items():
            if not np.isnan(values).all():
                columns[name] = values
        return pd.DataFrame(columns, pd.Index(names, tupleize_cols=False))

    def estimate(self, data: Any, prior: Any) -> Any:
        return replace_unchecked(self.base, recipe=self.recipe).estimate(data, prior)

    def learn_tables(self, data: Any, prior: Any) -> StackedModel:
        stacked: StackedModel = replace_unchecked(self.base, recipe=self.recipe).learn_tables(
            data, prior
        )
        return stacked


def _sums_or_none(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    """Return the sums of the arrays of each feature in two models, of which None is 0."""
    return tuple([_sum_or_none(*pair) for pair in zip(first, second, strict=True)])


def _sum_or_none(first: Any, second: Any) -> Any:
    """Return the sum of two arrays, of which None is 0."""
    return first if second is None else second if first is None else first + second
