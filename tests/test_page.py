"""Pages for web browsers: their figures in a real browser, and labels that try to be code."""

import json
import os
import re
import shutil
import string
import subprocess
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify.draw import pictures
from bnclassify.draw.canvas import signed_weight
from bnclassify.export import page as page_module

from .zoo import CASES, case, skewed

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CODE = "</script><script>hacked=1</script><img src=x onerror='hacked=1'>&amp;\"\u2028{{data}}<!--"

needs_browser = pytest.mark.skipif(
    CHROMIUM is None and "BNCLASSIFY_ALL_PROGRAMS" not in os.environ,
    reason="the browser chromium is not installed; Debian has it in the package chromium",
)

RUN = """<script>
addEventListener("load", () => {
  const written = (_, x) => typeof x === "number" && !Number.isFinite(x) ? `${x}` : x;
  const tried = (call) => { try { return call(); } catch (error) { return `Error: ${error.message}`; } };
  const results = CALLS.map(([i, record, options]) => {
    const { model, hacked = 0 } = document.getElementById(`page-${i}`).contentWindow;
    const pairs = (posterior) => model.classes.map((label) => [label, posterior[label]]);
    return [tried(() => pairs(model.predict(record))), tried(() => model.explain(record, options)), hacked,
      tried(() => model.explain(record, { ...options, interactions: true })),
      tried(() => model.value_of_information(record)), tried(() => model.single_changes(record))];
  });
  const pre = document.createElement("pre");
  pre.id = "results";
  pre.textContent = JSON.stringify(results, written);
  document.body.replaceChildren(pre);
});
</script>"""


def browse(text, folder, *options):
    """Return the document of a page after its scripts have run."""
    assert CHROMIUM is not None
    file = folder / "run.html"
    file.write_text(text, encoding="utf-8")
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
    ]
    run = subprocess.run([*command, *options, "--dump-dom", file.as_uri()], capture_output=True, timeout=100)
    return run.stdout.decode("utf-8")


def state_of(page, script, folder, *options):
    """Return what a script in a page shows, as it calls ``show`` with a value."""
    show = """<script>
    const texts = (query) => [...document.querySelectorAll(query)].map((element) => element.textContent);
    const put = (id, text, event = "input") => {
      const input = document.getElementById(id);
      const option = [...(input.options ?? [])].find((option) => option.text === text);
      input.value = option ? option.value : text;
      input.dispatchEvent(new Event(event, { bubbles: true }));
    };
    const show = (value) => {
      const pre = document.createElement("pre");
      pre.id = "state";
      pre.textContent = JSON.stringify(value);
      document.body.append(pre);
    };
    const wider = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
    </script>"""
    script = f"{show}<script>{{{script}}}</script></body>"
    found = re.findall(
        '<pre id="state">(.*)</pre>', browse(page.replace("</body>", script), folder, *options)
    )
    return json.loads(unescape(found[0]))


def call(pages, calls, folder):
    """Return results of predict and explain in a browser; a call is (number of a page, record, options)."""
    frames = [f'<iframe id="page-{i}" srcdoc="{escape(text)}"></iframe>' for i, text in enumerate(pages)]
    text = json.dumps(json.dumps(calls)).replace(
        "<", "\\u003c"
    )  # parsed, as a literal reads __proto__ otherwise
    script = RUN.replace("CALLS", f"JSON.parse({text})")
    shown = browse(f"<!DOCTYPE html><meta charset=utf-8><body>{''.join(frames)}{script}", folder)
    found = re.search('<pre id="results">(.*)</pre>', shown, re.DOTALL)
    assert found, shown[-500:]
    return json.loads(unescape(found[1]))


