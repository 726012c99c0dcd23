"""Codes become counts of families and pairs, and every score of an arc follows from counts.

A family is a variable and its parents, and its contingency table counts the
rows of each combination of their levels. Tables of all pairs of variables, given
the class or not, are counted at once, because most learners need nothing else.
Mutual information, the scores of arcs and the statistics of independence tests
are functions of these tables. Moments take the place of counts for numeric
features. `FamilyCounts` keeps the tables that a search asks for repeatedly.
The same functions count weighted rows and rows in parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from math import inf, lgamma, prod
from math import log as ln
from operator import add
from typing import Any, NamedTuple, cast

import numpy as np

from .dataset import Countable, Dataset, as_floats
from .tools import special
from .tools.arrays import (
    Array,
    ArrayOf,
    Codes,
    Mask,
    Positions,
    Slice,
    code_type,
    one_thread,
    slices,
    weights_at,
    xlogx,
)
from .tools.immutable import (
    ANY_NUMBER,
    COUNT,
    Immutable,
    StackedArrays,
    cached_property,
    field_bounds,
    record,
)
from .tools.messages import how_to_merge, listed, shown

# Contingency tables of encoded data, counts of families, and those of each extended by one parent.
#
# Every count is over available cases: a table counts the rows in which all its
# variables are observed. Counts of different rows add up.


MAX_CELLS = 2**27
"""Maximum number of cells of a table (1 GiB)."""

_FEW_CELLS = 2**5  # of a table that is counted fastest by bits

count_bits: Any = getattr(np, "bitwise_count", None)  # which NumPy 1 does not have

Counts = ArrayOf[Any]
Scope = tuple[int, ...]
"""The positions of the members of a family: a variable, then its parents."""


def flat_index(codes: Sequence[ArrayOf[Any]], cards: Sequence[int]) -> Codes:
    """Number the joint values of variables from their complete codes, the last varying fastest.

    >>> flat_index([np.array([0, 1, 1]), np.array([2, 0, 2])], [2, 3]).tolist()
    [2, 3, 5]
    """
    if len(codes) == 1:
        return codes[0]
    index = codes[0].astype(code_type(max(prod(cards) + 1, *cards)))  # a type for the factors, too
    for code, card in zip(codes[1:], cards[1:], strict=True):
        np.multiply(index, card, out=index)
        np.add(index, code, out=index, casting="same_kind")
    return index


def contingency_table(data: Countable, family: Sequence[int]) -> Array:
    table: Array = count_families(data, [family])[0]
    return table


def count_families(data: Countable, families: Sequence[Sequence[int]]) -> StackedArrays:
    """Count families in one pass; tables of families with equal levels are views of one array."""
    stacks = list(count_families_by_shape(data, families))
    return StackedArrays.from_stacks(stacks)


def count_families_by_shape(
    data: Countable, families: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], Array]]:
    """Count families, and yield the positions of those with equal levels, with their tables."""
    cards = data.cards
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for position, family in enumerate(families):
        by_shape.setdefault(tuple(map(cards.__getitem__, family)), []).append(position)
    if by_shape:
        largest = max(by_shape, key=prod)
        columns = families[by_shape[largest][0]]
        check_number_of_cells(data, columns, prod(largest), "use fewer parents")
    counted = data.tables_from_source(families)
    if counted is not None:
        for positions in by_shape.values():
            yield positions, np.stack([counted[position] for position in positions])
        return
    groups = [[families[position] for position in positions] for positions in by_shape.values()]
    tables = data.sum_over_parts(partial(_count_groups, groups))
    yield from zip(by_shape.values(), tables, strict=True)


def _count_groups(groups: Sequence[Sequence[Sequence[int]]], data: Dataset) -> list[Array]:
    """Count each group of families with equal numbers of levels, block by block."""
    tables = []
    for families in groups:
        shape = tuple([data.cards[column] for column in families[0]])
        cells, every = prod(shape), np.array(families, dtype=np.intp).T  # (members, families)
        counts = np.empty((len(families), cells))
        for block in slices(len(families), max(len(data), cells)):
            members = every[:, block]
            if data.weights is None and cells <= _FEW_CELLS and count_bits is not None:
                counts[block] = _count_by_bits(data, members, shape)
                continue
            codes: list[Codes] = [data.codes[columns] for columns in members]
            index = flat_index(codes, shape)
            incomplete: Mask = data.incomplete[members]
            partial = [code for code, lacks in zip(codes, incomplete, strict=True) if lacks.any()]
            if partial:  # rows that lack a member go to one cell more
                observed: Mask = np.logical_and.reduce([code >= 0 for code in partial])
                index = np.where(observed, index, np.array(cells, dtype=code_type(cells + 1)))
            width = cells + bool(partial)
            # two families of 4 cells: cell 3 of the second one is cell 4 + 3 of both
            if len(index) > 1:
                index = index + width * np.arange(len(index))[:, None]
            weights = None if data.weights is None else np.tile(data.weights, len(index))
            totals = np.bincount(index.ravel(), weights, minlength=width * len(index))
            counts[block] = totals.reshape(-1, width)[:, :cells]
        tables.append(counts.reshape(len(families), *shape))
    return tables


def _count_by_bits(data: Dataset, members: Positions, shape: Sequence[int]) -> ArrayOf[Any]:
    """Count families of few cells: each level is a bit per row, and 64 rows are counted at once.

    If 1011 are the rows with level 1 of a variable and 1100 those with level 0
    of its parent, the bits of 1011 & 1100 = 1000 are the rows of the cell. A
    missing value has no level.
    """
    joint: ArrayOf[np.uint64] | None = None
    columns: Positions
    for columns, card in zip(members, shape, strict=True):
        is_shared = joint is not None and (columns == columns[0]).all()
        codes: Codes = data.codes[columns[:1] if is_shared else columns]
        bits = pack_bits(codes == np.arange(card, dtype=codes.dtype)[:, None, None])
        joint = bits if joint is None else joint[..., None, :, :] & bits
    counts: Positions = count_bits(joint).sum(axis=-1)
    return counts.reshape(prod(shape), members.shape[1]).T


def pack_bits(mask: Mask) -> ArrayOf[np.uint64]:
    """Return a mask, (…, rows), as bits, (…, groups of 64 rows)."""
    found = np.packbits(mask, axis=-1)
    bits = np.zeros((*mask.shape[:-1], -(-mask.shape[-1] // 64)), dtype=np.uint64)
    bits.view(np.uint8)[..., : found.shape[-1]] = found
    return bits


def count_extended_families(
    data: Countable,
    families: Sequence[Scope],
    columns: Sequence[int],
    others: Sequence[Scope] = (),
) -> tuple[list[Array], list[Array]]:
    """Count others, and families with each level of columns, (levels…, column levels), at once."""
    extended = [(*family, column) for family in families for column in columns]
    # Each set of variables is counted once, in the order of the first family that has these.
    orders: dict[frozenset[int], Scope] = {}
    for family in (*others, *extended):
        orders.setdefault(frozenset(family), tuple(dict.fromkeys(family)))
    counted = count_families(data, list(orders.values()))
    tables = dict(zip(orders, zip(orders.values(), counted, strict=True), strict=True))

    def table_of(family: Scope) -> Array:
        order, table = tables[frozenset(family)]
        return np.asarray(table.transpose([order.index(member) for member in family]))

    with_columns = []
    for family in families:
        by_column = []
        for column in columns:
            if column not in family:
                by_column.append(table_of((*family, column)))
                continue
            # A row has one level of the column, so [3, 1], the counts of (column,), are
            # [[3, 0], [0, 1]].
            card = data.cards[column]
            axes = [card if member == column else 1 for member in family]
            is_own = np.eye(card, dtype=bool).reshape(*axes, card)
            by_column.append(np.asarray(table_of(family)[..., None] * is_own))
        with_columns.append(np.concatenate(by_column, axis=-1))
    return [table_of(family) for family in others], with_columns


def check_table_size(data: Countable, family: Sequence[int]) -> None:
    cells = prod([data.cards[column] for column in family])
    check_number_of_cells(data, family, cells, "use fewer parents")


def check_number_of_cells(data: Countable, columns: Sequence[int], cells: int, remedy: str) -> None:
    """Raise a ValueError if tables of columns would have more than ``MAX_CELLS`` cells."""
    if cells > MAX_CELLS:
        names = listed([data.columns[column] for column in columns])
        wide = how_to_merge((data.columns[column], data.cards[column]) for column in columns)
        raise ValueError(
            f"dataset must not need tables of more than {MAX_CELLS:,} cells; got {cells:,} for "
            f"{names}. To reduce the number, {remedy}, or {wide}."
        )


class Recoding(NamedTuple):
    """The places of the levels of a variable among other levels, and the number of these."""

    codes: Positions
    card: int

    @classmethod
    def from_labels(cls, labels: Sequence[Hashable], among: Sequence[Any]) -> Recoding:
        position = {label: code for code, label in enumerate(among)}
        return cls(np.array([position[label] for label in labels], dtype=np.intp), len(among))


def recode_counts(counts: Any, recodings: Sequence[Recoding], fill: float = 0) -> Any:
    """Return the counts of a family for other levels of its members, ``fill`` for new levels."""
    if isinstance(counts, list | tuple):
        return [
            part.recoded(own)
            for part, own in zip(counts, (recodings[1:], recodings[-1:]), strict=False)
        ]
    if not isinstance(counts, np.ndarray):
        return counts.recoded(recodings)
    result = np.full([card for _, card in recodings], fill, dtype=counts.dtype)
    result[np.ix_(*[codes for codes, _ in recodings])] = counts
    return result


def to_narrowest_type(counts: ArrayOf[Any]) -> ArrayOf[Any]:
    """Convert whole numbers to the smallest integer type, others and large ones to floats."""
    most = float(counts.max(initial=0))
    whole = counts.astype(np.min_scalar_type(int(most)) if most < 2**53 else np.float64, copy=False)
    if counts.dtype.kind in "iu":
        return whole
    return whole if np.array_equal(whole, counts) else counts.astype(np.float64)


# Moments of numbers in the cells of a table.


_LARGEST = 1e150


@record
@dataclass(frozen=True, eq=False, repr=False)
class Moments(Immutable):
    """The moments of a number in each cell, arrays of cells.

    These are the weight, the mean, Σ w (x − mean)², the minimum and the
    maximum. ``rest`` is what the rounding of the mean leaves: near 10^15, where
    floats are .125 apart, that of 1, 2 and 4 is 2.375 − .042.
    """

    bounds = field_bounds(n=COUNT, mean=ANY_NUMBER, squares=COUNT, rest=ANY_NUMBER)

    n: Array
    mean: Array
    squares: Array
    low: Array
    high: Array
    rest: Array

    def __add__(self, other: Moments) -> Moments:
        # 1 and 3 have the mean 2 and the squares 2. With 5, a step of 3, the mean is 2 + 3 · 1/3,
        # and the squares are 2 + 0 + 3² · 2 · 1/3 = 8.
        n, is_first = self.n + other.n, self.n == 0
        share = other.n / np.where(n > 0, n, 1.0)
        step = (other.mean - self.mean) + (other.rest - self.rest)
        squares = self.squares + other.squares + step**2 * self.n * share
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        mean: Array = np.where(is_first, other.mean, self.mean + step * share)
        rest = np.where(is_first, other.rest, self.rest + ((self.mean - mean) + step * share))
        return Moments(n, mean, squares, low, high, rest)

    def recoded(self, recodings: Sequence[Recoding]) -> Moments:
        fills = {"low": np.inf, "high": -np.inf}
        arrays = ((getattr(self, name), fills.get(name, 0)) for name in self.__dataclass_fields__)
        return Moments(*[recode_counts(array, recodings, fill) for array, fill in arrays])

    @property
    def variance(self) -> Array:
        """The variance, with 1/n; exactly 0 without distinct values."""
        return np.where(self.low < self.high, self.squares / np.where(self.n > 0, self.n, 1.0), 0.0)

    def pooled(self) -> Moments:
        """Return the moments over all cells along the first axis."""
        arrays = [getattr(self, name) for name in self.__dataclass_fields__]
        return reduce(add, [Moments(*cells) for cells in zip(*arrays, strict=True)])


class Observed(NamedTuple):
    """The rows in which a number is observed: its values, the cell and the weight of each."""

    values: Array
    cells: Positions
    weights: Array | None


def observed_numbers(data: Dataset, number: int, condition: Sequence[int]) -> Observed:
    """Return the values of a number where the columns are observed, and their configurations."""
    codes = [data.codes[column] for column in condition]
    name = data.columns[number]
    values = numbers_of_column(data, number)
    known: Mask = np.logical_and.reduce([~np.isnan(values), *[code >= 0 for code in codes]])
    if np.abs(values[known]).max(initial=0.0) > _LARGEST:
        raise ValueError(
            f"numbers: the column {shown(name)} must have numbers up to {_LARGEST:g}, because "
            f"larger squares overflow; got {np.abs(values[known]).max():g}. "
            "Divide them by a number."
        )
    if data.weights is not None:
        known &= data.weights > 0
    cells: Positions = np.zeros(np.count_nonzero(known), dtype=np.intp)
    if codes:
        cards = [data.cards[column] for column in condition]
        cells = flat_index([code[known] for code in codes], cards).astype(np.intp)
    return Observed(values[known], cells, weights_at(data.weights, known))


def numbers_of_column(data: Dataset, column: int) -> Array:
    values = data.numbers.get(data.columns[column])
    return np.full(len(data), np.nan) if values is None else as_floats(values)


def moments_of_cells(rows: Observed, shape: Sequence[int]) -> Moments:
    """Return the moments of values in cells of this shape."""
    values, cells, weights = rows
    size = prod(shape)
    n = np.bincount(cells, weights, size).astype(np.float64)
    total = np.where(n > 0, n, 1.0)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, cells, values)
    np.maximum.at(high, cells, values)
    mean: Array = np.bincount(cells, values if weights is None else weights * values, size) / total
    mean = np.where(low < high, mean, np.where(n > 0, low, 0.0))
    deviations = values - mean[cells]
    weighted = deviations if weights is None else weights * deviations
    rest: Array = np.bincount(cells, weighted, size) / total
    squares = np.maximum(np.bincount(cells, weighted * deviations, size) - n * rest**2, 0.0)
    sums = n, mean, squares, low, high, rest
    return Moments(*[array.reshape(shape) for array in sums])


def moments_by_configuration(data: Dataset, number: int, condition: Sequence[int]) -> Moments:
    """Return the moments of a number per configuration of coded columns, an axis for each."""
    shape = [data.cards[column] for column in condition]
    return moments_of_cells(observed_numbers(data, number, condition), shape)


# Mutual information of two columns given others, and tests of their independence.


_PASS_CELLS = 2**22  # number of cells of tables that are counted in one pass over the data

Term = Callable[..., Array]
"""A function of counts, 0 for 0, and of the numbers of levels of those of a pair in the table."""


def n_log_n(counts: ArrayOf[Any], *levels: Any) -> Array:
    """Return n ln n, the term of the likelihood, whose gain by an arc is N·I."""
    return xlogx(counts)


def bde_term(ess: float, n_given: int) -> Term:
    """Return the term of BDeu, whose pseudo-counts are ``ess`` divided by the cells of a table.

    ``n_given`` is the number of configurations of the given columns.
    """
    return lambda counts, *levels: log_rising_factorial(counts, ess / prod(levels, start=n_given))


_STIRLING = 16.0  # above this, four terms of the series are exact to 1e-14


def log_rising_factorial(n: ArrayOf[Any], amount: Any) -> Array:
    """Return ln Γ(a + n) − ln Γ(a) for an amount a, by a difference of Stirling series if large."""
    a: Array = np.asarray(amount, dtype=np.float64)
    is_large: Mask = np.asarray(a >= _STIRLING)
    if not is_large.any():
        return np.asarray(special.gammaln(n + a) - special.gammaln(a))
    large: Array = np.maximum(a, _STIRLING)
    # For a = 10⁶ and n = 1, the two values of ln Γ are near 1.28e7, and 6 of their 16 digits
    # cancel. The difference of the series is ln 10⁶ = 13.8 to all digits.
    total: Array = large + n
    stirling: Array = (large - 0.5) * np.log1p(n / large) + n * (np.log(total) - 1)
    stirling = stirling + _rest_of_stirling_series(total) - _rest_of_stirling_series(large)
    small: Array = np.minimum(a, _STIRLING)
    return np.asarray(
        np.where(is_large, stirling, special.gammaln(n + small) - special.gammaln(small))
    )


def _rest_of_stirling_series(x: Array) -> Array:
    """Return ln Γ(x) − (x − 1/2) ln x + x − ln(2π)/2, for large x."""
    square: Array = x * x
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x


def _moments_of_families(
    families: Sequence[tuple[int, Sequence[int]]], data: Dataset
) -> list[Moments]:
    return [moments_by_configuration(data, number, columns) for number, columns in families]


def _gain_of_normals(cells: Moments) -> tuple[float, float]:
    """Return ½ Σ_z n_z [ln σ²_z − Σ_x P(x | z) ln σ²_xz], x along the first axis, and the rows.

    If half of the rows have the numbers 0 and 2 and half 4 and 6, the variance
    is 5 in all and 1 within each half, so the gain per row is ½ ln 5 = .80.
    """
    variance = cells.variance
    given = cells.pooled().variance
    logs = np.log(np.where(given > 0, given, 1.0)) - np.log(np.where(variance > 0, variance, 1.0))
    gains = np.where(variance > 0, cells.n * logs, 0.0)
    return 0.5 * float(gains.sum()), float(cells.n.sum())


def _values_observed_in_both(
    data: Dataset, x: int, y: int, condition: Sequence[int]
) -> list[Observed]:
    missing = np.isnan(numbers_of_column(data, x)) | np.isnan(numbers_of_column(data, y))
    rows = data.take_rows(~missing)
    return [observed_numbers(rows, column, condition) for column in (x, y)]


def _moments_of_both_numbers(
    x: int, y: int, condition: Sequence[int], data: Dataset
) -> list[Moments]:
    shape = [data.cards[column] for column in condition]
    both = _values_observed_in_both(data, x, y, condition)
    return [moments_of_cells(observed, shape) for observed in both]


def _cross_products(
    x: int, y: int, condition: Sequence[int], x_mean: Array, y_mean: Array, data: Dataset
) -> ArrayOf[Any]:
    """Return Σ w (x − mean) (y − mean) per configuration."""
    (values, cells, weights), (others, *_) = _values_observed_in_both(data, x, y, condition)
    products = (values - x_mean.ravel()[cells]) * (others - y_mean.ravel()[cells])
    weighted = products if weights is None else weights * products
    return np.bincount(cells, weighted, x_mean.size).reshape(x_mean.shape)


def mutual_information(
    data: Countable, x: int, y: int, condition: Sequence[int] = ()
) -> tuple[float, float]:
    """Return the (conditional) information of two columns in nats, numbers normal, and the rows.

    Of two numbers, it is −½ Σ_z P(z) ln(1 − ρ²_z), given the coded columns z.
    """
    if data.cards[x] or data.cards[y]:
        return next(pair_informations(data, [(x, y)], condition))
    first, second = data.sum_over_parts(partial(_moments_of_both_numbers, x, y, condition))
    cross_products = partial(_cross_products, x, y, condition, first.mean, second.mean)
    products = data.sum_over_parts(cross_products) - first.n * first.rest * second.rest
    varies: Mask = (first.variance > 0) & (second.variance > 0)
    squares = np.where(varies, first.squares * second.squares, 0.0)
    share = np.divide(products**2, squares, out=np.zeros(np.shape(squares)), where=squares > 0)
    n = float(first.n.sum())
    with np.errstate(divide="ignore"):
        logs: Array = np.log1p(-np.minimum(share, 1.0))
    return (-0.5 * float((first.n * logs)[first.n > 0].sum()) / n if n else 0.0), n


def _gain_from_rows(data: Countable, columns: Sequence[int], term: Term) -> tuple[float, float]:
    """Return the gain of two columns given the others, from joint values, and the rows.

    The joint values that occur are at most as many as rows.
    """
    [(codes, weights)] = data.family_codes_and_weights([columns])
    observed: Mask = codes.min(axis=0) >= 0
    rows, weights = codes[:, observed], weights_at(weights, observed)
    if prod([data.cards[column] for column in columns]) > np.iinfo(np.int64).max:
        raise ValueError("x, y, z: too many joint values; condition on fewer variables")
    n = rows.shape[1] if weights is None else float(weights.sum())
    if not n:
        return 0.0, 0

    def sum_of_terms(*members: int) -> float:
        """Sum the term over the joint values that occur; large domains stay sparse."""
        cards = [data.cards[columns[member]] for member in members]
        index = flat_index([rows[member] for member in members], cards)
        if prod(cards) > max(4 * len(index), 2**16):
            index = np.unique(index, return_inverse=True)[1]
        levels = cards[: sum(member < 2 for member in members)]
        return float(term(np.bincount(index, weights), *levels).sum())

    given = range(2, len(columns))
    of_given = sum_of_terms(*given) if given else float(term(np.array(n)))
    without_one = sum_of_terms(0, *given) + sum_of_terms(1, *given)
    return sum_of_terms(0, 1, *given) - without_one + of_given, n


def pair_informations(
    data: Countable, pairs: Sequence[tuple[int, int]], condition: Sequence[int] = ()
) -> Iterator[tuple[float, float]]:
    """Yield the mutual information of pairs, with at most one number, and the number of rows."""
    for gain, n in pair_gains(data, pairs, condition):
        yield max(gain, 0.0) / (n or 1.0), n


def pair_gains(
    data: Countable,
    pairs: Sequence[tuple[int, int]],
    condition: Sequence[int] = (),
    term: Term = n_log_n,
) -> Iterator[tuple[float, float]]:
    """Yield by how much an arc between two columns raises a score, and the number of rows.

    It is Σ f of the cells of both columns, minus Σ f of those of each, plus Σ f
    of those of neither, all given the others; with n ln n as the `Term` f, this
    is N·I, also of pairs with a number, which is normal.
    """
    families: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}  # of pairs with a number
    for x, y in pairs:
        if not (data.cards[x] and data.cards[y]):
            number, column = (x, y) if data.cards[y] else (y, x)
            families[x, y] = number, (column, *condition)
    counting = partial(_moments_of_families, list(families.values()))
    moments = data.sum_over_parts(counting) if families else []
    of_numbers = dict(zip(families, map(_gain_of_normals, moments), strict=True))
    scopes = [(*pair, *condition) for pair in pairs]
    cells = [prod([data.cards[column] for column in scope]) for scope in scopes]
    # 16: with more cells of a table, which is then nearly empty, the values that occur in rows
    # are counted
    most = inf if data.in_parts else max(2**15, 16 * len(data))
    of_pairs = list(zip(pairs, scopes, cells, strict=True))
    small = [scope for pair, scope, n in of_pairs if pair not in of_numbers and n <= most]
    by_table = _gains_in_batches(data, small, term)
    for pair, scope, n in of_pairs:
        if pair in of_numbers:
            yield of_numbers[pair]
        else:
            yield _gain_from_rows(data, scope, term) if n > most else next(by_table)


def _gains_in_batches(
    data: Countable, families: Sequence[tuple[int, ...]], term: Term
) -> Iterator[tuple[float, float]]:
    """Yield the gains of the first two columns of families, counted in batches."""
    while families:
        cells = accumulate(prod([data.cards[column] for column in family]) for family in families)
        fitting = max(1, sum(1 for total in cells if total <= _PASS_CELLS))
        found: list[tuple[float, float]] = [(0.0, 0)] * fitting
        for positions, tables in count_families_by_shape(data, families[:fitting]):
            given: ArrayOf[Any] = tables.sum(axis=(1, 2))
            _, x, y, *_ = tables.shape
            # of the cells, and of those of the tables without x, without y and without both
            terms = [term(tables, x, y), -term(tables.sum(axis=1), y)]
            terms += [-term(tables.sum(axis=2), x), term(given)]
            gains: Array = sum(own.reshape(len(tables), -1).sum(axis=1) for own in terms)
            rows: Array = given.reshape(len(tables), -1).sum(axis=1, dtype=np.float64)
            pairs = zip(gains.tolist(), rows.tolist(), strict=True)
            for position, pair in zip(positions, pairs, strict=True):
                found[position] = pair
        yield from found
        families = families[fitting:]


def _g_statistic(tables: Array) -> Array:
    """Return 2 Σ n ln(n / e) of the tables in the last two axes."""
    # Σ n ln(n / e) is Σ n ln n of the cells − of the rows − of the columns + n ln n of all.
    cells: Array = xlogx(tables).sum(axis=(-2, -1))
    rows: Array = xlogx(tables.sum(axis=-1)).sum(axis=-1)
    columns: Array = xlogx(tables.sum(axis=-2)).sum(axis=-1)
    total = xlogx(tables.sum(axis=(-2, -1)))
    return np.maximum(2 * (cells - rows - columns + total), 0.0)


def _chi_square_statistic(tables: Array) -> Array:
    """Return Σ (n − e)² / e of the tables in the last two axes, over the cells with e > 0."""
    rows: Array = tables.sum(axis=-1, keepdims=True, dtype=np.float64)
    columns: Array = tables.sum(axis=-2, keepdims=True, dtype=np.float64)
    total: Array = tables.sum(axis=(-2, -1), keepdims=True, dtype=np.float64)
    expected: Array = rows * columns / np.where(total > 0, total, 1)
    squares: Array = (tables - expected) ** 2
    cells: Array = np.divide(squares, expected, out=np.zeros(squares.shape), where=expected > 0)
    return np.asarray(cells.sum(axis=(-2, -1)))


STATISTICS: dict[str, Callable[[Array], Array]] = {"g2": _g_statistic, "x2": _chi_square_statistic}
"""The statistics of independence by name, each of tables in the last two axes."""


def independence_test(table: Array, test: str) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom (all levels) and p of x ⊥ y | z by (x, y, z…) counts."""
    levels_x, levels_y, *levels_z = table.shape
    statistic = float(STATISTICS[test](_tables_by_stratum(table)).sum())
    df = (levels_x - 1) * (levels_y - 1) * prod(levels_z)
    return statistic, df, float(special.chdtrc(df, statistic)) if df else 1.0


