"""Networks whose log tables are multiplied by powers, or averaged over several discretizations.

They provide posteriors, but do not define a joint distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import BLOCK_ROWS, Array, log, slices
from ..base.immutable import cached_property
from ..base.messages import listed
from ..counts.contingency import MAX_CELLS
from ..frames.dataset import Dataset
from ..model.derived import BuiltOn, forward_to_basis
from ..model.model import MISSING_RULE
from ..model.recipes import NO_JOINT
from ..network.classifiers import BNC
from ..scores.elimination import log_joint_of_network
from ..scores.evaluate import term_values_at
from ..scores.fading import Fading
from ..scores.formulas import Blend, Formula, Sum, Table, scopes_of_terms
from ..scores.rows import Rows
from .codings import Coarsening
from .family_terms import FamilyTerm, family_terms
from .incomplete_rows import evenly_spread_positions, factors_of_first_parents
from .prefix_tables import PrefixTable, class_shares


@forward_to_basis("parents", "graph", "trace")
class LogLinear(BuiltOn):
    """A network whose log tables are multiplied by powers, and averaged over one or more networks.

    P(c | x) ∝ P(c)^w₀ Π_i exp(w_i mean_s ln P_s(x_i | parents of i, c))
    """

    @property
    def type_in_words(self) -> str:
        """What messages call the model."""
        return "a model with weights"

    if TYPE_CHECKING:

        @property
        def structure(self) -> BNC:
            """The network without tables."""

        @property
        def coarsenings(self) -> Sequence[Coarsening]:
            """The discretizations that are averaged; empty for the structure's levels alone."""

        @property
        def tables(self) -> Sequence[Sequence[PrefixTable]]:
            """The table of each family, the class last, in each discretization."""

        @property
        def powers(self) -> tuple[float, ...]:
            """The powers of the terms of each feature, then of the class."""

        @property
        def model_without_parents(self) -> LogLinear:
            """The tables of the features without feature parents, with powers of 1."""

        fading: Fading | None
        """The rule for incomplete rows; None if missing features are ignored."""

        def learn_tables(self, data: Dataset, prior: Any) -> Any:
            """Return the structure with tables of all prefixes of families, with all powers 1."""

        def unstacked(self) -> LogLinear:
            """Return the same model for long use, with the tables of each coding apart."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of the model; it is a sum if no feature has a feature parent."""
        is_sum = (
            self.fitted
            and not self.depth
            and all(len(scope) < 2 for scope in scopes_of_terms(self.score) or ())
        )
        form = {"form": "sum of one effect per feature"} if is_sum else {}
        return self.basis.facts() | form | {MISSING_RULE: self._missing_rule}

    @property
    def no_joint(self) -> str:
        """The reason why it has no joint distribution, and the remedy."""
        return f"{self.type_in_words} {NO_JOINT}"

    @property
    def _missing_rule(self) -> str:
        """The treatment of missing values in prediction, in words."""
        if self.fading is None:
            return "ignored"
        return "the fewer values a row has, the more it is predicted by naive Bayes"

    @property
    def basis(self) -> BNC:
        return self.structure

    @property
    def depth(self) -> int:
        """The largest number of feature parents in a family."""
        return self.structure.depth

    @cached_property
    def sum_of_terms(self) -> Sum:
        """The terms of complete rows, one per family."""
        cards = [len(labels) for labels in self.known_levels]
        codings = [coarsen.maps for coarsen in self.coarsenings]
        terms = family_terms(
            self.structure.scopes, cards, self.tables, self.powers, codings, self._check_size
        )
        return Sum(terms, marginalizes=False)

    @cached_property
    def formula(self) -> Formula:
        """The terms and, in incomplete rows, the rule that blends them with trees."""
        if self.fading is None:
            return self.sum_of_terms
        trees = self.value_formulas if self.depth else (self.model_without_parents.sum_of_terms,)
        return Blend(self.sum_of_terms, log(self.learned_class_prior()), trees, self.fading)

    def values_at(self, rows: Rows) -> Iterator[tuple[int, Array]]:
        """Yield the owner and values of each term of complete rows, (rows or 1, classes or 1)."""
        return term_values_at(self.sum_of_terms, rows)

    def scores_of_complete_rows(self, rows: Rows) -> Array:
        """Return the sums of the terms of complete rows, (rows, classes)."""
        total = np.zeros((len(rows), len(self.known_levels[-1])))
        for block in slices(len(rows), most=BLOCK_ROWS):
            for _, logs in self.values_at(rows.subset(block)):
                total[block] += logs
        return total

    @cached_property
    def value_formulas(self) -> tuple[Formula, ...]:
        """The trees of some of the networks as sums of tables."""
        trees, nothing = [], np.full((len(self.features), 1), -1)
        for number in evenly_spread_positions(self.tables):
            structure = self.structure_in_coding(number)
            factors = factors_of_first_parents(structure, self.tables[number])
            maps = self.coarsenings[number].maps if self.coarsenings else ()
            tables = []
            for i, factor in enumerate(factors):
                codings = tuple([maps[v] for v in factor.scope]) if maps else ()
                tables.append(Table(i, factor.scope, factor.table[..., 0, :], codings))
            # Given the class: the log joint minus the log joint of an empty row.
            given_class = tables[-1].logs - log_joint_of_network(factors, nothing)[0]
            tables[-1] = replace(tables[-1], owner=-1, logs=given_class)
            trees.append(Sum(tuple(tables), marginalizes=True))
        return tuple(trees)

    def structure_in_coding(self, number: int) -> BNC:
        """Return the structure with the levels of a discretization."""
        if not self.coarsenings:
            return self.structure
        return replace(
            self.structure, levels=(*self.coarsenings[number].levels, self.known_levels[-1])
        )

    def _check_size(self) -> None:
        """Raise a ValueError if the terms of families have too many cells to be written."""
        terms = [term for term in self.sum_of_terms.terms if isinstance(term, FamilyTerm)]
        sizes = [len(self.known_levels[-1]) * term.n_written_cells for term in terms]
        if sum(sizes) > MAX_CELLS // 2**5:
            largest = terms[int(np.argmax(sizes))]
            raise ValueError(
                f"x must have tables of at most {MAX_CELLS // 2**5:,} cells to be written out; got "
                f"{sum(sizes):,}, of which {max(sizes):,} are for "
                f"{listed([self.features[i] for i in largest.scope])}. Use a single discretization "
                "such as discretize='mdlp', or fewer parents."
            )

    def feature_weights(self) -> Any:
        *of_features, of_class = self.powers
        return dict(zip([self.class_var, *self.features], [of_class, *of_features], strict=True))

    def learned_class_prior(self) -> Array:
        """Return the class shares in training, regardless of the power of the class."""
        return class_shares(self.tables[0][-1].as_stack)


def limit_parents(x: BNC, parents: int) -> BNC:
    """Return a structure with the first feature parents of each family, at most ``parents``."""
    families = []
    for variable, *ps in x.families:
        class_parent = ps[-1:] if ps[-1:] == [x.class_var] else []
        families.append((variable, *ps[: len(ps) - len(class_parent)][:parents], *class_parent))
    return replace(x, families=tuple(families), cpts=None)
