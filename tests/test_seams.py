"""What it takes to add something: each is written here with nothing but what is meant to be used."""

from __future__ import annotations

import re
import sqlite3
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bnclassify as bn
from bnclassify import scores as formulas
from bnclassify.classifiers import Dirichlet
from bnclassify.counts import count_families, pair_statistics
from bnclassify.export.scorer import scorer_of_model
from bnclassify.frames import mark_as_averaging
from bnclassify.metrics import METRICS, Metric
from bnclassify.model import BuiltOn, Derived, Model, Recipe
from bnclassify.parameters import Method, fit
from bnclassify.scores import Computed, Sum, pad_for_missing, scores_at
from bnclassify.structure import ArcRules, Step, network, parents_in_max_forest, prepare_training_data
from bnclassify.tools.arrays import Array, log_normalize, normalize
from bnclassify.tools.immutable import RECORDS, record


@mark_as_averaging
def forest(class_var, dataset, *, least=0.01, features=None, required=(), forbidden=()):
    """A learner from counts: the maximum spanning forest of pairs with enough information."""
    data = prepare_training_data(dataset, (class_var,), features)
    rules = ArcRules.check(required, forbidden, data.columns, directed=False, apart=class_var)
    own = len(data.features)  # the position of the class
    views = [pair_statistics(view, range(own), own).information for view in data.codings]
    nats = np.mean(views, axis=0)  # (features, features)
    parents = parents_in_max_forest(data.features, nats, nats >= least, 0, rules, is_tree=False)
    settings = {"least": least, "features": features, **rules.recipe_settings()}
    return network(class_var, parents, data.schema, Step("forest", forest, settings))


def test_a_learner_of_structure(car):
    x = bn.bnc(forest, "class", car, smooth=1, dag_args={"least": 0.05})
    assert "forest" in repr(x)
    assert bn.families(forest("class", car, least=0)) == bn.families(bn.tan_cl("class", car))
    assert bn.is_nb(forest("class", car, least=9))
    arcs = {"required": [("doors", "maint")], "forbidden": [("maint", "buying")]}
    tree = bn.tan_cl("class", car, **arcs)
    assert bn.families(forest("class", car, least=0, **arcs)) == bn.families(tree)
    chosen = forest("class", car, features=iter(["safety", "doors"]), least=0)
    assert chosen.recipe.structure.settings["features"] == ("doors", "safety")
    assert bn.features(forest("class", car, features=[])) == ()
    in_parts = forest("class", lambda: [car.iloc[:900], car.iloc[900:]], least=0.05)
    assert bn.families(in_parts) == bn.families(x)
    folds = np.arange(len(car)) % 3
    by_hand = []
    for i in range(3):
        train, test = car[folds != i], car[folds == i]
        fitted = bn.lp(forest("class", train, least=0.05), train, smooth=1)
        by_hand.append(bn.accuracy(bn.predict(fitted, test), test["class"]))
    assert bn.cv(x, car, folds=folds) == pytest.approx(np.mean(by_hand))
    direct = bn.lp(forest("class", car, least=0.05), car, smooth=1)
    assert bn.cv(direct, car, folds=folds) == bn.cv(x, car, folds=folds)


def test_files_of_a_learner(car, tmp_path, monkeypatch):
    """A learner that is decorated is run again by a loaded model, also if it accepts raw data."""
    monkeypatch.setitem(RECORDS, "forest", forest)
    rows = car.assign(doors=np.arange(len(car)) / 7)
    for frame, options in ((car, {}), (rows, {"discretize": "averaged"})):
        x = bn.bnc(forest, "class", frame, smooth=1, **options)
        bn.save(x, tmp_path / "x.json")
        again = bn.load(tmp_path / "x.json")
        for dag in (True, False):
            assert bn.cv(again, frame, k=3, rng=0, dag=dag) == bn.cv(x, frame, k=3, rng=0, dag=dag)


