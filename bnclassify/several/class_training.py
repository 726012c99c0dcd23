"""The argument class_vars of the learners for several class variables."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd

from ..base.checks import check_list
from ..base.messages import listed, shown
from ..frames.encoding import check_name


def check_class_vars(class_vars: object) -> tuple[Hashable, ...]:
    """Return names of class variables as a tuple; raise unless they are at least one, and distinct."""
    if isinstance(class_vars, str):
        raise TypeError(
            f"class_vars: expected a list of names, got {shown(class_vars)}; write [{shown(class_vars)}], or "
            "take a learner of one class, such as tan_cl"
        )
    if isinstance(class_vars, pd.DataFrame):
        raise TypeError("class_vars: expected a list of names; they go first, the data second")
    names = tuple(check_list("class_vars", class_vars, "a list of names"))
    if not names:
        raise ValueError("class_vars: expected at least one name, got none")
    for name in names:
        check_name(name, "class_vars")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"class_vars: each may be named once, but these are named again: {listed(twice)}")
    return names
