"""The default recipe: what `bnc` and `BNCClassifier` do without a prior, by type of model.

1. Numbers are discretized four times, into 4 and 8 intervals, and the logs of
   tables are averaged, so no cut point decides (`discretization_method`). 16
   intervals, MDLP, and the own values of numbers that repeat, are codings with
   weights of their own.
2. A missing value has a shift per class, and counts towards the evidence that a
   row lacks (`scores/fading.py`).
3. Each row is a case, and whole weights are numbers of rows, unless groups say
   otherwise (`recipe/content_order.py`).
4. A structure is learned, with the parents of each feature in descending order
   of use (`kdb_gain`).
5. Tables are smoothed hierarchically. Their weights, slopes of numbers and
   shifts of levels maximize the likelihood of held-out rows by leave-one-out,
   which is fast (`recipe/leave_one_out.py`).
6. The model without feature parents, the model with them and logistic
   regression are added up, with powers by folds of the rows, for which arcs,
   tables and weights are learned again (`recipe/blend.py`): leave-one-out alone
   is overconfident, because arcs and weights were learned from the same rows.
   Arcs of learners that do not rank parents, such as `tan_cl`, are kept.

"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..base.messages import listed
from ..model.model import Model
from .log_linear import LogLinear
from .refined import ADDITIVE

TERMS = ("zscores", "slopes", "shifts", "depths", "codings", "gaps")
"""The additional terms of features."""

STEPS: dict[str, dict[str, Any]] = {
    "weights": {
        "backoff": 2.0,
        "held_out": "weights",
        "held_out_args": {"terms": TERMS, "folds": 5, "blend": True},
    },
    "power": {"backoff": True, "held_out": "power"},
    "power of counts": {"smooth": 1, "held_out": "power"},
    "plain": {"smooth": 1},
}
"""The arguments of `lp` by what is learned from held-out rows; see `_key_of_steps`."""

LEARNER, LEARNER_OF_SUMS = "kdb_gain", "nb"
"""The learners of structures, and of those of sums of effects."""

LEARNER_OF_PARTS = "kdb_mi", {"kdbk": 1}
"""The learner if data are partitioned, and its arguments."""

RANKING = ("kdb_gain", "kdb_mi")
"""The learners that rank feature parents, of which some can be dropped."""

MOST_PARENTS = 4
"""The number of feature parents in the deeper model, of learners that rank them."""

_OTHER_METHODS = (
    "awnb_trees",
    "awnb_bootstrap",
    "manb_prior",
    "wanbia",
    "missing",
    "numbers",
    "subsumption",
)


def _key_of_steps(x: Model) -> str:
    """Return the steps of a model type: weights of single networks, and the power of averages."""
    if isinstance(x, LogLinear) or (x.graph is x and x.one_class and not x.no_joint):
        return "weights"
    if not x.is_average or not x.one_class:
        return "plain"
    return "power of counts" if x.no_joint else "power"


def discretization_method(learner: Callable[..., Model]) -> Literal["averaged_mdlp", "mdlp"]:
    """Return the method that discretizes numbers for a learner."""
    return "averaged_mdlp" if averages_discretizations(learner) else "mdlp"


def averages_discretizations(learner: Callable[..., Model]) -> bool:
    """Whether a learner accepts several discretizations at once."""
    return getattr(learner, "averages_codings", False) is True


def lp_arguments(
    x: Model,
    given: dict[str, Any],
    *,
    ranked: bool,
    in_memory: bool,
    grouped: bool = False,
    additive: bool = False,
    ignores_missing: bool = False,
) -> dict[str, Any]:
    """Return the arguments of `lp` for a structure, with the ``given`` ones in place of others.

    The parents are ``ranked`` if some of them can be dropped. Groups are held
    out by folds, not one by one. If it ``ignores_missing`` values, these are
    not evidence.
    """
    if any(given.get(name) not in (None, False, "available") for name in _OTHER_METHODS):
        return STEPS["plain"] | given
    found = dict(STEPS[_key_of_steps(x)])
    args, usual = dict(found.pop("held_out_args", {})), found.get("held_out")
    if not in_memory or given.get("held_out", usual) != usual:
        found.pop("held_out", None)
        return found | given
    if additive:
        args["terms"] = ADDITIVE
    if ignores_missing and "terms" in args:
        args["terms"] = tuple([term for term in args["terms"] if term != "gaps"])
    if usual == "weights" and ranked:
        args["parents"] = True
    if usual == "power" and grouped:
        args["folds"] = 5
    args |= given.get("held_out_args") or {}
    if additive and not {*args["terms"]} <= {*ADDITIVE}:
        raise ValueError(
            f"held_out_args: 'terms' must be terms of one feature each with additive=True, among "
            f"{listed(ADDITIVE)}; got {listed(args['terms'])}. Omit additive=True for other terms."
        )
    return found | given | ({"held_out_args": args} if args else {})
