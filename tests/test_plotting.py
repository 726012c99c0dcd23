"""Pictures of structures."""

import re
import shutil
import struct
import time
from pathlib import Path

import graphviz
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.draw import canvas, pictures
from bnclassify.models import DN

SUBSTITUTE = shutil.which("graphviz-pure", path=pictures.sysconfig.get_path("scripts"))

drawn = pytest.mark.skipif(
    shutil.which("dot") is None and SUBSTITUTE is None,
    reason="neither dot nor graphviz-pure is installed, so nothing can be drawn",
)


@pytest.fixture
def tan(car):
    return bn.tan_cl("class", car, score="aic")


def test_source_has_every_node_and_arc(tan):
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


def test_odd_labels_stay_apart_and_escaped():
    x = bn.nb("c", features=[1, "1", 'quo"te', "<b>", "back\\slash"])
    assert len(re.findall(r"^\t\d+ \[label=", bn.plot(x).source, re.M)) == 6


def test_many_features_abreast_are_drawn_to_the_right():
    assert "rankdir=TB" in bn.plot(bn.nb("k", features=list("abcdefgh"))).source
    assert "rankdir=LR" in bn.plot(bn.nb("c", features=list("abdefghij"))).source
    assert "rankdir=TB" in bn.plot(bn.nb("c")).source


