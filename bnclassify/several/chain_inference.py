"""Posteriors of a chain: by all combinations of labels where they are few, else one label after the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import Array, Codes, first_best, log, log_normalize
from ..model.model import Model
from ..network.log_joints import joint_of_codes
from .chains import Chain
from .class_inference import MOST_COMBINATIONS, Likeliest, best_of, likeliest, log_marginals

_BLOCK_CODES = 2**22


def can_try_all(x: Chain) -> bool:
    """Whether a chain has so few combinations of labels that all are tried."""
    return prod(x.class_cards) <= MOST_COMBINATIONS


@log_marginals.register
def _(x: Chain, codes: Codes) -> list[Array]:
    if not can_try_all(x):
        return follow(x, codes)[0]
    results = [np.empty((codes.shape[1], card)) for card in x.class_cards]
    for rows, logs in _try_all(x, codes):
        shares = np.exp(logs)
        for j, result in enumerate(results):
            axes = tuple([1 + i for i in range(len(results)) if i != j])
            result[rows] = log(shares.sum(axis=axes))
    return results


@likeliest.register
def _(x: Chain, codes: Codes) -> Likeliest:
    if not can_try_all(x):
        return follow(x, codes)[1]
    labels = np.empty((len(x.class_vars), codes.shape[1]), dtype=np.intp)
    logs = np.empty(codes.shape[1])
    for rows, joint in _try_all(x, codes):
        best, logs[rows] = best_of(joint.reshape(len(joint), -1))
        labels[:, rows] = np.unravel_index(best, x.class_cards)
    return Likeliest(labels, logs)


def follow(x: Chain, codes: Codes) -> tuple[list[Array], Likeliest]:
    """Choose one label after the other, each given those chosen before it.

    Returns
    -------
    list of (rows, labels) arrays
        The log posterior of each class variable given the features and the labels chosen before it.
    Likeliest
        The labels, and the product of their posteriors.
    """
    position = {name: i for i, name in enumerate(x.class_vars)}
    chosen = np.empty((len(x.class_vars), codes.shape[1]), dtype=np.intp)
    total = np.zeros(codes.shape[1])
    marginals: list[Array] = [np.empty((0, 0))] * len(x.class_vars)
    for member in x.members:
        j = position[member.class_var]
        logs = log_normalize(joint_of_codes(member, _member_codes(x, member, codes, chosen)))
        marginals[j], chosen[j] = logs, first_best(logs)
        total += np.take_along_axis(logs, chosen[j][:, None], axis=1)[:, 0]
    return marginals, Likeliest(chosen, total)


def log_conditional_at(x: Chain, codes: Codes, labels: Codes) -> Array:
    """Return ln P(labels | features), (rows,)."""
    position = {name: i for i, name in enumerate(x.class_vars)}
    total = np.zeros(codes.shape[1])
    for member in x.members:
        logs = log_normalize(joint_of_codes(member, _member_codes(x, member, codes, labels)))
        class_codes = labels[position[member.class_var]].astype(np.intp)
        total += np.take_along_axis(logs, class_codes[:, None], axis=1)[:, 0]
    return total


def _member_codes(x: Chain, member: Model, codes: Codes, labels: NDArray[np.signedinteger]) -> Codes:
    """Return the codes of what a member takes for features, class variables before its own among them."""
    feature = {name: i for i, name in enumerate(x.features)}
    label = {name: i for i, name in enumerate(x.class_vars)}
    columns = [labels[label[name]] if name in label else codes[feature[name]] for name in member.features]
    return np.array(columns, dtype=np.intp).reshape(len(columns), codes.shape[1])


def _try_all(x: Chain, codes: Codes) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of rows and ln P(labels | features) of them, (rows, labels of each class variable…)."""
    position = {name: i for i, name in enumerate(x.class_vars)}
    axes = [0, *(1 + x.order.index(name) for name in x.class_vars)]
    widest = max(len(member.features) + 2 for member in x.members)
    rows_per_block = max(1, _BLOCK_CODES // (prod(x.class_cards) * widest))
    for start in range(0, codes.shape[1], rows_per_block):
        rows = slice(start, min(start + rows_per_block, codes.shape[1]))
        logs = np.zeros(rows.stop - start)
        for i, member in enumerate(x.members):
            cards = [x.class_cards[position[name]] for name in x.order[:i]]
            logs = logs[..., None] + _given_before(x, member, codes[:, rows], cards)
        yield rows, logs.transpose(axes)


def _given_before(x: Chain, member: Model, codes: Codes, cards: list[int]) -> Array:
    """Return ln P(label | features, labels before), an axis for each class variable before.

    Those that the member does not look at have an axis of length 1.
    """
    shape = [card if name in member.features else 1 for name, card in zip(x.order, cards, strict=False)]
    n, rows = prod(shape), codes.shape[1]
    labels = np.zeros((len(x.class_vars), rows * n), dtype=np.intp)
    for name, class_codes in zip(x.order, np.indices(shape).reshape(len(shape), n), strict=False):
        labels[x.class_vars.index(name)] = np.tile(class_codes, rows)
    logs = joint_of_codes(member, _member_codes(x, member, np.repeat(codes, n, axis=1), labels))
    return log_normalize(logs).reshape(rows, *shape, -1)
