"""Structure and parameters in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any

import pandas as pd

from ..base.messages import listed, suggestion
from ..base.records import record
from ..frames.encoding import check_names
from ..frames.schema import Dataset
from ..frames.training import prepare
from ..model.kinds import Model, renewed
from ..model.recipes import Recipe, Step
from ..parameters.estimation import lp
from ..parameters.priors import PRIORS, find_prior
from ..parameters.sizes import warn_of_wide_tables
from ..structure.climbing import ban, hc
from ..structure.dependence import kdb_mi
from ..structure.fixed import anb, aode, nb
from ..structure.independence import chisq_dn
from ..structure.search.learners import bsej, fssj, kdb, tan_hc, tan_hcsp
from ..structure.trees import chow_liu, tan_cl

_EXACT = (nb, anb, aode, tan_cl, chow_liu, kdb_mi, chisq_dn)
_SEARCHES = (hc, ban, fssj, bsej, tan_hc, tan_hcsp, kdb)

LEARNERS: dict[str, Callable[..., Model]] = {
    learner.__name__: record(learner) for learner in (*_EXACT, *_SEARCHES)
}
"""The learners of structure that `bnc` knows by name."""

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
"""The kinds of parameters that can be given by name."""


def bnc(
    dag_learner: str | Callable[..., Model],
    class_var: Hashable,
    dataset: pd.DataFrame | Dataset,
    *,
    dag_args: Mapping[str, Any] | None = None,
    **lp_args: Any,
) -> Model:
    """Learn structure and parameters in one call.

    Parameters
    ----------
    dag_learner : str or callable
        A learner of structure, or its name, such as "tan_cl".
    class_var : str
        Name of the class.
    dataset : pandas.DataFrame or Dataset
        The data for both.
    dag_args : dict, optional
        Further arguments of the learner. A learner that scores fitted models, such as `tan_hc`, scores
        them with the prior given for `lp`, unless its own is among these.
    **lp_args
        Arguments of `lp`: ``smooth`` or another prior, and what else there is, such as ``manb_prior``.

    Returns
    -------
    BNC or AODE
        A model with parameters, the same as ``lp(dag_learner(...), ...)`` gives.

    Raises
    ------
    TypeError
        If the learner has no such argument as one of ``dag_args``, one that it needs is not among
        them, `lp` has no such argument as one of ``lp_args``, or the learner returns no structure.
    ValueError
        If no learner has that name, or ``dag_args`` has the class or the data.

    Warns
    -----
    UserWarning
        As the learner and `lp`.

    Examples
    --------
    >>> from bnclassify import bnc, load_car, nparams
    >>> nparams(bnc("tan_cl", "class", load_car(), smooth=1, dag_args={"score": "aic"}))
    131
    """
    learner = find_learner(dag_learner, "dag_learner")
    if dag_args is not None and not isinstance(dag_args, Mapping):
        raise TypeError(f"dag_args: expected a dict of further arguments, got {dag_args!r}")
    options = dict(dag_args or {})
    check_arguments(learner, options, "dag_args", given=("class_var", "dataset"))
    check_arguments(lp, lp_args, "bnc", given=("x", "dataset"))
    find_prior(**{name: lp_args.get(name) for name in PRIORS})
    ours = learner in LEARNERS.values()
    if ours and options.get("features") is not None:
        options["features"] = check_names(options["features"], class_var)
    if ours and not any(options.get(name) is not None for name in PRIORS):
        # What is searched for is what will be fitted.
        takes = parameters_of(learner)
        options |= {name: lp_args[name] for name in PRIORS if name in takes and name in lp_args}
    names = options.get("features")
    data = prepare(dataset, class_var, names if isinstance(names, list | tuple) else None)
    structure = learner(class_var, dataset=data, **options)
    if not isinstance(structure, Model):
        raise TypeError(f"dag_learner: expected a function that returns a structure, got {structure!r} of it")
    if not ours:  # what the user's own function does is to be done again, with what it was given today
        structure = renewed(structure, recipe=Recipe(class_var, _own_step(learner, options)))
    fitted = lp(structure, data, **lp_args)
    warn_of_wide_tables(fitted, len(data))
    return fitted


def _own_step(learner: Callable[..., Model], options: Mapping[str, Any]) -> Step:
    """Return the call of a user's function, with settings that cannot be changed meanwhile."""
    name = str(getattr(learner, "__name__", learner))
    return Step(name, learner, deepcopy(dict(options)), draws="rng" in parameters_of(learner))


def find_learner(learner: object, argument: str) -> Callable[..., Model]:
    """Return a learner of structure given as a function or by name, or raise."""
    if callable(learner):
        return learner
    if isinstance(learner, str) and learner in LEARNERS:
        return LEARNERS[learner]
    raise ValueError(f"{argument}: expected a function or one of {listed(LEARNERS)}, got {learner!r}")


def check_arguments(
    function: Callable[..., Any], arguments: Collection[str], origin: str, given: Collection[str]
) -> None:
    """Raise if ``arguments`` are not what a function takes and needs beside those ``given``.

    The first of those given goes by position, so the function may call it as it likes.
    """
    again = [name for name in arguments if name in given]
    if again:
        raise ValueError(f"{origin}: what is given already cannot be among them; leave out {listed(again)}")
    takes = list(parameters_of(function).values())[1:]
    anything = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes)
    named = {p.name: p for p in takes if p.name not in given and p.kind in _NAMED}
    name = getattr(function, "__name__", repr(function))
    unknown = [argument for argument in arguments if argument not in named and not anything]
    if unknown:
        hint = suggestion(unknown[0], named)
        if function is lp and origin == "bnc":
            hint += "; arguments of the learner go into dag_args={...}"
        raise TypeError(f"{origin}: {name} takes no argument {unknown[0]!r}; {hint}")
    absent = [
        argument
        for argument, parameter in named.items()
        if parameter.default is Parameter.empty and argument not in arguments
    ]
    if absent:
        raise TypeError(f"{origin}: {name} needs {listed(absent)} too, as in {origin}={{{absent[0]!r}: ...}}")


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """Return the parameters of a function; of one written in C that does not tell, anything by name."""
    try:
        return signature(function).parameters
    except ValueError:
        return signature(_anything).parameters


def _anything(*arguments: Any, **named: Any) -> None: ...
