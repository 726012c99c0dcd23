"""The public names of the package."""

from __future__ import annotations

import inspect

import bnclassify as bn


def test_everything_public_is_listed_once() -> None:
    assert len(set(bn.__all__)) == len(bn.__all__)
    assert dir(bn) == sorted(bn.__all__)
    assert all(hasattr(bn, name) for name in bn.__all__)


def test_everything_public_comes_from_the_package() -> None:
    owners = [inspect.getmodule(getattr(bn, name)) for name in bn.__all__]
    assert all(owner is not None and owner.__name__.startswith("bnclassify.") for owner in owners)
