"""Models of several sites become the model of all rows, and updates can add levels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bnclassify as bn
from bnclassify.models import ANDE, DN, MAODE, MBC, Chain

from .strategies import examples, frames, graphs
from .test_updates import MORE_THAN_COUNTS, PRIORS
from .test_updates import same as same_networks

FEATURES = ("grade", "town", "rooms")
STRUCTURES = {
    "nb": lambda: bn.nb("buys", features=FEATURES),
    "a tree": lambda: bn.anb("buys", {"grade": ["town"], "town": ["rooms"], "rooms": []}),
    "a network": lambda: bn.from_modelstring("[town][buys|town][grade|town:buys][rooms|grade:town]", "buys"),
    "a dependency network": lambda: DN(
        "buys", (("grade", "town", "buys"), ("town", "grade", "buys"), ("rooms", "buys"), ("buys",))
    ),
    "aode": lambda: bn.aode("buys", features=FEATURES),
    "ande 0": lambda: ANDE("buys", FEATURES, n=0),
    "ande 1": lambda: ANDE("buys", FEATURES, n=1, subsumption=3, weighting="mi"),
    "ande 2": lambda: ANDE("buys", FEATURES, n=2),
    "an ensemble": lambda: bn.Ensemble((STRUCTURES["nb"](), STRUCTURES["aode"]())),
    "mbc": lambda: MBC(
        ("rooms", "buys"), (("grade", "rooms", "buys"), ("town", "buys"), ("rooms",), ("buys", "rooms"))
    ),
    "maode": lambda: MAODE(("rooms", "buys"), (("grade", "rooms", "buys"), ("town", "grade", "buys"))),
    "a chain": lambda: Chain(
        ("rooms", "buys"), (bn.nb("rooms", features=["grade", "town"]), bn.aode("buys", features=FEATURES))
    ),
}


def people(seed, n, grades="abc", towns="pqr"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "grade": rng.choice(list(grades), n),
            "town": rng.choice(list(towns), n),
            "rooms": pd.array(rng.integers(1, 4, n), dtype="Int64"),
        }
    )
    buys = np.where(frame["grade"].eq(grades[0]) ^ (rng.random(n) < 0.3), "yes", "no")
    for i, name in enumerate(FEATURES):
        frame.loc[(frame.index + i) % 13 == 0, name] = None
    return frame.assign(buys=buys)


def same(mine, other, frame):
    pd.testing.assert_frame_equal(
        bn.predict(mine, frame, prob=True), bn.predict(other, frame, prob=True), rtol=1e-12
    )
    for x, y in zip(bn.members(mine), bn.members(other), strict=True):
        rows = frame.dropna(subset=[name for name in bn.features(x) if name in mine.targets])
        (same if len(bn.members(x)) > 1 else same_networks)(x, y, rows)


def priors_of(structure):
    if structure.startswith("ande"):
        return [{"smooth": 1}, {"m": 2}]
    nested = structure in ("nb", "a tree", "a network", "aode", "an ensemble", "a chain")
    return [prior for prior in PRIORS if nested or "backoff" not in prior]


def with_levels(frame, levels):
    return frame.assign(**{name: pd.Categorical(frame[name], categories=levels[name]) for name in levels})


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_sites_are_pooled(structure):
    x, sites = STRUCTURES[structure](), [people(seed, 40) for seed in range(3)]
    rows = pd.concat(sites, ignore_index=True)
    for prior in priors_of(structure):
        models = [bn.lp(x, site, **prior) for site in sites]
        same(bn.pool(models), bn.lp(x, rows, **prior), rows.dropna())
        assert bn.values(bn.pool(models)) == bn.values(models[0])
        same(bn.pool(models[:1]), models[0], rows.dropna())
        same(bn.pool([bn.pool(models[:2]), models[2]]), bn.pool(models), rows.dropna())
        same(bn.update(bn.pool(models[:2]), sites[2]), bn.pool(models), rows.dropna())


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_levels_are_united(structure):
    x = STRUCTURES[structure]()
    sites = [people(0, 40, "cd", "q"), people(1, 50, "abd", "qp"), people(2, 40, "ca", "rst")]
    rows = pd.concat(sites, ignore_index=True)
    for prior in priors_of(structure):
        models = [bn.lp(x, site, **prior) for site in sites]
        mine = bn.pool(models, levels="union")
        assert bn.values(mine)["grade"] == ("c", "d", "a", "b")
        assert bn.values(mine)["town"] == ("q", "p", "r", "s", "t")
        other = bn.lp(x, with_levels(rows, bn.values(mine)), **prior)
        assert bn.values(other) == bn.values(mine)
        same(mine, other, rows.dropna())
        grown = models[0]
        for site in sites[1:]:
            grown = bn.update(grown, site, levels="grow")
        assert bn.values(grown) == bn.values(mine)
        same(grown, mine, rows.dropna())


@pytest.mark.parametrize("numbers", ["gaussian", "kernel"])
@pytest.mark.parametrize("levels", ["same", "union"])
def test_numbers(numbers, levels):
    sites = [people(seed, 60, *(["ab"] if levels == "same" else ["ab"[: seed + 1]])) for seed in range(2)]
    rng = np.random.default_rng(0)
    sites = [
        site.assign(size=rng.normal(site["buys"].eq("yes") * 2.0)).drop(columns="rooms") for site in sites
    ]
    rows = pd.concat(sites, ignore_index=True)
    x = bn.anb("buys", {"grade": [], "town": [], "size": ["grade"]})
    models = [bn.lp(x, site, smooth=1, numbers=numbers) for site in sites]
    mine = bn.pool(models, levels=levels)
    pd.testing.assert_frame_equal(
        bn.predict(mine, rows, prob=True),
        bn.predict(bn.lp(x, rows, smooth=1, numbers=numbers), rows, prob=True),
    )
    grown = bn.update(models[0], sites[1], levels="grow")
    pd.testing.assert_frame_equal(bn.predict(mine, rows, prob=True), bn.predict(grown, rows, prob=True))


@given(st.data())
@examples(40)
def test_any_split_of_any_network(data):
    frame = data.draw(frames(missing=0.2, min_rows=4))
    site = data.draw(st.lists(st.integers(0, 2), min_size=len(frame), max_size=len(frame)))
    x, prior = data.draw(graphs(frame)), data.draw(st.sampled_from(PRIORS))
    parts = [frame[np.array(site) == i] for i in set(site)]
    x = bn.lp(x, frame, **prior)
    models = [bn.lp(x, part, **prior) for part in parts]
    same(bn.pool(models), x, frame)


def test_weights(car):
    rng = np.random.default_rng(0)
    weights, structure = rng.random(len(car)), bn.tan_cl("class", car)
    sites = [bn.encode(car.iloc[i::2], weights=weights[i::2]) for i in range(2)]
    mine = bn.pool([bn.lp(structure, site, smooth=1) for site in sites])
    same(mine, bn.lp(structure, bn.encode(car, weights=weights), smooth=1), car)


def test_files_of_sites_are_pooled(car, tmp_path):
    structure = bn.tan_cl("class", car)
    for i in range(2):
        bn.save(bn.lp(structure, car.iloc[i::2], backoff=True), tmp_path / f"{i}.json")
    mine = bn.pool(bn.load(tmp_path / f"{i}.json") for i in range(2))
    same(mine, bn.lp(structure, car, backoff=True), car)


def test_levels_grow_from_partitioned_data(car):
    text = car.astype(str)
    first, more = text.iloc[:900], text.iloc[900:]
    x = bn.lp(bn.nb("class", features=list(car.columns[:-1])), first, smooth=1)
    assert len(bn.values(x)["buying"]) < 4
    grown = bn.update(x, [more.iloc[:300], more.iloc[300:]], levels="grow")
    same(grown, bn.update(x, more, levels="grow"), text)
    assert len(bn.values(grown)["buying"]) == 4


def prepared(first):
    return bn.bnc("nb", "buys", first, smooth=1, discretize="width", min_count=2, missing_level=True)


def test_models_that_prepare_raw_data():
    rng = np.random.default_rng(0)
    first, more = (
        people(i, 60, towns).assign(size=rng.normal(size=60)) for i, towns in enumerate(("abc", "abcd"))
    )
    more.loc[3, "town"] = "zz"
    x = prepared(first)
    grown = bn.update(x, more, levels="grow")
    assert bn.values(grown)["size"] == bn.values(x)["size"]
    assert bn.values(grown)["town"] == ("p", "q", "r", "zz", "(missing)")
    assert bn.values(grown)["grade"][-2:] == ("d", "(missing)")
    in_parts = bn.update(x, [more.iloc[:30], more.iloc[30:]], levels="grow")
    pd.testing.assert_frame_equal(bn.predict(grown, more, prob=True), bn.predict(in_parts, more, prob=True))
    mine = bn.pool([bn.lp(x, rows, smooth=1) for rows in (first.iloc[:30], first.iloc[30:])])
    assert mine.preparation == x.preparation
    pd.testing.assert_frame_equal(bn.predict(mine, first, prob=True), bn.predict(x, first, prob=True))
    with pytest.raises(ValueError, match=r"cut points; got \('size', \(.*and, in models\[1\], \('size', \("):
        bn.pool([x, prepared(first.assign(size=first["size"] * 2))])


def test_what_cannot_be_pooled(car):
    x = bn.bnc("nb", "class", car, smooth=1)
    for options in MORE_THAN_COUNTS.values():
        weighted = bn.lp(bn.nb("class", car), car, **options)
        for call in (lambda y: bn.pool([x, y]), lambda y: bn.update(y, car, levels="grow")):
            with pytest.raises(ValueError, match=r"do not follow from counts.*Refit it to all rows"):
                call(weighted)
