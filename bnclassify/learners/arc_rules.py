"""Required and forbidden arcs, and initial structures."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..accessors import is_anb
from ..classifiers import BNC
from ..tools.arrays import Mask
from ..tools.checks import Instance, ListOf, OneOf, must_be
from ..tools.graphs import find_cycle
from ..tools.messages import shown

Arc = tuple[Hashable, Hashable]


@dataclass(frozen=True)
class ArcRules:
    """Required and forbidden arcs (from, to) or, unless `directed`, pairs of ends."""

    required: tuple[Arc, ...]
    forbidden: tuple[Arc, ...]
    directed: bool = True

    @classmethod
    def check(
        cls,
        required: Iterable[Arc],
        forbidden: Iterable[Arc],
        columns: Collection[Hashable],
        *,
        directed: bool = True,
        apart: Hashable | None = None,
    ) -> ArcRules:
        """Return checked rules for `columns`; arcs must not have `apart`, the class, as an end."""
        rules = cls(
            _check_arcs("required", required), _check_arcs("forbidden", forbidden), directed
        )
        is_column = OneOf(columns, "pairs of columns that are not numbers without a cut point")
        for argument, arcs in (("required", rules.required), ("forbidden", rules.forbidden)):
            for arc in arcs:
                for name in arc:
                    is_column.check(argument, name)
            lost = [arc for arc in arcs if apart is not None and apart in arc]
            if lost:
                raise ValueError(
                    f"{argument} must be arcs between features, as the class is a parent of every "
                    f"feature; got {arcs_in_words(lost)}. Use hc or chow_liu for other networks."
                )
        both = [arc for arc in rules.required if rules.forbids_arc(arc)]
        if both:
            raise ValueError(
                f"required and forbidden must not share arcs; got {arcs_in_words(both)} in both."
            )
        return rules

    def forbids_arc(self, arc: Arc) -> bool:
        """Whether an arc is forbidden."""
        return arc in self.forbidden or (not self.directed and arc[::-1] in self.forbidden)

    def recipe_settings(self) -> dict[str, Any]:
        """Return the arguments for the recipe, without those at their defaults."""
        arcs = {"required": self.required, "forbidden": self.forbidden}
        return {name: value for name, value in arcs.items() if value}

    def rules_for_columns(self, names: Collection[Hashable]) -> ArcRules:
        """Return the rules for arcs between some columns."""
        kept = [
            [arc for arc in arcs if set(names).issuperset(arc)]
            for arcs in (self.required, self.forbidden)
        ]
        return ArcRules(tuple(kept[0]), tuple(kept[1]), self.directed)

    def check_numbers_are_leaves(self, numbers: Collection[Hashable]) -> None:
        """Raise if required arcs make a number a parent or, as pairs, give it several parents."""
        ends = [arc for arc in self.required if arc[0] in numbers]
        if not self.directed:
            of_numbers = [[arc for arc in self.required if name in arc] for name in numbers]
            ends = [arc for arc in self.required if set(numbers).issuperset(arc)]
            ends = ends or [arc for arcs in of_numbers if len(arcs) > 1 for arc in arcs]
        if ends:
            limit = "without children" if self.directed else "without children and with one parent"
            raise ValueError(
                f"required must leave numbers {limit}; got {arcs_in_words(ends)}. Discretize them."
            )

    def required_and_forbidden_masks(self, columns: Sequence[Hashable]) -> tuple[Mask, Mask]:
        """Return which arcs between columns are required, and which are forbidden, (from, to)."""
        position = {name: i for i, name in enumerate(columns)}
        matrices = np.zeros((2, len(columns), len(columns)), dtype=bool)
        for matrix, arcs in zip(matrices, (self.required, self.forbidden), strict=True):
            for source, target in arcs:
                matrix[position[source], position[target]] = True
                matrix[position[target], position[source]] |= not self.directed
        return matrices[0], matrices[1]

    def add_required_parents(
        self,
        parents: Mapping[Hashable, Sequence[Hashable]],
        argument: str = "",
        most: int | None = None,
    ) -> dict[Hashable, list[Hashable]]:
        """Return the parents of each variable with required ones, at most `most`, or raise."""
        start = {name: list(names) for name, names in parents.items()}
        for source, target in self.required:
            if source not in start[target] and (self.directed or target not in start[source]):
                start[target].append(source)
        lost = [
            (p, name) for name, names in start.items() for p in names if self.forbids_arc((p, name))
        ]
        if lost:
            raise ValueError(
                "forbidden must not contain arcs of the initial structure; got "
                f"{arcs_in_words(lost)}. Start from a structure without them."
            )
        cycle = find_cycle(start)
        if cycle:
            raise ValueError(
                "required must not form a cycle with the initial arcs; got "
                f"{' -> '.join(map(str, cycle))}. Drop one of these arcs."
            )
        for target, sources in start.items():
            if most is not None and len(sources) > most:
                raise ValueError(
                    f"{argument} must be at least {len(sources)} for the initial structure; got "
                    f"{most}. Drop some of {arcs_in_words((source, target) for source in sources)}."
                )
        return start


def _check_arcs(argument: str, arcs: object) -> tuple[Arc, ...]:
    expected = "pairs of names such as [('a', 'b')]"
    pairs = ListOf(expected).check(argument, arcs)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(must_be(argument, expected, pair))
        if pair[0] == pair[1]:
            raise ValueError(
                f"{argument} must not contain an arc from a variable to itself; got "
                f"{arcs_in_words([pair])}."
            )
    return tuple((source, target) for source, target in pairs)


def arcs_in_words(arcs: Iterable[Sequence[Hashable]]) -> str:
    """Write arcs for a message."""
    pairs = list(arcs)
    rest = f" and {len(pairs) - 8} more" if len(pairs) > 8 else ""
    return ", ".join(f"{shown(source)} -> {shown(target)}" for source, target in pairs[:8]) + rest


def parents_in_start(
    start: BNC | None,
    class_var: Hashable,
    columns: Collection[Hashable],
    *,
    augmented: bool = False,
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the parents in an initial structure, without the class if `augmented`; {} for None."""
    if start is None:
        return {}
    Instance(BNC, "a structure such as nb(class_var, dataset)").check("start", start)
    is_column = OneOf(columns, "a network over columns of `dataset`")
    for variable in start.variables:
        is_column.check("start", variable)
    parents = {family[0]: family[1:] for family in start.families}
    if not augmented:
        return parents
    if start.class_var != class_var or not is_anb(start):
        arcs = arcs_in_words((p, v) for v, ps in parents.items() for p in ps)
        raise ValueError(
            "start must be a structure with the class as a parent of every feature and without "
            f"class parents; got arcs {arcs}. "
            "Use hc for other structures."
        )
    return {
        v: tuple([p for p in ps if p != class_var]) for v, ps in parents.items() if v != class_var
    }
