"""Models whose tables follow from counts of rows: what is counted, and how counts become tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from ..counts import Recoding, recode_counts
from ..dataset import Countable, Dataset
from ..tools.arrays import Array, Positions
from ..tools.messages import listed
from .class_prior import PROPORTIONS
from .model import Model, replace_unchecked, unsupported_error
from .recipes import A_NETWORK, Tally


class CountedModel(Model):
    """Base of models whose tables follow from counts, and of models that consist of such models.

    Counts of different rows add up, so `update` and `pool` accept these models.
    """

    def estimate(self, data: Countable, prior: Any) -> Self:
        """Return the structure with tables from data of its variables, coded by its levels."""
        structure = replace_unchecked(self, levels=data.levels)
        return structure.tabulate(
            Tally(structure.count_all(data, prior), prior).with_narrow_arrays()
        )

    def count(self, data: Dataset, prior: Any) -> tuple[Any, ...]:
        """Return the counts behind the tables; counts of different rows add up."""
        raise unsupported_error(self, "count")

    def count_all(self, data: Countable, prior: Any) -> tuple[Any, ...]:
        """Return the counts behind the tables in all rows."""
        return data.sum_from_source_or_parts(partial(self.count, prior=prior))

    def tabulate(self, tally: Tally) -> Self:
        """Return the structure, whose levels are known, with tables and their counts."""
        raise unsupported_error(self, "make tables")

    def distributions(self) -> Iterable[tuple[Hashable, Array]]:
        """Return variables and their tables, which sum to 1 along the first axis."""
        return ()

    def tally(self) -> Tally:
        """Return the counts behind the tables; raise if the tables depend on more than counts."""
        tally = self.learned.get("counts")
        if isinstance(tally, Tally) and tally.prior is not None:
            return tally
        raise no_counts_error(self)

    def recoded_counts(
        self, counts: tuple[Any, ...], recodings: Mapping[Hashable, Recoding], before: Model
    ) -> Any:
        """Return counts of the model ``before`` its levels changed, for its present levels."""
        recoded = []
        for table, family in zip(counts, self._families_to_count, strict=True):
            recoded.append(recode_counts(table, [recodings[v] for v in family]))
        return tuple(recoded)

    @property
    def _families_to_count(self) -> tuple[tuple[Hashable, ...], ...]:
        """The families that are counted, each a variable and its parents."""
        return ()

    @property
    def properties_to_agree(self) -> dict[str, Any]:
        """The properties in which models must agree so that their counts can be added."""
        kinds = [getattr(kind, "__name__", type(kind).__name__) for kind in self.densities.values()]
        return {
            "type": type(self).__name__,
            "class variables": self.targets,
            "features": self.features,
            "families": self._families_to_count,
            "densities": tuple(zip(self.densities, kinds, strict=True)),
            "cut points": tuple(self.cuts.items()),
            "preparation": self.preparation,
            "prior": getattr(self.learned.get("counts"), "prior", None),
            "class proportions": getattr(self.class_proportions, "shares", None),
        }

    def maximize(self, data: Dataset, prior: Any, em: Any) -> Self:
        """Return the structure with the tables that EM finds."""
        raise unsupported_error(self, "run EM")

    def log_joint_left_out(
        self, data: Dataset, prior: Any, rows: Positions, left_out: Any
    ) -> Array:
        """Return ln P(features, class) of rows, each by the other rows' model, (rows, classes)."""
        raise TypeError(
            f"held_out must be None for {self.type_in_words}, for which 'power' is not defined."
        )

    def with_class_exchanged(self, variable: int) -> Model | None:
        """Return the joint distribution with a feature and the class exchanged, if there is one."""
        return None


class SeveralClasses(CountedModel):
    """Base of models of several class variables, whose predictions are tables."""

    one_class = False

    if TYPE_CHECKING:  # each type of model implements it

        def predict(self, newdata: Any, prob: bool, *arguments: Any, **options: Any) -> Any:
            """Return labels or posteriors, with columns for each class variable."""


def check_counted(x: Model) -> CountedModel:
    """Return a model whose tables follow from counts, or raise a ValueError."""
    if not isinstance(x, CountedModel):
        raise no_counts_error(x)
    return x


def no_counts_error(x: Model) -> ValueError:
    """Return the error about a model whose tables do not follow from counts."""
    if how := how_tables_were_given(x):
        return ValueError(f"x must have tables that follow from counts; its tables were {how}.")
    adjusted = [name for name in x.learned if name not in ("counts", PROPORTIONS)]
    reason = "does not contain the counts behind its parameters"
    if adjusted:
        reason = f"has parameters that do not follow from counts: {listed(adjusted)}"
    return ValueError(
        f"x must have tables that follow from counts; it {reason}. Refit it to all rows, or fit a "
        f"model with such tables: {A_NETWORK}."
    )


def how_tables_were_given(x: Model) -> str:
    """Return how tables without counts were given, and what to do; empty if they were estimated."""
    adjusted = x.learned.keys() - {PROPORTIONS}
    steps = () if x.recipe is None or adjusted else (x.recipe.parameters, x.recipe.structure)
    names = [step.name for step in steps if step is not None]
    if any("with_table(" in name for name in names):
        return "given by hand in part. Call with_table last, after the other functions"
    if not {"from_tables", "read_bif"}.isdisjoint(names):
        return (
            "given by hand or read from a file. Say how many rows they are worth, with from_tables("
            f"{x.class_var!r}, {{name: cpt(x, name) for name in families(x)}}, rows=100)"
        )
    return ""