def log_chi_square_p(statistic: float, df: int) -> float:
    """Return ln p of a chi-square statistic, also if p is too small for a float."""
    tail = float(special.chdtrc(df, statistic)) if df else 1.0
    if tail > 1e-280:  # below it, SciPy's tail is not precise
        return ln(tail)
    # The continued fraction of the incomplete gamma function, from its end.
    a, x = (df / 2, statistic / 2)
    fraction = 0.0
    for k in range(500, 0, -1):  # terms of the continued fraction
        fraction = k * (a - k) / (x + 2 * k + 1 - a + fraction)
    return a * ln(x) - x - lgamma(a) - ln(x + 1 - a + fraction)


def permutation_p(table: Array, test: str, permutations: int, rng: np.random.Generator) -> float:
    """Return the p of the statistic by permutations of y within each stratum, drawn as tables."""
    from scipy.stats import random_table  # slow to import

    observed, drawn = 0.0, np.zeros(permutations)
    for stratum in map(np.asarray, _tables_by_stratum(table).astype(np.int64)):
        rows, columns = stratum.sum(axis=1), stratum.sum(axis=0)
        observed += float(STATISTICS[test](stratum))
        if np.count_nonzero(rows) > 1 and np.count_nonzero(columns) > 1:
            tables = random_table.rvs(rows, columns, size=permutations, random_state=rng)
            drawn += STATISTICS[test](tables.reshape(permutations, *stratum.shape))
        else:  # the margins determine the table
            drawn += float(STATISTICS[test](stratum))
    as_large = np.count_nonzero(drawn >= observed - 1e-9 * max(observed, 1.0))
    return (1 + as_large) / (1 + permutations)


