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
    room : int
        How many bytes the values may take together.
    share : int, default 64
        A value that takes more than the room divided by this is not kept: few would have room.

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

    def __init__(self, room: int, share: int = 64) -> None:
        self._room, self._most, self._round = room, room // share, 0
        self._kept: dict[Hashable, tuple[Value, int]] = {}
        self._asked: dict[Hashable, int] = {}  # in which round, the longest ago first

    def turn(self) -> None:
        """Begin a round."""
        self._round += 1

    def get(self, key: Hashable) -> Value | None:
        """Return what is kept under a key, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        if self._asked[key] != self._round:
            del self._asked[key]
            self._asked[key] = self._round
        return found[0]

    def put(self, key: Hashable, value: Value, size: int) -> Value:
        """Keep a value of so many bytes, if there is room, and return it."""
        if key in self._kept:
            self._drop(key)
        if size <= self._most and self._make_room(size):
            self._room -= size
            self._kept[key], self._asked[key] = (value, size), self._round
        return value

    def _make_room(self, size: int) -> bool:
        """Tell whether there is room, after the oldest values are dropped if need be."""
        while self._room < size:
            oldest = next(iter(self._asked), None)
            if oldest is None or self._asked[oldest] >= self._round - 1:
                return False
            self._drop(oldest)
        return True

    def _drop(self, key: Hashable) -> None:
        self._room += self._kept.pop(key)[1]
        del self._asked[key]