def test_an_ensemble(car):
    trees = bn.Ensemble([bn.tan_cl("class", car, root=f) for f in car.columns[:-1]])
    x = bn.lp(trees, car, smooth=1)
    mean = np.mean([_joint(member, car) for member in bn.members(x)], axis=0)
    np.testing.assert_allclose(bn.predict(x, car, prob=True), normalize(mean, axis=1), rtol=1e-9)
    weights = bn.explain(x, car.iloc[0], against=bn.classes(x))["log_odds"].sum()
    p = bn.predict(x, car.head(1), prob=True).max(axis=1).item()
    assert weights == pytest.approx(np.log(p / (1 - p)))
    assert 0.9 < bn.cv(x, car, k=3, rng=0) < 1
    assert 0.9 < bn.cv(x, car, k=3, rng=0, dag=False) < 1
    assert bn.loglik(x, car) < 0


def test_members_learned_in_different_ways(car):
    models = bn.bnc("nb", "class", car, smooth=1, wanbia=True), bn.bnc("aode", "class", car, smooth=2)
    x = bn.Ensemble(models, weights=(1, 3))
    assert "each member" in repr(x)
    folds = bn.stratified_folds(car["class"], 3, rng=0)
    test = folds == 0
    again = bn.Ensemble(
        [
            bn.bnc("nb", "class", car[~test], smooth=1, wanbia=True),
            bn.bnc("aode", "class", car[~test], smooth=2),
        ],
        weights=(1, 3),
    )
    expected = bn.accuracy(bn.predict(again, car[test]), car["class"][test])
    for dag in (True, False):
        assert bn.cv(x, car, folds=folds, mean=False, dag=dag).iloc[0, 0] == expected


def _joint(x, frame):
    """P(row, class) of an augmented naive Bayes, by its tables."""
    joint = np.ones((len(frame), len(bn.classes(x))))
    for family in x.families:
        table = bn.params(x)[family[0]]
        codes = [frame[v].cat.codes.to_numpy() for v in family[:-1]]
        joint *= table[tuple(codes)] if codes else table
    return joint


@dataclass(frozen=True, eq=False, repr=False)
class TwoFeatures(BuiltOn):
    """A family of models: the class given the first two features, by the counts of their joint values."""

    basis: bn.BNC
    counts: Array | None = None
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    no_joint = "it models the class given two features only"

    @property
    def fitted(self):
        return self.counts is not None

    def estimate(self, data, prior):
        [counts] = count_families(data, [(len(self.features), 0, 1)])
        return replace(self, basis=replace(self.basis, levels=data.levels), counts=prior(counts))

    @property
    def formula(self):
        logs = np.moveaxis(np.log(self.counts), 0, -1)
        return Sum((formulas.Table(-1, (0, 1), pad_for_missing(logs)),), marginalizes=False)


def two_features(class_var, dataset):
    """Its learner: the recipe of the network without parents names this function."""
    data = prepare_training_data(dataset, (class_var,))
    none = dict.fromkeys(data.features, ())
    basis = network(class_var, none, data.schema, Step("two_features", two_features))
    return TwoFeatures(basis, recipe=basis.recipe)


def test_a_family(car):
    x = fit(TwoFeatures(bn.nb("class", car)), car, Dirichlet(1))
    counts = pd.crosstab([car["buying"], car["maint"]], car["class"])
    row = counts.loc[("low", "low")] + 1
    posterior = bn.predict(x, car[(car["buying"] == "low") & (car["maint"] == "low")], prob=True)
    np.testing.assert_allclose(posterior, np.tile(row / row.sum(), (len(posterior), 1)))
    posteriors = bn.predict(x, car, prob=True).to_numpy()[np.arange(len(car)), car["class"].cat.codes]
    assert bn.cloglik(x, car) == pytest.approx(np.log(posteriors).sum())
    y = bn.bnc(two_features, "class", car, smooth=1)
    np.testing.assert_array_equal(bn.predict(y, car, prob=True), bn.predict(x, car, prob=True))
    folds = np.arange(len(car)) % 3
    by_hand = [
        bn.accuracy(
            bn.predict(bn.bnc(two_features, "class", car[folds != i], smooth=1), car[folds == i]),
            car["class"][folds == i],
        )
        for i in range(3)
    ]
    assert bn.cv(y, car, folds=folds) == pytest.approx(np.mean(by_hand))
    assert bn.cv(y, car, folds=folds, dag=False) == pytest.approx(np.mean(by_hand))


def half_uniform(counts, axis=0):
    """A prior: halfway between what the counts say and the uniform distribution."""
    return (normalize(counts, axis) + 1 / counts.shape[axis]) / 2


