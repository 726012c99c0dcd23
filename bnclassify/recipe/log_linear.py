"""Networks whose log tables are multiplied by powers, or averaged over several discretizations.

They provide posteriors, but do not define a joint distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..base.arrays import Array, Codes, Mask, Positions, RowsWithNumbers, in_sequence, log, log_sum_exp
from ..base.immutable import cached_property
from ..base.messages import listed
from ..counts.contingency import MAX_CELLS
from ..frames.dataset import Dataset
from ..model.derived import BuiltOn
from ..model.model import Model, renewed
from ..model.recipes import NO_JOINT
from ..network.classifiers import BNC
from ..scores.elimination import BLOCK_ROWS, network_joint
from ..scores.factors import Factor
from ..scores.formulas import Blend, Formula, ScaledNumber, Sum, Table
from .codings import Coarsening
from .incomplete import Fading, evidence_in_trees, make_tree, some
from .tables import PrefixTable, class_probabilities
from .terms import FineTable, Power, RaisedTable, by_depth

_MOST_CELLS = 2**20  # of a table that is written out in full, to be looked up
_MOST_CELLS_OF_ALL = 2**25
_MOST_FINE_CELLS = 2**12  # of a table of the sums over all discretizations


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

        def learn_tables(self, data: Dataset, prior: Any) -> Any:
            """Return the structure with the tables of all prefixes of the families, with all powers 1."""

        def values_at(self, codes: Codes) -> Iterator[tuple[int, Array]]:
            """Yield the number of a family and the value of one of its terms at rows, (rows, classes)."""

        def plus(self, other: Any) -> Any:
            """Return the sum of this model and of one with the same terms and at least as many parents."""

        def split(self) -> LogLinear:
            """Return the same model for long use, with the tables of each coding apart."""

        def unweighted(self) -> Model:
            """Return the network without powers, or the model if it averages discretizations."""

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
        return f"{self.called} {NO_JOINT}"

    @property
    def missing_rule(self) -> str:
        """The treatment of missing values in prediction, in words."""
        if self.fading is None or not self.fading.usual.any():
            return "ignored, unless they were missing in training" if self.fading is not None else "ignored"
        return "read more like by naive Bayes, the fewer values are known"

    def is_silent(self, codes: Codes) -> Mask:
        return super().is_silent(codes) & all(gap is None for gap in self.gaps)

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
            kept, offset[rows] = self.fading.at(known, prior, self.alone_tables.unadjusted(known))
            score[rows] = kept[:, None] * score[rows] + self.shifts_of_gaps(known)
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
                logs[rows] += self.shifts_of_gaps(known)
            else:
                logs[1:, rows] += np.cumsum([self.shifts_of_gaps(known, {i}) for i in order], axis=0)
        return logs

    def _evidence(self, codes: Codes) -> Array:
        """Return ln P(observed features | class), (rows, classes), by trees or, without arcs, by tables."""
        return self.alone_tables.unadjusted(codes) if not self.depth else evidence_in_trees(self.trees, codes)

    @cached_property
    def alone_tables(self) -> LogLinear:
        """The tables of the features without feature parents, averaged, with powers of 1."""
        return renewed(self.of_tables, powers=((1.0,),) * len(self.features) + ((0.0,),), further=())

    def shifts_of_gaps(self, codes: Codes, among: Collection[int] | None = None) -> Array:
        """Return the sums of the shifts of missing values, (rows, classes), of all or some features."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for i, shift in enumerate(self.gaps):
            if shift is not None and (among is None or i in among):
                total[codes[i] < 0] += shift
        return total if self.fading is None else total * self.fading.of_shifts(codes)

    @property
    def gaps(self) -> tuple[Array | None, ...]:
        """The shift of a missing value of each feature, (classes,), or None."""
        return (None,) * len(self.features)

    @cached_property
    def trees(self) -> list[tuple[tuple[Factor, ...], Any]]:
        """The trees of some of the networks, each with the function that codes rows for it, or None."""
        averaged = self.tables[: len(self.tables) - self.apart]
        return [(make_tree(self.in_coding(i), averaged[i]), self._coding(i)) for i in some(averaged)]

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

    def in_coding(self, number: int) -> BNC:
        """Return the structure with the levels of a discretization."""
        if not self.coarsenings:
            return self.structure
        return replace(self.structure, levels=(*self.coarsenings[number].levels, self.known_levels[-1]))

    def unadjusted(self, codes: Codes) -> Array:
        """Return Σ w ln P, (rows, classes), which is not a joint distribution, but has its log odds."""
        total = np.zeros((codes.shape[1], len(self.known_levels[-1])))
        for start in range(0, codes.shape[1], BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            for _, logs in self.values_at(codes[:, block]):
                total[block] += logs
        return total

    def _further(self, codes: Codes) -> Iterator[tuple[int, Array]]:
        """Yield the number of a family and the value of one of its additional terms."""
        return iter(())

    def _scopes(self) -> Iterator[tuple[int, ...]]:
        """Yield the features on which each of the additional terms depends, in their order."""
        return iter(())

    @cached_property
    def marginals(self) -> tuple[Array, ...]:
        """The log tables without feature parents, raised to the powers of those with parents."""
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
        formula: Formula = Sum(*self.described_terms())
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
            terms, marginalizes, scales = self.described_terms()
            return Sum((*terms, *gaps), marginalizes, scales)
        trees = self._described_trees() if self.depth else (Sum(*self.alone_tables.described_terms()),)
        return Blend(formula, prior, trees, fading.usual, fading.power, gaps, fading.exponent, fading.gaps)

    def value_formulas(self) -> tuple[Formula, ...] | None:
        return self._described_trees() if self.fading is None or not self.depth else None

    def _described_trees(self) -> tuple[Sum, ...]:
        """Return the trees as sums of tables."""
        trees, nothing = [], np.full((len(self.features), 1), -1)
        for factors, coding in self.trees:
            maps = () if coding is None else coding.maps
            *tables, of_class = [
                Table(i, f.scope, f.table[..., 0, :], tuple([maps[v] for v in f.scope if maps]))
                for i, f in enumerate(factors)
            ]
            # Given the class: the log joint minus the log joint of an empty row.
            of_class = replace(of_class, owner=-1, logs=of_class.logs - network_joint(factors, nothing)[0])
            trees.append(Sum((*tables, of_class), marginalizes=True))
        return tuple(trees)

    def described_terms(self) -> tuple[tuple[Any, ...], bool, tuple[ScaledNumber, ...]]:
        """Return the terms, without marginalization, and their scales."""
        families: dict[int, list[tuple[int, RaisedTable]]] = {}
        for family, position, term in make_terms(self):
            families.setdefault(family, []).append((position, term))
        self._check_size([[term for _, term in found] for found in families.values()])
        described = (
            self._joined([self._describe_term(family, *pair) for pair in found])
            for family, found in families.items()
        )
        return tuple([table for tables in described for table in tables]), False, ()

    def _check_size(self, families: Sequence[Sequence[RaisedTable]]) -> None:
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

    def _describe_term(self, family: int, position: int, term: RaisedTable) -> Table:
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
            for family, logs in self.values_at(codes[:, block]):
                total[family, block] += logs
        return total

    def log_joints_in_sequence(self, codes: Codes, order: Sequence[int]) -> Array:
        """Add up contributions, unless the class term depends on features."""
        if self.parents[self.class_var] and not isinstance(codes, RowsWithNumbers):
            logs = in_sequence(self.unadjusted, codes, order)
        else:
            logs = np.cumsum(self._contributions(codes)[[-1, *order]], axis=0)
        return self._blended(logs, codes, partial(in_sequence, self._evidence, order=order), order)

    def raised(self, power: float) -> Self:
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


def raised(powers: Sequence[Power], by: float) -> tuple[Power, ...]:
    """Return powers times a number."""
    return tuple([tuple([by * w for w in p]) if isinstance(p, tuple) else by * p for p in powers])


def shortened(x: BNC, parents: int) -> BNC:
    """Return a structure with the first feature parents of each family, at most ``parents``."""
    families = []
    for variable, *ps in x.families:
        class_parent = ps[-1:] if ps[-1:] == [x.class_var] else []
        families.append((variable, *ps[: len(ps) - len(class_parent)][:parents], *class_parent))
    return replace(x, families=tuple(families), cpts=None)


def make_terms(x: LogLinear) -> list[tuple[int, int, RaisedTable]]:
    """Return the distinct terms of a model, each with its family and a discretization that has it."""
    class_number, chosen = len(x.features), []
    averaged = x.tables[: len(x.tables) - x.apart]
    for i, scope in enumerate(x.structure.scopes):
        features = tuple([v for v in scope if v != class_number])
        times = Counter(id(tables[i]) for tables in averaged)
        shares = [times.pop(id(tables[i]), 0) / len(averaged) for tables in averaged]
        raised = [(share, x.powers) for share in shares] + [(1.0, powers) for powers in x.further]
        for position, (share, of_families) in enumerate(raised):
            table = x.tables[position][i]
            powers = share * by_depth(of_families[i], len(table.cards))
            if powers.any():
                chosen.append((i, position, table, features, powers))
    sizes = np.sort([table.cells for _, _, table, _, _ in chosen])
    allowed = sizes[np.cumsum(sizes) <= _MOST_CELLS_OF_ALL]
    most = min(_MOST_CELLS, allowed.max(initial=0))
    return [
        (family, position, RaisedTable(table, features, powers, most))
        for family, position, table, features, powers in chosen
    ]


def make_fine_terms(x: LogLinear) -> tuple[list[FineTable], list[tuple[int, int, RaisedTable]]]:
    """Return tables of the sums of terms of families by their fine codes, missing first, and other terms."""
    families: dict[int, list[tuple[int, int, RaisedTable]]] = {}
    for found in make_terms(x):
        families.setdefault(found[0], []).append(found)
    tables: list[FineTable] = []
    others: list[tuple[int, int, RaisedTable]] = []
    for family, terms in families.items():
        features = terms[0][2].features
        cards = tuple([len(x.known_levels[i]) + 1 for i in features])
        if prod(cards) > _MOST_FINE_CELLS:
            others += terms
            continue
        grid = np.indices(cards).reshape(len(cards), prod(cards)) - 1
        logs = np.zeros((prod(cards), len(x.known_levels[-1])))
        for _, view, term in terms:
            maps = [x.coarsenings[view].maps[i] for i in features]
            coarse = [row if places is None else places[row] for row, places in zip(grid, maps, strict=True)]
            logs += term.logs(dict(zip(features, coarse, strict=True)))
        tables.append(FineTable(family, features, cards, logs))
    return tables, others