def written(x, folder, **options):
    bn.write_page(x, folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def as_json(value):
    if isinstance(value, tuple):
        return list(map(as_json, value))
    value = value.item() if isinstance(value, np.generic) else value
    return None if pd.isna(value) else value


def options_of(x, row):
    """Return another choice of classes for each row."""
    labels = [as_json(label) for label in x.levels[-1]]
    return [{}, {"against": labels}, {"target": labels[-1], "against": labels[0]}][row % 3]


def as_records(x, frame):
    rows = frame[list(x.features)].to_dict("records")
    return [{name: as_json(value) for name, value in row.items()} for row in rows]


def check(x, record, options, result):
    """Compare predict and explain of a record in a browser with those in Python."""
    posterior, steps, hacked, *decisions = result
    ours = bn.predict(x, [record], prob=True, unseen="missing")
    assert [label for label, _ in posterior] == list(map(str, ours))
    np.testing.assert_allclose([p for _, p in posterior], ours.iloc[0], rtol=0, atol=1e-9)
    assert hacked == 0
    if isinstance(steps, str):
        with pytest.raises(ValueError, match="impossible"):
            bn.explain(x, [record], unseen="missing", **options)
        assert "impossible" in steps
        return
    reasons = bn.explain(x, [record], unseen="missing", **options)
    assert [step["variable"] for step in steps] == list(map(str, reasons.index))
    assert [step["parents"] for step in steps] == reasons["parents"].tolist()
    assert [step["value"] for step in steps] == [as_json(value) for value in reasons["value"]]
    assert f"{steps[0]['target']} against {steps[0]['against']}" == reasons.columns.name
    weights = [float(step["log_odds"]) for step in steps]
    np.testing.assert_allclose(weights, reasons["log_odds"], rtol=1e-12, atol=1e-9)
    ratios = [float(step["odds_ratio"]) for step in steps]
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(ratios, np.exp(reasons["log_odds"].to_numpy()), rtol=1e-9)
    check_decisions(x, record, options, decisions)


def check_decisions(x, record, options, result):
    """Compare main effects, interactions, values of information and single changes with those in Python."""
    parts, gains, changes = result
    ours = bn.explain(x, [record], unseen="missing", interactions=True, **options)
    labels = [tuple(p["variable"]) if isinstance(p["variable"], list) else p["variable"] for p in parts]
    names = [tuple(map(str, v)) if isinstance(v, tuple) else str(v) for v in ours.index]
    assert sorted(map(str, labels)) == sorted(map(str, names))
    effects = {str(label): float(part["log_odds"]) for label, part in zip(labels, parts, strict=True)}
    values = [effects[str(name)] for name in names]
    np.testing.assert_allclose(values, ours["log_odds"], rtol=1e-12, atol=1e-9)
    table = bn.value_of_information(x, [record], unseen="missing")["gain"]
    assert len(gains) == len(table)
    theirs = [next(g["gain"] for g in gains if g["feature"] == str(name)) for name in table.index]
    np.testing.assert_allclose(theirs, table, rtol=0, atol=1e-9)
    posterior = bn.predict(x, [record], unseen="missing")
    expected = {}
    for target in set(bn.classes(x)) - {posterior.iloc[0]}:
        every = {"most": 1, "alternatives": 1000, "unseen": "missing"}
        for row in bn.counterfactual(x, [record], target, **every).itertuples(index=False):
            expected[str(row.variable), plain(as_json(row.to)), str(target)] = row.probability
    found = {(c["variable"], plain(c["to"]), c["target"]): float(c["probability"]) for c in changes}
    assert found.keys() == expected.keys()
    np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), atol=1e-9)


