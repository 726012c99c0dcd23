"""The parts of models that only some functions use: estimation and pooling, pictures, and export."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from ..base.arrays import Array, Codes, Positions
from ..base.immutable import Immutable
from ..base.messages import listed
from ..counts.contingency import Recoding, recoded
from ..frames.schema import Countable, Dataset
from .formulas import Formula
from .recipes import Tally


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
        """Return the model with a function applied to its parts with counts, and to those of ``others``."""
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
            "with such tables, for example with bnc(..., smooth=1, discretize='mdlp')."
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
        raise TypeError(f"loo_power must be False for {self._called}, for which it is not defined.")

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

    def _points_of(self, codes: Codes, order: Sequence[int]) -> NDArray[Any] | None:
        """Return the points of a scorecard: its start, and of each feature, (rows, 1 + features); or None."""
        return None
