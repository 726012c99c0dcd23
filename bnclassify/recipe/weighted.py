"""Networks whose log tables are multiplied by powers, or averaged over several discretizations.

They provide posteriors, but do not define a joint distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.arrays import Array, Codes, Positions, RowsWithNumbers, log, log_sum_exp
from ..base.immutable import POWER, bounded, cached_property, record
from ..base.messages import listed
from ..counts.contingency import MAX_CELLS
from ..frames.schema import Dataset
from ..model.derived import BuiltOn
from ..model.formulas import Blend, Formula, Scale, Sum, Table
from ..model.model import Model, in_sequence, renewed
from ..model.recipes import A_NETWORK, Recipe
from ..network.classifiers import BNC
from ..network.elimination import BLOCK_ROWS, network_joint
from ..network.factors import Factor
from ..numbers.discretization import MovedCuts
from .counts import without_class
from .incomplete import Fading, evidence_in_trees, make_tree, some
from .prior import concentrations_of
from .stacked import Coarsening, Group, learn_groups
from .tables import LeftOut, PrefixTable, class_probabilities
from .terms import Power, Term, by_depth, make_fine_terms, make_terms


class LogLinear(BuiltOn):
    """A network whose log tables are multiplied by powers, and averaged over one or more networks.

    P(c | x) ∝ P(c)^w₀ Π_i exp(w_i mean_s ln P_s(x_i | parents of i, c))
    """

    default_steps = "weights"

    called = "a model with weights"

    if TYPE_CHECKING:

        @property
        def structure(self) -> BNC:
            """The network without tables."""

        @property
        def coarsenings(self) -> Sequence[Coarsening]:
            """The discretizations that are averaged; empty for the levels of the structure alone."""

        @property
        def tables(self) -> Sequence[Sequence[PrefixTable]]:
            """The table of each family, the class last, in each discretization."""

        @property
        def powers(self) -> tuple[Power, ...]:
            """The powers of the terms of each feature, then of the class."""

        @property
        def apart(self) -> int:
            """Number of the last discretizations that do not belong to the average."""

        @property
        def further(self) -> tuple[tuple[Power, ...], ...]:
            """The powers, like `powers`, of each discretization that is ``apart``, or none."""

        fading: Fading | None
        """The rule for incomplete rows; None if missing features are ignored."""

        def _stacked(self, data: Dataset, prior: Any) -> Stacked:
            """Return the structure with the tables of all prefixes of the families, with all powers 1."""

        def _logs(self, codes: Codes) -> Iterator[tuple[int, Array]]:
            """Yield the number of a family and the value of one of its terms at rows, (rows, classes)."""

    splits_tables = True

    @property
    def of_tables(self) -> LogLinear:
        """The model of the tables alone."""
        return self

    def facts(self) -> dict[str, Any]:
        """Return the facts of the model, including that it is a sum if no feature has a feature parent."""
        is_sum = self.fitted and all(len(scope) < 2 for scope in self.term_scopes())
        return super().facts() | ({"form": "sum of one effect per feature"} if is_sum else {})

    @property
    def no_joint(self) -> str:
        """The reason why it has no joint distribution, and the remedy."""
        return (
            f"{self.called} provides P(class | features), but does not define a joint distribution. Use "
            f"predict, explain, cloglik or cv, or fit a network, which defines one: {A_NETWORK}."
        )

    @property
    def missing_rule(self) -> str:
        """The treatment of missing values in prediction, in words."""
        if self.fading is None or not self.fading.usual.any():
            return "ignored, unless they were missing in training" if self.fading is not None else "ignored"
        return "weighed: the fewer features a row shows, the more as naive Bayes"

    @property
    def weighs_missing(self) -> bool:  # type: ignore[override]
        return any(gap is not None for gap in self.gaps)

    @property
    def basis(self) -> BNC:
        """The network without tables."""
        return self.structure

    @property
    def depth(self) -> int:
        """The largest number of feature parents in a family."""
        return self.structure.depth

    def log_joint(self, codes: Codes) -> Array:
        """Return scores with the log odds of the posteriors, (rows, classes)."""
        return self._blended(self.unadjusted(codes), codes, self._evidence, None)

    def score_and_offset(self, codes: Codes) -> tuple[Array, Array]:
        """Return what a power of the model raises of its scores, and the rest, (rows, classes)."""
        known = codes[: len(self.features)]
        score, offset = self.unadjusted(codes), np.zeros((codes.shape[1], len(self.known_levels[-1])))
        rows = np.nonzero(known.min(axis=0, initial=0) < 0)[0]
        if self.fading is not None and len(rows):
            known, prior = known[:, rows], log(self.class_prior())
            kept, offset[rows] = self.fading.at(known, prior, self._alone.unadjusted(known))
            score[rows] = kept[:, None] * score[rows] + self._of_gaps(known)
        return score, offset

    def _blended(
        self, logs: Array, codes: Codes, evidence: Callable[[Codes], Array], order: Sequence[int] | None
    ) -> Array:
        """Blend logs of incomplete rows, (…, rows, classes), with the evidence, and add the shifts of gaps.

        With an order, the logs are those of the first 0, 1, … features in it.
        """
        known = codes[: len(self.features)]
        rows = np.nonzero(known.min(axis=0, initial=0) < 0)[0]
        if self.fading is not None and len(rows):
            known = known[:, rows]
            kept, added = self.fading.at(known, log(self.class_prior()), evidence(known))
            logs[..., rows, :] = kept[:, None] * logs[..., rows, :] + added
            if order is None:
                logs[rows] += self._of_gaps(known)
            else:
                logs[1:, rows] += np.cumsum([self._of_gaps(known, {i}) for i in order], axis=0)
        return logs

    def _evidence(self, codes: Codes) -> Array:
        """Return ln P(observed features | class), (rows, classes), by trees or, without arcs, by tables."""
        return self._alone.unadjusted(codes) if not self.depth else evidence_in_trees(self.trees, codes)

    @cached_property
    def _alone(self) -> Any:
        """The tables of the features without feature parents, averaged, with powers of 1."""
        return renewed(self.of_tables, powers=((1.0,),) * len(self.features) + ((0.0,),), further=())

    def _of_gaps(self, codes: Codes, among: Collection[int] | None = None) -> Array:
        """Return the sums of the shifts of missing values, (rows, classes), of all or some features."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for i, shift in enumerate(self.gaps):
            if shift is not None and (among is None or i in among):
                total[codes[i] < 0] += shift
        return total

    @property
    def gaps(self) -> tuple[Array | None, ...]:
        """The shift of a missing value of each feature, (classes,), or None."""
        return (None,) * len(self.features)

    @cached_property
    def trees(self) -> list[tuple[tuple[Factor, ...], Any]]:
        """The trees of some of the networks, each with the function that codes rows for it, or None."""
        averaged = self.tables[: len(self.tables) - self.apart]
        return [(make_tree(self._in_coding(i), averaged[i]), self._coding(i)) for i in some(averaged)]

    def value_logs(self, codes: Codes, features: Positions) -> Array:
        """Average the trees; in each, the intervals that it joins have equal probabilities."""
        joints, rows = [], np.arange(len(features))
        for factors, coding in self.trees:
            coded = codes if coding is None else coding(codes)
            values = np.stack([features, coded[features, rows]])
            _, place, joined = np.unique(values, axis=1, return_inverse=True, return_counts=True)
            joints.append(network_joint(factors, coded) - np.log(joined[place])[:, None])
        return log_sum_exp(np.stack(joints), axis=0)

    def _coding(self, number: int) -> Any:
        """Return the function that codes rows in a discretization, or None."""
        return self.coarsenings[number] if self.coarsenings else None

    def _in_coding(self, number: int) -> BNC:
        """Return the structure with the levels of a discretization."""
        if not self.coarsenings:
            return self.structure
        return replace(self.structure, levels=(*self.coarsenings[number].levels, self.known_levels[-1]))

    def unadjusted(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), which is not a joint distribution, but has its log odds."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for _, logs in self._logs(codes[:, block]):
                total[block] += logs
        return total

    def _further(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        """Yield the number of a family and the value of one of its additional terms."""
        return iter(())

    def _scopes(self) -> Iterator[tuple[int, ...]]:
        """Yield the features on which each of the additional terms depends, in their order."""
        return iter(())

    def marginal_tables(self) -> tuple[Array, ...]:
        """Return the log tables without feature parents, raised to the powers of those with parents."""
        shape = len(self.known_levels[-1])
        tables = [np.zeros((len(labels) + 1, shape)) for labels in self.known_levels[:-1]]
        for family, position, term in make_terms(self):
            if family < len(tables):
                codes, coding = np.arange(len(tables[family]) - 1), self._coding(position)
                places = None if coding is None else coding.maps[family]
                tables[family][:-1] += term.alone(codes if places is None else places[codes])
        return tuple(tables)

    def term_scopes(self) -> list[tuple[int, ...]]:
        return [*self.structure.term_scopes(), *self._scopes()]

    def effects_at(self, codes: Codes) -> Iterator[tuple[int, tuple[int, ...], Array]]:
        yield from super().effects_at(codes)
        for (owner, logs), scope in zip(self._further(codes), self._scopes(), strict=True):
            if scope:
                yield owner, scope, logs

    def formula(self) -> Formula:
        formula: Formula = Sum(*self._described())
        if self.fading is None:
            return formula
        gaps = tuple(
            [
                Table(
                    i, (i,), np.concatenate([np.zeros((len(self.known_levels[i]), len(shift))), shift[None]])
                )
                for i, shift in enumerate(self.gaps)
                if shift is not None
            ]
        )
        prior, fading = log(self.class_prior()), self.fading
        if not fading.usual.any():  # a sum, also of incomplete rows
            terms, marginalizes, scales = self._described()
            return Sum((*terms, *gaps), marginalizes, scales)
        trees = self._described_trees() if self.depth else (Sum(*self._alone._described()),)
        return Blend(formula, prior, trees, fading.usual, fading.power, gaps, fading.exponent)

    def value_formulas(self) -> tuple[Formula, ...] | None:
        return self._described_trees() if self.fading is None or not self.depth else None

    def _described_trees(self) -> tuple[Sum, ...]:
        """Return the trees as sums of tables."""
        trees, nothing = [], np.full((len(self.features), 1), -1)
        for factors, coding in self.trees:
            codings = () if coding is None else coding.maps
            *tables, of_class = [f.described(i, codings) for i, f in enumerate(factors)]
            # Given the class: the log joint minus the log joint of an empty row.
            of_class = replace(of_class, owner=-1, logs=of_class.logs - network_joint(factors, nothing)[0])
            trees.append(Sum((*tables, of_class), marginalizes=True))
        return tuple(trees)

    def _described(self) -> tuple[tuple[Any, ...], bool, tuple[Scale, ...]]:
        """Return the terms, without marginalization, and their scales."""
        families: dict[int, list[tuple[int, Term]]] = {}
        for family, position, term in make_terms(self):
            families.setdefault(family, []).append((position, term))
        self._check_size([[term for _, term in found] for found in families.values()])
        described = (
            self._joined([self._describe_term(family, *pair) for pair in found])
            for family, found in families.items()
        )
        return tuple([table for tables in described for table in tables]), False, ()

    def _check_size(self, families: Sequence[Sequence[Term]]) -> None:
        """Raise a ValueError if the terms of families have too many cells, also if `_joined` joins them."""
        n_classes, sizes = len(self.known_levels[-1]), []
        for terms in families:
            fine = prod([len(self.known_levels[i]) + 1 for i in terms[0].features])
            sizes.append(
                n_classes * min(fine, sum(prod([card + 1 for card in term.table.cards]) for term in terms))
            )
        if sum(sizes) > MAX_CELLS // 2**5:
            largest = families[int(np.argmax(sizes))][0]
            raise ValueError(
                f"x must have tables of at most {MAX_CELLS // 2**5:,} cells to be written out; got "
                f"{sum(sizes):,}, of which {max(sizes):,} are for "
                f"{listed([self.features[i] for i in largest.features])}. Use fewer parents, for example "
                "with dag_args={'kdbk': 1}, fewer levels (min_count=), or a single "
                "discretization such as discretize='mdlp'."
            )

    def _describe_term(self, family: int, position: int, term: Term) -> Table:
        """Return a term as a table of all values of its features, in a discretization."""
        owner = family if family < len(self.features) else -1
        cards = tuple([card + 1 for card in (term.table.cards[1:] if owner < 0 else term.table.cards)])
        grid = np.indices(cards).reshape(len(cards), prod(cards))
        grid[grid == np.array(cards, dtype=int)[:, None] - 1] = -1
        logs = term.logs(dict(zip(term.features, grid, strict=True)))
        coding = self._coding(position)
        codings = () if coding is None else tuple([coding.maps[i] for i in term.features])
        return Table(owner, term.features, logs.reshape(*cards, logs.shape[-1]), codings)

    def _joined(self, tables: list[Table]) -> list[Table]:
        """Return the tables of a family as a single one if it has fewer cells."""
        owner, scope = tables[0].owner, tables[0].scope
        cards = tuple([len(self.known_levels[i]) + 1 for i in scope])
        if len(tables) == 1 or prod(cards) > sum(prod(table.logs.shape[:-1]) for table in tables):
            return tables
        joined = np.zeros((*cards, len(self.known_levels[-1])))
        for table in tables:
            pairs = zip(table.codings, cards, strict=True)
            places = [np.append(np.arange(r - 1), -1) if c is None else c for c, r in pairs]
            joined += table.logs[np.ix_(*places)]
        return [Table(owner, scope, joined)]

    def _contributions(self, codes: Codes) -> Array:
        """Return contributions, (features + 1, rows, classes)."""
        total = np.zeros((len(self.features) + 1, codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for family, logs in self._logs(codes[:, block]):
                total[family, block] += logs
        return total

    def log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        """Add up contributions, unless the class term depends on features."""
        if self.parents[self.class_var] and not isinstance(codes, RowsWithNumbers):
            logs = in_sequence(self.unadjusted, codes, order)
        else:
            logs = np.cumsum(self._contributions(codes)[[-1, *order]], axis=0)
        return self._blended(logs, codes, partial(in_sequence, self._evidence, order=order), order)

    def _raised(self, power: float) -> Self:
        """Return the model with the power multiplied into its weights."""
        further = tuple([raised(powers, power) for powers in self.further])
        return renewed(self, powers=raised(self.powers, power), further=further)

    def feature_weights(self) -> Any:
        *of_features, of_class = map(np.sum, self.powers)
        return dict(zip([self.class_var, *self.features], [of_class, *of_features], strict=True))

    def class_prior(self) -> Array:
        """Return the smoothed shares of the classes in training, regardless of the power of the class."""
        table = self.tables[0][-1]
        parents = [np.zeros(1, dtype=np.intp)] * (len(table.cards) - 1)
        return next(class_probabilities(table, parents, 1)).ravel()


@record
@dataclass(frozen=True, eq=False, repr=False)
class Weighted(LogLinear):
    """A network whose log tables are multiplied by powers, and averaged over its discretizations.

    Without ``coarsenings``, there is one table per family: P(c | x) ∝ P(c)^w₀ Π_i P(x_i | parents, c)^w_i. If
    not, the levels of ``structure`` are the intervals between the cut points of all discretizations.
    ``tables`` are empty until `lp` estimates them. A missing feature is ignored, and a family with a missing
    parent backs off to the previous parents, unless ``fading`` is given. The last discretizations, ``apart``
    in number, do not belong to the average, but may have powers of their own, ``further``.
    """

    bounds = bounded(powers=POWER, further=POWER)

    structure: BNC
    coarsenings: tuple[Coarsening, ...] = ()
    tables: tuple[tuple[PrefixTable, ...], ...] = ()
    powers: tuple[Power, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    apart: int = 0
    further: tuple[tuple[Power, ...], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        codings = len(self.coarsenings) or 1
        fits = all(len(coarsen.maps) == len(self.features) for coarsen in self.coarsenings)
        fits &= len(self.tables) in (0, codings) and len(self.further) in (0, self.apart)
        fits &= 0 <= self.apart < codings
        for i, tables in enumerate(self.tables if fits else ()):
            cards, scopes = self._in_coding(i).cards, self.structure.scopes
            expected = [tuple([cards[v] for v in scope]) for scope in scopes]
            fits &= expected == [(*t.cards, cards[-1]) if t.root else t.cards for t in tables]
            lengths = [len(by_depth(p, len(t.cards))) for p, t in zip(self.powers, tables, strict=False)]
            fits &= lengths == [len(table.cards) for table in tables]
        if not fits:
            raise ValueError(
                "tables must have one table, and one power, per family, of the size of its levels in each of "
                "the coarsenings, which must have one map per feature."
            )

    @property
    def called(self) -> str:  # type: ignore[override]
        """What messages call the model."""
        return "a model that averages over discretizations" if self.coarsenings else LogLinear.called

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return bool(self.tables)

    @cached_property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization, which its recipe applies to raw data."""
        return tuple(map(self._member, range(len(self.coarsenings)))) or (self,)

    def _member(self, number: int) -> Model:
        recipe, preparation = self.recipe, self.preparation
        if recipe is not None and preparation is not None and isinstance(preparation.discretizer, MovedCuts):
            coarse = replace(preparation, discretizer=preparation.discretizer.at_times[number])
            recipe = replace(recipe, preparation=coarse)
        structure = replace(self._in_coding(number), recipe=recipe)
        if not self.tables:
            return structure
        tables = self.tables[number]
        return Weighted(structure, (), (tables,), self.powers, recipe, concentrations_of(tables))

    @cached_property
    def network(self) -> BNC | None:
        """The network with its tables, without the powers, if there is a single one."""
        if self.coarsenings:
            return None
        families = zip(self.tables[0], self.structure.families, strict=True)
        return replace(self.structure, cpts=tuple([table.conditional(family) for table, family in families]))

    @cached_property
    def _terms(self) -> Any:
        """The tables of sums over discretizations, and the terms for which they would be large."""
        return make_fine_terms(self) if self.coarsenings else ([], make_terms(self))

    def _logs(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        tables, others = self._terms
        for family, features, cards, logs in tables:
            cells = np.zeros(codes.shape[1], dtype=np.intp)
            for i, card in zip(features, cards, strict=True):
                cells *= card
                cells += codes[i]
                cells += 1
            yield family, logs.take(cells, axis=0)
        views = recode(codes[: len(self.features)], self.coarsenings) if others else codes[None]
        for family, view, term in others:
            yield family, term.logs(views[view])

    def unweighted(self) -> Model:
        """Return the network without powers; with several discretizations, whose powers are 1, the model."""
        if self.network is None:
            return self
        return replace(self.network, recipe=self.recipe, learned=self.learned)

    def estimate(self, data: Any, prior: Any) -> Any:
        """Return the structure with tables, without powers."""
        if not self.coarsenings:
            return replace(self.structure, recipe=self.recipe).estimate(data, prior)
        return self._stacked(data, prior).split()

    def _stacked(self, data: Dataset, prior: Any) -> Stacked:
        """Return the structure with the tables of all prefixes of the families in each discretization."""
        return Stacked.learn(self, data, prior)


@dataclass(frozen=True, eq=False, repr=False)
class Stacked(LogLinear):
    """A network whose tables, in all codings of the rows, are together, as they were learned.

    ``origin`` is the model that `split` gives the tables. ``codes`` are those of the training rows, (codings,
    variables, rows). The tables have at most ``most_parents`` feature parents.
    """

    origin: Weighted
    codes: Codes
    groups: Sequence[Group]
    powers: tuple[Power, ...]
    most_parents: int
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None
    further: tuple[tuple[Power, ...], ...] = ()

    @classmethod
    def learn(cls, x: Weighted, data: Dataset, prior: Any) -> Stacked:
        """Count the families in codings of the same rows, and learn their tables; all powers are 1."""
        structure = replace(x.structure, levels=data.levels, cpts=None, learned={})
        origin = renewed(x, structure=structure, tables=(), powers=(), learned={}, fading=None)
        coded = recode(data.codes[:-1], x.coarsenings)
        codes = np.concatenate([coded, np.broadcast_to(data.codes[-1], (len(coded), 1, len(data)))], axis=1)
        cards = np.array([origin._in_coding(i).cards for i in range(len(codes))])
        varies = x.coarsenings[0].changes if x.coarsenings else lambda scope: False
        groups = learn_groups(structure.scopes, cards, codes, data, prior, varies)
        return cls(origin, codes, groups, (1.0,) * len(structure.scopes), structure.depth, x.recipe)

    @cached_property
    def structure(self) -> BNC:
        """The network without tables."""
        return shortened(self.origin.structure, self.most_parents)

    @property
    def coarsenings(self) -> tuple[Coarsening, ...]:
        """The discretizations that are averaged."""
        return self.origin.coarsenings

    @cached_property
    def tables(self) -> tuple[tuple[PrefixTable, ...], ...]:
        """The table of each family in each coding."""
        found = dict(pair for group in self.groups for pair in group.tables(self.most_parents))
        families = [found[family] for family in range(len(found))]
        return tuple([tuple([each[i % len(each)] for each in families]) for i in range(len(self.codes))])

    @property
    def apart(self) -> int:
        """Number of the last discretizations that do not belong to the average."""
        return self.origin.apart

    def class_prior(self) -> Array:
        """Return the smoothed shares of the classes in training."""
        *_, stack = [group.stack for group in self.groups if group.families[0] == len(self.features)]
        parents = [np.zeros(1, dtype=np.intp)] * (stack.cards.shape[1] - 1)
        return next(class_probabilities(stack, parents, 1)).ravel()

    def split(self) -> Weighted:
        """Return the same model for long use, with the tables of each coding apart."""
        learned = {} if self.coarsenings else concentrations_of(self.tables[0])
        return replace(
            self.origin,
            structure=self.structure,
            tables=self.tables,
            powers=self.powers,
            learned=learned,
            fading=self.fading,
            further=self.further,
        )

    def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        coded = recode(codes[: len(self.features)], self.coarsenings)
        for group in self.groups:
            n = min(1 + self.most_parents, group.stack.cards.shape[1])
            of_groups = (self.powers, *self.further) if group.codings > 1 else (self.powers,)
            powers = np.array([[by_depth(p[f], n) for f in group.families] for p in of_groups])
            if not powers.any():
                continue
            logs = group.logs(coded, left_out, further=self.apart)
            terms = [
                (power[..., None, None] * each[: len(power)]).sum(axis=0)
                for power, each in zip(powers.transpose(2, 0, 1), logs, strict=False)
                if power.any()
            ]
            yield from zip(group.families, sum(terms), strict=True)

    def plus(self, other: Stacked) -> Stacked:
        """Return the sum of this model and of one with the same tables and at least as many parents."""
        powers = added(self._by_depth(self.powers), other._by_depth(other.powers))
        further = [x._by_depth(powers) for x in (self, other) for powers in x.further]
        if self.further and other.further:
            n = len(self.further)
            further = [added(a, b) for a, b in zip(further[:n], further[n:], strict=True)]
        return renewed(other, powers=powers, further=tuple(further))

    def _by_depth(self, powers: Sequence[Power]) -> tuple[Power, ...]:
        """Return powers with one number for each number of feature parents."""
        class_number = len(self.features)
        sizes = [len(without_class(scope, class_number)) for scope in self.structure.scopes[:-1]]
        sizes.append(len(self.structure.scopes[-1]))
        return tuple([tuple(by_depth(p, n).tolist()) for p, n in zip(powers, sizes, strict=True)])

    def left_out(self, codes: Codes, left_out: LeftOut) -> Array:
        """Return the sums of terms at training rows, (rows, classes), each without the row."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for _, logs in self._logs(codes[:, block], left_out.take(block)):
                total[block] += logs
        return total


def recode(codes: Codes, coarsenings: Sequence[Coarsening]) -> Codes:
    """Return the codes of features in each coding, (codings, features, rows)."""
    if not coarsenings:
        return codes[None]
    result = np.empty((len(coarsenings), *codes.shape), codes.dtype)
    for row, coarsen in zip(result, coarsenings, strict=True):
        row[:] = coarsen(codes)
    return result


def added(first: Sequence[Any], second: Sequence[Any]) -> tuple[Power, ...]:
    """Return the sums of powers by number of feature parents, of which one model can have fewer."""
    sums = []
    for a, b in zip(first, second, strict=True):
        padded = [(*p, *[0.0] * (max(len(a), len(b)) - len(p))) for p in (a, b)]
        sums.append(tuple([x + y for x, y in zip(*padded, strict=True)]))
    return tuple(sums)


def raised(powers: Sequence[Power], by: float) -> tuple[Power, ...]:
    """Return powers times a number."""
    return tuple([tuple([by * w for w in p]) if isinstance(p, tuple) else by * p for p in powers])


def shortened(x: BNC, parents: int) -> BNC:
    """Return a structure with the first feature parents of each family, at most ``depth``."""
    families = []
    for variable, *ps in x.families:
        class_parent = ps[-1:] if ps[-1:] == [x.class_var] else []
        families.append((variable, *ps[: len(ps) - len(class_parent)][:parents], *class_parent))
    return replace(x, families=tuple(families), cpts=None)


def with_at_most(x: Model, parents: int) -> Any:
    """Return a structure without tables, with at most this number of feature parents per family."""
    network: Any = x.graph
    short = shortened(network, parents)
    averages = isinstance(x, Weighted) and x.coarsenings
    return renewed(x, structure=short) if averages else renewed(short, recipe=x.recipe)
