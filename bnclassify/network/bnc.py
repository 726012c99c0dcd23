"""Single networks: a graph over features and class and, once learned, a table for each of its families."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from ..base.arrays import Array
from ..base.graphs import find_cycle
from ..base.messages import cut, listed, shown, suggestion
from ..base.records import record
from ..frames.schema import Levels
from ..model.model import Model, check_fitted, check_model
from ..model.recipes import Recipe

Family: TypeAlias = tuple[Hashable, ...]
Scope: TypeAlias = tuple[int, ...]


class Graph(Model):
    """Base of models that are one graph: a family for each variable and, once learned, a table for each.

    Every kind has the fields ``families``, in the order of ``variables``, ``levels`` and ``cpts``.
    """

    if TYPE_CHECKING:
        families: tuple[Family, ...]
        levels: Levels | None
        cpts: tuple[Array, ...] | None
        learned: Mapping[str, Any]

    def __post_init__(self) -> None:
        self._check_graph()
        _check_levels(self.families, self.levels)
        if self.cpts is not None:
            _check_shapes(self.families, self.scopes, self.levels, self.cpts)
        super().__post_init__()

    def _check_graph(self) -> None:
        """Raise a ValueError unless the families are a graph of this kind."""

    @property
    def members(self) -> tuple[Self, ...]:
        """The model itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.cpts is not None

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The families by number: variables 0, 1, 2 … in the order of ``families``."""
        return _number(self.families)

    @property
    def parents(self) -> dict[Hashable, Family]:
        """The parents of each variable, classes last."""
        return {family[0]: family[1:] for family in self.families}

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The numbers of levels of the variables."""
        return tuple(len(labels) for labels in self.levels or ())

    def facts(self) -> dict[str, object]:
        """Return the numbers of features and arcs, and with tables that of free parameters."""
        facts: dict[str, object] = {
            "num. features": len(self.features),
            "num. arcs": sum(len(family) - 1 for family in self.families),
        }
        if self.cpts is not None:
            facts["free parameters"] = count_parameters(self.scopes, self.cards)
        return facts | {"EM": self.learned.get("em")}


