"""Files of models: whole or not there at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.exchange import replacement


@pytest.fixture(scope="module")
def model(car: pd.DataFrame) -> bn.BNC:
    return bn.lp(bn.nb("class", car), car, smooth=1)


@pytest.mark.parametrize("reason", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_file_that_cannot_be_written_stays_as_it_was(
    step: str, reason: BaseException, model: bn.BNC, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise reason

    (tmp_path / "x.bif").write_text("as it was")
    monkeypatch.setattr(*((replacement.os, "fsync") if step == "fsync" else (Path, "replace")), fail)
    with pytest.raises(type(reason)):
        bn.write_bif(model, tmp_path / "x.bif")
    assert [path.name for path in tmp_path.iterdir()] == ["x.bif"]
    assert (tmp_path / "x.bif").read_text() == "as it was"


def test_a_file_is_replaced_in_its_place(model: bn.BNC, tmp_path: Path) -> None:
    """Links stay links, permissions what they were; a new file has those that any new file has."""
    file, link, new, usual = (tmp_path / name for name in ("file", "link", "new", "usual"))
    file.write_text("as it was")
    file.chmod(0o640)
    link.symlink_to(file)
    bn.write_bif(model, link)
    assert link.is_symlink()
    assert file.read_text().startswith("network")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    bn.write_bif(model, new)
    usual.touch()
    assert new.stat().st_mode == usual.stat().st_mode


def test_what_is_no_file_is_written_to_as_it_is(model: bn.BNC, tmp_path: Path) -> None:
    bn.write_bif(model, os.devnull)
    assert not Path(os.devnull).is_file()
    with pytest.raises(IsADirectoryError):
        bn.write_bif(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        bn.write_bif(model, tmp_path / "absent" / "x.bif")
    with pytest.raises(ValueError, match="path: expected the name of a file, got one with a null"):
        bn.write_bif(model, "a\0b")
    assert not list(tmp_path.iterdir())
