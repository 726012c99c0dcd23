"""JSON that people can read: what fits on a line stands on one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ..base.messages import listed

_WIDTH = 110


def write_document(content: Any) -> str:
    """Write lists, objects, text and finite numbers as JSON."""
    return _write(content, "") + "\n"


def _write(content: Any, indent: str) -> str:
    """Write what begins on a line with this indent."""
    if not isinstance(content, list | dict) or not content:
        return json.dumps(content, ensure_ascii=False, allow_nan=False)
    deeper = indent + "  "
    if isinstance(content, dict):
        start, end = "{}"
        items = [f"{_write(key, deeper)}: {_write(item, deeper)}" for key, item in content.items()]
    else:
        start, end = "[]"
        items = [_write(item, deeper) for item in content]
    width = len(indent) + sum(len(item) + 2 for item in items)
    if width <= _WIDTH and not any("\n" in item for item in items):
        return f"{start}{', '.join(items)}{end}"
    if isinstance(content, list) and not any(isinstance(item, list | dict) for item in content):
        items = _fill(items, _WIDTH - len(deeper))
    return f"{start}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{end}"


def _fill(items: list[str], width: int) -> list[str]:
    """Put items side by side, as many as a line holds."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 2 + len(item) <= width:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return lines


def read_document(text: str) -> Any:
    """Read JSON, or raise a ValueError, also where a key stands twice or a number is none of JSON's."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("its brackets go too deep") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise ValueError(f"a key stands twice, {listed([key for key in counts if counts[key] > 1])}")
    return content


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
