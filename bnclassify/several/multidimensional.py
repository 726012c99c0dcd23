"""Models of several class variables: the base class, views of one class, chains, their averages."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
import pandas as pd

from ..accessors import read_for_model
from ..dataset import Levels, OpenedData, codes_by_levels
from ..elimination import score_combinations
from ..frames import prepare_training_data
from ..model import (
    Fit,
    Model,
    Recipe,
    SeveralClasses,
    Step,
    TrainingRows,
    forward_to_basis,
    recipe_with_parameter_step,
)
from ..prediction import Labelling
from ..scores import Computed, Formula, Rows, scores_at
from ..tools.arrays import Array, Codes, Slice, first_best, log, log_normalize, log_sum_exp, slices
from ..tools.checks import OneOf
from ..tools.immutable import EMPTY, cached_property, record
from ..tools.messages import listed, shown

MOST_COMBINATIONS = 2**16
"""Largest number of combinations of labels that are enumerated."""

_PROBABILITY = "probability"


class MultiModel(SeveralClasses):
    """Base of models of several ``class_vars``; ``levels`` has the features, then the classes."""

    is_chain = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        super().__post_init__()

    @property
    def class_var(self) -> NoReturn:
        """Raise a TypeError that names the class variables."""
        raise TypeError(
            f"x must predict one class variable; got a model of {listed(self.class_vars)}, which "
            "class_var(x) returns."
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
    def class_cardinalities(self) -> tuple[int, ...]:
        """The number of labels of each class variable."""
        return tuple(map(len, self.class_levels))

    if TYPE_CHECKING:  # each family implements these; codes are (features, rows), -1 where missing

        @property
        def class_vars(self) -> tuple[Hashable, ...]:
            """The names of the class variables."""

        def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
            """Return ln P(label, observed features) of each class variable, up to a constant."""

        def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
            """Return the most probable combination of labels, (classes, rows), first if tied."""

        def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
            """Return ln P(labels | observed features) of codes, (class variables, rows)."""

    def log_joint_at(self, rows: Rows, labels: Codes) -> Array:
        """Return ln P(labels, observed features), (rows,)."""
        raise TypeError(f"x must define a joint distribution; {self.no_joint}.")

    # methods that functions call

    def predict(
        self,
        newdata: Any,
        prob: bool,
        unseen: str,
        unknown: Sequence[Hashable],
        prior: object,
        costs: object,
        joint: bool,
        greedy: bool,
    ) -> pd.DataFrame:
        for name, value in {"prior": prior, "costs": costs}.items():
            if value is not None:
                raise TypeError(
                    f"{name} must be None for several class variables. Predict "
                    "each by its own model."
                )
        if greedy and not self.is_chain:
            raise TypeError(
                "greedy must be False unless x is a chain, which chain(class_vars, dataset) learns."
            )
        if joint and prob and _PROBABILITY in self.class_vars:
            raise ValueError(
                f"x must not have a class variable called {shown(_PROBABILITY)}. Rename it."
            )
        data = read_for_model(self, newdata, self.features, unknown=unknown)
        levels = self.known_levels[: len(self.features)]
        rows = Rows(codes_by_levels(data, self.features, levels, unseen=unseen))
        if joint:
            best = self.most_probable(rows, greedy=greedy)
            labels = self._label_frame(best, data.index)
            if prob:
                labels[_PROBABILITY] = np.exp(self.log_posterior_at(rows, best))
            return labels
        marginals = self.log_marginals(rows, greedy=greedy)
        if prob:
            pairs = [
                (name, label)
                for name, labels in zip(self.class_vars, self.class_levels, strict=True)
                for label in labels
            ]
            axes = [
                pd.Index(own, dtype=object, tupleize_cols=False) for own in zip(*pairs, strict=True)
            ]
            posteriors = np.hstack([np.exp(log_normalize(logs)) for logs in marginals])
            return pd.DataFrame(posteriors, data.index, pd.MultiIndex.from_arrays(axes))
        return self._label_frame([first_best(logs) for logs in marginals], data.index)

    def _label_frame(self, codes: Iterable[Codes], index: pd.Index[Any]) -> pd.DataFrame:
        """Return labels from codes, with one categorical column per class variable."""
        series = []
        for labels, name, of_class in zip(self.class_levels, self.class_vars, codes, strict=True):
            series.append(Labelling(labels, name, index).labels_of_codes(of_class))
        names = pd.Index(list(self.class_vars), tupleize_cols=False)
        return pd.DataFrame(dict(enumerate(series)), index=index).set_axis(names, axis="columns")

    def model_of_class(self, class_var: Hashable | None) -> ClassView:
        if class_var is None:
            raise TypeError(f"class_var must be given, one of {listed(self.class_vars)}.")
        return ClassView(self, OneOf(self.class_vars).check("class_var", class_var))


@forward_to_basis("features", "fitted", "is_average")
@dataclass(frozen=True, eq=False, repr=False)
class ClassView(Model):
    """One class variable's model in a model of several, marginalized over the others."""

    basis: MultiModel
    class_var: Hashable
    recipe: Recipe | None = None

    @property
    def levels(self) -> Levels | None:
        """The labels of the features and of the class variable."""
        by_name = self.basis.levels_by_name
        return tuple([by_name[name] for name in self.variables])

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself."""
        return (self,)

    @property
    def learned(self) -> Mapping[str, Any]:
        """Empty."""
        return EMPTY

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of variables without other class variables; empty without one graph."""
        parents, variables = self.basis.parents, set(self.variables)
        return {v: tuple([p for p in parents.get(v, ()) if p in variables]) for v in self.variables}

    @cached_property
    def formula(self) -> Formula:
        """The log posterior of the class, marginalized over the other class variables."""
        place = self.basis.class_vars.index(self.class_var)
        return Computed(lambda rows: self.basis.log_marginals(rows)[place], self.type_in_words)