def plain(value):
    """Return a value as text that is the same in both languages."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(float(value)) if is_number else str(value)


@needs_browser
@pytest.mark.slow
def test_page_of_every_type_of_model_predicts_and_explains_as_python(tmp_path):
    calls, models = [], [case(name)[0] for name in CASES]
    for i, (x, name) in enumerate(zip(models, CASES, strict=True)):
        for row, record in enumerate(as_records(x, case(name)[1].iloc[i % 2 : 6 : 2])):
            calls.append((i, record, options_of(x, row)))
    results = call([written(x, tmp_path) for x in models], calls, tmp_path)
    for (i, record, options), result in zip(calls, results, strict=True):
        check(models[i], record, options, result)


@needs_browser
@pytest.mark.slow
def test_page_of_every_type_of_model_has_given_class_proportions(tmp_path):
    calls, models = [], []
    for i, name in enumerate(CASES):
        x, frame = case(name)
        models.append(x if name == "impossible" else bn.with_prior(x, skewed(x)))
        record = as_records(x, frame.iloc[i % 2 : 4 : 2])[-1]
        calls.append((i, record, options_of(x, i)))
    results = call([written(x, tmp_path) for x in models], calls, tmp_path)
    for (i, record, options), result in zip(calls, results, strict=True):
        check(models[i], record, options, result)


@needs_browser
@pytest.mark.slow
def test_values_that_are_rare_or_impossible_are_weighed_as_in_python(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.integers(0, 9, 60).astype(str) for name in "abc"})
    frame["y"] = np.where(frame["a"] < "4", rng.choice(list("pq"), 60), "r")
    rare = bn.bnc("ande", "y", frame, m=1, dag_args={"weights": "mi", "min_count": 7})
    impossible = bn.bnc("nb", "y", frame, smooth=0)
    models = [rare, impossible, bn.bnc("ande", "y", frame, smooth=0, dag_args={"min_count": 1})]
    whole = as_records(rare, frame.assign(a=rng.permutation(frame["a"])).head(20))
    parts = [{name: v for name, v in row.items() if name != "b"} for row in whole]
    calls = [*((0, row, {}) for row in parts), *((i, row, {}) for row in whole for i in (1, 2))]
    results = call([written(x, tmp_path) for x in models], calls, tmp_path)
    for (i, record, options), result in zip(calls, results, strict=True):
        check(models[i], record, options, result)


def hostile_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            CODE: rng.choice([CODE, "b", "", "ž"], 200),
            "__proto__": rng.integers(0, 3, 200),
            "constructor": rng.choice(["toString", "__proto__"], 200),
        }
    )
    return frame.assign(klass=(rng.random(200) < 0.5) * frame["__proto__"] * 10)


@needs_browser
@pytest.mark.slow
def test_labels_are_not_code_and_records_match_by_text(tmp_path):
    frame = hostile_frame()
    x = bn.lp(bn.tan_cl("klass", frame), frame, smooth=1)
    dn = bn.lp(bn.chisq_dn("klass", frame), frame, smooth=1)
    records = [*as_records(x, frame.head(6)), {"__proto__": True}, {"__proto__": 1.0}]
    alike = {CODE: "b", "__proto__": "2", "unknown": "ignored", "constructor": "unseen"}
    calls = [(0, record, {}) for record in records] + [
        (0, alike, {"target": "20", "against": 0}),
        (0, {}, {}),
    ]
    failing = [(0, {}, {"target": "30"}), (0, {}, {"target": 0, "against": [0]}), (0, None, {})]
    part = dict(list(as_records(dn, frame.head(1))[0].items())[1:])  # missing features are marginalized over
    pages = [written(x, tmp_path, title=CODE), written(dn, tmp_path)]
    *results, incomplete = call(pages, [*calls, *failing, (1, part, {})], tmp_path)
    for record, result in zip(records, results, strict=False):
        check(x, record, {}, result)
    check(dn, part, {}, incomplete)
    check(x, {CODE: "b", "__proto__": 2}, {"target": 20, "against": 0}, results[len(records)])
    prior = bn.query(x, "klass")
    assert dict(results[len(calls) - 1][0]) == pytest.approx(dict(zip(["0", "10", "20"], prior, strict=True)))
    told = [steps for _, steps, *_ in results[len(calls) :]]
    found = [re.search("must be one of|another class|an object", text)[0] for text in told]
    assert found == ["must be one of", "another class", "an object"]


_QUOTED = 'a "quoted" name'

USE = """
const all = texts("#feature-0 option");
put("feature-0", "ž;--");
put("feature-3", "other");
put("feature-4", "12.5");
put("against", "False", "change");
const queries = ["h1", "#answer", "#posterior tbody tr", "#contributions tbody tr", "#together-label",
  "#steps tbody tr", "#network .node title"];