def _tables_by_stratum(table: Array) -> Array:
    """Return the (x, y) table of each configuration of z, (configurations, x, y)."""
    return np.moveaxis(table.reshape(*table.shape[:2], -1), -1, 0)


# Tables and mutual information of all pairs of columns, by matrix products for few levels.


_BLOCK_ROWS = 2**11  # number of rows that are multiplied at once
_FEW_LEVELS = 8  # average number of levels up to which products are faster


def products_are_faster(data: Countable, columns: Sequence[int]) -> bool:
    """Whether columns have so few levels that products of matrices count fastest."""
    cards = [data.cards[column] for column in columns]
    are_few = all(cards) and sum(cards) <= _FEW_LEVELS * len(cards)
    return are_few and not data.counted_by_source


def count_pairs(data: Countable, owners: Positions | Slice = slice(None)) -> ArrayOf[Any]:
    """Count the pairs of levels in each class, the last column, (owners, classes, levels)."""
    features = range(len(data.cards) - 1)
    return to_narrowest_type(pair_tables(data, features, len(features), owners))


def pair_tables(
    data: Countable,
    columns: Sequence[int],
    given: int | None,
    owners: Positions | Slice = slice(None),
) -> ArrayOf[Any]:
    """Count the pairs of levels of columns, (owners, levels of the given column, levels).

    The levels of all columns are numbered consecutively. An owner, the first of
    a pair, is by default any level.
    """
    if products_are_faster(data, columns):
        return data.sum_over_parts(partial(_count_pairs_by_products, columns, given, owners))
    families = [(column,) if given is None else (column, given) for column in columns]
    _, tables = count_extended_families(data, families, columns)
    counts = np.concatenate([table.reshape(len(table), -1, table.shape[-1]) for table in tables])
    return counts[owners]


