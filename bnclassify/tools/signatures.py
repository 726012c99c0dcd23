"""Signatures of public functions as `help` shows them: with names of types that readers know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from inspect import isfunction, signature
from typing import Any

_SHOWN = {
    " | AnyTable": "",
    "Array": "ndarray",
    "ArrayLike": "ndarray",
    "ArrayOf": "ndarray",
    "AsMetric | Metrics": "str | Callable | list",
    "ClassPrior": "dict | Series",
    "Countable": "Partitions",
    "EvidenceOf": "dict | Series | None",
    "Explained": "DataFrame | Dataset | Series | dict | list",
    "Folds": "Sequence | ndarray",
    "Iterable[Arc]": "Iterable[tuple]",
    "Models": "list | dict",
    "NewData": "DataFrame | Dataset | Series | dict | list",
    "Numbers": "str | dict | None",
    "Pairs": "int | str | Iterable | None",
    "Positions": "ndarray",
    "Predictions": "DataFrame | Series",
    "Range": "tuple | Sequence",
    "Row": "Series | dict",
    "Seed": "int | Generator | None",
    "AnyTable": "DataFrame | Dataset",
    "Unseen": "Literal['error', 'missing']",
    "Variables": "Hashable | Sequence",
    "[Any]": "",
    "np.random.": "",
    "os.": "",
    "pd.": "",
}
_SHOWN |= dict.fromkeys(("M", "OneOrSeveral", "X"), "Model")
_SHOWN |= dict.fromkeys(
    ("AnyCutting", "Cutting", "Direction", "Learner", "Meaning", "ScoreName", "SearchMetric"), "str"
)
_PRIVATE = re.compile(
    "|".join(re.sub(r"^\b|\b$", r"\\b", re.escape(name)) for name in sorted(_SHOWN, reverse=True))
)


class _Type(str):
    """A type in a signature, which is shown without quotes."""

    __repr__ = str.__str__


def show_public_types(values: Iterable[Any]) -> None:
    """Give functions signatures with what the private names of types in them mean."""
    for function in filter(isfunction, values):
        shown, own = signature(function), []
        for parameter in shown.parameters.values():
            own.append(parameter.replace(annotation=_shown_annotation(parameter.annotation)))
        returned = _shown_annotation(shown.return_annotation)
        vars(function)["__signature__"] = shown.replace(parameters=own, return_annotation=returned)


@cache
def _shown_annotation(annotation: Any) -> Any:
    if not isinstance(annotation, str):  # none, as of self
        return annotation
    return _Type(_PRIVATE.sub(lambda found: _SHOWN[found[0]], annotation))
