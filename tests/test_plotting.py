"""Pictures of structures."""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path
from threading import Event, Thread

import graphviz
import pandas as pd
import pytest
from graphviz.backend import dot_command

import bnclassify as bn
from bnclassify.plotting import marks
from bnclassify.plotting import networks as network

drawn = pytest.mark.skipif(
    network._find_program() is None,
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


def nodes(source: str) -> dict[str, dict[str, str]]:
    """The attributes of each node by the first word of its label."""
    found = {}
    for text in re.findall(r"^\t\d+ \[(.*)\]$", source, re.M):
        attributes = {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', text)}
        found[attributes["label"].split()[0]] = attributes
    return found


def test_explained_row(tan: bn.BNC, car: pd.DataFrame) -> None:
    x = bn.lp(tan, car, smooth=1)
    row = {**car.iloc[1727], "doors": None}
    found = bn.explain(x, row, target="vgood", against="acc")
    picture = bn.plot(x, row=row, target="vgood", against="acc")
    drawing = nodes(picture.source)
    p = bn.predict(x, pd.DataFrame([row]), prob=True).iloc[0]["vgood"]
    assert drawing["class"]["label"].startswith(f"class = vgood: {p:.2f}\\nprior ")
    assert drawing["doors"] == {"label": "doors missing\\n0.00", "style": "rounded,dashed"}
    for variable in ("buying", "maint", "persons", "lug_boot", "safety"):
        weight = found.loc[variable, "log_odds"]
        assert drawing[variable]["label"] == f"{variable} = {row[variable]}\\n{weight:+.2f}"
    strongest = found.drop("class")["log_odds"].idxmax()
    assert drawing[strongest]["fillcolor"] == marks.blend(marks.BLUE, 0.8)
    assert f"log odds of vgood against acc: {found['log_odds'].sum():+.2f}" in picture.source
    away = nodes(bn.plot(x, row=row, target="acc", against="vgood").source)
    assert away[strongest]["fillcolor"] == marks.blend(marks.ORANGE, 0.8)
    assert re.findall(r"\d+ -> \d+", picture.source) == re.findall(r"\d+ -> \d+", bn.plot(x).source)


def test_infinite_weights_have_the_full_colour(tan: bn.BNC, car: pd.DataFrame) -> None:
    drawing = nodes(bn.plot(bn.lp(tan, car, smooth=0), row=car.iloc[0]).source)
    assert drawing["persons"] == {
        "label": "persons = 2\\n+∞", "style": "rounded,filled", "fillcolor": marks.BLUE, "fontcolor": "white",
    }  # fmt: skip
    assert drawing["safety"]["fillcolor"] == "#ffffff"


def test_explaining_needs_a_row_and_parameters(tan: bn.BNC, car: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="row: give the row whose prediction target and against are about"):
        bn.plot(tan, target="acc")
    with pytest.raises(ValueError, match="structure only"):
        bn.plot(tan, row=car.iloc[0])


def test_ink_is_read_on_every_shade() -> None:
    """Contrast of at least 4.5, as the Web Content Accessibility Guidelines ask of text."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colour in (marks.BLUE, marks.ORANGE):
        for share in range(101):
            shade = marks.blend(colour, share / 100)
            ink = {"black": "#000000", "white": "#ffffff"}[marks.ink(shade)]
            light, dark = sorted(map(luminance, (shade, ink)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5


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
def test_odd_values_are_drawn_as_they_are() -> None:
    frame = pd.DataFrame({"a\\b": ["<x>", 'q"', "q\\n"], "k": ["$c$", "d", "d"]})
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    for i, value in enumerate(["&lt;x&gt;", "q&quot;", "q\\n"]):
        svg = bn.plot(x, row=frame.iloc[i]).pipe(encoding="utf-8").replace("&#45;", "-")
        assert f">a\\b = {value}</text>" in svg.replace("&#160;", " ").replace("\xa0", " ")


@drawn
def test_files(tan: bn.BNC, tmp_path: Path) -> None:
    written = Path(bn.plot(tan, format="png").render(tmp_path / "car"))
    assert written == tmp_path / "car.png"
    width, height = struct.unpack(">II", written.read_bytes()[16:24])
    assert min(width, height) > 100


@pytest.mark.skipif(
    shutil.which("graphviz-pure", path=network.sysconfig.get_path("scripts")) is None,
    reason="graphviz-pure is not installed; the extra plot has it",
)
def test_without_dot_graphviz_pure_draws(
    tan: bn.BNC, car: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert network._find_program().name.startswith("graphviz-pure")
    assert ">lug_boot</text>" in bn.plot(tan).pipe(encoding="utf-8")
    svg = bn.plot(bn.lp(tan, car, smooth=1), row=car.iloc[1727]).pipe(encoding="utf-8")
    for text in ("lug_boot = big", "+0.65", "log odds of vgood against acc: +1.66"):
        assert text in svg.replace("&#160;", " ").replace("\xa0", " ").replace("&#45;", "-")


def test_without_any_program_there_is_the_source(
    tan: bn.BNC, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(network.shutil, "which", lambda *args, **kwargs: None)
    picture = bn.plot(tan)
    assert "lug_boot" in picture.source
    for draw in (picture.pipe, lambda: picture.render(tmp_path / "car")):
        with pytest.raises(RuntimeError, match=r"install.*pybnclassify\[plot\]"):
            draw()
    assert "apt install graphviz" in picture._repr_mimebundle_()["text/plain"]


def test_bad_arguments(tan: bn.BNC) -> None:
    with pytest.raises(ValueError, match="engine: expected one of circo, dot"):
        bn.plot(tan, engine="mermaid")
    with pytest.raises(ValueError, match=r"engine: expected one of .*, got \['dot'\]"):
        bn.plot(tan, engine=["dot"])
    with pytest.raises(ValueError, match=r"format: expected svg.*, got \['svg'\]"):
        bn.plot(tan, format=["svg"])
    with pytest.raises(ValueError, match="format: expected svg, png, pdf"):
        bn.plot(tan, format="docx")
    with pytest.raises(ValueError, match="fontsize: expected a positive number"):
        bn.plot(tan, fontsize=0)


def test_threads_leave_the_program_of_graphviz_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second thread comes in before the first goes, or waits, and goes after it."""
    monkeypatch.setattr(network, "_find_program", lambda: Path("another"))
    usual, entered, leave = dot_command.DOT_BINARY, Event(), Event()
    monkeypatch.setattr(dot_command, "DOT_BINARY", usual)  # set back, should the test fail

    def draw() -> None:
        with network._program():
            entered.set()
            leave.wait(10)

    with network._program():
        second = Thread(target=draw)
        second.start()
        assert not entered.wait(0.1)
    assert entered.wait(10)
    leave.set()
    second.join()
    assert usual == dot_command.DOT_BINARY
