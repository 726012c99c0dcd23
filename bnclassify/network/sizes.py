"""Models too large for the data that they were learned from."""

from __future__ import annotations

from ..base.messages import shown, warn
from ..model.model import Model
from .bnc import Family, Network, count_parameters

_FEWEST_ROWS = 100
"""Below, most networks have more parameters than rows, and users know that."""


def warn_of_wide_tables(x: Model, rows: int) -> None:
    """Warn of a network with more free parameters than rows, if single tables make it so.

    Many tables that are small each, as those of a naive Bayes with many features, do no harm.
    """
    backs_off = "concentrations" in x.learned  # so that wide tables do no harm
    if not isinstance(x, Network) or backs_off or rows < _FEWEST_ROWS:
        return
    total = count_parameters(x.scopes, x.cards)
    if total <= rows:
        return
    families = zip(x.families, x.scopes, strict=True)
    sizes = {family: count_parameters([scope], x.cards) for family, scope in families}
    widest = sorted((f for f in sizes if sizes[f] > rows / 2), key=lambda family: -sizes[family])
    if not widest:
        return
    tables = ", ".join(f"{_written(family)} with {sizes[family]:,}" for family in widest[:3])
    longest = sorted(zip(x.variables, x.cards, strict=True), key=lambda column: -column[1])[:3]
    columns = ", ".join(f"{shown(name)} ({card:,} levels)" for name, card in longest)
    warn(
        f"the network has {total:,} free parameters, more than the {rows:,} rows: among others {tables}. "
        f"Merge rare levels of its longest columns, {columns}, with merge_rare(dataset, columns=[...]), "
        "leave such columns out, or take a structure with fewer arcs, for example with score='bic'"
    )


def _written(family: Family) -> str:
    """Write a table as a conditional probability."""
    variable, *parents = map(str, family)
    return f"P({variable} | {', '.join(parents)})" if parents else f"P({variable})"