def _count_pairs_by_products(
    columns: Sequence[int], given: int | None, owners: Positions | Slice, data: Dataset
) -> ArrayOf[Any]:
    """Count pairs of levels by products of their rows, as zeros and ones, with each other."""
    of_given = np.zeros(len(data), dtype=np.intp) if given is None else data.codes[given]
    weights, n_levels = data.weights, sum(data.cards[column] for column in columns)
    # A block has so few rows that these are exact.
    exact = np.dtype("f8" if weights is not None else "f4")
    smallest = exact if weights is not None else np.min_scalar_type(len(data))
    shape = len(np.arange(n_levels)[owners]), 1 if given is None else data.cards[given], n_levels
    counts = np.zeros(shape, smallest)
    # Blocks use the same memory, because new memory would take as long as the products.
    most = min(_BLOCK_ROWS, len(data))
    is_one, one = (np.empty((n_levels, most), dtype) for dtype in (bool, exact))
    with one_thread:
        for c in range(counts.shape[1]):
            rows = np.flatnonzero(of_given == c)
            for block in slices(len(rows), most=_BLOCK_ROWS):
                n = block.stop - block.start
                ones = one[:, :n]
                np.copyto(ones, level_mask_of_rows(data, columns, rows[block], out=is_one[:, :n]))
                # Entry (i, j) of the product counts the rows in which levels i and j are both 1:
                # [[1 0 1], [0 1 1]] times its transpose is [[2 1], [1 2]].
                owned = ones[owners] if weights is None else ones[owners] * weights[rows[block]]
                np.add(counts[:, c], owned @ ones.T, out=counts[:, c], casting="unsafe")
    return counts


