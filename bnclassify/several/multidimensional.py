"""Models with several class variables: the base class, MBC, and averages of MBCs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best, log_normalize
from ..base.checks import OneOf
from ..base.immutable import EMPTY, PROBABILITY, bounded, cached_property, record
from ..base.messages import listed, shown
from ..counts.contingency import count_families
from ..frames.opening import open_rows
from ..frames.schema import Columns, Dataset, Levels, match
from ..metrics.outcomes import Labelling
from ..model.model import Model
from ..model.recipes import Recipe, Tally
from ..network.classifiers import Graph
from ..network.ensemble import ArcShares, mean_arcs
from ..network.estimates import Family, Prior, check_families, tabulate
from ..network.factors import Factor
from . import class_inference
from .class_inference import terms_of

_PROBABILITY = "probability"


class MultiModel(Model):
    """Base of models that predict several ``class_vars``; ``levels`` has the features, then the classes."""

    one_class = False
    is_chain = False

    @property
    def class_var(self) -> NoReturn:
        """Raise a TypeError that names the class variables."""
        raise TypeError(
            f"x must predict one class variable; got a model of {listed(self.class_vars)}, which "
            "class_vars(x) returns."
        )

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

    if TYPE_CHECKING:  # each family implements these; codes are (features, rows), -1 where missing

        @property
        def class_vars(self) -> tuple[Hashable, ...]:
            """The names of the class variables."""

        def _log_marginals(self, codes: Codes, *, greedy: bool = False) -> list[Array]:
            """Return ln P(label, observed features) of each class variable, up to a constant."""

        def _most_probable(self, codes: Codes, *, greedy: bool = False) -> Codes:
            """Return the most probable combination of labels, (class variables, rows), the first if tied."""

    def _log_joint_at(self, codes: Codes, labels: Codes) -> Array:
        """Return ln P(labels, observed features), (rows,)."""
        raise TypeError(f"x must define a joint distribution; {self.no_joint}.")

    # methods that functions call

    def _predict(
        self, newdata: Any, prob: bool, unseen: str, prior: object, costs: object, joint: bool, greedy: bool
    ) -> pd.DataFrame:
        for name, value in {"prior": prior, "costs": costs}.items():
            if value is not None:
                raise TypeError(
                    f"{name} must be None for several class variables. Predict each by its own model."
                )
        if greedy and not self.is_chain:
            raise TypeError(
                "greedy must be False unless x is a chain, which chain(class_vars, dataset) learns."
            )
        if joint and prob and _PROBABILITY in self.class_vars:
            raise ValueError(f"x must not have a class variable called {shown(_PROBABILITY)}. Rename it.")
        levels = dict(zip(self.features, self.levels or (), strict=False))
        data = open_rows(newdata).encode(Columns(levels, levels, named_by="newdata"))
        index, codes = data.index, np.empty((0, len(data)), dtype=np.int8)
        if levels:
            codes = match(data, self.features, tuple(levels.values()), unseen=unseen)
        if joint:
            best = self._most_probable(codes, greedy=greedy)
            labels = self._label_frame(best, index)
            if prob:
                labels[_PROBABILITY] = np.exp(self._log_posterior_at(codes, best))
            return labels
        marginals = self._log_marginals(codes, greedy=greedy)
        if prob:
            return self._posterior_frame(marginals, index)
        return self._label_frame([first_best(logs) for logs in marginals], index)

    def _label_frame(self, codes: Sequence[Codes] | Codes, index: pd.Index[Any]) -> pd.DataFrame:
        """Return labels from codes, with one categorical column per class variable."""
        parts = zip(self.class_levels, self.class_vars, codes, strict=True)
        series = [Labelling(labels, name, index).labels(own_codes) for labels, name, own_codes in parts]
        names = pd.Index(list(self.class_vars), tupleize_cols=False)
        return pd.DataFrame(dict(enumerate(series)), index=index).set_axis(names, axis="columns")

    def _posterior_frame(self, marginals: Sequence[Array], index: pd.Index[Any]) -> pd.DataFrame:
        """Return posteriors, one column per class variable and label."""
        named = zip(self.class_vars, self.class_levels, strict=True)
        pairs = [(name, label) for name, labels in named for label in labels]
        columns = pd.MultiIndex.from_arrays(
            [pd.Index(list(part), dtype=object, tupleize_cols=False) for part in zip(*pairs, strict=True)]
        )
        posteriors = np.hstack([np.exp(log_normalize(logs)) for logs in marginals])
        return pd.DataFrame(posteriors, index=index, columns=columns)

    def _of_class(self, class_var: Hashable | None) -> ClassView:
        if class_var is None:
            raise TypeError(f"class_var must be given, one of {listed(self.class_vars)}.")
        return ClassView(self, OneOf(self.class_vars).check("class_var", class_var))


@dataclass(frozen=True, eq=False, repr=False)
class ClassView(Model):
    """A model of one class variable of a model of several, marginalized over the other class variables."""

    whole: MultiModel
    class_var: Hashable
    recipe: Recipe | None = None

    @property
    def features(self) -> tuple[Hashable, ...]:
        """The features, without the other class variables."""
        return self.whole.features

    @property
    def levels(self) -> Levels | None:
        """The labels of the features and of the class variable."""
        by_name = self.whole.levels_by_name
        return tuple([by_name[name] for name in self.variables])

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether the model of all class variables has parameters."""
        return self.whole.fitted

    @property
    def is_average(self) -> bool:  # type: ignore[override]
        """Whether the model of all class variables averages networks."""
        return self.whole.is_average

    @property
    def learned(self) -> Mapping[str, Any]:
        """Empty."""
        return EMPTY

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of each variable without other class variables; empty without a single graph."""
        parents, variables = self.whole.parents, set(self.variables)
        return {v: tuple([p for p in parents.get(v, ()) if p in variables]) for v in self.variables}

    def _log_joint(self, codes: Codes) -> Array:
        return self.whole._log_marginals(codes)[self.whole.class_vars.index(self.class_var)]


class Bridged(MultiModel):
    """Base of models with tables over features and classes, whose `members` are networks."""

    @cached_property
    def _terms(self) -> list[Sequence[Factor]]:
        return [terms_of(member) for member in self.members]

    def _log_marginals(self, codes: Codes, *, greedy: bool = False) -> list[Array]:
        return class_inference.log_marginals(self._terms, codes, self.class_cards)

    def _log_joint_at(self, codes: Codes, labels: Codes) -> Array:
        return class_inference.log_joint_at(self._terms, codes, labels)

    def _log_posterior_at(self, codes: Codes, labels: Codes) -> Array:
        evidence = self._log_joint_at(codes, class_inference.unknown(codes, self.class_cards))
        possible = evidence > -np.inf
        logs = self._log_joint_at(codes, labels) - np.where(possible, evidence, 0.0)
        return np.where(possible, logs, -np.log(prod(self.class_cards)))

    def _most_probable(self, codes: Codes, *, greedy: bool = False) -> Codes:
        return class_inference.most_probable(self._terms, codes, self.class_cards)


@record
@dataclass(frozen=True, eq=False, repr=False)
class MBC(Bridged, Graph):
    """A multidimensional Bayesian network classifier: a directed acyclic graph over features and classes.

    It has class variables as parents of features (the bridge), a graph among the class variables, and a
    graph among the features, but any acyclic graph is accepted. `mbc` learns the structure, `lp` the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables.
    families : tuple of tuple
        ``(variable, feature parents…, class parents…)`` of each feature and then of each class variable,
        with class parents in the order of ``class_vars``.
    levels : tuple of tuple, or None
        Labels of each variable in the order of ``families``; None without data.
    cpts : tuple of read-only arrays, or None
        Conditional probability tables in the order of ``families``; axis i of a table is member
        i of its family. None without parameters.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Raises
    ------
    ValueError
        If the families are not an acyclic graph over all variables with the class variables at the end, or
        levels or tables do not fit them.

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
        _check_bridged(self.class_vars, self.families)

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features in the order of ``families``."""
        return tuple([family[0] for family in self.families[: len(self.families) - len(self.class_vars)]])


def _check_bridged(class_vars: tuple[Hashable, ...], families: tuple[Family, ...]) -> None:
    """Raise a ValueError unless families are an acyclic graph, with class variables last."""
    m = len(class_vars)
    if not m or tuple([family[0] for family in families[-m:] if family]) != class_vars:
        raise ValueError(
            f"families must have one family per variable, with families of {listed(class_vars)} at the end."
        )
    check_families(class_vars[-1], tuple(families))
    position = {name: i for i, name in enumerate(class_vars)}
    for variable, *parents in families:
        order = [position.get(name, -1) for name in parents]
        if order != sorted(order):
            raise ValueError(
                "families must list feature parents, then class parents in the order of the class variables; "
                f"got {listed(parents)} as the parents of {shown(variable)}."
            )


@record
@dataclass(frozen=True, eq=False, repr=False)
class MAODE(Bridged):
    """An average of networks, one for each class variable as the parent of all other class variables.

    The features have the same parents and the same tables in all networks, which are stored once.
    `members` returns the networks. `maode` builds the structure, `lp` estimates the tables.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables. Each is the parent of the others in one member.
    families : tuple of tuple
        ``(feature, feature parents…, class parents…)`` of each feature.
    levels : tuple of tuple, or None
        Labels of each feature, then of each class variable; None without data.
    cpts : tuple of read-only arrays, or None
        Tables of the features in the order of ``families``; None without parameters.
    class_cpts : tuple of read-only arrays, or None
        Tables of all class variables in the first member, then in the second, and so on.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Raises
    ------
    ValueError
        If the families are not an acyclic graph, or levels or tables do not fit them.
    """

    bounds = bounded(cpts=PROBABILITY, class_cpts=PROBABILITY)
    is_average = True

    class_vars: tuple[Hashable, ...]
    families: tuple[Family, ...]
    levels: Levels | None = None
    cpts: tuple[Array, ...] | None = None
    class_cpts: tuple[Array, ...] | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        if (self.cpts is None) != (self.class_cpts is None):
            raise ValueError("cpts and class_cpts must be given together.")
        m = len(self.class_vars)
        if self.class_cpts is not None and len(self.class_cpts) != m * m:
            raise ValueError(f"class_cpts must be {m * m} tables; got {len(self.class_cpts)}.")
        super().__post_init__()
        _ = self.members  # each member checks its families and tables

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The names of the features."""
        return tuple([family[0] for family in self.families])

    @property
    def fitted(self) -> bool:
        """Whether it has tables."""
        return self.cpts is not None

    @cached_property
    def members(self) -> tuple[MBC, ...]:
        """The networks, in the order of the class variables."""
        m, members = len(self.class_vars), []
        for start in range(0, m * m, m):
            families = (*self.families, *self.class_families[start : start + m])
            cpts = None if self.cpts is None else (*self.cpts, *(self.class_cpts or ())[start : start + m])
            members.append(MBC(self.class_vars, families, self.levels, cpts, self.recipe))
        return tuple(members)

    @property
    def class_families(self) -> tuple[Family, ...]:
        """The families of all class variables in the first member, then in the second, and so on."""
        names = self.class_vars
        return tuple([(c,) if c == parent else (c, parent) for parent in names for c in names])

    def _arc_shares(self) -> ArcShares:
        return mean_arcs(self.members, [1 / len(self.members)] * len(self.members))

    @property
    def _counted_families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys((*self.families, *self.class_families)))

    def _distributions(self) -> list[tuple[Hashable, Array]]:
        return [pair for member in self.members for pair in member._distributions()]

    def _count(self, data: Dataset, prior: Prior) -> tuple[Any, ...]:
        families = [[data.positions[v] for v in family] for family in self._counted_families]
        return tuple(count_families(data, families))

    def _tabulate(self, tally: Tally) -> MAODE:
        tables = tabulate(tally.counts, tally.prior)
        by_family = dict(zip(self._counted_families, tables, strict=True))
        return replace(
            self,
            cpts=tuple([by_family[family] for family in self.families]),
            class_cpts=tuple([by_family[family] for family in self.class_families]),
            learned={"counts": tally.narrowed()},
        )
