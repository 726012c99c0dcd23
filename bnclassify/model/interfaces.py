"""The parts of models that only some functions use: facts in print, estimation, pictures, and export."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from textwrap import wrap
from typing import Any

from numpy.typing import NDArray

from ..base.arrays import Array, Codes, Positions
from ..base.immutable import Immutable
from ..base.messages import listed
from ..counts.contingency import Recoding, recoded
from ..frames.schema import Countable, Dataset
from .formulas import Formula
from .recipes import A_NETWORK, Tally


class Estimable(Immutable):
    """The parameters of a model: counts, the tables that follow from them, and methods of estimation."""

    def _count(self: Any, data: Dataset, prior: Any) -> tuple[Any, ...]:
        """Return the counts behind the tables; counts of different rows add up."""
        raise self._lacks("count")

    def _tabulate(self: Any, tally: Tally) -> Any:
        """Return the structure, whose levels are known, with tables and their counts."""
        raise self._lacks("make tables")

    def _count_all(self, data: Countable, prior: Any) -> tuple[Any, ...]:
        """Return the counts behind the tables in all rows."""
        return data.count_all(partial(self._count, prior=prior))

    def _distributions(self) -> Iterable[tuple[Hashable, Array]]:
        """Return variables and their tables, which sum to 1 along the first axis."""
        return ()

    def _each(self, function: Callable[..., Any], *others: Any) -> Any:
        """Apply a function to each part of the model that has counts, with the same part of ``others``."""
        return function(self, *others)

    def _recoded(self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Any) -> Any:
        """Return counts of the model ``before`` its levels changed, for the levels that it has now."""
        families = zip(counts, self._counted_families, strict=True)
        return tuple([recoded(table, [recodings[v] for v in family]) for table, family in families])

    @property
    def _counted_families(self) -> tuple[tuple[Hashable, ...], ...]:
        """The families that are counted, each a variable and its parents."""
        return ()

    def _log_joint_of_counts(self, data: Countable) -> float | None:
        """Return Σ ln P(row) if counts by the source of rows suffice, or None."""
        return None

    def _tally(self: Any) -> Tally:
        """Return the counts behind the tables; raise if the tables depend on more than counts."""
        tally = self.learned.get("counts")
        if isinstance(tally, Tally) and tally.prior is not None:
            return tally
        adjusted = [name for name in self.learned if name != "counts"]
        reason = "does not contain the counts behind its parameters"
        if adjusted:
            reason = f"has parameters that do not follow from counts: {listed(adjusted)}"
        raise ValueError(
            f"x must have tables that follow from counts; it {reason}. Refit it to all rows, or fit a model "
            f"with such tables: {A_NETWORK}."
        )

    def _fit(self, dataset: Any, step: Any, fit: Callable[[Any, Any], Any]) -> Any:
        """Return the fitted structure; ``fit`` needs a structure and its rows, and ``step`` is the call."""
        return fit(self, dataset)

    def _update(self, dataset: Any, update: Callable[[Any, Any], Any]) -> Any:
        """Return the model updated with more rows; ``update`` needs a model and the rows to add."""
        return update(self, dataset)

    def _check_em(self: Any) -> None:
        """Raise a TypeError unless `_maximize` is defined."""
        if type(self)._maximize is Estimable._maximize:
            reason = self.no_joint or f"it is not defined for {self._called}; omit it"
            raise TypeError(f'missing: "em" needs a joint distribution; {reason}')

    def _maximize(self: Any, data: Dataset, prior: Any, em: Any) -> Any:
        """Return the structure with the tables that EM finds."""
        raise self._lacks("run EM")

    def _left_out(self: Any, data: Dataset, prior: Any, rows: Positions, left_out: Any) -> Array:
        """Return ln P(features, class) of rows, each under the model of all other rows, (rows, classes)."""
        raise TypeError(f"held_out must be None for {self._called}, for which 'power' is not defined.")

    def _warn_of_size(self, rows: int) -> None:
        """Warn if the tables have too many parameters for the number of rows."""

    @property
    def _settings(self: Any) -> dict[str, Any]:
        """The properties in which models must agree so that their counts can be added."""
        kinds = [getattr(kind, "__name__", type(kind).__name__) for kind in self.densities.values()]
        return {
            "type": type(self).__name__,
            "class variables": self.targets,
            "features": self.features,
            "families": self._counted_families,
            "densities": tuple(zip(self.densities, kinds, strict=True)),
            "cut points": () if self.discretizer is None else tuple(self.discretizer.cuts.items()),
            "preparation": self.preparation,
            "prior": getattr(self.learned.get("counts"), "prior", None),
        }

    def _lacks(self: Any, action: str) -> TypeError:
        """Return the error that an action is not defined for a model type."""
        return TypeError(f"x must be a model that can {action}; got {self._called}.")


class Drawable(Immutable):
    """The facts that pictures of a model show besides its structure."""

    def _curve(self, feature: Hashable) -> Array | None:
        """Return the numbers at which the effect of a feature is drawn; None if it depends on codes alone."""
        return None

    def _training_points(self, feature: Hashable) -> tuple[Array, Array] | None:
        """Return training values of a feature, and their shares, if its effect is a curve; or None."""
        return None

    def _arc_shares(self: Any) -> dict[tuple[Hashable, Hashable], float]:
        """Return the share of the members that have each arc, (from, to); 1 in a single model."""
        return {(parent, variable): 1.0 for variable, parents in self.parents.items() for parent in parents}

    def _members_note(self: Any) -> str:
        """Return a note on the members of an average for its picture; empty for a single model."""
        n = self.facts().get("num. members")
        return "" if n is None else f"average of {n:,} networks"

    def _feature_shares(self) -> tuple[dict[Hashable, float], str]:
        """Return weights of features for its picture, and a note on them."""
        return {}, ""


class Exportable(Immutable):
    """The scores of a model as formulas and points, which other languages and scorecards use."""

    def _formula(self: Any) -> Formula:
        """Return the scores of the classes as a formula of tables, which other languages can evaluate."""
        raise TypeError(
            f"x must be a model whose scores are sums of tables; got {self._called}. Use a model of "
            "one class variable, fitted without kernels and without subsumption."
        )

    def _value_formulas(self) -> tuple[Formula, ...] | None:
        """Return formulas of `_value_logs`, whose exponentials are added; None for those in `_formula`."""
        return None

    def _term_scopes(self) -> list[tuple[int, ...]] | None:
        """Return the features of each term of the log odds; None if they are not a sum of terms."""
        return None

    def _averaged(self) -> tuple[Any, ...]:
        """Return the models whose joint distributions it averages in every row; none by default."""
        return ()

    def _points_of(self, codes: Codes, order: Sequence[int]) -> NDArray[Any] | None:
        """Return the points of a scorecard: its start, and of each feature, (rows, 1 + features); or None."""
        return None


_WIDTH = 88
_MOST = 6
"""Largest number of columns or classes that are named."""


def facts_of(x: Any) -> dict[str, Any]:
    """Return the facts of a model by name, in the order in which they are shown: numbers and text."""
    several, rows = len(x.targets) > 1, x._trained_on if x.fitted else None
    latent = " (latent)" if x.observed == x.features else ""
    facts: dict[str, Any] = {f"class variable{'s' * several}": ", ".join(map(str, x.targets)) + latent}
    if rows is not None:
        facts["rows"] = int(rows.size) if rows.size == int(rows.size) else f"{rows.size:,g} (sum of weights)"
        if rows.cases:
            groups = f"in {rows.cases:,} groups" if rows.cases != rows.given else ""
            weights = f"weights of {rows.size:,.0f} rows" if round(rows.size) != rows.given else ""
            how = ", ".join(filter(None, [groups, weights]))
            facts["rows"] = f"{rows.given:,} ({how})" if how else rows.given
        parts = rows.classes or [zip(x.levels_by_name[x.class_var], x._class_prior(), strict=True)]
        shares = dict(zip(x.targets, map(_write_shares, parts), strict=True))
        texts = [f"{name}: {text}" if several else text for name, text in shares.items()]
        facts["class proportions"] = _some(texts, "; ") or None
    facts |= x.facts()
    if x.recipe is not None:
        facts["learning algorithm"] = x.recipe.structure.name
        facts["parameters"] = x.recipe.parameters and str(x.recipe.parameters)
    facts |= _preparation(x)
    summary = x.learned.get("leave_one_out")
    if summary is not None and summary.fold_rows:
        facts["confidence"] = _confidence(summary)
    if refits := x.learned.get("refits"):
        facts["intervals"] = f"by {len(refits)} refits, each without a part of the cases"
    if x.fitted:
        facts["missing values"] = _missing(x, rows)
        facts["joint distribution"] = "no" if x.no_joint else "yes"
    return {name: value for name, value in facts.items() if value is not None}


def write_facts(x: Any) -> str:
    """Write the facts of a model, aligned."""
    facts = {name: f"{v:,}" if isinstance(v, int) else str(v) for name, v in facts_of(x).items()}
    width = max(map(len, facts)) + 4
    lines = []
    for name, text in facts.items():
        first, *more = wrap(text, _WIDTH - width, break_long_words=False) or [""]
        lines += [f"  {name + ':':<{width - 2}}{first}", *[" " * width + line for line in more]]
    only = "" if x.fitted else " (only structure, no parameters)"
    return "\n".join(["", f"  Bayesian network classifier{only}", "", *lines])


def mark_up(x: Any, picture: str) -> str:
    """Write the facts of a model as HTML, dark on white, below a picture."""
    cell = '<td style="text-align:left;vertical-align:top;padding:1px 12px 1px 0;background:#fff;color:#111">'
    pairs = [(name, f"{v:,}" if isinstance(v, int) else str(v)) for name, v in facts_of(x).items()]
    rows = [f"<tr>{cell}{escape(name)}</td>{cell}{escape(value)}</td></tr>" for name, value in pairs]
    frame = '<div style="background:#fff;color:#111;padding:8px;overflow-x:auto">'
    return f'{frame}{picture}<table style="border:0;background:#fff">{"".join(rows)}</table></div>'


def _confidence(summary: Any) -> str:
    """Say in words by how much the evidence counts, and which share of it logistic regression provides."""
    regression = summary.regression_power or 0.0
    total = summary.fold_power + regression
    change = "reduced" if total < 1 else "increased"
    by = f"{change} by {abs(1 - total):.0%}" if abs(1 - total) >= 0.005 else "unchanged"
    share = f"; {regression / total:.0%} from logistic regression" if regression else ""
    return f"{by}, as {summary.fold_rows:,} held-out rows require{share}"


def _some(names: Iterable[str], separator: str = ", ") -> str:
    """Write the first of some names, and how many there are besides."""
    texts = list(names)
    more = [f"{len(texts) - _MOST} more"] if len(texts) > _MOST else []
    return separator.join([*texts[:_MOST], *more])


def _write_shares(weights: Iterable[tuple[Any, float]]) -> str:
    pairs = list(weights)
    total = sum(weight for _, weight in pairs) or 1
    return _some(f"{label} {weight / total:.3f}" for label, weight in pairs)


def _preparation(x: Any) -> dict[str, str | None]:
    """Say which columns were discretized, merged, kept as numbers and dropped."""
    facts: dict[str, str | None] = {}
    merger, discretizer = None if x.preparation is None else x.preparation.merger, x.discretizer
    if discretizer is not None:
        cut = _some(str(name) for name in x.features if discretizer.cuts.get(name))
        facts["discretized"] = f"{cut} ({discretizer.method})" if cut else None
    if x.densities:
        kinds = sorted({type(density).__name__ for density in x.densities.values()})
        facts["kept as numbers"] = f"{_some(map(str, x.densities))} ({', '.join(kinds)})"
    if merger is not None and merger.columns:
        columns = _some(map(str, merger.columns))
        facts["merged"] = f"levels in fewer than {merger.min_count:,} rows of {columns}"
    seen = (x.recipe and (x.recipe.seen or x.recipe.columns)) or ()
    uncut = () if discretizer is None else discretizer.uncut
    dropped = [name for name in seen if name not in x.variables]
    reasons = {"no cut point": [name for name in dropped if name in uncut]}
    other = "not selected" if x.search_trace else "no value"
    reasons[other] = [name for name in dropped if name not in uncut]
    texts = [f"{_some(map(str, names))} ({reason})" for reason, names in reasons.items() if names]
    return facts | {"dropped": "; ".join(texts) or None}


def _missing(x: Any, rows: Any) -> str:
    """Describe the missing values, the estimation from them, and their treatment at prediction."""
    levels = () if x.preparation is None else x.preparation.missing
    texts = [f"a level of {_some(map(str, levels))}"] if levels else []
    if rows is not None:
        n = sum(name in rows.incomplete for name in x.features)
        method = "EM" if x.network is not None and "em" in x.network.learned else "available cases"
        shifts = ", and a shift of the log odds" if x._weighs_missing else ""
        if n or not levels:
            texts.append(f"in {n} feature{'s' * (n > 1)} ({method}{shifts})" if n else "none in training")
    return "; ".join([*texts, f"{'others ' * bool(levels)}in new rows {x.missing_rule}"])