class Chained(MultiModel):
    """Base of a chain and of an average of chains, its `members`."""

    is_chain = True
    no_joint = (
        "a chain does not define a joint distribution with the features, because each of its "
        "members has a separate one; use predict, cloglik or cv"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        super().__post_init__()

    def chooses_labels_one_by_one(self, greedy: bool) -> bool:
        """Whether labels are chosen one by one, if requested or if combinations are too many."""
        return greedy or prod(self.class_cardinalities) > MOST_COMBINATIONS

    def map_counted_parts(self, function: Callable[..., Model], *others: Any) -> Self:
        alike = zip(self.members, *[other.members for other in others], strict=True)
        return replace(
            self,
            members=tuple([member.map_counted_parts(function, *rest) for member, *rest in alike]),
        )

    def read_training_rows(self, dataset: OpenedData) -> Any:
        """Return the training rows of all members."""
        known = None if self.levels is None else self.levels_by_name
        return prepare_training_data(dataset, self.class_vars, self.features, known=known)


@record
@dataclass(frozen=True, eq=False, repr=False)
class Chain(Chained):
    """A classifier chain: P(classes | features) = Π P(class | features, earlier classes).

    `chain` learns the structure, `lp` the parameters. It does not define a
    distribution of the features.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables, in the order of the predicted columns.
    members : tuple of models
        One model per class variable, in the order of the chain. Earlier class
        variables may be among the features of a model.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members
    >>> voting = load_voting()
    >>> model = lp(chain(["mx_missile", "crime"], voting), voting, smooth=1)
    >>> [member.class_var for member in members(model)]
    ['mx_missile', 'crime']
    """

    class_vars: tuple[Hashable, ...]
    members: tuple[Model, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        strange = [
            type(m).__name__ for m in self.members if not isinstance(m, Model) or not m.one_class
        ]
        if strange:
            raise TypeError(
                f"members must be models of one class variable each; got {listed(strange)}."
            )
        order = [member.class_var for member in self.members]
        if len(set(self.class_vars)) < len(self.class_vars) or Counter(order) != Counter(
            self.class_vars
        ):
            raise ValueError(
                f"members must be one model of each of {listed(self.class_vars)}; got "
                f"{listed(order)}."
            )
        known: dict[Hashable, tuple[Hashable, ...]] = {}
        for i, member in enumerate(self.members):
            if ahead := [name for name in member.features if name in order[i:]]:
                raise ValueError(
                    "members must have no later class variables as features; that of "
                    f"{shown(order[i])} has {listed(ahead)}."
                )
            for name, labels in zip(member.variables, member.levels or (), strict=False):
                if known.setdefault(name, labels) != labels:
                    raise ValueError(
                        f"members must be models with the same levels of {shown(name)}."
                    )

    @cached_property
    def order(self) -> tuple[Hashable, ...]:
        """The class variables in the order of the chain."""
        return tuple([member.class_var for member in self.members])

    @cached_property
    def features(self) -> tuple[Hashable, ...]:
        """The features of any member that are not class variables."""
        named = dict.fromkeys(name for member in self.members for name in member.features)
        return tuple([name for name in named if name not in self.class_vars])

    @cached_property
    def levels(self) -> Levels | None:
        """The labels of the features, then of the class variables."""
        if any(member.levels is None for member in self.members):
            return None
        known = ChainMap(*[member.levels_by_name for member in self.members])
        return tuple([known[name] for name in self.variables])

    @property
    def fitted(self) -> bool:
        """Whether all members have parameters."""
        return all(member.fitted for member in self.members)

    @property
    def trained_on(self) -> TrainingRows | None:
        trained = {member.class_var: member.trained_on for member in self.members}
        known = [rows for rows in [trained[name] for name in self.class_vars] if rows is not None]
        if len(known) < len(self.members):
            return None
        incomplete = dict.fromkeys(name for rows in known for name in rows.incomplete)
        classes = tuple([weights for rows in known for weights in rows.classes])
        ranges = dict(ChainMap(*[dict(rows.ranges) for rows in known]))
        size = max(rows.size for rows in known)
        return TrainingRows(size, classes, tuple(incomplete), ranges=ranges)

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"x must have one graph; got a chain of {len(self.members):,} networks, one per class "
            "variable. Plot each of members(x)."
        )

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        codes = rows.codes
        if self.chooses_labels_one_by_one(greedy):
            return _posteriors_along_chain(self, codes)[0]
        n, cards = codes.shape[1], self.class_cardinalities
        results: list[Array] = [np.empty((n, card)) for card in cards]
        for block, logs in _log_posteriors_by_block(self, codes):
            shares = np.exp(logs)
            for j, result in enumerate(results, start=1):
                result[block] = log(shares.sum(axis=tuple({*range(1, shares.ndim)} - {j})))
        return results

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        codes = rows.codes
        if self.chooses_labels_one_by_one(greedy):
            return _posteriors_along_chain(self, codes)[1]
        labels = np.empty((len(self.class_vars), codes.shape[1]), dtype=np.intp)
        for block, joint in _log_posteriors_by_block(self, codes):
            best = first_best(joint.reshape(len(joint), -1))
            labels[:, block] = np.unravel_index(best, self.class_cardinalities)
        return labels

    def log_posteriors_of_combinations(self, rows: Rows) -> Array:
        """Return ln P(labels | features) of all combinations of labels, (rows, combinations)."""
        found = [joint for _, joint in _log_posteriors_by_block(self, rows.codes)]
        return np.concatenate(found).reshape(len(rows), -1)

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        logs = np.zeros(len(rows))
        of_classes = _posteriors_along_chain(self, rows.codes, labels)[0]
        for own, chosen in zip(of_classes, labels.astype(np.intp), strict=True):
            logs += np.take_along_axis(own, chosen[:, None], axis=1)[:, 0]
        return logs

    def fit_chain_links(
        self, function: Fit, dataset: OpenedData, step: Step | None = None
    ) -> Chain:
        data, members = self.read_training_rows(dataset), []
        for member in self.members:
            rows = prepare_training_data(data.select(member.variables), member.targets, warns=False)
            members.append(function(member, rows))
        return replace(
            self, members=tuple(members), recipe=recipe_with_parameter_step(self.recipe, step)
        )

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {**super().properties_to_agree, "order": self.order}

    def facts(self) -> dict[str, object]:
        """Return the number of features and the order of the chain."""
        order = None if self.order == self.class_vars else ", ".join(map(str, self.order))
        return {"num. features": len(self.features), "order": order}


def _posteriors_along_chain(
    x: Chain, codes: Codes, labels: Codes | None = None
) -> tuple[list[Array], Codes]:
    """Choose labels one by one, or use these; return each class's log posteriors, and labels."""
    variables, n = _codes_of_all_variables(x, codes, labels), len(x.features)
    marginals = {}
    for member in x.members:
        j = x.class_vars.index(member.class_var)
        marginals[j] = _log_posterior_of_member(x, member, variables)
        if labels is None:
            variables[n + j] = first_best(marginals[j])
    return [marginals[j] for j in sorted(marginals)], variables[n:]


def _codes_of_all_variables(x: Chain, codes: Codes, labels: Codes | None = None) -> Codes:
    """Return codes of all variables, with the first label of each class by default."""
    shape = len(x.class_vars), codes.shape[1]
    return np.concatenate([codes, np.zeros(shape, dtype=np.intp) if labels is None else labels])


def _log_posterior_of_member(x: Chain, member: Model, variables: Codes) -> Array:
    """Return a member class's log posterior given features, among them earlier classes."""
    codes = variables[[x.variables.index(name) for name in member.features]]
    return log_normalize(scores_at(member.score, Rows(codes)))


def _log_posteriors_by_block(x: Chain, codes: Codes) -> Iterator[tuple[Slice, Array]]:
    """Yield blocks of rows, and their ln P(labels | features), (rows, labels of each class…)."""
    axes = [0, *(1 + x.order.index(name) for name in x.class_vars)]
    cards = dict(zip(x.class_vars, x.class_cardinalities, strict=True))
    widest = max(len(member.features) + 2 for member in x.members)
    for rows in slices(codes.shape[1], prod(x.class_cardinalities) * widest):
        logs = np.zeros(rows.stop - rows.start)
        variables = _codes_of_all_variables(x, codes[:, rows])
        for i, member in enumerate(x.members):  # given earlier classes, an axis for each
            shape = [cards[name] if name in member.features else 1 for name in x.order[:i]]
            hidden = [x.variables.index(name) for name in x.order[:i]]
            posterior = partial(_log_posterior_of_member, x, member)
            own = score_combinations(posterior, variables, hidden, shape)
            logs = logs[..., None] + own.reshape(len(logs), *shape, -1)
        yield rows, logs.transpose(axes)


def log_mean_exp(logs: Sequence[Array]) -> Array:
    """Return the log of the mean of exponentials."""
    return log_sum_exp(np.stack(logs), axis=0) - float(np.log(len(logs)))


@record
@forward_to_basis("features", "levels", "fitted", "trained_on")
@dataclass(frozen=True, eq=False, repr=False)
class ChainEnsemble(Chained):
    """An average of classifier chains, each with another order of the class variables.

    Its posteriors are the means over the chains. `chain` with ``orders`` learns
    the structure, `lp` the parameters.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables, in the order of the predicted columns.
    members : tuple of Chain
        The chains.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Examples
    --------
    >>> from bnclassify import chain, load_voting, lp, members
    >>> voting = load_voting()
    >>> structure = chain(["mx_missile", "crime"], voting, orders=3, rng=5)
    >>> [[member.class_var for member in members(one)] for one in members(structure)]
    [['mx_missile', 'crime'], ['crime', 'mx_missile'], ['crime', 'mx_missile']]
    """

    is_average = True

    class_vars: tuple[Hashable, ...]
    members: tuple[Chain, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.members or not all(isinstance(member, Chain) for member in self.members):
            kinds = [type(member).__name__ for member in self.members]
            raise TypeError(f"members must be chains, at least one; got {listed(kinds)}.")
        for name in ("class_vars", "features", "levels", "fitted"):
            if any(
                getattr(member, name) != getattr(self.members[0], name) for member in self.members
            ):
                raise ValueError(
                    f"members must have the same {name}. Learn all of them from the same data."
                )

    @property
    def basis(self) -> Chain:
        """The first chain, which has the features, levels and training rows of all."""
        return self.members[0]

    def arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"x must have one graph; got an average of {len(self.members):,} chains. Plot the "
            "members of each of members(x)."
        )

    def log_marginals(self, rows: Rows, *, greedy: bool = False) -> list[Array]:
        found = [member.log_marginals(rows, greedy=greedy) for member in self.members]
        return [log_mean_exp(of_class) for of_class in zip(*found, strict=True)]

    def most_probable(self, rows: Rows, *, greedy: bool = False) -> Codes:
        if self.chooses_labels_one_by_one(greedy):
            tried = [member.most_probable(rows, greedy=True) for member in self.members]
            best = first_best(np.stack([self.log_posterior_at(rows, own) for own in tried], axis=1))
            return np.stack(tried)[best, :, np.arange(len(rows))].T
        labels = np.empty((len(self.class_vars), len(rows)), dtype=np.intp)
        for block in slices(len(rows), prod(self.class_cardinalities)):
            some = rows.subset(block)
            joint = log_mean_exp([x.log_posteriors_of_combinations(some) for x in self.members])
            labels[:, block] = np.unravel_index(first_best(joint), self.class_cardinalities)
        return labels

    def log_posterior_at(self, rows: Rows, labels: Codes) -> Array:
        return log_mean_exp([member.log_posterior_at(rows, labels) for member in self.members])

    def fit_chain_links(
        self, function: Fit, dataset: OpenedData, step: Step | None = None
    ) -> ChainEnsemble:
        data = self.read_training_rows(dataset)
        recipe = recipe_with_parameter_step(self.recipe, step)
        members = tuple([member.fit_chain_links(function, data, step) for member in self.members])
        return replace(self, members=members, recipe=recipe)

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        return {
            **super().properties_to_agree,
            "orders": tuple([member.order for member in self.members]),
        }