const state = { all, wide: wider(), texts: queries.map((query) => [query, texts(query)]) };
document.getElementById("together").click();
show({ ...state, together: texts("#contributions tbody tr") });
"""


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_form_shows_posterior_and_contributions_by_strength(width, tmp_path):
    x, _ = case("odd names")
    page = written(x, tmp_path, title="Is it <so>?")
    state = state_of(page, USE, tmp_path, f"--window-size={width},900")
    record = {'a "quoted" name': "ž;--", "Town": "other", "income": 12.5}
    posterior = bn.predict(x, record, prob=True).iloc[0]
    weights = bn.explain(x, record)["log_odds"].map(signed_weight)
    parts = bn.explain(x, record, interactions=True)["log_odds"].map(signed_weight).to_dict()
    assert state["all"] == ["unknown", "100 %", 'a "b"', "it's", "ž;--"]
    assert state["wide"] == 0  # pixels by which the page is wider than the window
    assert state["together"] == [
        f"prior of “True”{weights['class']}",
        f'a "quoted" name = ž;--{weights.iloc[1]}',
        f"income = 12.5{parts['income']}",
        f"Town = other{parts['Town']}",
        f"Town = other, income = 12.5{parts['Town', 'income']}",
        f'a "quoted" name = ž;--, Town = other{parts[_QUOTED, "Town"]}',
    ]
    assert dict(state["texts"]) == {
        "h1": ["Is it <so>?"],
        "#answer": [f"class: True ({100 * posterior[True]:.1f} %)"],
        "#posterior tbody tr": [f"{label}{100 * p:.1f} %" for label, p in posterior.items()],
        "#contributions tbody tr": [
            f"prior of “True”{weights['class']}",
            f'a "quoted" name = ž;--{weights.iloc[1]}',
            f"income = 12.5{weights['income']}",
            f"Town = other{weights['Town']}",
        ],
        "#together-label": ["\nshow the effects of pairs of values separately"],
        "#steps tbody tr": [
            f"classTrue{weights['class']}0.924",
            f'a "quoted" namež;--{weights.iloc[1]}1.32',
            f'Townothera "quoted" name = ž;--{weights["Town"]}1.05',
            f"income12.5Town = other{weights['income']}0.803",
            "größe %sunknownincome = (12.06, 13.75]0.001.00",
            "selectunknowngröße %s missing0.001.00",
        ],
        "#network .node title": [
            f'a "quoted" name = ž;--: {weights.iloc[1]}',
            f"Town = other: {weights['Town']}",
            "größe %s unknown: 0.00",
            "select unknown: 0.00",
            f"income = 12.5: {weights['income']}",
            "class",
        ],
    }


ASK = """
const answer = () => document.getElementById("answer").textContent;
const empty = answer();
const box = document.querySelector("#feature-1-note input");
box.click();
const missing = answer();
box.click();
put("feature-0", "not measured");
const neither = answer();
const place = (id) => document.getElementById(id).getBoundingClientRect();
const tops = ["feature-0", "feature-1"].map((id) => place(id).top);
scrollTo(0, place("feature-2").top);
const bar = place("answer");
show({ empty, missing, neither, tops, inView: bar.top >= 0 && bar.bottom < innerHeight });
"""


def lacking():
    """Rows that often lack town and income if their label is True."""
    rng, n = np.random.default_rng(0), 300
    frame = pd.DataFrame({"town": rng.choice(["a", "b"], n), "income": rng.normal(size=n)})
    frame = frame.assign(age=rng.integers(20, 90, n), label=rng.random(n) < 0.5)
    frame.loc[frame["label"] & (rng.random(n) < 0.6), ["town", "income"]] = None
    return frame


@pytest.mark.parametrize(
    ("settings", "evident"),
    [
        ({"dag_learner": "nb", "discretize": "mdlp", "smooth": 1, "missing_level": True}, ["town", "income"]),
        ({"pairs": 0}, ["town", "income"]),
        ({"dag_learner": "nb", "numbers": "gaussian", "smooth": 1}, []),
    ],
)
def test_fields_say_whose_missing_values_are_evidence(settings, evident, tmp_path):
    x = bn.bnc(class_var="label", dataset=lacking(), **settings)
    features = json.loads(Elements(written(x, tmp_path)).data)["features"]
    assert [field["name"] for field in features if field["lacks"]] == evident


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_unknown_is_not_missing_and_the_prediction_stays_in_view(width, tmp_path):
    x = bn.bnc("nb", "label", lacking(), smooth=1, discretize="quantile", missing_level=True)
    state = state_of(written(x, tmp_path), ASK, tmp_path, f"--window-size={width},600")

    def shown(posterior):
        return f"label: {posterior.idxmax()} ({100 * posterior.max():.1f} %)"

    assert state["empty"] == shown(bn.query(x, "label")) + ", before anything is known"
    assert state["missing"] == shown(bn.query(x, "label", {"income": "(missing)"}))
    assert state["neither"] == shown(bn.query(x, "label", {"town": "(missing)"}))
    assert state["missing"] != state["empty"] != state["neither"]
    assert state["inView"]
    assert width < 1280 or state["tops"][0] == state["tops"][1]  # fields with and without a note are aligned


@needs_browser
@pytest.mark.slow
def test_single_changes_of_numbers_are_the_nearest(tmp_path):
    x = bn.bnc("nb", "diabetes", bn.load_pima(), smooth=1, discretize="mdlp")
    script = 'put("feature-1", "150"); show(texts("#changes tbody tr"));'
    changes = state_of(written(x, tmp_path), script, tmp_path)
    table = bn.counterfactual(x, {"glucose": 150}, most=1)
    assert table["to"].tolist() == [155]
    expected = f"glucose: 150 → 155 or moreyes{100 * table['probability'][0]:.1f} %"
    assert changes == [expected]


@needs_browser
@pytest.mark.slow
def test_infinite_numbers_are_missing(tmp_path):
    x = bn.bnc("nb", "diabetes", bn.load_pima(), smooth=1, numbers="gaussian")
    records = [{"glucose": 150, "bmi": bmi} for bmi in (None, "Infinity", "-1e999")]
    results = call([written(x, tmp_path)], [(0, record, {}) for record in records], tmp_path)
    for result in results:
        check(x, records[0], {}, result)


NEXT = """
setTimeout(() => {
  const [next, changes, note] = ["#next", "#changes tbody tr", "#changes-text"].map(texts);
  show({ before, next, active: document.activeElement.id, changes, note, wide: wider() });
}, 2000);
put("feature-5", "2");
const before = document.getElementById("next").textContent;
document.getElementById("ask").click();
"""


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_what_unknown_values_would_tell_and_what_flips_the_prediction(width, tmp_path):
    car = bn.load_car()
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    options = f"--window-size={width},900", "--virtual-time-budget=5000"
    state, record = state_of(written(x, tmp_path), NEXT, tmp_path, *options), {"safety": "high"}
    p = bn.predict(x, record, prob=True).iloc[0]
    shares = bn.value_of_information(x, record)["gain"] / -(p * np.log(p)).sum()
    best = shares.head(3).items()
    texts = [f"{name} (removes {100 * share:.1f} % of the uncertainty)" for name, share in best]
    assert state["before"] == ""  # only on request
    assert state["next"] == [f"Find out next: {', then '.join(texts)}."]
    assert state["active"] == f"feature-{bn.features(x).index(shares.index[0])}"
    assert state["changes"] == []
    assert state["note"] == ["No change of a single known value changes the prediction."]
    assert state["wide"] == 0


class Elements(HTMLParser):
    """The names of the elements of a page, and the text in those that hold data."""

    def __init__(self, text):
        super().__init__()
        self.names = []
        self.attributes = set()
        self.is_data = False
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.is_data = ("id", "data") in attrs

    def handle_endtag(self, tag):
        self.is_data = False

    def handle_data(self, data):
        self.data += data if self.is_data else ""


def test_labels_and_titles_stay_text(tmp_path):
    frame = hostile_frame()
    plain = bn.lp(bn.tan_cl("klass", frame), frame, smooth=1)
    renamed = frame.rename(columns={CODE: "a", "klass": CODE})
    of_class = bn.lp(bn.tan_cl(CODE, renamed), renamed, smooth=1)
    for page in written(plain, tmp_path, title=CODE), written(of_class, tmp_path):
        elements = Elements(page)
        assert elements.names.count("script") == 2
        assert "img" not in elements.names
        assert CODE in json.dumps(json.loads(elements.data), ensure_ascii=False).replace('\\"', '"')
        assert not re.search("[<>&\u2028]", elements.data)
        assert not elements.attributes & {"action", "href", "onerror", "src", "xlink:href"}


@pytest.mark.parametrize("has_programs", [False, True])
def test_picture_is_plain_without_graphviz_and_if_it_is_large(has_programs, tmp_path, monkeypatch):
    if has_programs:
        monkeypatch.setattr(page_module, "_MOST_ARCS", 8)
    else:
        monkeypatch.setattr(pictures, "_has_dot", lambda: False)
        monkeypatch.setattr(pictures, "_path_of_graphviz_pure", lambda: None)
    car = bn.load_car()
    for structure in bn.tan_cl("class", car), bn.chisq_dn("class", car):
        page = written(bn.lp(structure, car, smooth=1), tmp_path)
        assert page.count('<g class="node">') == 7
        assert page.count('<g class="edge">') == bn.narcs(structure)
        assert all(f">{name}</text>" in page for name in car)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_name_that_is_too_long_for_graphviz_is_shortened_in_the_picture(tmp_path):
    car = bn.load_car().rename(columns={"doors": "ö" * 17_000})
    x = bn.lp(bn.tan_cl("class", car), car, smooth=1)
    assert f">{'ö' * 400}" in written(x, tmp_path)
    assert "ö" * 600 not in bn.plot(x).pipe(format="svg", encoding="utf-8")


def test_titles_notes_and_order(tmp_path):
    """The strongest fields come first, after those that are named, and those without effect are folded."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["a", "b"], 400) for name in ("weak", "strong", "idle")})
    frame["idle"] = "b"
    frame["y"] = np.where((frame["strong"] == "a") ^ (rng.random(400) < 0.1), "no", "yes")
    frame.loc[:30, "y"] = np.where(frame.loc[:30, "weak"] == "a", "no", "yes")
    x = bn.bnc("nb", "y", frame, smooth=1)
    page = written(x, tmp_path, labels={"weak": "Weak, mg/dl", "y": "Ill"}, note="From 1974 to 1984.")
    data = json.loads(Elements(page).data)
    assert data["page"] == {"classTitle": "Ill", "order": [1, 0], "idle": [2], "start": "prior", "card": None}
    assert [feature["title"] for feature in data["features"]] == ["Weak, mg/dl", "strong", "idle"]
    assert "<p>From 1974 to 1984.</p>" in page
    assert 'id="network"' not in page  # no arcs between features
    first = json.loads(Elements(written(x, tmp_path, order=["idle", "weak"])).data)["page"]
    assert (first["order"], first["idle"]) == ([2, 0, 1], [])
    assert "<p>From 400 rows.</p>" in written(x, tmp_path)
    for wrong, message in (
        ({"labels": {"weka": "Weak"}}, "labels"),
        ({"order": ["weka"]}, "order"),
        ({"labels": {"weak": 3}}, r"labels\['weak'\] must be text"),
        ({"note": 3}, "note must be text or None"),
    ):
        with pytest.raises((KeyError, TypeError), match=message):
            written(x, tmp_path, **wrong)


