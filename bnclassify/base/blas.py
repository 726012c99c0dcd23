"""Matrix products on one thread: idle threads of OpenBLAS spin, which is slow on busy machines."""

from __future__ import annotations

import os
from functools import cached_property
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class OneThread:
    """Context manager that limits the BLAS of NumPy to one thread.

    The number belongs to the process: the first of overlapping uses sets it, the last restores it.
    """

    def __init__(self) -> None:
        self._lock, self._uses = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._uses += 1
            if self._uses == 1:
                self._limit = self._controller.limit(limits=1, user_api="blas")

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._uses -= 1
            if self._uses == 0:
                self._limit.restore_original_limits()

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController()  # once, because it searches all loaded libraries

    def unlock(self) -> None:
        """Release the lock in a forked process, in which its owner may not exist."""
        self._lock, self._uses = Lock(), 0


one_thread = OneThread()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.unlock)
