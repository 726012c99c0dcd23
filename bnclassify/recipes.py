"""Structure and parameters in one call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd

from .dataset import Dataset, encode
from .model import Model
from .parameters.estimation import check_smooth, lp
from .structure.chow_liu import tan_cl
from .structure.fixed import aode, nb

LEARNERS: dict[str, Callable[..., Model]] = {learner.__name__: learner for learner in (nb, aode, tan_cl)}
"""The learners of structure that `bnc` knows by name."""


def bnc(
    dag_learner: str | Callable[..., Model],
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    smooth: float,
    dag_args: Mapping[str, Any] | None = None,
) -> Model:
    """Learn structure and parameters in one call.

    Parameters
    ----------
    dag_learner : str or callable
        A learner of structure, or its name: "nb", "aode", "tan_cl".
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        The data for both.
    smooth : float
        As in `lp`.
    dag_args : dict, optional
        Further arguments of the learner.

    Returns
    -------
    BNC or AODE
        A model with parameters, the same as ``lp(dag_learner(...), ...)`` gives.

    Raises
    ------
    ValueError
        If no learner has that name.

    Examples
    --------
    >>> from bnclassify import bnc, load_car, nparams
    >>> nparams(bnc("tan_cl", "class", load_car(), smooth=1, dag_args={"score": "aic"}))
    131
    """
    if not callable(dag_learner) and dag_learner not in LEARNERS:
        raise ValueError(
            f"dag_learner: expected a function or one of {', '.join(map(repr, LEARNERS))}, "
            f"got {dag_learner!r}"
        )
    check_smooth(smooth)
    learner = dag_learner if callable(dag_learner) else LEARNERS[dag_learner]
    data = encode(dataset)
    return lp(learner(class_var, data, **(dag_args or {})), data, smooth=smooth)