def level_mask_of_rows(
    data: Dataset, columns: Sequence[int], rows: Positions, out: Mask | None = None
) -> Mask:
    """Return which rows have each level of columns, (levels, rows), in ``out`` if it is given."""
    pairs = [(column, level) for column in columns for level in range(data.cards[column])]
    of_column, level = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    codes, level = data.codes.take(rows, axis=1), level[:, None].astype(data.codes.dtype)
    return np.asarray(np.equal(codes[of_column], level, out=out))


def check_cells_of_all_pairs(data: Countable, features: Sequence[int], class_column: int) -> None:
    """Raise a ValueError if tables of all pairs would have more than ``MAX_CELLS`` cells."""
    cards = list(map(data.cards.__getitem__, features))
    cells = (sum(cards) ** 2 - sum(card**2 for card in cards)) * data.cards[class_column]
    check_number_of_cells(data, features, cells, "use fewer features")


class PairStatistics(NamedTuple):
    """For all pairs of features: ``gains`` of a score by their arc, and ``rows``, (n, n) arrays."""

    gains: Array
    rows: Array

    @property
    def information(self) -> Array:
        """I(X;Y|C) in nats per row, if the gains are those of the likelihood."""
        return np.maximum(self.gains, 0.0) / np.where(self.rows > 0, self.rows, 1.0)


