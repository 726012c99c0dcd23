"""What the tables of a model were made of, kept so that more rows can be added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.immutable import Immutable
from ..counts.contingency import narrow


@dataclass(frozen=True, eq=False)
class Tally(Immutable):
    """Counts, and the prior that made tables of them.

    Attributes
    ----------
    counts : tuple
        Of a network an array for each family, its axes in family order, or where tables back off the
        counts of all prefixes; of other kinds what their tables are made of.
    prior : Prior or None
        None if something else had a hand in the tables.
    """

    counts: tuple[Any, ...]
    prior: Any

    def narrowed(self) -> Tally:
        """Return the same with arrays in the smallest type that holds them."""
        counts = [narrow(table) if isinstance(table, np.ndarray) else table for table in self.counts]
        return Tally(tuple(counts), self.prior)