@pytest.mark.parametrize("learner", ["nb", "tan_cl", "aode"])
def test_a_prior(car, learner):
    structure = getattr(bn, learner)("class", car)
    x = fit(structure, car, half_uniform)
    plain = bn.lp(structure, car, smooth=0)
    for mine, member in zip(bn.members(x), bn.members(plain), strict=True):
        for name, table in bn.params(member).items():
            np.testing.assert_allclose(bn.params(mine)[name], (table + 1 / len(table)) / 2, atol=1e-15)
    assert 0.6 < bn.cv(x, car, k=3, rng=0) < 1


@dataclass(frozen=True, eq=False, repr=False)
class Reweighed(Derived):
    """A family derived from a fitted model: a factor per class."""

    base: Model
    factors: tuple[float, ...]
    recipe: Recipe | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def formula(self):
        return Computed(
            lambda rows: scores_at(self.base.score, rows) + np.log(self.factors), self.type_in_words
        )


@dataclass(frozen=True, eq=False, repr=False)
class Refitted(Reweighed):
    """The same, which is refitted by a method of lp."""

    estimate = Derived.estimate_base


@dataclass(frozen=True)
class Reweigh(Method):
    """A method of lp that derives a model from the fitted one."""

    def __call__(self, x, data, prior, rng):
        fitted = super().__call__(x, data, prior, rng)
        return Refitted(fitted, (1.0, 2.0, 3.0, 4.0), fitted.recipe)


def test_a_family_derived_from_a_fitted_model(car, tmp_path):
    x = bn.bnc("nb", "class", car, smooth=1)
    free = Reweighed(x, (1.0, 2.0, 3.0, 4.0))
    assert 0.5 < bn.accuracy(bn.predict(free, car), car["class"]) < 0.9
    assert [type(member) for member in bn.members(free)] == [Reweighed]
    found = bn.counterfactual(free, car.iloc[0], "vgood", most=6, alternatives=1)
    row = car.iloc[0].to_dict() | dict(zip(found["variable"], found["to"], strict=True))
    assert bn.predict(free, row).tolist() == ["vgood"]
    y = Reweighed(x, (1.0, 2.0, 3.0, 4.0), x.recipe)
    with pytest.raises(TypeError, match=r"a value of the class Reweighed. Decorate this class with @record"):
        bn.save(y, tmp_path / "x.json")
    z = fit(bn.nb("class", car), car, Dirichlet(1), Reweigh())
    folds = np.arange(len(car)) % 3
    for dag in (True, False):
        by_hand = [
            bn.accuracy(
                bn.predict(
                    fit(bn.nb("class", car), car[folds != i], Dirichlet(1), Reweigh()), car[folds == i]
                ),
                car["class"][folds == i],
            )
            for i in range(3)
        ]
        assert bn.cv(z, car, folds=folds, dag=dag) == pytest.approx(np.mean(by_hand))


def test_a_family_without_its_main_method(car):
    class Nothing(Reweighed):
        formula = Model.formula

    with pytest.raises(NotImplementedError, match="the class Nothing must define the property formula"):
        bn.predict(Nothing(bn.bnc("nb", "class", car, smooth=1), (1.0,) * 4), car)


@record
@dataclass(frozen=True, eq=False, repr=False)
class Sharpened(Reweighed):
    """A family whose files keep its recipe."""

    estimate = Derived.estimate_base


@record
@dataclass(frozen=True)
class Sharpen(Method):
    """Its method of lp, which is decorated, too."""

    def __call__(self, x, data, prior, rng):
        fitted = super().__call__(x, data, prior, rng)
        return Sharpened(fitted, (1.0, 2.0, 3.0, 4.0), fitted.recipe)


def test_files_of_a_family(car, tmp_path, monkeypatch):
    x = fit(bn.nb("class", car), car, Dirichlet(1), Sharpen())
    bn.save(x, tmp_path / "x.json")
    assert bn.cv(bn.load(tmp_path / "x.json"), car, k=3, rng=0) == bn.cv(x, car, k=3, rng=0)
    monkeypatch.delitem(RECORDS, "Sharpened")
    with pytest.raises(ValueError, match=r"'Sharpened'; if it is your own, import its module first"):
        bn.load(tmp_path / "x.json")


