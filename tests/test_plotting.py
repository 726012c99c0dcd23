"""Pictures of structures."""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path

import graphviz
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify import plotting

drawn = pytest.mark.skipif(
    plotting._find_program() is None,
    reason="neither dot nor graphviz-pure is installed, so nothing can be drawn",
)


@pytest.fixture
def tan(car: pd.DataFrame) -> bn.BNC:
    return bn.tan_cl("class", car, score="aic")


def test_source_has_every_node_and_arc(tan: bn.BNC) -> None:
    picture = bn.plot(tan, fontsize=9)
    assert isinstance(picture, graphviz.Digraph)
    label = dict(re.findall(r"\t(\d+) \[label=(\w+)", picture.source))
    arcs = {(label[a], label[b]) for a, b in re.findall(r"(\d+) -> (\d+)", picture.source)}
    assert arcs == {(p, v) for v, *parents in bn.families(tan).values() for p in parents}
    assert "fontsize=9" in picture.source
    strong = re.findall(r"(\d+) -> (\d+) \[.*penwidth=1.6", picture.source)
    assert {(label[a], label[b]) for a, b in strong} == {
        ("buying", "maint"), ("persons", "safety"), ("safety", "lug_boot"),
    }  # fmt: skip


def test_odd_labels_stay_apart_and_escaped() -> None:
    x = bn.nb("c", features=[1, "1", 'quo"te', "<b>", "back\\slash"])
    assert len(re.findall(r"^\t\d+ \[label=", bn.plot(x).source, re.M)) == 6


def test_many_features_abreast_are_drawn_to_the_right() -> None:
    assert "rankdir=TB" in bn.plot(bn.nb("k", features=list("abcdefgh"))).source
    assert "rankdir=LR" in bn.plot(bn.nb("c", features=list("abdefghij"))).source
    assert "rankdir=TB" in bn.plot(bn.nb("c")).source


@drawn
@pytest.mark.parametrize("engine", ["dot", "neato", "circo"])
def test_drawing_holds_every_name(tan: bn.BNC, engine: str) -> None:
    svg = bn.plot(tan, engine=engine).pipe(encoding="utf-8")
    assert set(re.findall(r">(\w+)</text>", svg)) == set(bn.vars(tan))
    assert bn.plot(tan)._repr_mimebundle_()["image/svg+xml"].startswith("<?xml")


@drawn
@pytest.mark.parametrize("awkward", ['quo"te', "<b>", "back\\slash", "ein Wort", "\\N"])
def test_odd_labels_are_drawn_as_they_are(awkward: str) -> None:
    svg = bn.plot(bn.nb("c", features=[awkward])).pipe(encoding="utf-8")
    text = awkward.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert f">{text}</text>" in svg.replace("&#160;", " ").replace("\xa0", " ")


@drawn
def test_files(tan: bn.BNC, tmp_path: Path) -> None:
    written = Path(bn.plot(tan, format="png").render(tmp_path / "car"))
    assert written == tmp_path / "car.png"
    width, height = struct.unpack(">II", written.read_bytes()[16:24])
    assert min(width, height) > 100


@pytest.mark.skipif(
    shutil.which("graphviz-pure", path=plotting.sysconfig.get_path("scripts")) is None,
    reason="graphviz-pure is not installed; the extra plot has it",
)
def test_without_dot_graphviz_pure_draws(tan: bn.BNC, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert plotting._find_program().name.startswith("graphviz-pure")
    assert ">lug_boot</text>" in bn.plot(tan).pipe(encoding="utf-8")


def test_without_any_program_there_is_the_source(
    tan: bn.BNC, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plotting.shutil, "which", lambda *args, **kwargs: None)
    picture = bn.plot(tan)
    assert "lug_boot" in picture.source
    for draw in (picture.pipe, lambda: picture.render(tmp_path / "car")):
        with pytest.raises(RuntimeError, match=r"install.*pybnclassify\[plot\]"):
            draw()
    assert "apt install graphviz" in picture._repr_mimebundle_()["text/plain"]


def test_bad_arguments(tan: bn.BNC) -> None:
    with pytest.raises(ValueError, match="engine: expected one of circo, dot"):
        bn.plot(tan, engine="mermaid")
    with pytest.raises(ValueError, match="format: expected svg, png, pdf"):
        bn.plot(tan, format="docx")
    with pytest.raises(ValueError, match="fontsize: expected a positive number"):
        bn.plot(tan, fontsize=0)