def nodes(source):
    """The attributes of each node by the first word of its label, or the name in bold."""
    found = {}
    for text in re.findall(r"^\t\d+ \[(.*)\]$", source, re.M):
        attributes = {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', text)}
        found[attributes["label"].split()[0]] = attributes
    return found


def caption(picture):
    """What is written below a picture, in one line."""
    return re.search(r'graph \[.*?label="(.*?)"', picture.source)[1].replace("\\n", " ")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_explained_row(tan, car):
    x = bn.lp(tan, car, smooth=1)
    row = {**car.iloc[1727], "doors": None}
    found = bn.explain(x, row, target="vgood", against="acc")
    picture = bn.plot(x, row=row, target="vgood", against="acc")
    drawing = nodes(picture.source)
    p = bn.predict(x, pd.DataFrame([row]), prob=True).iloc[0]["vgood"]
    prior = found.loc["class", "log_odds"]
    assert drawing["class"]["label"] == f"class = vgood: {p:.2f}\\nprior {canvas.signed_weight(prior)}"
    largest = found["log_odds"].abs().max()
    assert drawing["class"]["fillcolor"] == canvas.BLUE  # whatever its prior
    assert drawing["doors"]["label"] == "doors missing\\n0.00"
    assert drawing["doors"]["style"] == "rounded,dashed"
    for variable in ("buying", "maint", "persons", "lug_boot", "safety"):
        weight = found.loc[variable, "log_odds"]
        assert drawing[variable]["label"] == f"{variable} = {row[variable]}\\n{weight:+.2f}"
    strongest = found.drop("class")["log_odds"].idxmax()
    depth = 0.8 * found.loc[strongest, "log_odds"] / largest
    assert drawing[strongest]["fillcolor"] == canvas.mix_with_white(canvas.BLUE, depth)
    assert f"log odds of vgood against acc: {found['log_odds'].sum():+.2f}" in caption(picture)
    assert "blue: evidence for vgood, orange: against it (nats)" in caption(picture)
    assert "gray" not in caption(picture)
    away = nodes(bn.plot(x, row=row, target="acc", against="vgood").source)
    assert away[strongest]["fillcolor"] == canvas.mix_with_white(canvas.ORANGE, depth)
    assert re.findall(r"\d+ -> \d+", picture.source) == re.findall(r"\d+ -> \d+", bn.plot(x).source)


def test_infinite_weights_have_the_full_colour(tan, car):
    drawing = nodes(bn.plot(bn.lp(tan, car, smooth=0), row=car.iloc[0]).source)
    assert drawing["persons"] == {
        "label": "persons = 2\\n+∞", "style": "rounded,filled",
        "fillcolor": canvas.BLUE, "fontcolor": "white",
    }  # fmt: skip
    assert drawing["safety"]["fillcolor"] == "#ffffff"


def test_ink_is_read_on_every_shade():
    """Contrast of at least 4.5, as the Web Content Accessibility Guidelines ask of text."""
    for colour in (canvas.BLUE, canvas.ORANGE):
        for share in range(101):
            shade = canvas.mix_with_white(colour, share / 100)
            ink = {"black": "#000000", "white": "#ffffff"}[canvas.text_color_on(shade)]
            assert contrast(shade, ink) >= 4.5


def test_lines_differ_in_grey_too():
    """The first is far darker than all others, which have different dashes and are seen on white."""
    dark, *light = [luminance(color) for color, _ in canvas.LINES]
    assert 2 * dark < min(light) < max(light) < 0.5
    assert len({str(dashes) for _, dashes in canvas.LINES}) == len(canvas.LINES)


def test_all_lines_are_seen_on_white(tan, car):
    """Contrast of at least 3, as the same guidelines ask of graphics."""
    x = bn.lp(tan, car, smooth=1)
    for picture in (bn.plot(x), bn.plot(x, row=car.iloc[0]), bn.plot(x, distributions=True)):
        lines = re.findall(r"-> \d+ \[.*?color=\"(#\w+)\"", picture.source)
        borders = re.findall(r"[^l]color=\"(#\w+)\"", picture.source)
        assert len(lines) == bn.narcs(x)
        assert all(contrast(colour, "#ffffff") >= 3 for colour in lines + borders)


@drawn
@pytest.mark.parametrize("engine", ["dot", "neato", "circo"])
def test_drawing_holds_every_name(tan, engine):
    svg = bn.plot(tan, engine=engine).pipe(encoding="utf-8")
    assert set(re.findall(r">(\w+)</text>", svg)) == set(tan.variables)
    assert bn.plot(tan)._repr_mimebundle_()["image/svg+xml"].startswith("<?xml")


@drawn
@pytest.mark.parametrize("awkward", ['quo"te', "<b>", "back\\slash", "ein Wort", "\\N"])
def test_odd_labels_are_drawn_as_they_are(awkward):
    svg = bn.plot(bn.nb("c", features=[awkward])).pipe(encoding="utf-8")
    text = awkward.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert f">{text}</text>" in svg.replace("&#160;", " ").replace("\xa0", " ")


@drawn
def test_odd_values_are_drawn_as_they_are():
    frame = pd.DataFrame({"a\\b": ["<x>", 'q"', "q\\n"], "k": ["$c$", "d", "d"]})
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    for i, value in enumerate(["&lt;x&gt;", "q&quot;", "q\\n"]):
        svg = bn.plot(x, row=frame.iloc[i]).pipe(encoding="utf-8").replace("&#45;", "-")
        assert f">a\\b = {value}</text>" in svg.replace("&#160;", " ").replace("\xa0", " ")


@drawn
@pytest.mark.parametrize("awkward", ["<x>", 'q"', "q\\N", "a & b", "ä" * 80])
def test_odd_names_and_labels_stand_beside_bars_as_they_are(awkward):
    frame = pd.DataFrame({awkward: [awkward, "b", "b"], "k": ["x", "y", "y"]})
    x = bn.lp(bn.nb("k", frame), frame, smooth=1)
    svg = bn.plot(x, distributions=True).pipe(encoding="utf-8").replace("&#160;", " ")
    text = awkward.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert f">{text}</text>" in svg
    assert f">{text if len(awkward) < 33 else text[:31] + '…'}</text>" in svg


@drawn
def test_files(tan, tmp_path):
    written = Path(bn.plot(tan, format="png").render(tmp_path / "car"))
    assert written == tmp_path / "car.png"
    width, height = struct.unpack(">II", written.read_bytes()[16:24])
    assert min(width, height) > 100


needs_substitute = pytest.mark.skipif(
    SUBSTITUTE is None, reason="graphviz-pure is not installed; the extra plot has it"
)


@pytest.fixture
def no_dot(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert not pictures._has_dot()


@needs_substitute
@pytest.mark.usefixtures("no_dot")
def test_without_dot_graphviz_pure_draws(tan, car, capfd):
    assert ">lug_boot</text>" in bn.plot(tan).pipe(encoding="utf-8")
    assert bn.plot(tan).pipe("png")[:4] == b"\x89PNG"
    assert bn.plot(tan)._repr_mimebundle_()["image/svg+xml"].startswith("<?xml")
    svg = bn.plot(bn.lp(tan, car, smooth=1), row=car.iloc[1727]).pipe(encoding="utf-8")
    for text in ("lug_boot = big", "+0.65", "log odds of vgood against acc: +1.66"):
        assert text in svg.replace("&#160;", " ").replace("\xa0", " ").replace("&#45;", "-")
    assert capfd.readouterr().err == ""
    with pytest.raises(RuntimeError, match=r"graphviz-pure did not draw the picture: .*pdf.*svg and png"):
        bn.plot(tan).pipe("pdf")


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ({}, ["Picture.gv", "Picture.gv.svg"]),
        ({"filename": "car"}, ["car", "car.svg"]),
        ({"filename": "car.gv", "directory": "sub", "cleanup": True}, ["sub/car.gv.svg"]),
        ({"filename": "car", "format": "png"}, ["car", "car.png"]),
        ({"outfile": "car.png"}, ["car.gv", "car.png"]),
        ({"outfile": "car.svg", "cleanup": True}, ["car.svg"]),
        ({"outfile": Path("sub") / "car.png", "engine": "neato"}, ["sub/car.gv", "sub/car.png"]),
    ],
)
@pytest.mark.parametrize("without_dot", [False, True])
@needs_substitute
def test_files_are_those_that_graphviz_writes(tan, tmp_path, monkeypatch, arguments, files, without_dot):
    if without_dot:
        monkeypatch.setenv("PATH", "")
    elif not pictures._has_dot():
        pytest.skip("the program dot is not installed")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    written = Path(bn.plot(tan).render(**arguments))
    assert sorted(str(p) for p in Path().rglob("*") if p.is_file()) == files
    assert str(written) == files[-1]
    assert written.read_bytes()[:4] == (b"\x89PNG" if written.suffix == ".png" else b"<?xm")


