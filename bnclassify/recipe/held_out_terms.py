"""The terms of a model at training rows that are held out, and the weights of these terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..base.arrays import Array, Codes, Positions
from ..base.immutable import EMPTY, cached_property
from ..model.model import replace_unchecked
from ..scores.fading import Fading
from .additional_terms import AdditionalTerms
from .conditional_likelihood import (
    PRECISION,
    LogisticProblem,
    Powers,
    fit_weights_and_ridges,
    log_odds_of_scores,
)
from .design_matrix import DesignMatrix
from .family_terms import Power
from .incomplete_rows import learn_fading
from .log_linear import LogLinear
from .prefix_counts import scope_without_class
from .prefix_tables import LeftOutRows
from .refined import ADDITIVE

RIDGE = 1.0
"""The precision of the weights of logistic regression."""

OF_REGRESSION = ("slopes", "shifts", "gaps")
"""The columns of the logistic regression that is added to the model."""

_SMALL = 2**22  # number of values up to which a copy is faster than single operations
_RIDGES = {
    "tables": PRECISION,
    "depths": 10.0,
    "codings": 10.0,
    "gaussians": 30.0,
    "zscores": 30.0,
    "densities": 30.0,
    "slopes": 10.0,
    "shifts": 10.0,
    "steps": 10.0,
    "gaps": 10.0,
}
"""The initial precision of the weights of each term in the search by evidence."""


class TermBlock(NamedTuple):
    """Terms of one type: (terms, classes − 1, rows) odds, one weight each or per class."""

    name: str
    odds: Array | None = None
    columns: DesignMatrix | None = None

    def number_of_weights(self, others: int) -> int:
        """Return the number of weights, given the number of classes less 1."""
        of_odds = 0 if self.odds is None else len(self.odds)
        of_columns = 0 if self.columns is None else self.columns.shape[1] * others
        return of_odds + of_columns


class HeldOutLogOdds(NamedTuple):
    """The odds by tables and terms at rows that are held out, (…, classes − 1, rows).

    ``by_depth`` are (depths, families, …), ``of_codings`` those in each
    discretization that is apart, of
    `StackedModel.families_in_separate_codings`, and ``of_numbers`` the odds of
    Gaussian terms on each scale, (numbers, …).
    """

    by_depth: Array
    of_codings: list[Array]
    of_numbers: list[Array]

    @classmethod
    def from_terms(
        cls, terms: AdditionalTerms, rows: Positions, left_out: LeftOutRows, depths: Sequence[int]
    ) -> HeldOutLogOdds:
        """Return the odds by tables with these numbers of parents, and Gaussians, at rows."""
        by_depth, of_codings = terms.stacked.left_out_log_odds(rows, left_out, depths)
        numbers = terms.values[:, rows]
        of_numbers = []
        for of_scale in terms.of_numbers:
            if of_scale.gaussians:
                scores = of_scale.scores(numbers)
                logs = of_scale.log_densities(numbers, scores, left_out)
                of_numbers.append(log_odds_of_scores(logs))
        return cls(by_depth, of_codings, of_numbers)

    @classmethod
    def from_folds(
        cls, folds: Sequence[HeldOutLogOdds], rows: Sequence[Positions]
    ) -> HeldOutLogOdds:
        """Return the odds of all rows from those of each fold."""
        order = np.argsort(np.concatenate(rows))
        by_depth, codings, numbers = zip(*folds, strict=True)

        def join(arrays: Sequence[Array]) -> Array:
            return np.ascontiguousarray(np.concatenate(arrays, axis=-1)[..., order])

        of_codings = list(map(join, zip(*codings, strict=True)))
        of_numbers = list(map(join, zip(*numbers, strict=True)))
        return cls(join(by_depth), of_codings, of_numbers)

    def with_scaled_rows(self, kept: Array) -> HeldOutLogOdds:
        of_codings = [array * kept for array in self.of_codings]
        of_numbers = [array * kept for array in self.of_numbers]
        return HeldOutLogOdds(self.by_depth * kept, of_codings, of_numbers)


@dataclass(frozen=True, eq=False)
class HeldOutTerms:
    """Terms of training rows, and the odds by each of them at rows that are held out.

    ``counts`` are the weights of the rows, and ``represented`` is how many
    training rows they stand for. At incomplete rows, all terms count ``kept``,
    and ``offset`` are the odds that are added to them. If it ``has_class``, the
    class is a term with a weight, the last one of the tables; if not, it is in
    the offset.
    """

    terms: AdditionalTerms
    depths: range
    rows: Positions
    counts: Array
    represented: int
    odds: HeldOutLogOdds
    fading: Fading
    kept: Array | None = None
    offset: Array | float = 0.0
    has_class: bool = True

    @classmethod
    def with_learned_fading(
        cls,
        terms: AdditionalTerms,
        depths: range,
        rows: Positions,
        counts: Array,
        n: int,
        odds: HeldOutLogOdds,
    ) -> HeldOutTerms:
        """Return the terms of incomplete rows as they count in predictions; see `Fading`."""
        data, of_tables = terms.data, odds.by_depth[0]
        additive = bool(terms.requested) and {*terms.requested} <= {*ADDITIVE}
        fading = learn_fading(data, of_tables, data.codes[-1, rows], counts, additive=additive)
        return cls(terms, depths, rows, counts, n, odds, fading)._scaled_by_fading()

    def _scaled_by_fading(self) -> HeldOutTerms:
        """Return the terms with what incomplete rows count of them."""
        if not self.terms.features_with_missing:
            return self
        *evidence, prior = self.odds.by_depth[0]
        codes, of_features = self.terms.data.codes[:-1, self.rows], np.sum(evidence, axis=0)
        kept, offset = self.fading.kept_share_and_added_scores(codes, prior.T, of_features.T)
        return replace(self, odds=self.odds.with_scaled_rows(kept), kept=kept, offset=offset.T)

    @property
    def classes(self) -> Codes:
        classes: Codes = self.terms.data.codes[-1, self.rows]
        return classes

    @property
    def log_odds_of_class(self) -> Array:
        """The odds by the class alone, as far as they count, (classes − 1, rows)."""
        prior: Array = self.odds.by_depth[0][-1]
        return prior

    def with_class_in_offset(self) -> HeldOutTerms:
        """Return the terms with the class in the offset, unless it has parents."""
        if not self.has_class or len(self.terms.stacked.structure.scopes[-1]) > 1:
            return self
        odds = self.odds._replace(by_depth=self.odds.by_depth[:, :-1])
        return replace(
            self, odds=odds, offset=self.offset + self.log_odds_of_class, has_class=False
        )

    def limited_to_depth(self, depth: int) -> HeldOutTerms:
        """Return the terms with a maximum number of feature parents."""
        by_depth, codings, numbers = self.odds
        kept = slice(depth - self.depths[0] + 1)
        odds = HeldOutLogOdds(by_depth[kept], [array[kept] for array in codings], numbers)
        return replace(self, depths=self.depths[kept], odds=odds)

    def column_blocks(self) -> list[TermBlock]:
        blocks = []
        for name, columns in self.terms.design_by_term.items():
            own = columns[self.rows]
            if self.kept is not None:
                gaps = self.fading.weight_of_shifts(self.terms.data.codes[:-1, self.rows])
                own = own.with_scaled_rows(gaps[:, 0] if name == "gaps" else self.kept)
            blocks.append(TermBlock(name, columns=own))
        return blocks

    def term_blocks(self, best: int) -> list[TermBlock]:
        """Return all terms, first the tables number ``best``."""
        by_depth, of_codings, of_numbers = self.odds
        n_features = len(self.terms.data.codes) - 1
        blocks = [TermBlock("tables", by_depth[best])]
        if "depths" in self.terms.requested:
            others = [of_depth for i, of_depth in enumerate(by_depth) if i != best]
            blocks += [TermBlock("depths", of_depth[:n_features]) for of_depth in others]
        if "codings" in self.terms.requested:
            blocks += [TermBlock("codings", of_coding[best]) for of_coding in of_codings]
        scales = [terms.name for terms in self.terms.of_numbers if terms.gaussians]
        blocks += [TermBlock(*pair) for pair in zip(scales, of_numbers, strict=True)]
        return blocks + self.column_blocks()

    def weight_problem(self, blocks: Sequence[TermBlock]) -> LogisticProblem:
        """Return the problem of the weights of blocks, first those with one weight per term."""
        shared = [block.odds for block in blocks if block.odds is not None]
        none = np.empty((0, self.terms.data.cards[-1] - 1, len(self.rows)))
        is_small = sum(array.size for array in shared) <= _SMALL
        joined = [np.concatenate(shared or [none])] if is_small else shared
        columns = [block.columns for block in blocks if block.columns is not None]
        design = _join_designs(columns) if columns else None
        return LogisticProblem(joined, self.classes, self.counts, design, self.offset)


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """The best weights of all terms, with the tables number ``best`` among depths.

    ``powers`` are those of the tables alone. ``precisions`` has one number per
    weight, and ``ridges`` one per kind of term.
    """

    held: HeldOutTerms
    best: int
    powers: Powers
    problem: LogisticProblem
    mean: Array
    precisions: Array
    weights: Array
    total: Array
    ridges: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, held: HeldOutTerms, best: int, powers: Powers, ridges: Mapping[str, float] = EMPTY
    ) -> WeightedFit:
        """Return the best weights around the powers of tables alone, and 0.

        Without ``ridges``, the precisions of the weights by kind of term, they
        maximize the evidence.
        """
        blocks = held.term_blocks(best)
        problem = held.weight_problem(blocks)
        kinds = [name for name in _RIDGES if name in {block.name for block in blocks}]
        sizes = [block.number_of_weights(problem.n_other_classes) for block in blocks]
        kind = np.repeat([kinds.index(block.name) for block in blocks], sizes)
        mean = np.concatenate([powers.single, np.zeros(problem.n_weights - len(powers.single))])
        start = [ridges.get(name, _RIDGES[name]) for name in kinds]
        weights, total, found = fit_weights_and_ridges(
            problem, mean, kind, start, search=not ridges
        )
        by_kind = dict(zip(kinds, found.tolist(), strict=True))
        return cls(held, best, powers, problem, mean, found[kind], weights, total, by_kind)

    @cached_property
    def penalty(self) -> float:
        """Half the sum of squared distances of weights from their means times their precisions."""
        return 0.5 * float(self.precisions @ (self.weights - self.mean) ** 2)

    def build_model(self) -> LogLinear:
        held, stacked = self.held, self.held.terms.stacked
        blocks, depth = held.term_blocks(self.best), held.depths[self.best]
        found = self._weights_by_kind(blocks)
        [of_tables] = found["tables"]
        powers: list[Power] = [*of_tables.tolist(), *([] if held.has_class else [1.0])]
        if "depths" in held.terms.requested:
            others = [i for i in range(len(held.depths)) if i != self.best]
            by_number = dict(zip([self.best, *others], [of_tables, *found["depths"]], strict=True))
            powers[:-1] = self._powers_by_feature(by_number)
            depth = held.depths[-1]
        further: list[tuple[Power, ...]] = []  # of all families, by coding
        pairs = zip(stacked.families_in_separate_codings, found["codings"], strict=False)
        for families, weights in pairs:
            of_coding = np.zeros(len(stacked.powers))
            of_coding[families] = weights
            further.append(tuple(of_coding.tolist()))
        base = replace_unchecked(
            stacked, powers=tuple(powers), most_parents=depth, further=tuple(further)
        )
        if not held.terms.requested:
            return replace_unchecked(base, fading=held.fading)
        with_gaussians = [terms.name for terms in held.terms.of_numbers if terms.gaussians]
        of_scales = {name: found[name][0] for name in with_gaussians}
        by_class = _weights_by_block(self.problem.column_weights_by_class(self.weights), blocks)
        return held.terms.assemble_model(base, of_scales, by_class, held.fading)

    def _weights_by_kind(self, blocks: Sequence[TermBlock]) -> dict[str, list[Array]]:
        """Return the weights of each block, by name; there may be several of depths and codings."""
        found: dict[str, list[Array]] = {"depths": [], "codings": []}
        sizes = [block.number_of_weights(self.problem.n_other_classes) for block in blocks]
        parts = np.split(self.weights, np.cumsum(sizes)[:-1])
        for block, part in zip(blocks, parts, strict=True):
            found.setdefault(block.name, []).append(part)
        return found

    def _powers_by_feature(self, by_number: Mapping[int, Array]) -> list[Power]:
        """Return the powers of each feature's tables, from those per largest number of parents."""
        result: list[Power] = []
        structure = self.held.terms.stacked.structure
        for f, scope in enumerate(structure.scopes[:-1]):
            members = scope_without_class(scope, len(structure.features))
            powers = np.zeros(min(len(members), len(by_number)))
            for number, weights in by_number.items():
                powers[min(number, len(powers) - 1)] += weights[f]
            result.append(tuple(powers.tolist()))
        return result


def _join_designs(columns: Sequence[DesignMatrix]) -> DesignMatrix:
    """Return columns side by side, in full if they are small."""
    if sum(design.shape[0] * design.shape[1] for design in columns) <= _SMALL:
        columns = [DesignMatrix(design.dense_array()) for design in columns]
    return DesignMatrix.side_by_side(columns)


def _weights_by_block(by_class: Array, blocks: Sequence[TermBlock]) -> dict[str, Array]:
    """Return the weights of the columns of each block that has some, (columns, classes)."""
    found, start = {}, 0
    for name, _, columns in blocks:
        if columns is not None:
            found[name] = by_class[start : start + columns.shape[1]]
            start = start + columns.shape[1]
    return found