@dataclass(frozen=True)
class Tempered(Method):
    """A method of lp: every table raised to a power."""

    power: float

    def __call__(self, x, data, prior, rng):
        fitted = super().__call__(x, data, prior, rng)
        tables = tuple(normalize(table**self.power) for table in fitted.cpts)
        return replace(fitted, cpts=tables, learned={"power": self.power})


def test_a_method(car):
    x = fit(bn.nb("class", car), car, Dirichlet(1), Tempered(0.5))
    table = bn.params(bn.lp(bn.nb("class", car), car, smooth=1))["safety"]
    np.testing.assert_allclose(bn.params(x)["safety"], normalize(np.sqrt(table)))
    assert x.learned["power"] == 0.5
    assert 0.6 < bn.cv(x, car, k=3, rng=0) < 1


def to_python(x):
    """An export: a function of a complete row, as text, that adds up the tables of a network."""
    scorer = scorer_of_model(x)
    terms = scorer.formula.terms if isinstance(scorer.formula, Sum) else ()
    if not terms or not all(isinstance(term, formulas.Table) for term in terms):
        raise TypeError(f"x must be a sum of tables; got {type(scorer.formula).__name__}.")
    lines = ["def scores(row):"]
    for i, column in enumerate(scorer.columns):  # the code of a label is its position
        lines.append(f"    code{i} = {list(column.known)!r}.index(row[{column.name!r}])")
    lines.append(f"    total = {[0.0] * len(scorer.labels)}")
    for term in terms:
        logs = np.broadcast_to(term.logs, (*term.logs.shape[:-1], len(scorer.labels)))
        entries = "".join(f"[code{i}]" for i in term.scope)
        lines.append(f"    logs = {logs.tolist()}{entries}")
        lines.append("    total = [a + b for a, b in zip(total, logs)]")
    return "\n".join([*lines, "    return total"])


def test_an_export(car):
    x = bn.lp(bn.hc("class", car), car, smooth=1)
    program = {}
    exec(to_python(x), program)
    rows = car.iloc[::50]
    scores = np.array([program["scores"](row) for row in rows.to_dict("records")])
    np.testing.assert_allclose(log_normalize(scores), np.log(bn.predict(x, rows, prob=True)))


def surprise(posteriors, actual):
    """A metric for one's own use: the mean probability that was given to the wrong classes."""
    return 1 - float(np.mean([posteriors.loc[row, label] for row, label in actual.items()]))