CARD = """
const empty = texts("#answer");
put("feature-0", "170");
show({ empty, answer: texts("#answer"), bars: texts("#contributions tbody tr"),
  reasons: texts("#reasons"), points: texts("#points tbody tr"), totals: texts("#totals tbody tr") });
"""


@needs_browser
@pytest.mark.slow
def test_page_of_a_card_has_its_points(tmp_path):
    pima = bn.load_pima()[["glucose", "age", "diabetes"]]
    card = bn.scorecard(bn.bnc(class_var="diabetes", dataset=pima, pairs=0), pdo=20, most_intervals=3)
    state = state_of(written(card, tmp_path), CARD, tmp_path)
    p, total = (
        bn.predict(card, {"glucose": 170}, **how).iloc[0] for how in ({"prob": True}, {"points": True})
    )
    assert state["answer"] == [f"diabetes: yes ({100 * p['yes']:.1f} %), {total:,} points"]
    share = 100 * (pima["diabetes"] == "no").mean()
    assert re.fullmatch(
        rf"diabetes: no \({share:.1f} %\), \d+ points, before anything is known", state["empty"][0]
    )
    times = p["yes"] / p["no"]
    assert state["reasons"][0].startswith(f"“yes” is {times:.3g} times as likely as “no”.")
    points = bn.explain(card, {"glucose": 170})["points"]
    start, glucose, age = (points[name] for name in ("diabetes", "glucose", "age"))
    assert state["bars"] == [f"start{start}", f"glucose = 170{glucose}", f"what is unknown, together{age}"]
    assert len(state["points"]) == len(card.points)
    assert len(state["totals"]) >= 2


