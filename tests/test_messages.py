"""The table of messages: calls, and the errors and warnings that they give.

A section of messages.txt has the names of the test module in its heading, and of the data of conftest. Each
row is a call with the type of its error or warning and an expression that the message matches; assignments
between rows are what the calls need.
"""

import ast
import builtins
from importlib import import_module
from pathlib import Path

import pytest

import bnclassify as bn

SECTIONS = Path(__file__).with_name("messages.txt").read_text(encoding="utf-8").split("\n\n")
DATA = ("car", "pima", "single", "votes", "voting")


def rows_of(section):
    """Return each call with its message, and each other statement with an empty one."""
    lines = section.splitlines()
    for node in ast.parse(section).body:
        code = ast.get_source_segment(section, node) or ""
        if isinstance(node, ast.Expr):
            beside = lines[node.end_lineno - 1].partition("  # ")[2]
            yield code, beside or lines[node.end_lineno].strip(" #")
        else:
            yield code, ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.splitlines()[0].strip("# "))
def test_messages(section, request):
    module = import_module(f"tests.test_{section.splitlines()[0].strip('# ')}")
    scope = {"Path": Path, **vars(bn.models), **vars(module)}
    scope |= {name: request.getfixturevalue(name) for name in DATA if name in section}
    for code, message in rows_of(section):
        if not message:
            exec(code, scope)
            continue
        kinds, _, text = message.partition(": ")
        errors = tuple(getattr(builtins, kind) for kind in kinds.split("|"))
        given = pytest.warns if issubclass(errors[0], Warning) else pytest.raises
        with given(errors, match=text):
            eval(compile(code, code, "eval"), scope)