@needs_substitute
@pytest.mark.usefixtures("no_dot")
def test_viewing_leaves_nothing_behind_here(tan, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(pictures.Picture, "_view", lambda self, path, **kwargs: opened.append(path))
    monkeypatch.chdir(tmp_path)
    path = bn.plot(tan).view()
    assert opened == [path]
    assert Path(path).read_text().startswith("<?xml")
    assert not list(tmp_path.iterdir())
    bn.plot(tan).view("car")
    assert (tmp_path / "car.svg").exists()


def test_without_any_program_there_is_the_source(tan, monkeypatch, tmp_path):
    monkeypatch.setattr(pictures.shutil, "which", lambda *args, **kwargs: None)
    picture = bn.plot(tan)
    assert "lug_boot" in picture.source
    for draw in (picture.pipe, picture.view, lambda: picture.render(tmp_path / "car")):
        with pytest.raises(RuntimeError, match="pip install graphviz-pure"):
            draw()
    assert not list(tmp_path.iterdir())
    assert "apt install graphviz" in picture._repr_mimebundle_()["text/plain"]


def test_at_a_prompt_a_picture_says_how_to_see_it(tan):
    assert ".view() opens it" in repr(bn.plot(tan))
    assert "lug_boot" in str(bn.plot(tan))  # as of any graph: its source


def test_what_a_picture_says_of_itself(tan, car):
    assert caption(bn.plot(tan)) == "class and 6 features, learned by tan_cl"
    x = bn.lp(tan, car, smooth=1)
    assert caption(bn.plot(x, distributions=True)) == "probability of each value"
    alone = bn.anb("class", {}, features=[])
    assert caption(bn.plot(alone)) == "class and 0 features, learned by anb"


def test_what_is_nearly_certain_is_not_certain(voting):
    x = bn.lp(bn.nb("Class", voting), voting, smooth=1)
    p = bn.predict(x, voting, prob=True).max(axis=1)
    sure = p.argmax()
    assert p.iloc[sure] > 0.999
    assert ": >0.99" in nodes(bn.plot(x, row=voting.iloc[sure], target="democrat").source)["Class"]["label"]
    certain = pd.DataFrame({"f": list("aabb"), "k": list("ccdd")})
    x = bn.lp(bn.nb("k", certain), certain, smooth=0)
    assert ": 1.00" in nodes(bn.plot(x, row=certain.iloc[0], target="c").source)["k"]["label"]
    far = pd.concat([certain] * 40, axis=1).set_axis([*map(str, range(79)), "k"], axis=1)
    x = bn.lp(bn.nb("k", far), far, smooth=1e-9)
    assert bn.predict(x, far.head(1), prob=True).max(axis=None) == 1.0
    assert ": >0.99" in nodes(bn.plot(x, row=far.iloc[0], target="c").source)["k"]["label"]


def arcs_drawn(picture, x):
    """The attributes of each arc, by the names at its ends."""
    names = x.variables
    found = re.findall(r"(\d+) -> (\d+) \[(.*)\]", picture.source)
    return {(names[int(a)], names[int(b)]): style for a, b, style in found}


@pytest.mark.slow
def test_a_long_chain_is_laid_out_at_once():
    chain = {f"f{i}": [f"f{i - 1}"] for i in range(1, 3000)}
    x = bn.anb("c", chain, features=[f"f{i}" for i in range(3000)])
    start = time.process_time()
    assert "rankdir=TB" in bn.plot(x).source
    assert time.process_time() - start < 5


@pytest.mark.parametrize("distributions", [False, True])
def test_control_characters_are_shown(distributions):
    frame = pd.DataFrame({"a\0b": ["x\x1b", "y\x01"] * 4, "c\x7f": list("uv") * 4})
    x = bn.lp(bn.nb("c\x7f", frame), frame, smooth=1)
    source = bn.plot(x, distributions=distributions).source
    assert "a␀b" in source
    assert "c␡" in source
    assert ("x␛" in source) == distributions
    assert not set(source) & set("\0\x01\x1b\x7f")


def test_arcs_of_the_class_can_be_left_out(tan):
    picture = bn.plot(tan, class_arcs=False)
    assert set(arcs_drawn(picture, tan)) == {
        ("buying", "maint"),
        ("persons", "safety"),
        ("safety", "lug_boot"),
    }
    assert caption(picture).endswith("class is a parent of every feature")
    of_class = nodes(picture.source)["class\\nparent"]
    assert of_class["label"] == "class\\nparent of all features"
    assert of_class["style"] == "dashed"
    general = bn.from_modelstring("[a][class|a][b|class]", "class")
    with pytest.raises(ValueError, match=r"class_arcs must be True unless .* not a parent of 'a'"):
        bn.plot(general, class_arcs=False)
    with pytest.raises(TypeError, match="class_arcs must be True or False; got 0"):
        bn.plot(tan, class_arcs=0)


def test_a_class_with_parents_is_drawn_between_them_and_its_children():
    x = bn.from_modelstring("[a][class|a:b][b][c|class:a]", "class")
    found = arcs_drawn(bn.plot(x), x)
    assert set(found) == {("a", "class"), ("b", "class"), ("class", "c"), ("a", "c")}
    strong = {arc for arc, style in found.items() if "#4a545e" in style}
    assert strong == set(found) - {("class", "c")}


def test_averages_show_what_most_of_their_members_have(car):
    one = {"maint": ["buying"], "safety": ["persons"]}
    members = [bn.anb("class", parents, car) for parents in (one, one, {"buying": ["maint"]}, {})]
    x = bn.Ensemble(members)
    found = arcs_drawn(bn.plot(x), x)
    assert {arc for arc in found if "class" not in arc} == {("buying", "maint")}
    assert "dir=both" in found["buying", "maint"]
    assert "penwidth=1.20" in found["buying", "maint"]  # three in four
    told = caption(bn.plot(x))
    assert "average of 4 networks; 1 arcs of half of the networks or fewer are omitted" in told
    assert "wide arcs occur in more networks" in told
    heavy = bn.Ensemble(members, weights=[1, 1, 1, 9])
    assert {arc for arc in arcs_drawn(bn.plot(heavy), heavy) if "class" not in arc} == set()
    aode = bn.aode("class", car)
    assert set(arcs_drawn(bn.plot(aode), aode)) == {("class", f) for f in bn.features(aode)}
    assert "15 arcs of half of the networks or fewer are omitted" in caption(bn.plot(aode))
    powered = bn.lp(aode, car, smooth=1, held_out="power")
    assert arcs_drawn(bn.plot(powered), powered) == arcs_drawn(bn.plot(aode), aode)
    assert "average of 6 networks" in caption(bn.plot(powered))
    both = bn.Ensemble([aode, bn.nb("class", car)])
    assert both.arc_shares()["buying", "doors"] == pytest.approx(1 / 12)


def test_an_average_is_explained_too(car):
    x = bn.lp(bn.aode("class", car), car, smooth=1)
    drawing = nodes(bn.plot(x, row=car.iloc[1727]).source)
    for variable, weight in bn.explain(x, car.iloc[1727])["log_odds"].drop("class").items():
        assert drawing[variable]["label"].endswith(canvas.signed_weight(weight))


def test_a_graph_with_cycles_is_drawn_with_arcs_that_go_both_ways(car):
    families = (("a", "b", "class"), ("b", "c", "a", "class"), ("c", "b", "class"), ("class",))
    x = DN("class", families)
    found = arcs_drawn(bn.plot(x), x)
    assert {arc for arc, style in found.items() if "dir=both" in style} == {("a", "b"), ("b", "c")}
    assert len(found) == 5
    learned = bn.lp(bn.chisq_dn("class", car), car, smooth=1)
    drawing = nodes(bn.plot(learned, row=car.iloc[1727]).source)
    weights = bn.explain(learned, car.iloc[1727])["log_odds"]
    assert drawing["safety"]["label"].endswith(canvas.signed_weight(weights["safety"]))


def shown(picture):
    """The texts beside bars, by name."""
    found = {}
    for label in re.findall(r"^\t\d+ \[label=<(<TABLE.*?)>[\] ]", picture.source, re.M):
        name, *texts = re.findall(r">([^<>]+)<", label)
        found[name] = texts
    return found


def test_distributions_are_written_beside_their_bars(tan, car):
    x = bn.lp(tan, car, smooth=1)
    found = shown(bn.plot(x, distributions=True))
    assert set(found) == set(x.variables)
    assert found["class"] == ["unacc", "0.70", "acc", "0.22", "good", "0.04", "vgood", "0.04"]
    row = {**car.iloc[1727], "doors": None, "safety": None}
    picture = bn.plot(x, distributions=True, row=row)
    found = shown(picture)
    assert set(found) == {"class", "doors", "safety"}
    p = bn.predict(x, pd.DataFrame([row]), prob=True).iloc[0]
    assert found["class"][1::2] == [f"{q:.2f}" for q in p]
    assert nodes(picture.source)["persons"]["label"] == "persons = more\\nobserved"
    assert "given the observed ones" in caption(picture)


def test_many_levels_are_added_up(car):
    frame = pd.DataFrame({"f": [f"v{i}" for i in range(20) for _ in range(i + 1)]})
    frame["k"] = ["x", "y"] * 105
    x = bn.lp(bn.nb("k", frame), frame, smooth=0)
    told = shown(bn.plot(x, distributions=True))["f"]
    assert told[::2] == ["v13", "v14", "v15", "v16", "v17", "v18", "v19", "13 others"]
    assert told[-1] == f"{sum(range(1, 14)) / 210:.2f}"


def test_models_without_arcs_show_the_size_of_effects():
    x = bn.bnc(class_var="diabetes", dataset=bn.load_pima(), pairs=0)
    source, table = bn.plot(x).source, bn.effects(x)
    for name in ("glucose", "age"):
        known = table[(table["feature"] == name) & (table["value"] != "(missing)")]["yes"]
        assert f"{name}\\n{known.max() - known.min():.2f}" in source
    assert "range of the effect on the log odds" in source.replace("\\n", " ")