def arc_scores(
    data: Countable, score: str, ess: float = 1, *, size: float | None = None
) -> PairStatistics:
    """Return what an arc between two features, given the class, contributes to a score.

    The penalty of "bic" is that of ``size`` rows, by default of the rows with
    both features.
    """
    n = len(data.features)
    term = bde_term(ess, data.cards[n]) if score == "bde" else n_log_n
    gains, rows = pair_statistics(data, range(n), n, term)
    # parameters that an arc adds, (n, n): with 2 and 3 levels and 4 classes, 1 · 2 · 4 = 8
    freedom = np.array(data.cards[:n], dtype=float) - 1
    n_parameters = np.outer(freedom, freedom) * data.cards[n]
    penalties = {"aic": 1.0, "bic": 0.5 * np.log(np.maximum(size or rows, 1))}
    return PairStatistics(gains - penalties.get(score, 0.0) * n_parameters, rows)


def pair_statistics(
    data: Countable, features: Sequence[int], class_column: int | None, term: Term = n_log_n
) -> PairStatistics:
    """Compute the gain of an arc between each two features, given the class if it has a column.

    Pairs of two numbers, neither of which can be a parent, are omitted. The
    diagonal is 0.
    """
    if products_are_faster(data, features):
        return _pair_statistics_by_products(data, features, class_column, term)
    n = len(features)
    gains, rows = np.zeros((2, n, n))
    condition = () if class_column is None else (class_column,)
    has_levels = [data.cards[feature] > 0 for feature in features]
    pairs = [(i, j) for i in range(n) for j in range(i) if has_levels[i] or has_levels[j]]
    found = pair_gains(data, [(features[i], features[j]) for i, j in pairs], condition, term)
    for (i, j), (gain, count) in zip(pairs, found, strict=True):
        gains[i, j] = gains[j, i] = gain
        rows[i, j] = rows[j, i] = count
    return PairStatistics(gains, rows)


def _pair_statistics_by_products(
    data: Countable, features: Sequence[int], class_column: int | None, term: Term
) -> PairStatistics:
    """Compute the statistics of `pair_statistics` from tables of all pairs of levels.

    A feature is paired with itself and with later features, whose levels follow
    its own.
    """
    n, cards = len(features), [data.cards[feature] for feature in features]
    given = [] if class_column is None else [class_column]
    term = n_log_n_function(data) if term is n_log_n else term
    is_complete = not data.incomplete[[*features, *given]].any()
    n_classes = prod([data.cards[column] for column in given])
    starts = np.cumsum([0, *cards])  # of the levels of features; 2, 3 and 2 levels: [0, 2, 5, 7]
    cells = int(starts[-1]) * max(cards, default=0) * n_classes  # most of all pairs of a feature
    sums, rows = np.zeros((2, n, n))  # of pairs, above the diagonal
    # 2**24: number of cells of tables of pairs of levels that are counted at once
    for block in slices(n, cells, 2**24):
        first, last = starts[[block.start, block.stop]]
        tables = pair_tables(data, features, class_column, slice(first, last))
        for part in slices(block.stop - block.start, cells):  # whose logs need little memory
            at = slice(block.start + part.start, block.start + part.stop)
            own, others = starts[at.start : at.stop + 1], starts[at.start :]
            later = tables[own[0] - first : own[-1] - first, :, own[0] :]
            found = _gains_from_pair_tables(later, own - own[0], others - own[0], term, is_complete)
            sums[at, at.start :], rows[at, at.start :] = found
    sums, rows = np.triu(sums, 1), np.triu(rows, 1)
    sums, rows = sums + sums.T, rows + rows.T
    return PairStatistics(sums, rows)


def _gains_from_pair_tables(
    tables: ArrayOf[Any], own: Positions, others: Positions, term: Term, is_complete: bool
) -> tuple[Array, Array]:
    """Return the gains and N of pairs, from (owners, classes, levels) tables and ends of features.

    The ends [0, 2, 5] are those of features with the levels 0 and 1, and 2 to
    4. If all values are observed, the margins of a feature are the same in all its
    tables.
    """
    of_others: ArrayOf[Any]
    of_owners: ArrayOf[Any]
    if is_complete:
        of_others = tables[: own[1]].sum(axis=0, keepdims=True)
        of_owners = tables[..., : others[1]].sum(axis=2)[..., None]
    else:
        of_others = np.add.reduceat(tables, own[:-1], axis=0)
        of_owners = np.add.reduceat(tables, others[:-1], axis=2)
    # Of a pair of binary features with the table [[3, 1], [0, 2]], Σ n ln n of the cells is 3 ln 3
    # + 2 ln 2, of the rows 4 ln 4 + 2 ln 2, of the columns 3 ln 3 + 3 ln 3, and of all 6 ln 6. So
    # N·I, which is cells − rows − columns + all, is 6 ln 6 − 4 ln 4 − 3 ln 3.
    n: ArrayOf[Any] = np.add.reduceat(of_others, others[:-1], axis=2)
    n_own, n_other = np.diff(own), np.diff(others)  # levels of the features of each level
    x, y = np.repeat(n_own, n_own)[:, None, None], np.repeat(n_other, n_other)
    by_other: Array = np.add.reduceat(term(tables, x, y), others[:-1], axis=2)
    both: Array = np.add.reduceat(by_other, own[:-1], axis=0)
    both -= np.add.reduceat(term(of_others, y), others[:-1], axis=2)
    both -= np.add.reduceat(term(of_owners, x), own[:-1], axis=0)
    return (both + term(n)).sum(axis=1), n.sum(axis=1)


