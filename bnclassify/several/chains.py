"""Classifier chains: each class variable has a model in which the earlier class variables are features."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from ..base.arrays import Array, Codes, blocks, first_best, log, log_normalize
from ..base.immutable import cached_property, record
from ..base.messages import listed, shown
from ..frames.opening import InFull, InParts
from ..frames.schema import Learnable, Levels
from ..frames.training import prepare
from ..model.model import Model
from ..model.recipes import Recipe, Rows, Step
from ..network.elimination import first_of_many, score_all
from .class_inference import MOST_COMBINATIONS
from .multidimensional import MultiModel

_BLOCK_CODES = 2**22


@record
@dataclass(frozen=True, eq=False, repr=False)
class Chain(MultiModel):
    """A probabilistic classifier chain: P(classes | features) = Π P(class | features, earlier classes).

    `chain` learns the structure, `lp` the parameters. It does not define a distribution of the features.

    Attributes
    ----------
    class_vars : tuple of str
        Names of the class variables, in the order of the predicted columns.
    members : tuple of models
        One model per class variable, in the order of the chain. Earlier class variables may be among the
        features of a model.
    recipe : Recipe or None
        The steps that learned it; `cv` repeats them.
    learned : mapping
        Additional results of learning, by name.

    Raises
    ------
    TypeError
        If a member is not a model of one class variable.
    ValueError
        If there is not one member per class variable, a later class variable is a feature of a member, or
        members differ in levels.
    """

    is_chain = True
    no_joint = (
        "a chain does not define a joint distribution with the features, because each of its members has a "
        "separate one; use predict, cloglik or cv"
    )

    class_vars: tuple[Hashable, ...]
    members: tuple[Model, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_vars", tuple(self.class_vars))
        object.__setattr__(self, "members", tuple(self.members))
        _check_links(self.class_vars, self.members)
        super().__post_init__()

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
        known: dict[Hashable, tuple[Any, ...]] = {}
        for member in self.members:
            if member.levels is None:
                return None
            known |= member.levels_by_name
        return tuple([known[name] for name in self.variables])

    @property
    def fitted(self) -> bool:
        """Whether all members have parameters."""
        return all(member.fitted for member in self.members)

    @property
    def _trained_on(self) -> Rows | None:
        parts = [member._trained_on for member in self.members]
        known = {member.class_var: rows for member, rows in zip(self.members, parts, strict=True) if rows}
        if len(known) < len(self.members):
            return None
        incomplete = dict.fromkeys(name for rows in known.values() for name in rows.incomplete)
        classes = tuple([part for name in self.class_vars for part in known[name].classes])
        return Rows(max(rows.size for rows in known.values()), classes, tuple(incomplete))

    def _arc_shares(self) -> dict[tuple[Hashable, Hashable], float]:
        raise TypeError(
            f"x must have one graph; got a chain of {len(self.members):,} networks, one per class variable. "
            "Plot each of members(x)."
        )

    def _log_marginals(self, codes: Codes, *, greedy: bool = False) -> list[Array]:
        if greedy or prod(self.class_cards) > MOST_COMBINATIONS:
            return _follow(self, codes)[0]
        results = [np.empty((codes.shape[1], card)) for card in self.class_cards]
        for rows, logs in _try_all(self, codes):
            shares = np.exp(logs)
            for j, result in enumerate(results, start=1):
                result[rows] = log(shares.sum(axis=tuple({*range(1, shares.ndim)} - {j})))
        return results

    def _most_probable(self, codes: Codes, *, greedy: bool = False) -> Codes:
        if greedy or prod(self.class_cards) > MOST_COMBINATIONS:
            return _follow(self, codes)[1]
        labels = np.empty((len(self.class_vars), codes.shape[1]), dtype=np.intp)
        for rows, joint in _try_all(self, codes):
            best = first_of_many(joint.reshape(len(joint), -1))
            labels[:, rows] = np.unravel_index(best, self.class_cards)
        return labels

    def _log_posterior_at(self, codes: Codes, labels: Codes) -> Array:
        given = zip(_follow(self, codes, labels)[0], labels.astype(np.intp), strict=True)
        return np.sum([np.take_along_axis(logs, own[:, None], axis=1)[:, 0] for logs, own in given], axis=0)

    def _fit(self, dataset: InFull | InParts, step: Step, fit: Callable[[Model, Any], Model]) -> Chain:
        recipe = self.recipe and replace(self.recipe, parameters=step)
        return replace(self, members=tuple(map(fit, self.members, self._rows(dataset))), recipe=recipe)

    def _update(self, dataset: InFull | InParts, update: Callable[[Model, Any], Model]) -> Chain:
        return replace(self, members=tuple(map(update, self.members, self._rows(dataset))))

    def _each(self, function: Callable[..., Any], *others: Any) -> Chain:
        parts = zip(self.members, *[other.members for other in others], strict=True)
        return replace(self, members=tuple([member._each(function, *rest) for member, *rest in parts]))

    @property
    def _settings(self) -> dict[str, Any]:
        return {**super()._settings, "order": self.order}

    def _rows(self, dataset: InFull | InParts) -> Iterator[Learnable]:
        """Yield the training rows of each member, which have its class."""
        known = None if self.levels is None else self.levels_by_name
        data = prepare(dataset, self.class_vars, self.features, known=known)
        for member in self.members:
            yield prepare(data.select(member.variables), member.targets, warns=False)

    def facts(self) -> dict[str, object]:
        """Return the number of features and the order of the chain."""
        order = None if self.order == self.class_vars else ", ".join(map(str, self.order))
        return {"num. features": len(self.features), "order": order}


def _check_links(class_vars: tuple[Hashable, ...], members: tuple[Model, ...]) -> None:
    """Raise unless there is one model per class variable, without later class variables as features."""
    if strange := [type(m).__name__ for m in members if not isinstance(m, Model) or not m.one_class]:
        raise TypeError(f"members must be models of one class variable each; got {listed(strange)}.")
    order = [member.class_var for member in members]
    if len(set(class_vars)) < len(class_vars) or sorted(map(hash, order)) != sorted(map(hash, class_vars)):
        raise ValueError(f"members must be one model of each of {listed(class_vars)}; got {listed(order)}.")
    known: dict[Hashable, tuple[Any, ...]] = {}
    for i, member in enumerate(members):
        if ahead := [name for name in member.features if name in order[i:]]:
            raise ValueError(
                "members must have no later class variables as features; that of "
                f"{shown(order[i])} has {listed(ahead)}."
            )
        for name, labels in zip(member.variables, member.levels or (), strict=False):
            if known.setdefault(name, labels) != labels:
                raise ValueError(f"members must be models with the same levels of {shown(name)}.")


def _follow(x: Chain, codes: Codes, labels: Codes | None = None) -> tuple[list[Array], Codes]:
    """Choose labels one by one, or use given ones; return the log posteriors of each class, and labels."""
    variables, n = _with_labels(x, codes, labels), len(x.features)
    marginals = {}
    for member in x.members:
        j = x.class_vars.index(member.class_var)
        marginals[j] = _log_posterior(x, member, variables)
        if labels is None:
            variables[n + j] = first_best(marginals[j])
    return [marginals[j] for j in sorted(marginals)], variables[n:]


def _with_labels(x: Chain, codes: Codes, labels: Codes | None = None) -> Codes:
    """Return codes of all variables, with the first label of each class by default."""
    shape = len(x.class_vars), codes.shape[1]
    return np.concatenate([codes, np.zeros(shape, dtype=np.intp) if labels is None else labels])


def _log_posterior(x: Chain, member: Model, variables: Codes) -> Array:
    """Return the log posterior of the class of a member given its features, among them earlier classes."""
    return log_normalize(member._log_joint(variables[[x.variables.index(name) for name in member.features]]))


def _try_all(x: Chain, codes: Codes) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of rows and ln P(labels | features) of them, (rows, labels of each class variable…)."""
    axes = [0, *(1 + x.order.index(name) for name in x.class_vars)]
    widest = max(len(member.features) + 2 for member in x.members)
    for rows in blocks(codes.shape[1], _BLOCK_CODES, prod(x.class_cards) * widest):
        logs = np.zeros(rows.stop - rows.start)
        for i in range(len(x.members)):
            logs = logs[..., None] + _given_before(x, i, codes[:, rows])
        yield rows, logs.transpose(axes)


def _given_before(x: Chain, i: int, codes: Codes) -> Array:
    """Return ln P(label | features, previous labels) of a member, an axis per earlier class variable."""
    member, cards = x.members[i], dict(zip(x.class_vars, x.class_cards, strict=True))
    shape = [cards[name] if name in member.features else 1 for name in x.order[:i]]
    hidden = [x.variables.index(name) for name in x.order[:i]]
    variables = _with_labels(x, codes)
    logs = score_all(lambda tried: _log_posterior(x, member, tried), variables, hidden, shape)
    return logs.reshape(codes.shape[1], *shape, -1)
