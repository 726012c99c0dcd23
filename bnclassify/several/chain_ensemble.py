"""Averages of classifier chains with different orders of the class variables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from ..dataset import OpenedData
from ..model import Fit, Recipe, Step, forward_to_basis, recipe_with_parameter_step
from ..scores import Rows
from ..tools.arrays import Array, Codes, first_best, slices
from ..tools.immutable import record
from ..tools.messages import listed
from .multidimensional import Chain, Chained, log_mean_exp


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
