"""Fitted models of every type that is made of tables, each with rows to score."""

from functools import cache

import numpy as np
import pandas as pd

import bnclassify as bn

from .oracles import with_holes


def some_car(rows=60):
    """Rows of car, some with missing features, and one with all features missing."""
    frame = with_holes(bn.load_car().sample(rows, random_state=1), 0.3, 2).astype(object)
    frame.iloc[0, :-1] = None
    return frame.reset_index(drop=True)


def some_votes(rows=60):
    """Rows of voting, about half with missing features, and one with all features missing."""
    frame = bn.load_voting().head(rows).astype(object)
    frame.iloc[0, :-1] = None
    return frame


def some_women(rows=60):
    """Rows of pima with missing numbers, numbers at and beyond the ends, and one row with all missing."""
    frame = bn.load_pima().sample(rows, random_state=3).reset_index(drop=True).astype({"diabetes": object})
    numeric = frame.columns.drop("diabetes")
    frame[numeric] = (
        frame[numeric].astype(float).mask(np.random.default_rng(4).random((rows, len(numeric))) < 0.15)
    )
    frame.loc[0, numeric] = np.nan
    for row, number in enumerate([-1e6, 1e6, 1e60, -1e300], start=1):
        frame.loc[row, numeric] = number
    return frame


def odd_frame():
    """Names with quotes, spaces, signs and letters of other scripts; labels of several types."""
    rng, n = np.random.default_rng(5), 300
    grade = rng.integers(1, 4, n)
    frame = pd.DataFrame(
        {
            'a "quoted" name': rng.choice(["it's", 'a "b"', "100 %", "ž;--"], n),
            "größe %s": grade,
            "select": rng.random(n) < 0.5,
            "Town": rng.choice([f"t{i}" for i in range(30)], n),
            "income": rng.normal(10.5, 3.3, n) + grade,
        }
    )
    noise = rng.random(n) < 0.3
    frame["class"] = np.where(noise, rng.random(n) < 0.5, frame["select"] ^ (grade > 1))
    frame.loc[rng.random(n) < 0.1, "Town"] = None
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    return frame


def _odd(**settings):
    frame = odd_frame()
    rows = frame.head(50).astype({"Town": object})
    rows.loc[1, "Town"] = "unheard of"
    return bn.bnc("tan_cl", "class", frame, min_count=12, missing_level=["Town"], **settings), rows


def _on_car(structure, **settings):
    car = bn.load_car()
    return bn.lp(structure(car), car, **(settings or {"smooth": 1})), some_car()


def _hc(car):
    return bn.hc("class", car, score="bic")


def _child_class(car):
    return bn.from_modelstring(
        "[safety][persons][class|safety:persons][buying|class][maint|class:buying]", "class"
    )


def _ensemble(car):
    return bn.Ensemble((bn.nb("class", car), bn.tan_cl("class", car), bn.aode("class", car)), (1.0, 2.0, 3.0))


def _impossible():
    car = bn.load_car()
    few = car[car["class"].isin(["unacc", "acc"]) | (car["safety"] == "high")].head(200)
    return bn.lp(bn.nb("class", car), few, smooth=0), some_car()


def _two_parents(car):
    return bn.kdb_mi("class", car, kdbk=2)


def _extreme():
    """A card whose log odds are beyond 700, where EXP is out of range in PostgreSQL."""
    y = np.random.default_rng(0).choice(["u", "v"], 80)
    frame = pd.DataFrame({f"x{i}": np.where(y == "u", "x", "y") for i in range(100)}).assign(y=y)
    return bn.scorecard(bn.bnc("nb", "y", frame, smooth=0.01)), frame.assign(x0=None)


def _effects_of_car():
    """A table of a tree in which missing and unseen values have effects."""
    table = bn.effects(_on_car(lambda car: bn.tan_cl("class", car))[0])
    table.loc[table["value"] == "(missing)", "acc"] = 0.5
    doors = {"feature": "buying", "value": "(unseen)", "given": "", "given_value": ""}
    more = pd.DataFrame([doors | {"unacc": 1.0, "acc": 0.0, "good": 0.5, "vgood": 0.25}])
    return bn.from_effects(pd.concat([table, more])), some_car().assign(buying="none")