def n_log_n_function(data: Countable) -> Term:
    """Return the term n·ln n for counts of data, which looks up whole numbers in a small table."""
    if data.is_weighted or data.size > 2**20:  # of which a table has 8 MiB
        return n_log_n
    logs = xlogx(np.arange(int(data.size) + 1))
    return lambda counts, *levels: logs[counts.astype(np.intp, copy=False)]


# Counts of families, and of each extended by one more parent, for searches.


_FEW_CONFIGURATIONS = 2**12  # up to this number, all configurations are numbered
# Number of levels of rows, or of pairs, that are kept in memory, in 16 or 32 MiB.
_KEPT_CELLS = 2**24
_CELLS_THAT_TAKE_BITS = 2**3  # of a family that bits extend faster than products; 16 are slower
_SHORT_ROWS = 2**14  # number of rows whose counts 16 bits can hold


def number_family_states(
    data: Dataset, family: Sequence[int], *, numbered: bool = True
) -> tuple[Positions, tuple[int, int]]:
    """Number the joint values of a family in each row, and return the numbers of both parts.

    A family is a variable and its parents. A missing value is replaced by the
    first level. If `numbered` is True and there are more configurations of the
    parents than rows, only observed ones are numbered.
    """
    codes = [np.maximum(data.codes[v], 0) if data.incomplete[v] else data.codes[v] for v in family]
    card, *cards = [data.cards[v] for v in family]
    n = prod(cards)
    if not numbered or n <= max(len(data), _FEW_CONFIGURATIONS):
        return flat_index(codes, [card, *cards]).astype(np.intp), (card, n)
    configurations: Codes = np.zeros(len(data), dtype=np.int8)
    n = 1
    for parent, own in zip(cards, codes[1:], strict=True):
        configurations = flat_index([configurations, own], [n, parent])
        n *= parent
        if n > max(len(data), _FEW_CONFIGURATIONS):
            occurring, configurations = np.unique(configurations, return_inverse=True)
            n = len(occurring)
    return flat_index([codes[0], configurations], [card, n]).astype(np.intp), (card, n)


def count_occurring(values: Positions, weights: Array | None) -> Counts:
    if weights is None:
        return np.unique(values, return_counts=True)[1]
    return np.bincount(np.unique(values, return_inverse=True)[1], weights)