FIELDS = """
put("feature-0", "260");
put("feature-1", "19");
const points = [...document.querySelectorAll("#contributions tbody tr")].map((row) =>
  [row.querySelector(".number").textContent, row.querySelector("i")?.style.getPropertyValue("--long") ?? ""]);
const far = texts("#feature-0-note span");
put("feature-0", "");
show({ far, near: texts("#feature-1-note span"), points, empty: texts("#feature-0-note span"),
  reasons: document.getElementById("reasons").innerHTML, changes: texts("#changes tbody th") });
"""


def births():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"weight": rng.integers(80, 251, 300), "year": rng.integers(1987, 2016, 300)})
    p = 1 / (1 + np.exp((frame["weight"] - 150) / 20 + (frame["year"] - 2000) / 5))
    return frame.assign(low=np.where(rng.random(300) < p, "Да", "l"))


@needs_browser
@pytest.mark.slow
def test_fields_name_the_range_of_training_and_labels_keep_case_and_direction(tmp_path):
    frame = births().replace({"low": {"Да": "نعم"}}).assign(year=lambda f: f["year"] - 1987)
    x = bn.bnc("nb", "low", frame, smooth=1, discretize="quantile")
    low, high = frame["weight"].min(), frame["weight"].max()
    state = state_of(written(x, tmp_path), FIELDS, tmp_path)
    assert state["far"] == [f"outside {low} to {high}"]
    assert state["empty"] == [f"usually {low} to {high}"]
    assert state["near"] == ["usually 0 to 28"]
    assert re.match("“<bdi>(l|نعم)<wbr></bdi>” is [0-9.]+ times as likely as “<bdi>", state["reasons"])