def test_a_metric_of_ones_own(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    assert 0 < bn.cv(x, car, k=3, rng=0, metric=surprise) < bn.cv(x, car, k=3, rng=0, metric="log_loss")


def add_up_shortfalls(logs, actual, weights):
    """The same from log joint probabilities, codes and weights, in two steps, of which this is the first."""
    posteriors = np.exp(log_normalize(logs))
    return np.array([weights @ (1 - posteriors[np.arange(len(actual)), actual]), weights.sum()])


def test_a_metric_with_a_name(car, monkeypatch):
    named = Metric("surprise", add_up_shortfalls, lambda sums: sums[0] / sums[1], is_loss=True)
    monkeypatch.setitem(METRICS, "surprise", named)
    x = bn.bnc("nb", "class", car, smooth=1)
    by_name, by_function = (bn.cv(x, car, k=3, rng=0, metric=m) for m in ("surprise", surprise))
    assert by_name == pytest.approx(by_function)
    chunks = [car.iloc[::2].assign(fold=0), car.iloc[1::2].assign(fold=1)]
    rows = pd.concat(chunks)
    in_parts = bn.cv(x, chunks, folds="fold", metric=named)
    assert in_parts == pytest.approx(bn.cv(x, rows[car.columns], folds=rows["fold"].to_numpy(), metric=named))
    twice = bn.encode(car.assign(times=2), weights="times")
    assert 0 < bn.cv(bn.bnc("nb", "class", twice, smooth=1), twice, k=3, rng=0, metric="surprise") < 1


@dataclass
class Table:
    """A source: a table of a database, which counts by GROUP BY, or sends its rows in parts."""

    connection: sqlite3.Connection
    name: str
    declared: Mapping[Hashable, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def names(self):
        return [row[1] for row in self.connection.execute(f"PRAGMA table_info({self.name})")]

    def count(self, families, required, weights):
        total = "COUNT(*)" if weights is None else f'SUM("{weights}")'
        return [self._group_by(family, total, required) for family in families]

    def _group_by(self, family, total, required):
        labels = ", ".join(f'"{name}"' for name in family) or "NULL"
        known = "1" if required is None else f'"{required}" IS NOT NULL'
        query = f"SELECT {labels}, {total} FROM {self.name} WHERE {known} GROUP BY {labels}"
        return {tuple(row[: len(family)]): row[-1] for row in self.connection.execute(query)}

    def reduce(self, make, merge, columns=None):
        wanted = self.names if columns is None else list(columns)
        labels = ", ".join(f'"{name}"' for name in wanted) or "NULL"
        cursor = self.connection.execute(f"SELECT {labels} FROM {self.name}")
        made = make(pd.DataFrame(cursor.fetchmany(100), columns=wanted))  # also if there are no rows
        while rows := cursor.fetchmany(100):
            made = merge([made, make(pd.DataFrame(rows, columns=wanted))])
        return made


def test_a_source(voting, monkeypatch):
    connection = sqlite3.connect(":memory:")
    frame = voting.astype(object).where(voting.notna(), None)
    frame.loc[::50, "Class"] = None
    frame.to_sql("votes", connection, index=False)
    frame = frame.astype("string")
    votes = Table(connection, "votes")
    x = bn.bnc("nb", "party", voting.rename(columns={"Class": "party"}), smooth=1)
    voting.astype(object).where(voting.notna(), None).rename(columns={"Class": "party"}).to_sql(
        "known", connection, index=False
    )
    in_parts = bn.cloglik(x, Table(connection, "known"))  # which needs the rows
    assert in_parts == pytest.approx(bn.cloglik(x, voting.rename(columns={"Class": "party"})))

    def fetch(*_):
        raise AssertionError("rows are fetched")

    read = bn.encode(votes)
    assert isinstance(read, bn.models.Dataset)
    assert read.levels == bn.encode(frame).levels
    monkeypatch.setattr(Table, "reduce", fetch)  # learners count
    votes = bn.encode(votes, in_memory=False)
    for learner in (bn.nb, bn.tan_cl, bn.kdb_mi, bn.chow_liu):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "9 of 435 rows have no class")
            counted = bn.lp(learner("Class", votes), votes, smooth=1)
            expected = bn.lp(learner("Class", frame), frame, smooth=1)
        assert counted.families == expected.families
        for name, table in bn.params(expected).items():
            np.testing.assert_array_equal(bn.params(counted)[name], table)


def test_frames_that_other_libraries_read_in_parts(car, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    connection = sqlite3.connect(":memory:")
    frame = car.astype(str)
    frame.to_sql("cars", connection, index=False)
    frame.to_parquet(tmp_path / "cars.parquet")
    expected = bn.families(bn.tan_cl("class", frame))
    query = "SELECT * FROM cars"
    for parts in (
        lambda: pd.read_sql_query(query, connection, chunksize=500),
        lambda: pq.ParquetFile(tmp_path / "cars.parquet").iter_batches(batch_size=500),
    ):
        assert bn.families(bn.tan_cl("class", parts)) == expected


def test_a_source_without_rows_or_a_member(voting):
    connection = sqlite3.connect(":memory:")
    voting.head(0).astype(object).to_sql("votes", connection, index=False)

    class InParts(Table):
        count = property()

    with pytest.raises(ValueError, match="dataset must have rows; got none"):
        bn.nb("Class", InParts(connection, "votes"))

    class Incomplete:
        names, declared = ("a", "b"), {}

    with pytest.raises(TypeError, match=r"got Incomplete\. A source of data must also have 'reduce'"):
        bn.nb("a", Incomplete())


def test_a_family_needs_to_know_few_members():
    """A member of all models is used in several places; what one function needs belongs to that function."""
    names = [name for name in vars(Model) if not name.startswith("_")]
    assert len(names) <= 45
    package = Path(bn.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    del texts[package / "model.py"]
    for name in names:
        places = [match for text in texts.values() for match in re.findall(rf"\.{name}\b", text)]
        assert len(places) > 1, name