class FamilyCounts:
    """Counts of families, each the numbers of a variable and its parents.

    A row in which a member is missing is not counted. If data are partitioned,
    one pass counts all families that `prefetch` requests; a family that it did
    not request takes a pass of its own.
    """

    def __init__(self, data: Countable) -> None:
        self.data, self._rows = data, cast("Dataset", data)  # whose codes are not used if in parts
        self.cards: Positions = np.array(data.cards, dtype=np.intp)
        self.is_complete = not data.incomplete.any()
        self._starts = (np.cumsum(self.cards) - self.cards).tolist()
        self._tables: dict[Scope, Counts] = {}
        self._extended: dict[Scope, Counts] = {}

    def prefetch(
        self, families: Collection[Sequence[int]], tables: Iterable[Sequence[int]] = ()
    ) -> None:
        """Count families that will be extended, and others, if this is faster than one by one.

        In memory, these are families to be extended, if most columns have the
        same parent or none.
        """
        if self.data.in_parts:
            self._count_in_one_pass(families, tables)
            return
        every, self._extended = range(len(self.cards)), {}
        n_children = Counter(tuple(parents) for _, *parents in families)
        most = _KEPT_CELLS // int(self.cards.sum()) ** 2  # configurations of the parents
        frequent = [
            parents
            for parents, n in n_children.items()
            if 2 * n > len(every) and len(parents) < 2 and self.cards[list(parents)].prod() <= most
        ]
        if not frequent or not products_are_faster(self.data, every):
            return
        for parents in frequent:
            tables = pair_tables(self.data, every, *(parents or (None,)))
            for v, start in enumerate(self._starts):
                self._extended[v, *parents] = tables[start : start + self.data.cards[v]]

    def _count_in_one_pass(
        self, families: Iterable[Sequence[int]], tables: Iterable[Sequence[int]]
    ) -> None:
        # Counts are requested once, because their scores are cached.
        wanted = [tuple(family) for family in families if tuple(family) not in self._extended]
        alone = [tuple(family) for family in tables if tuple(family) not in self._tables]
        if not wanted and not alone:
            return
        every = range(len(self.cards))
        for family in wanted:
            cells: int = prod(self.cards[list(family)].tolist()) * int(self.cards.sum())
            check_number_of_cells(self.data, every, cells, "set max_parents")
        for family in alone:
            check_table_size(self.data, family)
        counted, extended = count_extended_families(self.data, wanted, every, alone)
        self._tables, self._extended = {}, {}
        for family, table in zip(alone, counted, strict=True):
            self._tables[family] = table.reshape(len(table), -1)
        for family, table in zip(wanted, extended, strict=True):
            self._extended[family] = table.reshape(len(table), -1, table.shape[-1])

    def count_family(self, family: Sequence[int]) -> Counts:
        """Count a family: (levels of the variable, configurations) array."""
        if self.data.in_parts:
            self._count_in_one_pass([], [family])
            return self._tables[tuple(family)]
        if self._is_counted_by_bits(family):
            counted: Counts = count_bits(self._bits_of_cells(family)).sum(axis=-1)
            return counted.reshape(self.data.cards[family[0]], -1)
        state, shape = number_family_states(self._rows, family)
        weights = self._rows.weights
        if not self.is_complete:
            observed = self._rows_observed_in(family)
            state, weights = state[observed], weights_at(weights, observed)
        return np.bincount(state, weights, minlength=prod(shape)).reshape(shape)

    def _rows_observed_in(self, family: Sequence[int]) -> Mask:
        return np.asarray((self._rows.codes[list(family)] >= 0).all(axis=0))

    def count_extensions(self, family: Sequence[int]) -> Iterator[tuple[Slice, Counts]]:
        """Yield slices of columns, and (levels, configurations, levels of these columns) counts."""
        if self.data.in_parts:
            self._count_in_one_pass([family], [])
        if (own := self._extended.get(tuple(family))) is not None:
            yield slice(0, len(self.cards)), own if own.dtype.kind == "f" else own.astype(np.intp)
            return
        if self._is_counted_by_bits(family):
            joint = self._bits_of_cells(family)[:, None] & self._bits_of_levels
            counted: Counts = count_bits(joint).sum(axis=-1)
            of_levels = counted.reshape(self.data.cards[family[0]], -1, len(self._bits_of_levels))
            yield slice(0, len(self.cards)), of_levels
            return
        state, shape = number_family_states(self._rows, family)
        cells, widest = prod(shape), int(self.cards.argmax())
        most = cells * int(self.cards[widest])
        check_number_of_cells(self.data, (*family, widest), most, "set max_parents")
        # 2**22: number of counts up to which products are faster
        if self._keeps_levels and cells * int(self.cards.sum()) <= 2**22:
            counts = self._count_levels_by_state(family, state, cells)
            yield slice(0, len(self.cards)), counts.reshape(*shape, -1)
            return
        for columns in slices(len(self.cards), max(len(self.data), most)):
            counts = self._count_columns_by_state(family, state, cells, columns)
            yield columns, counts.reshape(*shape, -1)

    def is_sparse(self, family: Sequence[int]) -> bool:
        """Whether most cells of extensions are empty, as with a column of names."""
        cells = prod([self.data.cards[v] for v in family]) * int(self.cards.sum())
        # 16: number of cells that are counted in the time in which a row is sorted
        return not self.data.in_parts and cells > 16 * len(self.data) * len(self.cards)

    def count_occurring_extensions(
        self, family: Sequence[int]
    ) -> Iterator[tuple[int, list[Counts], list[Counts]]]:
        """Yield other columns, and counts that are not 0, of rows in which the column is known.

        They are those of the cells and of the configurations of the family,
        first extended by the column, then not.
        """
        every, (_, n) = number_family_states(self._rows, family)
        in_family = self._rows_observed_in(family)
        for column in set(range(len(self.cards))).difference(family):
            known = in_family & (self._rows.codes[column] >= 0)
            state, code = every[known], self._rows.codes[column, known]
            weights, card = weights_at(self._rows.weights, known), self.data.cards[column]
            alone = [state, state % n]
            both = [count_occurring(own * card + code, weights) for own in alone]
            yield column, both, [count_occurring(own, weights) for own in alone]

    def _count_columns_by_state(
        self, family: Sequence[int], state: Positions, cells: int, columns: Slice
    ) -> Counts:
        """Count the levels of a few columns in the known rows of each state at once."""
        cards, codes = self.cards[columns], self._rows.codes[columns]
        # Levels are numbered consecutively: of columns with 2 and 3 levels, those of the second
        # have the numbers 2, 3 and 4 in state 0, and 5 more in state 1.
        n_levels, starts = int(cards.sum()), np.cumsum(cards) - cards
        index: Positions = (state * n_levels + starts[:, None] + codes).ravel()
        weights = self._rows.weights
        weights = None if weights is None else np.tile(weights, len(cards))
        if not self.is_complete:
            known: Mask = ((codes >= 0) & self._rows_observed_in(family)).ravel()
            index, weights = index[known], weights_at(weights, known)
        return np.bincount(index, weights, cells * n_levels)

    def _is_counted_by_bits(self, family: Sequence[int]) -> bool:
        few = prod([self.data.cards[v] for v in family]) <= _CELLS_THAT_TAKE_BITS
        return few and self._keeps_levels and count_bits is not None and not self._rows.is_weighted

    @cached_property
    def _keeps_levels(self) -> bool:
        """Whether the levels of all rows are kept, because there are few."""
        every, cells = range(len(self.cards)), len(self.data) * int(self.cards.sum())
        return cells <= _KEPT_CELLS and products_are_faster(self.data, every)

    @cached_property
    def _bits_of_levels(self) -> ArrayOf[np.uint64]:
        """Which rows have each level, as bits, (levels, groups of 64 rows)."""
        every, rows = range(len(self.cards)), np.arange(len(self.data))
        return pack_bits(level_mask_of_rows(self._rows, every, rows))

    def _bits_of_cells(self, family: Sequence[int]) -> ArrayOf[np.uint64]:
        """Return which rows are in each cell of a family, as bits, (cells, groups of 64 rows)."""
        joint: ArrayOf[np.uint64] | None = None
        for v in family:
            own = self._bits_of_levels[self._starts[v] : self._starts[v] + self.data.cards[v]]
            joint = own if joint is None else (joint[:, None] & own).reshape(-1, own.shape[1])
        assert joint is not None
        return joint

    @cached_property
    def _level_indicators(self) -> ArrayOf[np.uint8]:
        """Which level each row has, as zeros and ones, (rows, levels)."""
        result = np.empty((len(self.data), int(self.cards.sum())), dtype=np.uint8)
        for rows in slices(len(result), most=_SHORT_ROWS):
            some = np.arange(rows.start, rows.stop)
            result[rows] = level_mask_of_rows(self._rows, range(len(self.cards)), some).T
        return result

    def _count_levels_by_state(self, family: Sequence[int], state: Positions, cells: int) -> Counts:
        """Add up the levels of the known rows of each state, by sparse products of few rows."""
        from scipy.sparse import csc_array  # slow to import

        given, n_rows, is_level = self._rows.weights, len(state), self._level_indicators
        weights: ArrayOf[Any] = np.ones(n_rows, dtype=np.uint16) if given is None else given
        if not self.is_complete:
            weights = weights * self._rows_observed_in(family)
        states = state.astype(np.int32)
        rows_at = np.arange(min(n_rows, _SHORT_ROWS) + 1, dtype=np.int32)
        count_type = np.intp if given is None else np.float64
        total: Counts = np.zeros((cells, is_level.shape[1]), count_type)
        for rows in slices(n_rows, most=_SHORT_ROWS):
            n: int = rows.stop - rows.start
            of_state = csc_array((weights[rows], states[rows], rows_at[: n + 1]), shape=(cells, n))
            total += of_state @ is_level[rows]
        return total