@needs_browser
@pytest.mark.slow
def test_bars_of_a_card_are_as_long_as_their_points(tmp_path):
    card = bn.scorecard(bn.bnc(class_var="low", dataset=births(), pairs=0), most_intervals=3)
    state = state_of(written(card, tmp_path), FIELDS.replace("260", "100"), tmp_path)
    (_, start), *values = state["points"]
    assert start == ""  # the start has no bar
    points, lengths = (
        np.array(some, dtype=float) for some in zip(*[(n, w[:-1]) for n, w in values], strict=True)
    )
    np.testing.assert_allclose(lengths, 100 * points / points.max())


@needs_browser
@pytest.mark.slow
def test_densities_of_large_numbers_keep_the_rest_of_their_means(tmp_path):
    k = np.arange(60) % 12
    pages, calls, models = [], [], []
    for size in (4e15, -1e15, 1e14):
        frame = pd.DataFrame({"t": size + k, "u": np.where(k % 3 == 0, "a", "b")})
        frame["y"] = np.where((k * 7 % 12) + k > 11, "u", "v")
        for learner in ("nb", "tan_cl"):
            models.append(bn.bnc(learner, "y", frame, smooth=1, numbers="gaussian"))
            pages.append(written(models[-1], tmp_path))
            calls += [(len(pages) - 1, record, {}) for record in as_records(models[-1], frame.head(4))]
    for (i, record, options), result in zip(calls, call(pages, calls, tmp_path), strict=True):
        check(models[i], record, options, result)