CASES = {
    "nb": lambda: _on_car(lambda car: bn.nb("class", car)),
    "tan": lambda: _on_car(lambda car: bn.tan_cl("class", car)),
    "kdb": lambda: _on_car(_two_parents),
    "kdb backoff": lambda: _on_car(_two_parents, backoff=True),
    "hc": lambda: _on_car(_hc),
    "class with parents": lambda: _on_car(_child_class),
    "aode": lambda: _on_car(lambda car: bn.aode("class", car)),
    "ensemble": lambda: _on_car(_ensemble),
    "ande": lambda: _on_car(lambda car: bn.ande("class", car, min_count=576), smooth=0),
    "waode": lambda: _on_car(lambda car: bn.ande("class", car, weights="mi"), m=1),
    "manb": lambda: _on_car(lambda car: bn.nb("class", car), smooth=1, manb_prior=0.5),
    "awnb": lambda: _on_car(lambda car: bn.nb("class", car), smooth=1, awnb_trees=5, rng=0),
    "wanbia": lambda: _on_car(lambda car: bn.nb("class", car), smooth=1, wanbia=True),
    "impossible": _impossible,
    "loo weights": lambda: _on_car(
        _two_parents, backoff=True, held_out="weights", held_out_args={"parents": True}
    ),
    "loo power": lambda: _on_car(lambda car: bn.aode("class", car), smooth=1, held_out="power"),
    "votes tan": lambda: (
        bn.bnc("tan_cl", "Class", bn.load_voting(), smooth=1, missing_level=False),
        some_votes(),
    ),
    "votes weights": lambda: (
        bn.bnc("kdb_mi", "Class", bn.load_voting(), backoff=True, held_out="weights"),
        some_votes(),
    ),
    "women mdlp": lambda: (
        bn.bnc("tan_cl", "diabetes", bn.load_pima(), smooth=1, discretize="mdlp"),
        some_women(),
    ),
    "women gaussian": lambda: (
        bn.bnc("nb", "diabetes", bn.load_pima(), smooth=1, numbers="gaussian"),
        some_women(),
    ),
    "women averaged": lambda: (
        bn.bnc("kdb_mi", "diabetes", bn.load_pima(), discretize="averaged", smooth=1),
        some_women(),
    ),
    "women default": lambda: (bn.bnc(class_var="diabetes", dataset=bn.load_pima().head(200)), some_women()),
    "women weights": lambda: (
        bn.bnc("nb", "diabetes", bn.load_pima(), backoff=True, held_out="weights", discretize="averaged"),
        some_women(),
    ),
    "card": lambda: (
        bn.scorecard(bn.bnc("nb", "diabetes", bn.load_pima(), smooth=1, discretize="mdlp"), pdo=20),
        some_women(),
    ),
    "card of a tree": lambda: (bn.scorecard(case("votes tan")[0]), some_votes()),
    "card of extreme odds": _extreme,
    "sum": lambda: (bn.bnc(class_var="diabetes", dataset=bn.load_pima().head(200), pairs=0), some_women()),
    "sum with pairs": lambda: (  # the row 248 lacks all votes
        bn.bnc(class_var="Class", dataset=bn.load_voting().head(260), pairs=3),
        some_votes(),
    ),
    "effects": lambda: (bn.from_effects(bn.effects(case("women weights")[0])), some_women()),
    "effects of three classes": _effects_of_car,
    "dependency network": lambda: _on_car(lambda car: bn.chisq_dn("class", car, alpha=0.9)),
    "odd names": lambda: _odd(smooth=1, discretize="quantile"),
    "odd gaussian": lambda: _odd(smooth=1, numbers="gaussian"),
    "odd recipe": lambda: _odd(),
}


@cache
def case(name):
    return CASES[name]()


def skewed(x):
    """Return a proportion of each class, the first class twice as large as the second, and so on."""
    labels = bn.classes(x)
    shares = 0.5 ** np.arange(len(labels))
    return dict(zip(labels, (shares / shares.sum()).tolist(), strict=True))
