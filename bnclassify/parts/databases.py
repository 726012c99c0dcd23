"""Tables of databases, by ibis: counted by GROUP BY queries, so that rows stay where they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from sys import float_info
from typing import Any, cast

import numpy as np
import pandas as pd

from ..dataset import Known
from ..frames import Foreign
from ..tools.arrays import Array, ArrayOf, Mask, Positions
from ..tools.immutable import cached_property
from ..tools.messages import needs_rows_error, shown
from .sources import SOURCES, LabelCounts, Make, Merge, T
from .survey import MAX_LEVELS

_MOST_CELLS = 2**12  # of a table from which those of several families are summed

_KINDS = {
    "string": "is_string",
    "boolean": "is_boolean",
    "int64": "is_integer",
    "float64": "is_numeric",
}

_ENUMS = (  # of PostgreSQL
    "SELECT format_type(enumtypid, NULL), enumlabel::text FROM pg_enum ORDER BY enumsortorder"
)

Labels = dict[Hashable, int]


def is_ibis_table(data: object) -> bool:
    """Whether data is a table of ibis, found without importing ibis."""
    kinds = [(kind.__module__, kind.__name__) for kind in type(data).__mro__]
    return ("ibis.expr.types.relations", "Table") in kinds


@dataclass(frozen=True)
class _Joint:
    """How often joint values of columns occur: (columns, cells) codes and (cells,) totals."""

    columns: tuple[Hashable, ...]
    codes: ArrayOf[np.int32]
    totals: Array

    def has_columns(self, family: Sequence[Hashable]) -> bool:
        """Whether all columns of a family are counted."""
        return set(family) <= set(self.columns)

    def marginal(
        self, family: Sequence[Hashable], labels: Mapping[Hashable, Labels]
    ) -> LabelCounts:
        """Return the totals of the joint values of some of the columns, by label."""
        if not family:
            return {(): float(self.totals.sum())}
        shape = [len(labels[name]) for name in family]
        codes = self.codes[[self.columns.index(name) for name in family]]
        cells, place = np.unique(np.ravel_multi_index(tuple(codes), shape), return_inverse=True)
        members = []
        for name, member in zip(family, np.unravel_index(cells, shape), strict=True):
            known = list(labels[name])
            members.append([known[code] for code in member])
        totals: list[float] = np.bincount(place, self.totals, len(cells)).tolist()
        return dict(zip(zip(*members, strict=True), totals, strict=True))


class DatabaseTable:
    """A table of ibis, which counts by GROUP BY, so that its rows are read only if necessary."""

    def __init__(self, table: Foreign, argument: str = "dataset") -> None:
        self.table, self.argument = table, argument
        self.types: dict[Hashable, Foreign] = dict(table.schema().items())
        self.names = list(self.types)
        self._labels: dict[Hashable, Labels] = {}
        self._joints: dict[tuple[Hashable, Hashable], list[_Joint]] = {}
        self._seen: dict[tuple[Hashable, Hashable, Hashable], Array] = {}

    def __repr__(self) -> str:
        return f"Table of a database: {len(self.names)} columns"

    @cached_property
    def declared(self) -> Known:
        """The levels of enums, which DuckDB and PostgreSQL have."""
        types = self.types.items()
        texts = [name for name, dtype in types if dtype.is_string() or dtype.is_unknown()]
        backend = self.table.get_backend()
        if not texts or str(backend.name) not in ("duckdb", "postgres"):
            return {}
        types_of_texts = {str(name): self.table[name].typeof() for name in texts}
        first = self.table.limit(1).select(**types_of_texts)
        kinds: dict[Hashable, str] = next(iter(_rows_of_query(first)), {})
        by_kind: dict[str, list[str]] = {}
        for kind in kinds.values():
            if kind.startswith("ENUM("):
                labels: list[str] = re.findall(r"'((?:[^']|'')*)'", kind)
                by_kind[kind] = [label.replace("''", "'") for label in labels]
        if str(backend.name) == "postgres":
            with closing(backend.raw_sql(_ENUMS)) as cursor:
                for kind, label in cursor.fetchall():
                    by_kind.setdefault(kind, []).append(label)
        return {name: tuple(by_kind[kind]) for name, kind in kinds.items() if kind in by_kind}

    def reduce(
        self, make: Make[T], merge: Merge[T], columns: Sequence[Hashable] | None = None
    ) -> T:
        """Raise a TypeError, because rows stay in the database."""
        raise needs_rows_error("dataset")

    @cached_property
    def n_cells(self) -> int:
        """The number of values."""
        return len(self.names) * int(self.table.count().to_pyarrow().as_py())

    def read(self) -> pd.DataFrame:
        """Return all rows. Text has few bytes per label, because the database sends its codes."""
        import ibis
        import pyarrow as pa  # type: ignore[import-untyped]

        types = self.types.items()
        texts = [name for name, dtype in types if name in self.declared or dtype.is_string()]
        self._request_counts([(name,) for name in texts if name not in self._labels], None, None)
        labels: dict[Hashable, list[Any]] = {}
        for name in texts:
            known = [label for label in self._labels[name] if label is not None]
            labels[name] = list(self.declared.get(name, sorted(cast("list[Any]", known))))
        # 100: number of levels up to which an expression finds the code of a label
        coded = {name: own for name, own in labels.items() if len(own) <= 100}
        columns = {str(name): self._cast_to_read(name) for name in self.names}
        for name, own in coded.items():
            column = columns[str(name)]
            cases = [(column == ibis.literal(label, "string"), i) for i, label in enumerate(own)]
            code: Foreign = ibis.cases((column.isnull(), -1), *cases, else_=-2)
            columns[str(name)] = code.cast("int8")
        rows: Foreign = self.table.select(**columns).to_pyarrow()
        nullable: dict[Any, Any] = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        frame: pd.DataFrame = rows.to_pandas(types_mapper=nullable.get)
        for name, own in coded.items():
            if (frame[name] < -1).any():
                raise self._changed_error(f"values of {shown(name)}")
            frame[name] = pd.Categorical.from_codes(frame[name], pd.Index(own, dtype=object))
        for name in self.declared.keys() - coded.keys():
            frame[name] = pd.Categorical(frame[name], labels[name])
        return frame

    def _cast_to_read(self, name: Hashable) -> Foreign:
        """Return a column with labels as one of a few types, and numbers with fractions as floats.

        Columns of other types are read as they are, for an error about them.
        """
        dtype, column = self.types[name], self.table[name]
        if dtype.is_floating() or (dtype.is_decimal() and dtype.scale != 0):
            return _cast_to_float(column)
        is_label = dtype.is_boolean() or dtype.is_numeric() or dtype.is_string()
        return (
            self._cast_to_labels(self.table, name) if is_label or name in self.declared else column
        )

    def count(
        self,
        families: Sequence[tuple[Hashable, ...]],
        required: Hashable = None,
        weights: Hashable = None,
    ) -> list[LabelCounts]:
        """Count families by label; see `Source`. The same counts are requested once."""
        names = dict.fromkeys(name for family in families for name in family)
        wanted = names if required is None else {**names, required: None}
        self._request_counts([(name,) for name in wanted if name not in self._labels], None, None)
        if required is not None and None not in self._labels[required]:
            required = None  # so that counts of all rows can be used
        known = self._joints.setdefault((required, weights), [])
        absent = [f for f in families if not any(joint.has_columns(f) for joint in known)]
        cards = {name: len(self._labels[name]) for name in names}
        self._request_counts(
            column_sets_of_families(absent, cards), required, weights
        )  # adds to `known`
        counts = []
        for family in families:
            joint = next(joint for joint in known if joint.has_columns(family))
            counts.append(joint.marginal(family, self._labels))
        return counts

    def _request_counts(
        self, sets: Sequence[tuple[Hashable, ...]], required: Hashable, weights: Hashable
    ) -> None:
        """Count the joint values of sets of columns, many in one query, and keep them."""
        import ibis

        rows = self.table
        if required is not None:
            rows = rows.filter(self._known_expression(rows, required))
        for start in range(0, len(sets), 64):  # 64: number of SELECTs in one query
            some = [self._columns_by_slot(columns) for columns in sets[start : start + 64]]
            slots = dict.fromkeys(slot for own in some for slot in own)
            selects = [
                self._select_counts(rows, position, own, slots, weights)
                for position, own in enumerate(some)
            ]
            result: Foreign = ibis.union(*selects).to_pyarrow()
            of_select = result["position"].to_numpy()
            for position, own in enumerate(some):
                part = result.filter(of_select == position)
                totals = np.nan_to_num(np.asarray(part["total"].to_numpy(), dtype=np.float64))
                codes = np.empty((len(own), len(totals)), dtype=np.int32)
                for row, (slot, name) in zip(codes, own.items(), strict=True):
                    row[:] = self._codes_of_labels(name, part[slot].to_pylist())
                joint = _Joint(tuple(own.values()), codes, totals)
                self._check_same_rows(joint, required, weights)
                self._joints.setdefault((required, weights), []).append(joint)

    def _columns_by_slot(self, columns: Sequence[Hashable]) -> dict[str, Hashable]:
        """Return the columns by the name of their labels in a result, such as string_0, string_1.

        The SELECTs of a UNION have the same columns, so all labels of a type
        share these names.
        """
        found: dict[str, Hashable] = {}
        n_of_type = Counter[str]()
        for name in columns:
            kind = self._type_to_cast_labels_to(name)
            found[f"{kind}_{n_of_type[kind]}"] = name
            n_of_type[kind] += 1
        return found

    def _select_counts(
        self,
        rows: Foreign,
        position: int,
        by_slot: Mapping[str, Hashable],
        slots: Iterable[str],
        weights: Hashable,
    ) -> Foreign:
        """Return a SELECT of the total of each joint value of columns; other slots are NULL."""
        import ibis

        keys = {slot: self._cast_to_labels(rows, name) for slot, name in by_slot.items()}
        total = rows.count() if weights is None else _cast_to_float(rows[weights]).sum()
        counted = rows.group_by(**keys).agg(total=total) if keys else rows.agg(total=total)
        if len(keys) == 1:
            counted = counted.limit(MAX_LEVELS + 1)
        absent = {slot: ibis.null(slot.partition("_")[0]) for slot in slots if slot not in by_slot}
        numbered = counted.mutate(position=ibis.literal(position, "int64"), **absent)
        return numbered.select("position", "total", *slots)

    def _check_same_rows(self, joint: _Joint, required: Hashable, weights: Hashable) -> None:
        """Raise a ValueError if rows or the labels of a column differ from those of a former query.

        A table can change between queries, which then read different states of
        it.
        """
        of_labels = self._seen.get((required, None, None)) if weights is None else None
        if of_labels is not None and required is not None:
            # The rows with a label of the required column are those in which it is known.
            missing = self._labels[required].get(None, len(of_labels))
            of_known = np.delete(of_labels, slice(missing, missing + 1))
            self._seen.setdefault((None, required, None), np.array([of_known.sum()]))
        everything = None, np.zeros(len(joint.totals), dtype=np.int32)
        for name, codes in (everything, *zip(joint.columns, joint.codes, strict=True)):
            counts: Array = np.bincount(codes, joint.totals).astype(np.float64)
            before = self._seen.setdefault((name, required, weights), counts)
            size = max(len(before), len(counts))
            first, second = (np.pad(found, (0, size - len(found))) for found in (before, counts))
            if not np.allclose(first, second, rtol=1e-9, atol=1e-9 * first.sum()):
                raise self._changed_error("rows" if name is None else f"values of {shown(name)}")

    def _changed_error(self, what: str) -> ValueError:
        return ValueError(
            f"{self.argument} must not change between queries; got different numbers of {what}. "
            "Use a copy, such as con.create_table('copy', table)."
        )

    def _codes_of_labels(self, name: Hashable, labels: Iterable[Hashable]) -> list[int]:
        """Number the labels of a column, in the order in which they are met."""
        known = self._labels.setdefault(name, {})
        codes = [known.setdefault(label, len(known)) for label in labels]
        if len(known) > MAX_LEVELS:
            raise ValueError(
                f"{self.argument}: {shown(name)} has more than {MAX_LEVELS:,} levels, as a column "
                "of identifiers has. Drop it, or merge rare levels in the database."
            )
        return codes

    def _type_to_cast_labels_to(self, name: Hashable) -> str:
        """Return the type in which labels of a column are requested; raise if not categorical."""
        dtype = self.types[name]
        if dtype.is_decimal() and dtype.scale == 0:
            return "int64"
        if name in self.declared:
            return "string"
        kind = next((kind for kind, test in _KINDS.items() if getattr(dtype, test)()), None)
        if kind in (None, "float64"):
            remedy = "Cast it in the database, for example to text."
            if kind is not None:
                remedy = "Cut it in the database, or read a sample and use discretize."
            raise TypeError(
                f"column {shown(name)} must be categorical: text, bool or integer; got "
                f"{dtype} values. {remedy}"
            )
        return kind

    def _cast_to_labels(self, rows: Foreign, name: Hashable) -> Foreign:
        """Return the labels of a column as one of these types; enums are not text to PostgreSQL."""
        kind = self._type_to_cast_labels_to(name)
        if name in self.declared and self.types[name].is_string():
            return rows[name].concat("")
        return rows[name].cast(kind)

    def n_positive_and_fractional(self, required: Hashable, weights: Hashable) -> tuple[int, int]:
        """Return how many weights are positive and fractions; invalid ones raise a ValueError."""
        weight = self._cast_to_weights(self.table, weights)
        kept = self._known_expression(self.table, required)
        asked = {"fine": self.table.count(where=(weight >= 0) & (weight <= float_info.max))}
        asked |= {"rows": self.table.count(), "low": weight.min(), "high": weight.max()}
        asked["positive"] = self.table.count(where=kept & (weight > 0))
        asked["fractional"] = self.table.count(where=kept & (weight - weight.floor() > 0))
        [found] = _rows_of_query(self.table.agg(**asked))
        if found["fine"] < found["rows"]:
            raise ValueError(
                "weights must be finite numbers of 0 or more; got "
                f"{found['rows'] - found['fine']:,} others, from {found['low']} to "
                f"{found['high']}. To ignore a row, give it weight 0."
            )
        return found["positive"], found["fractional"]

    def _known_expression(self, rows: Foreign, required: Hashable) -> Foreign:
        """Return whether a column is known in rows, or that all are if it is None."""
        import ibis

        if required is None:
            return ibis.literal(True)
        return self._cast_to_labels(rows, required).notnull()

    def _cast_to_weights(self, rows: Foreign, weights: Hashable) -> Foreign:
        if not (dtype := self.types[weights]).is_numeric():
            raise TypeError(
                f"weights must be a column of numbers; got {shown(weights)}, with {dtype} values."
            )
        return rows[weights].cast("float64")


def _rows_of_query(table: Foreign) -> Any:
    return table.to_pyarrow().to_pylist()


def _cast_to_float(column: Foreign) -> Foreign:
    """Return a column as floats, without NaN."""
    import ibis

    number = column.cast("float64")
    if column.type().is_floating():
        return number.isnan().ifelse(ibis.null("float64"), number)
    return number


def column_sets_of_families(
    families: Sequence[tuple[Hashable, ...]], cards: Mapping[Hashable, int]
) -> list[tuple[Hashable, ...]]:
    """Return few sets of columns with tables of bounded size, of which each family is a part.

    Each set begins as the largest family that is left, and takes in the columns
    that complete the most families, as (a, b) takes in c for (b, c).
    """
    names, positions = list(cards), np.arange(len(cards))
    sizes = np.array(list(cards.values()), dtype=float)
    members = np.array([[name in family for name in names] for family in families], dtype=bool)
    members = members[np.argsort([-len(family) for family in families], kind="stable")]
    sets = []
    while len(members):
        inside: Mask = members[0].copy()
        outside: Mask = members & ~inside
        # how many columns each family lacks, and the sum of their positions: that of a single one
        lacking: Positions = outside.sum(axis=1)
        position: Positions = outside @ positions
        while True:
            gain = np.bincount(position[lacking == 1], minlength=len(names))
            gain[sizes[inside].prod() * sizes > _MOST_CELLS] = 0
            if not gain.any():
                break
            best = int((gain / np.log(np.maximum(sizes, 2))).argmax())
            inside[best] = True
            lacking -= members[:, best]
            position -= best * members[:, best]
        sets.append(tuple([names[i] for i in np.flatnonzero(inside)]))
        members = members[lacking > 0]
    return sets


SOURCES.insert(0, (is_ibis_table, DatabaseTable))