@dataclass(frozen=True, eq=False, repr=False)
class Network(Graph):
    """Base of networks: a family for each variable and, once learned, a table for each family.

    Attributes
    ----------
    class_var : str
        The class.
    families : tuple of tuple
        ``(variable, feature parents…, class if it is a parent)`` of each feature, and at the end the
        class's own, ``(class_var, parents…)``.
    levels : tuple of tuple, or None
        The labels of each variable in the order of ``families``; None until data was seen.
    cpts : tuple of read-only arrays, or None
        The conditional probability tables in the order of ``families``. Axis i of a table is
        member i of its family, so a table sums to 1 over its first axis. None until `lp`.
    recipe : Recipe or None
        How structure and parameters were learned; `cv` runs it again.
    trace : mapping
        What the search for the structure left behind, by name: `greedy_scores` reads it.
    learned : mapping
        What a method of `lp` left behind, by name: `feature_weights`, `em_objectives` read it.
    """

    class_var: Hashable
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)
    learned: Mapping[str, Any] = field(default_factory=dict)

    def _check_graph(self) -> None:
        """Raise a ValueError unless the families are a graph of this kind of network."""
        check_families(self.class_var, tuple(self.families))

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features in the order of ``families``."""
        return tuple([family[0] for family in self.families[:-1]])

    @cached_property
    def is_augmented(self) -> bool:
        """Whether the class is a parent of every feature and has no parents."""
        *features, class_family = self.families
        return len(class_family) == 1 and all(family[-1] == self.class_var for family in features)

    @property
    def depth(self) -> int:
        """The most feature parents of a variable, the class among the variables."""
        return max(len(family) - 1 - (family[-1] == self.class_var != family[0]) for family in self.families)

    def facts(self) -> dict[str, object]:
        """Return the size of the graph, and how a search guided by a metric went."""
        return super().facts() | {"search": self._search()}

    def _search(self) -> str | None:
        if "metric" not in self.trace:
            return None
        metric, scores, epsilon = (self.trace[name] for name in ("metric", "scores", "epsilon"))
        n = len(scores) - 1
        return f"{n} step{'' if n == 1 else 's'}, {metric} {abs(scores[-1]):.4g}, epsilon {epsilon:g}"


@record
@dataclass(frozen=True, eq=False, repr=False)
class BNC(Network):
    """A Bayesian network classifier: its directed acyclic graph and, once learned, its tables.

    Learners return it; functions such as `lp`, `predict` and `params` take it. It never
    changes: `lp` returns a new one.

    Attributes
    ----------
    class_var : str
        The class.
    families : tuple of tuple
        ``(variable, feature parents…, class if it is a parent)`` of each feature, and at the end the
        class's own, ``(class_var, parents…)``. In an augmented naive Bayes, which most learners
        return, the class is a parent of every feature and has none.
    levels : tuple of tuple, or None
        The labels of each variable in the order of ``families``; None until data was seen.
    cpts : tuple of read-only arrays, or None
        The conditional probability tables in the order of ``families``. Axis i of a table is
        member i of its family, so a table sums to 1 over its first axis. None until `lp`.
    recipe : Recipe or None
        How structure and parameters were learned; `cv` runs it again.
    trace : mapping
        What the search for the structure left behind, by name: `search_steps` reads it.
    learned : mapping
        What a method of `lp` left behind, by name: `feature_weights`, `em_objectives` read it.

    Raises
    ------
    ValueError
        If the families are no acyclic graph of which each variable is one node, or levels or tables
        do not fit them.

    Examples
    --------
    >>> from bnclassify import BNC
    >>> BNC("class", (("a", "class"), ("b", "a"), ("class",)))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variable: class
      num. features:  2
      num. arcs:      2
    """

    def _left_out(self, data: Any, prior: Any, rows: Any, left_out: Any) -> Array:
        return left_out.log_joint(self, data, prior, rows)


@record
@dataclass(frozen=True, eq=False, repr=False)
class DN(Network):
    """A dependency network classifier: each feature chose its parents by itself.

    Its graph may have cycles, so the product of its tables is no joint distribution: it predicts by
    P(c) Π P(x_i | parents, c), normalised over the classes. Learned by `chisq_dn`; its tables by `lp`.

    Attributes
    ----------
    class_var : str
        The class, a parent of every feature.
    families : tuple of tuple
        ``(variable, feature parents…, class)`` of each feature, and at the end ``(class_var,)``.
    levels, cpts, recipe, trace, learned
        As in `BNC`.

    Raises
    ------
    ValueError
        If the class is not a parent of every feature or has parents, or levels or tables do not fit.

    Examples
    --------
    >>> from bnclassify import DN
    >>> DN("class", (("a", "b", "class"), ("b", "a", "class"), ("class",)))
    <BLANKLINE>
      Bayesian network classifier (only structure, no parameters)
    <BLANKLINE>
      class variable: class
      num. features:  2
      num. arcs:      4
    """

    @property
    def no_joint(self) -> str:
        """Why there is no joint distribution, and what to do."""
        return (
            "a dependency network (DN) has no joint distribution, as its arcs may form cycles; it has "
            "predict, cloglik and cv, and ban learns a network that has a joint distribution too"
        )

    def _check_graph(self) -> None:
        check_families(self.class_var, tuple(self.families), acyclic=False)
        if not self.is_augmented:
            raise ValueError(
                f"families: in a dependency network the class {shown(self.class_var)} is a parent of every "
                "feature and has no parents"
            )


@lru_cache(maxsize=64)  # a structure is checked once, however often its model is made anew
def check_families(
    class_var: Hashable, families: tuple[Family, ...], *, origin: str = "families", acyclic: bool = True
) -> None:
    """Raise a ValueError unless families are a graph in which each variable is one node.

    ``origin`` is what the message blames: the argument that the families came from. Unless ``acyclic``,
    arcs may form cycles.
    """
    variables = {family[0] for family in families if family}
    if not families or not all(families) or families[-1][0] != class_var:
        raise ValueError(
            f"{origin}: expected a family of each variable, that of {shown(class_var)} at the end"
        )
    if len(variables) < len(families):
        names = [family[0] for family in families]
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        raise ValueError(f"{origin}: each variable may have one family, but these have more: {listed(twice)}")
    for variable, *parents in families:
        strange = [name for name in parents if name not in variables]
        if strange:
            raise ValueError(
                f"{origin}: the parent {shown(strange[0])} of {shown(variable)} is no variable of the "
                f"network; {suggestion(strange[0], variables)}"
            )
        if not acyclic and variable in parents:
            raise ValueError(f"{origin}: {shown(variable)} is named as a parent of itself")
        if len(set(parents)) < len(parents):
            raise ValueError(f"{origin}: a parent of {shown(variable)} is named twice in {listed(parents)}")
        if class_var in parents[:-1]:
            raise ValueError(
                f"{origin}: the class goes last in the family of {shown(variable)}, got {listed(parents)}"
            )
    if acyclic and any(len(family) > 1 + (family[-1] == class_var) for family in families):
        cycle = find_cycle({family[0]: family[1:] for family in families})
        if cycle:
            raise ValueError(
                f"{origin}: the arcs form a cycle: {cut(' -> '.join(map(str, cycle)))}; drop one of them"
            )


@lru_cache(maxsize=64)
def _number(families: tuple[Family, ...]) -> tuple[Scope, ...]:
    """Return families by the positions of their variables."""
    position = {family[0]: i for i, family in enumerate(families)}
    return tuple([tuple([position[v] for v in family]) for family in families])


def _check_levels(families: Sequence[Family], levels: Levels | None) -> None:
    """Raise a ValueError unless there are labels of each variable."""
    if levels is not None and len(levels) != len(families):
        raise ValueError(f"levels: expected labels of each of {len(families)} variables, got {len(levels)}")


def _check_shapes(
    families: Sequence[Family], scopes: Sequence[Scope], levels: Levels | None, cpts: tuple[Array, ...]
) -> None:
    """Raise a ValueError unless there is a table for each family, of the shape of its levels."""
    if levels is None or len(cpts) != len(families):
        raise ValueError(f"cpts: expected levels and a table for each of {len(families)} families")
    cards = [len(labels) for labels in levels]
    for family, scope, table in zip(families, scopes, cpts, strict=True):
        shape = tuple([cards[v] for v in scope])
        if table.shape != shape:
            raise ValueError(
                f"cpts: expected a table of {shown(family[0])} of shape {shape}, as its family's levels are, "
                f"got {table.shape}"
            )


def count_parameters(scopes: Sequence[Scope], cards: Sequence[int]) -> int:
    """Return the number of free parameters: Σ (levels − 1) · Π levels of the parents."""
    return sum((cards[v] - 1) * prod([cards[p] for p in parents]) for v, *parents in scopes)


def check_bnc(x: object, question: str) -> BNC:
    """Return ``x`` if it is a Bayesian network, else say why it must be."""
    model = check_model(x)
    if model.no_joint:
        raise TypeError(f"{question}: {model.no_joint}")
    network = check_single(model, question)
    if not isinstance(network, BNC):
        raise TypeError(f"{question}: expected a Bayesian network (BNC), got {type(network).__name__}")
    return network


def structure_of(x: Model) -> Network | None:
    """Return the single network that a model is or is made of; None of an ensemble."""
    return x if isinstance(x, Network) else getattr(x, "structure", None)


def check_single(x: object, question: str, *, sized: bool = False) -> Network:
    """Return the single network with one class that ``x`` is or is made of; see `check_graph`."""
    network = check_graph(x, question, sized=sized)
    if not isinstance(network, Network):
        raise TypeError(f"{question}: expected a network with one class, got {type(network).__name__}")
    return network


def check_graph(x: object, question: str, *, sized: bool = False) -> Graph:
    """Return the single graph that ``x`` is or is made of, whatever its classes, else say to ask the members.

    If the answer depends on the size of tables, that holds of members with one structure too.
    """
    model = check_model(x)
    graph = model if isinstance(model, Graph) else getattr(model, "structure", None)
    if graph is None or (sized and len(model.members) > 1):
        raise _of_members(model, question)
    return graph


def check_tables(x: object, question: str) -> Graph:
    """Return the single graph with tables that ``x`` is or has, else say to ask the members."""
    model = check_fitted(x)
    graph = model if isinstance(model, Graph) else getattr(model, "network", None)
    if graph is None:
        raise _of_members(model, question)
    return graph


def _of_members(x: Model, question: str) -> TypeError:
    return TypeError(
        f"{question}: expected a single network (BNC), but an {type(x).__name__} is made of "
        f"{len(x.members)} networks; ask each of members(x)"
    )
