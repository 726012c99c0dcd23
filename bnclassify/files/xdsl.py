"""Files of GeNIe and SMILE (XDSL), of which tables and deterministic nodes are read."""

from __future__ import annotations

import re
from functools import partial
from math import isfinite, prod
from typing import NoReturn
from xml.etree import ElementTree

import numpy as np

from ..tools.checks import options_sentence
from ..tools.messages import listed, repeated_items, shown
from .file_tables import Families, Variables, checked_sum_of_cells, normalize_distributions

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:[\s\S]{0,1000}?<)?smile\b")

_TO_TABLE = "In GeNIe, change its type to a general chance node, whose table is written"
_NO_DIAGRAM = "Remove decisions and utilities, because a Bayesian network has only chance nodes"
_REFUSED = {
    "noisymax": ("a noisy maximum", _TO_TABLE),
    "noisyadder": ("a noisy adder", _TO_TABLE),
    "demorgan": ("a DeMorgan gate", _TO_TABLE),
    "equation": ("an equation of numbers", "Discretize it in GeNIe"),
    "decision": ("a decision", _NO_DIAGRAM),
    "utility": ("a utility", _NO_DIAGRAM),
    "mau": ("a utility", _NO_DIAGRAM),
}
"""Types of nodes that are not tables, and what to do about them."""


def is_xdsl(content: bytes) -> bool:
    """Whether a file begins as those of GeNIe."""
    return _BEGINS.match(content) is not None


def read_xdsl(content: bytes, source: str) -> tuple[Variables, Families]:
    """Return the labels of the variables, and the family and table of each."""
    if b"<!DOCTYPE" in content:
        raise ValueError(
            f"{source} must be a file as GeNIe writes it; got one with a document type."
        )
    try:
        network = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise ValueError(f"{source} must be a complete XML file; got {error}.") from error
    if network.find("dynamic") is not None:
        raise ValueError(
            f"{source} must be a Bayesian network; got a dynamic one. Unroll it in GeNIe."
        )
    nodes = list[ElementTree.Element]()
    waiting = [node for part in network.findall("nodes") for node in part][::-1]
    while waiting:  # no recursion, because submodels can be nested deeply
        node = waiting.pop()
        if node.tag == "submodel":
            waiting.extend(reversed(node))
        elif node.find("state") is not None or node.tag in _REFUSED:
            nodes.append(node)
    for node in nodes:
        if node.tag not in ("cpt", "deterministic"):
            what, remedy = _REFUSED.get(node.tag, (f"a node of type {node.tag}", _TO_TABLE))
            _raise_about_node(
                source, node, f"must be a table or a deterministic node; got {what}. {remedy}."
            )
    variables: Variables = {}
    families: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        name = node.get("id", "")
        fail = partial(_raise_about_node, source, node)
        labels = tuple(state.get("id", "") for state in node.findall("state"))
        if not labels or repeated_items(labels):
            fail(f"must have labels that all differ; got {listed(labels)}.")
        if name in variables:
            fail("is declared twice.")
        variables[name] = labels
        families[name] = (name, *(node.findtext("parents") or "").split())
    if b"aGrUM" in content and any(len(family) > 2 for family in families.values()):
        raise ValueError(
            f"{source} must be written by GeNIe; got a file of pyAgrum, whose tables have another "
            "order. Save the network there in the Interchange Format, with "
            "pyagrum.saveBN(network, 'network.bif')."
        )
    family_tables: Families = {}
    cells = 0
    for node in nodes:
        fail = partial(_raise_about_node, source, node)
        family = families[node.get("id", "")]
        for name in family[1:]:
            if name not in variables:
                advice = options_sentence(name, variables)
                fail(f"must have chance nodes as parents; got {shown(name)}. {advice}")
        if twice := repeated_items(family):
            fail(f"must have different parents, and not itself; got {shown(twice[0])} twice.")
        cells = checked_sum_of_cells(cells, family, variables, fail)
        levels = [variables[name] for name in family]
        shape = list(map(len, levels))
        configurations = prod(shape[1:])
        if node.tag == "deterministic":
            states = (node.findtext("resultingstates") or "").split()
            codes = {label: code for code, label in enumerate(levels[0])}
            unknown = [state for state in states if state not in codes]
            if len(states) != configurations or unknown:
                expected = f"{configurations:,} resulting states that are among its labels"
                got = shown(unknown[0]) if unknown else f"{len(states):,} states"
                fail(f"must have {expected}; got {got}.")
            rows = np.zeros((configurations, shape[0]))
            rows[np.arange(configurations), [codes[state] for state in states]] = 1
        else:
            words = (node.findtext("probabilities") or "").split()
            try:
                numbers = list(map(float, words))
            except ValueError:
                numbers = [-1.0]
            are_masses = all(isfinite(number) and number >= 0 for number in numbers)
            if not are_masses or len(words) != prod(shape):
                got = f"{len(words):,} words, such as {listed(words, 3)}"
                fail(f"must have {prod(shape):,} probabilities; got {got}.")
            rows = np.array(numbers).reshape(configurations, shape[0])
            normalize_distributions(rows, family, levels, fail)
        family_tables[family[0]] = family, rows.T.reshape(shape)  # the last parent changes fastest
    return variables, family_tables


def _raise_about_node(source: str, node: ElementTree.Element, message: str) -> NoReturn:
    raise ValueError(f"{source}, node {shown(node.get('id'))}: {message}")