@pytest.mark.slow
def test_a_page_of_a_sum_with_pairs_is_small(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 8)).round(2)).rename(columns="x{}".format)
    frame["y"] = np.where(frame["x0"] * frame["x1"] + frame["x2"] + rng.normal(size=400) > 0, "a", "b")
    x = bn.bnc(class_var="y", dataset=frame, pairs=15)
    assert len(written(x, tmp_path)) < 180_000


@pytest.mark.parametrize("small", [2**16, 0])
def test_page_of_a_large_model_names_its_largest_table_before_it_is_written(small, tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "_LONGEST", 200)
    monkeypatch.setattr(page_module, "_SMALL", small)
    if small == 0:
        monkeypatch.delattr(page_module, "_data_of_page")
    car = bn.load_car()
    x = bn.lp(
        bn.from_modelstring("[class][buying|class][maint|class:buying:doors][doors]", "class"), car, smooth=1
    )
    with pytest.raises(ValueError, match="largest table is that of 'maint', 'buying', 'doors'"):
        bn.write_page(x, tmp_path / "page.html")


def test_numbers_that_a_browser_would_round_are_text(tmp_path):
    large = [2**60, 2**60 + 1]
    frame = pd.DataFrame(
        {"x": pd.Categorical(large * 4), "z": pd.Categorical([1, 2] * 4), "y": list("aabb") * 2}
    )
    bn.write_page(bn.lp(bn.nb("y", frame), frame, smooth=1), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'"values":["{large[0]}","{large[1]}"]' in text
    assert '"values":[1,2]' in text
    frame["x"] = pd.Categorical([3, 10**22] * 4)  # both are floats
    bn.write_page(bn.lp(bn.nb("y", frame), frame, smooth=1), tmp_path / "page.html")
    assert f'"values":[3,{10**22}]' in (tmp_path / "page.html").read_text(encoding="utf-8")


def digits_as_numbers(text, per):
    """Return numbers written as digits in base 32, of which 32 more than the value means that one follows."""
    numbers, whole, power = [], 0, 1
    for digit in map(
        string.ascii_uppercase.__add__(f"{string.ascii_lowercase}{string.digits}+/").index, text
    ):
        whole, power = whole + digit % 32 * power, power * 32
        if digit < 32:
            numbers.append(-np.inf if whole == 1 else (-1) ** (whole % 2) * (whole // 2) / per)
            whole, power = 0, 1
    return numbers


def test_numbers_in_base_32_are_exact_to_13_digits():
    rng = np.random.default_rng(0)
    for array in (
        np.r_[rng.normal(size=200), -np.inf, 0.0, 30.0, -30.0],
        np.r_[-np.inf, rng.random(100)],
        rng.integers(0, 70_000, 500),
        np.r_[np.arange(-40, 40), 2**40 - 1, -(2**40)],
    ):
        told = page_module.numbers_as_json(array, fixed=True)
        assert len(json.dumps(told)) < 0.75 * len(str(array.tolist()))
        found = digits_as_numbers(told["digits"], told["per"])
        np.testing.assert_allclose(found, array, rtol=0, atol=5e-14 * 30)
    effects = rng.normal(size=200).round(6)
    told = page_module.numbers_as_json(effects, fixed=True)
    assert told["per"] == 1e6
    assert digits_as_numbers(told["digits"], 1e6) == effects.tolist()
    assert page_module.numbers_as_json(rng.normal(size=200)).keys() == {"text"}  # such as means and variances
    assert page_module.numbers_as_json(np.r_[rng.normal(size=200), np.nan], fixed=True).keys() == {"text"}


@pytest.mark.slow
def test_a_page_of_six_classes_is_small(tmp_path):
    """Each effect is written once, and covariances of effects, which are most of a page, in few digits."""
    rng = np.random.default_rng(0)
    kind = rng.integers(6, size=200)
    frame = pd.DataFrame((rng.normal(size=(6, 9))[kind] + rng.normal(size=(200, 9))).round(2))
    frame = frame.rename(columns="x{}".format).assign(kind=kind.astype(str))
    x = bn.bnc(class_var="kind", dataset=frame, pairs=36)
    assert len(x.pairs) > 25
    assert len(written(x, tmp_path)) < 320_000
