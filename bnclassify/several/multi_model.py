"""The base of models of several class variables: prediction, scores, views of one class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd

from ..base.arrays import Array, Codes, first_best, log_normalize, log_sum_exp
from ..base.checks import OneOf
from ..base.immutable import EMPTY
from ..base.messages import listed, shown
from ..frames.encoding import encode_new
from ..frames.matching import match
from ..frames.schema import Levels
from ..metrics.outcomes import Labelling
from ..model.model import Model
from ..model.recipes import Recipe
from .class_inference import MostProbable, log_share

_PROBABILITY = "probability"


class MultiModel(Model):
    """Base of models that predict several class variables.

    They have ``class_vars`` instead of ``class_var``; ``levels`` has the features, then the classes.
    """

    one_class = False

    if TYPE_CHECKING:

        @property
        def class_vars(self) -> tuple[Hashable, ...]:
            """The names of the class variables."""

    @property
    def class_var(self) -> NoReturn:
        """Raise a TypeError that names the class variables."""
        raise TypeError(
            f"x must predict one class variable; got a model of {listed(self.class_vars)}, which "
            "class_vars(x) returns."
        )

    @property
    def targets(self) -> tuple[Hashable, ...]:
        """The class variables."""
        return self.class_vars

    @property
    def class_levels(self) -> Levels:
        """The labels of each class variable."""
        return (self.levels or ())[len(self.features) :]

    @property
    def class_cards(self) -> tuple[int, ...]:
        """The number of labels of each class variable."""
        return tuple(map(len, self.class_levels))

    if TYPE_CHECKING:  # each family implements these; codes are (features, rows), -1 where missing

        def _log_marginals(self, codes: Codes, *, greedy: bool = False) -> list[Array]:
            """Return ln P(label, observed features) of each class variable, up to a constant."""

        def _most_probable(self, codes: Codes, *, greedy: bool = False) -> MostProbable:
            """Return the most probable combination of labels, the first if tied."""

    def _log_joint_at(self, codes: Codes, labels: Codes) -> Array:
        """Return ln P(labels, observed features), (rows,)."""
        raise TypeError(f"x must define a joint distribution; {self.no_joint}.")

    def _log_posterior_at(self, codes: Codes, labels: Codes) -> Array:
        """Return ln P(labels | observed features), (rows,); uniform in impossible rows."""
        evidence = log_sum_exp(self._log_marginals(codes)[0])
        return log_share(self._log_joint_at(codes, labels), evidence, prod(self.class_cards))

    # methods that functions call

    def _predict(
        self, newdata: Any, prob: bool, unseen: str, prior: object, costs: object, joint: bool, greedy: bool
    ) -> pd.DataFrame:
        for name, value in {"prior": prior, "costs": costs}.items():
            if value is not None:
                raise TypeError(
                    f"{name} must be None for several class variables. Predict each by its own model."
                )
        self._check_greedy(greedy)
        if joint and prob and _PROBABILITY in self.class_vars:
            raise ValueError(f"x must not have a class variable called {shown(_PROBABILITY)}. Rename it.")
        levels = dict(zip(self.features, self.levels or (), strict=False))
        data = encode_new(newdata, levels)
        index, codes = data.index, np.empty((0, len(data)), dtype=np.int8)
        if levels:
            codes = match(data, self.features, tuple(levels.values()), unseen=unseen)
        if joint:
            best = self._most_probable(codes, greedy=greedy)
            labels = self._label_frame(best.codes, index)
            return labels.assign(**{_PROBABILITY: np.exp(best.logs)}) if prob else labels
        marginals = self._log_marginals(codes, greedy=greedy)
        if prob:
            return self._posterior_frame(marginals, index)
        return self._label_frame([first_best(logs) for logs in marginals], index)

    def _check_greedy(self, greedy: bool) -> None:
        if greedy:
            raise TypeError(
                "greedy must be False unless x is a chain, which chain(class_vars, dataset) learns."
            )

    def _label_frame(self, codes: Sequence[Codes] | Codes, index: pd.Index[Any]) -> pd.DataFrame:
        """Return labels from codes, with one categorical column per class variable."""
        parts = zip(self.class_levels, self.class_vars, codes, strict=True)
        series = [Labelling(labels, name, index).labels(own_codes) for labels, name, own_codes in parts]
        names = pd.Index(list(self.class_vars), tupleize_cols=False)
        return pd.DataFrame(dict(enumerate(series)), index=index).set_axis(names, axis="columns")

    def _posterior_frame(self, marginals: Sequence[Array], index: pd.Index[Any]) -> pd.DataFrame:
        """Return posteriors, one column per class variable and label."""
        named = zip(self.class_vars, self.class_levels, strict=True)
        pairs = [(name, label) for name, labels in named for label in labels]
        columns = pd.MultiIndex.from_arrays(
            [pd.Index(list(part), dtype=object, tupleize_cols=False) for part in zip(*pairs, strict=True)]
        )
        posteriors = np.hstack([np.exp(log_normalize(logs)) for logs in marginals])
        return pd.DataFrame(posteriors, index=index, columns=columns)

    def _of_class(self, class_var: Hashable | None) -> ClassView:
        if class_var is None:
            raise TypeError(f"class_var must be given, one of {listed(self.class_vars)}.")
        return ClassView(self, OneOf(self.class_vars).check("class_var", class_var))


@dataclass(frozen=True, eq=False, repr=False)
class ClassView(Model):
    """A model of one class variable of a model of several, marginalized over the other class variables."""

    whole: MultiModel
    class_var: Hashable
    recipe: Recipe | None = None

    @property
    def features(self) -> tuple[Hashable, ...]:
        """The features, without the other class variables."""
        return self.whole.features

    @property
    def levels(self) -> Levels | None:
        """The labels of the features and of the class variable."""
        by_name = self.whole.levels_by_name
        return tuple([by_name[name] for name in self.variables])

    @property
    def members(self) -> tuple[Model, ...]:
        """Itself."""
        return (self,)

    @property
    def fitted(self) -> bool:
        """Whether the model of all class variables has parameters."""
        return self.whole.fitted

    @property
    def learned(self) -> Mapping[str, Any]:
        """Empty."""
        return EMPTY

    @property
    def parents(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The parents of each variable without other class variables; empty without a single graph."""
        parents, variables = self.whole.parents, set(self.variables)
        return {v: tuple([p for p in parents.get(v, ()) if p in variables]) for v in self.variables}

    def _log_joint(self, codes: Codes) -> Array:
        return self.whole._log_marginals(codes)[self.whole.class_vars.index(self.class_var)]
