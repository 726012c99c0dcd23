"""A cache that is bounded by how much memory it takes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Values by key, for rounds that each ask for much the same.

    If there is no room for a value, those go that neither this round nor the last one asked for. The
    others stay: where each round asks for more than there is room for, in the same order, what was
    asked for longest ago is what will be asked for next.

    Parameters
    ----------
    capacity : int
        How many bytes the values may take together.
    share : int, default 64
        A value that takes more than the capacity divided by this is not kept: few would have room.

    Examples
    --------
    >>> cache = Cache[str](100, share=1)
    >>> cache.put("a", "kept", 60), cache.put("b", "no room", 60)
    ('kept', 'no room')
    >>> cache.get("a"), cache.get("b")
    ('kept', None)
    >>> cache.turn(), cache.turn()
    (None, None)
    >>> cache.put("b", "in its place", 60)
    'in its place'
    >>> cache.get("a"), cache.get("b")
    (None, 'in its place')
    """

    def __init__(self, capacity: int, share: int = 64) -> None:
        self._free, self._largest, self._round = capacity, capacity // share, 0
        self._entries: dict[Hashable, tuple[Value, int]] = {}
        self._last_asked: dict[Hashable, int] = {}  # in which round, the longest ago first

    def turn(self) -> None:
        """Begin a round."""
        self._round += 1

    def get(self, key: Hashable) -> Value | None:
        """Return what is kept under a key, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if self._last_asked[key] != self._round:
            del self._last_asked[key]
            self._last_asked[key] = self._round
        return entry[0]

    def put(self, key: Hashable, value: Value, n_bytes: int) -> Value:
        """Keep a value of so many bytes, if there is room, and return it."""
        if key in self._entries:
            self._drop(key)
        if n_bytes <= self._largest and self._make_room(n_bytes):
            self._free -= n_bytes
            self._entries[key], self._last_asked[key] = (value, n_bytes), self._round
        return value

    def _make_room(self, n_bytes: int) -> bool:
        """Tell whether there is room, after the oldest values are dropped if need be."""
        while self._free < n_bytes:
            oldest = next(iter(self._last_asked), None)
            if oldest is None or self._last_asked[oldest] >= self._round - 1:
                return False
            self._drop(oldest)
        return True

    def _drop(self, key: Hashable) -> None:
        self._free += self._entries.pop(key)[1]
        del self._last_asked[key]
