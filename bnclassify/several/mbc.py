"""Models of several class variables: what they have in common, and the network of features and classes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..base.arrays import Array, Codes
from ..base.messages import listed, shown
from ..base.records import record
from ..frames.schema import Levels
from ..model.model import Model, _call
from ..model.recipes import Recipe
from ..network.bnc import Family, Graph, check_families


class MultiModel(Model):
    """Base of models that predict several class variables.

    They have ``class_vars`` in place of ``class_var``; ``levels`` has the features', then the classes'.
    """

    one_class = False

    if TYPE_CHECKING:

        @property
        def class_vars(self) -> tuple[Hashable, ...]:
            """The names of the class variables."""

    @property
    def class_var(self) -> NoReturn:
        """There is none: a TypeError that says what there is."""
        raise TypeError(
            f"x: predicts several class variables, {listed(self.class_vars)}, which class_vars(x) names, and "
            "this is defined for one"
        )

    def _log_marginals(self, codes: Codes) -> list[Array]:
        """Return for each class variable ln P(label, known features), (rows, labels)."""
        marginals = _call("several.class_inference", "log_marginals", self, codes)
        return cast("list[Array]", marginals)

    def _most_probable(self, codes: Codes) -> Any:
        """Return the most probable combination of labels; of tied ones the first."""
        return _call("several.class_inference", "likeliest", self, codes)

    def _log_joint_at(self, codes: Codes, labels: Codes) -> Array:
        """Return ln P(labels, known features), (rows,)."""
        raise TypeError(f"x: nothing is known of the joint distribution of a {type(self).__name__}")

    def _make_parts(self) -> Any:
        """Return the tables over features and classes, as elimination needs them."""
        raise TypeError(f"x: {type(self).__name__} has no tables over features and classes")

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """The class variables."""
        return self.class_vars

    @property
    def class_levels(self) -> Levels:
        """The labels of each class variable."""
        return (self.levels or ())[len(self.features) :]

    @property
    def class_cards(self) -> tuple[int, ...]:
        """The number of labels of each class variable."""
        return tuple(map(len, self.class_levels))


@record
@dataclass(frozen=True, eq=False, repr=False)
class MBC(MultiModel, Graph):
    """A multidimensional Bayesian network classifier: a directed acyclic graph over features and classes.

    Most learners have classes as parents of features (the bridge), a graph among the classes, and one
    among the features; any acyclic graph will do. Learned by `mbc`; its tables by `lp`.

    Attributes
    ----------
    class_vars : tuple of str
        The class variables.
    families : tuple of tuple
        ``(variable, feature parents…, class parents…)`` of each feature and then of each class variable,
        class parents in the order of ``class_vars``.
    levels : tuple of tuple, or None
        The labels of each variable in the order of ``families``; None until data was seen.
    cpts : tuple of read-only arrays, or None
        The conditional probability tables in the order of ``families``; axis i of a table is member
        i of its family. None until `lp`.
    recipe : Recipe or None
        How structure and parameters were learned; `cv` runs it again.
    learned : mapping
        What learning left behind, by name.

    Raises
    ------
    ValueError
        If the families are no acyclic graph of which each variable is one node, the class variables at the
        end, or levels or tables do not fit them.

    Examples
    --------
    >>> from bnclassify import MBC
    >>> MBC(("rain", "wind"), (("sky", "rain", "wind"), ("rain",), ("wind", "rain")))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variables: rain, wind
      num. features:   1
      num. arcs:       3
    """

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def _check_graph(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        check_bridged(self.class_vars, self.families)

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features in the order of ``families``."""
        return tuple([family[0] for family in self.families[: len(self.families) - len(self.class_vars)]])


def check_bridged(class_vars: tuple[Hashable, ...], families: tuple[Family, ...]) -> None:
    """Raise a ValueError unless families are an acyclic graph, the classes at its end and in families."""
    m = len(class_vars)
    if not m or tuple([family[0] for family in families[-m:] if family]) != class_vars:
        raise ValueError(
            f"families: expected a family of each variable, those of {listed(class_vars)} at the end"
        )
    check_families(class_vars[-1], tuple(families))
    position = {name: i for i, name in enumerate(class_vars)}
    for variable, *parents in families:
        order = [position.get(name, -1) for name in parents]
        if order != sorted(order):
            raise ValueError(
                f"families: feature parents go before class parents, and those in the order of the class "
                f"variables, got {listed(parents)} as the parents of {shown(variable)}"
            )


def check_levels_of(levels: Levels | None, variables: Sequence[Hashable]) -> None:
    """Raise a ValueError unless there are labels of each variable."""
    if levels is not None and len(levels) != len(variables):
        raise ValueError(f"levels: expected labels of each of {len(variables)} variables, got {len(levels)}")
