"""Networks with weights of tables, refined by Gaussian terms, slopes and shifts of single features."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes
from ..base.messages import listed
from ..base.records import record
from ..frames.numeric import as_floats
from ..frames.schema import Dataset
from ..model.formulas import Scale, Table
from ..model.model import Model, renewed
from ..model.recipes import Recipe
from ..network.classifiers import BNC
from .gaussians import NumberTerms
from .incomplete import Fading
from .tables import LeftOut
from .weighted import LogLinear, Weighted

TERMS = ("gaussians", "zscores", "slopes", "shifts", "levels")
"""The terms that can be added, in the order of `feature_weights`."""


@record
@dataclass(frozen=True, eq=False, repr=False)
class Refined(LogLinear):
    """A model with weights and additional terms of single features.

        ln P(c | x) = const + w₀ ln P(c) + Σ_f T_f(x, c)
        T_f = Σ_l a_fl ln P_l(x_f | c, first l parents) + Σ_s g_fs ln p_s(x_f | c) + β_fc z_f + γ_fc(x_f)

    ``base`` has the tables. ``numbers`` are the numeric features, ``of_numbers`` their terms
    on each scale, and ``shifts`` the γ of each feature, (levels + 1, classes), the last row of zeros.
    """

    base: Any
    numbers: tuple[int, ...] = ()
    of_numbers: tuple[NumberTerms, ...] = ()
    shifts: tuple[Array | None, ...] = ()
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
    fading: Fading | None = None

    no_joint = Weighted.no_joint

    def __post_init__(self) -> None:
        super().__post_init__()
        n, cards = len(self.features), [len(labels) for labels in self.known_levels]
        fits = all(0 <= i < n for i in self.numbers) and len(self.shifts) in (0, n)
        fits &= all(len(terms.scales) == len(self.numbers) for terms in self.of_numbers)
        shapes = zip(self.shifts, cards[:-1], strict=False)
        if not fits or any(s is not None and s.shape != (card + 1, cards[-1]) for s, card in shapes):
            raise ValueError("numbers, of_numbers and shifts must be terms of the features of base.")

    @property
    def structure(self) -> BNC:  # type: ignore[override]
        """The network without tables."""
        structure: BNC = self.base.structure
        return structure

    @property
    def networks(self) -> tuple[Weighted, ...]:
        """The networks whose terms are averaged."""
        networks: tuple[Weighted, ...] = self.base.networks
        return networks

    @property
    def members(self) -> tuple[Model, ...]:
        """The network in each discretization."""
        members: tuple[Model, ...] = self.base.members
        return members

    def _raised(self, power: float) -> Refined:
        """Return the model with the power multiplied into its weights."""
        terms = [replace(t, powers=power * t.powers, slopes=power * t.slopes) for t in self.of_numbers]
        shifts = tuple([None if table is None else power * table for table in self.shifts])
        return renewed(self, base=self.base._raised(power), of_numbers=tuple(terms), shifts=shifts)

    def split(self) -> Refined:
        """Return the same model for long use, with the tables of each coding apart."""
        base = self.base.split()
        return renewed(self, base=base, learned=base.learned)

    def _coding(self, network: int) -> Any:
        return self.base._coding(network)

    @property
    def network(self) -> Any:
        """The network with its tables, if there is a single one."""
        return self.base.network

    @property
    def fitted(self) -> bool:
        """True, because it always has tables."""
        return True

    def facts(self) -> dict[str, object]:
        """Return the size of the network, and the result of leave-one-out."""
        return self.base.facts() | {"leave-one-out": self.learned.get("leave_one_out")}

    def _with_numbers(self, codes: Codes, numbers: Mapping[Hashable, Any]) -> Codes:
        """Return codes and, below them, the bits of the numbers as integers, where -1 is NaN."""
        if not self.numbers:
            return codes
        names = {i: self.features[i] for i in self.numbers}
        absent = [name for i, name in names.items() if name not in numbers and (codes[i] >= 0).any()]
        if absent:
            raise ValueError(
                f"newdata must contain numbers in {listed(absent)}; got categories. Pass the data before "
                "they are discretized."
            )
        nothing = np.full(codes.shape[1], np.nan)
        below = np.array([as_floats(numbers.get(name, nothing)) for name in names.values()])
        return np.concatenate([codes.astype(np.int64), below.view(np.int64)])

    def _logs(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        yield from self.base._logs(codes, left_out)
        yield from self._further(codes, left_out)

    def _further(self, codes: Codes, left_out: LeftOut | None = None) -> Iterator[tuple[int, Array]]:
        for i, shifts in enumerate(self.shifts):
            if shifts is not None:
                yield i, shifts.take(codes[i], axis=0, mode="wrap")  # the entry of -1
        n = len(self.features)
        if self.numbers and len(codes) > n:
            numbers = codes[n:].view(np.float64)
            for terms in self.of_numbers:
                for number, logs in terms.logs(numbers, left_out):
                    yield self.numbers[number], logs

    def _described(self) -> tuple[tuple[Any, ...], bool, tuple[Scale, ...]]:
        terms, marginalizes, _ = self.base._described()
        shifts = [Table(i, (i,), table) for i, table in enumerate(self.shifts) if table is not None]
        scales: list[Scale] = []
        for of_numbers in self.of_numbers:
            terms += of_numbers.described(self.numbers, len(scales))
            pairs = zip(self.numbers, of_numbers.scales, strict=True)
            scales += [Scale(i, scale.knots, scale.scores) for i, scale in pairs]
        return (*terms, *shifts), marginalizes, tuple(scales)

    def _weights(self) -> Any:
        """Return a frame of weights, one row for the class and one per feature, and one column per term."""
        *of_features, of_class = self.base.powers
        names = [self.class_var, *self.features]
        depth = max((len(power) for power in of_features if isinstance(power, tuple)), default=1)
        columns: dict[str, Array] = {}
        if depth == 1:
            columns["tables"] = np.array([of_class, *map(np.sum, of_features)])
        else:
            powers = np.full((len(names), depth), np.nan)
            for row, power in zip(powers, [(of_class,), *of_features], strict=True):
                row[: len(power)] = power
            columns |= {f"level {i}": powers[:, i] for i in range(depth)}
        of_slopes, of_shifts = np.full((2, len(names)), np.nan)
        at = np.array(self.numbers, dtype=np.intp) + 1
        for terms in self.of_numbers:
            if len(terms.powers):
                columns[terms.name] = np.full(len(names), np.nan)
                columns[terms.name][at] = terms.powers
            if len(terms.slopes):
                of_slopes[at] = np.sqrt(np.square(terms.slopes).mean(axis=1))
        for i, shifts in enumerate(self.shifts):
            if shifts is not None:
                of_shifts[i + 1] = np.sqrt(np.square(shifts[:-1]).mean())
        for name, values in {"slopes": of_slopes, "shifts": of_shifts}.items():
            if not np.isnan(values).all():
                columns[name] = values
        return pd.DataFrame(columns, pd.Index(names, tupleize_cols=False))

    def _curve(self, feature: Hashable) -> Array | None:
        i = self.features.index(feature)
        if i not in self.numbers:
            return None
        low, *_, high = self.of_numbers[0].scales[self.numbers.index(i)].knots.tolist() * 2
        cuts = np.array(self.preparation.discretizer.cuts[feature])  # type: ignore[union-attr]
        points = np.concatenate([np.linspace(low, high, 400), cuts, np.nextafter(cuts, np.inf)])
        return np.unique(points.clip(low, high))

    def _estimate(self, data: Any, prior: Any) -> Any:
        """Return the structure with tables, without powers and additional terms."""
        return renewed(self.base, recipe=self.recipe)._estimate(data, prior)

    def _stacked(self, data: Dataset, prior: Any) -> Any:
        """Return the structure with the tables of all prefixes of the families in each discretization."""
        return renewed(self.base, recipe=self.recipe)._stacked(data, prior)
