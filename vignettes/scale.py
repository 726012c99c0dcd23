# %% [markdown]
# # Large data
#
# A label needs one byte once it is encoded, so a file of ten gigabytes often fits in memory: chunks of a file, a Dask DataFrame
# and a table of a database can be used wherever this site uses a DataFrame. Networks consist of counts, which can also be added
# up over chunks, machines, later rows, and sites of a study. This page fits the same tree in all these ways and checks that the
# results are equal. It takes ten minutes. You need the extras `dask`, `databases` and `frames`.
#
# ```{index} ! large data, ! memory, ! memory error, ! chunks, ! Dask, ! DuckDB, ! weights, ! survey weights, ! frequencies
# ```

# %%
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from bnclassify import (
    BIC,
    bnc,
    cv,
    encode,
    families,
    load_car,
    loglik,
    lp,
    params,
    pool,
    predict,
    tan_cl,
    to_sql,
    update,
    values,
)

try:
    import polars as pl
except ImportError:
    pl = None

try:
    import dask.dataframe as dd
except ImportError:  # the extra `dask` installs it
    dd = None

try:
    import ibis

    warnings.filterwarnings(
        "ignore", "fetch_arrow_table", DeprecationWarning
    )  # in ibis itself
except ImportError:  # the extra `databases` installs it
    ibis = None

car = load_car()
model = bnc("tan_cl", "class", car, smooth=1)


def same(other):
    """Return whether a model equals the model in memory, including all tables."""
    tables = params(other)
    return families(other) == families(model) and all(
        (tables[v] == t).all() for v, t in params(model).items()
    )


# %% [markdown]
# ## Frequencies and survey weights
#
# Published data are often frequencies: 16 rows describe the 2,201 people aboard the Titanic. `weights_are="frequencies"` says
# that weights are numbers of equal rows. Survey weights are something else: with `weights_are="cases"`, each row stays one
# case, and the weights are scaled to the effective number of rows.

# %%
counted = pd.DataFrame(
    [
        ("male", "1st", "no", 118),
        ("male", "1st", "yes", 62),
        ("male", "2nd", "no", 154),
        ("male", "2nd", "yes", 25),
        ("male", "3rd", "no", 422),
        ("male", "3rd", "yes", 88),
        ("male", "crew", "no", 670),
        ("male", "crew", "yes", 192),
        ("female", "1st", "no", 4),
        ("female", "1st", "yes", 141),
        ("female", "2nd", "no", 13),
        ("female", "2nd", "yes", 93),
        ("female", "3rd", "no", 106),
        ("female", "3rd", "yes", 90),
        ("female", "crew", "no", 3),
        ("female", "crew", "yes", 20),
    ],
    columns=["sex", "cabin", "survived", "people"],
)
titanic = encode(counted, weights="people", weights_are="frequencies")
print(titanic)
aboard = lp(tan_cl("survived", titanic), titanic, smooth=0)
print(
    predict(
        aboard,
        pd.DataFrame({"sex": ["female", "male"], "cabin": ["3rd", "1st"]}),
        prob=True,
    ).round(3)
)

# %% [markdown]
# Structures, tables, scores, and the folds and metrics of `cv` use these weights.
#
# ## Frames of polars, Arrow and DuckDB
#
# You can pass a polars DataFrame or LazyFrame, an Arrow table, a DuckDB relation, and others that narwhals or the interface of
# Arrow supports. The rows are converted to pandas, so they must fit in memory. An Enum keeps the order of its categories.
# `predict` and `cv_predict` return a frame of the same library.

# %%
if pl is not None:
    enums = {
        name: pl.Enum(list(column.cat.categories)) for name, column in car.items()
    }
    cars = pl.from_pandas(car.astype(str)).cast(enums)
    in_polars = bnc("tan_cl", "class", cars, smooth=1)
    print(same(in_polars))
    print(predict(in_polars, cars.lazy().tail(2), prob=True))

# %% [markdown]
# The result is `True`: the model is the same as from pandas.
#
# ## Chunks of a file
#
# Instead of a DataFrame, pass a function that opens the file and returns chunks. Each chunk is read once and kept as codes. The
# first chunk determines the columns:

# %%
folder = TemporaryDirectory()
path = Path(folder.name) / "car.csv"
car.to_csv(path, index=False)


def chunks():
    """Return an iterator over chunks of the file, with all columns as text."""
    return pd.read_csv(path, chunksize=500, dtype=str)


in_chunks = bnc("tan_cl", "class", chunks, smooth=1)
print(
    families(in_chunks) == families(model),
    round(loglik(in_chunks, chunks), 3),
    round(loglik(model, car), 3),
    cv(in_chunks, chunks, k=5, rng=0),
)

# %% [markdown]
# Both models have the same structure and log-likelihood, and the last number is the accuracy in five folds. A list of
# DataFrames and functions that return batches of Arrow are accepted as well. Each function reads the chunks again. If you call
# several, encode first:

# %%
codes = encode(chunks)
print(codes)
print(families(lp(tan_cl("class", codes), codes, smooth=1)) == families(model))

# %% [markdown]
# The result is a `Dataset`, as from a DataFrame, and is accepted like one.
#
# ## Data that do not fit in memory
#
# Chunks, partitions and tables whose codes need more than 1 GiB, a billion labels, are counted where they are, and a warning
# says so. `encode(source, in_memory=False)` asks for it:

# %%
counted_in_turn = encode(chunks, in_memory=False)
print(counted_in_turn)
in_turn = lp(tan_cl("class", counted_in_turn), counted_in_turn, smooth=1)
print(families(in_turn) == families(model), round(loglik(in_turn, chunks), 3))

# %% [markdown]
# Tree and log-likelihood are the same. `encode` read the file once for the levels, `tan_cl` once to count all pairs, and `lp`
# once for the tables; `hc` reads it once per step. Only one chunk is in memory at a time. These functions, `nb`, `kdb_mi`,
# `chow_liu`, `aode`, `update` and scores such as `BIC` accept data that stay where they are. Others need the rows:

# %%
try:
    cv(model, counted_in_turn)
except TypeError as error:
    print(error)

# %% [markdown]
# A sample is often sufficient: learn the structure or the cut points from a sample in memory, and estimate the tables
# from all rows, with `lp(x, source, smooth=1)`.

# %% [markdown]
# ## Dask: threads, processes, a cluster
#
# The workers of a [Dask](https://docs.dask.org) DataFrame encode the partitions where they are stored, and send codes or, with
# `encode(frame, in_memory=False)`, only tables of counts. By default, Dask uses threads of this process. With
#
# ```python
# from distributed import Client
#
# client = Client(n_workers=8)              # eight processes on this machine
# client = Client("tcp://10.0.0.1:8786")    # a cluster
# ```
#
# the same code runs on a cluster.

# %%
if dd is not None:
    parts = dd.from_pandas(
        car, npartitions=3
    )  # from files: dd.read_parquet("cars/*.parquet")
    on_dask = bnc("tan_cl", "class", parts, smooth=1)
    stay = encode(parts, in_memory=False)
    print(same(on_dask), same(bnc("tan_cl", "class", stay, smooth=1)))

# %% [markdown]
# Predictions are lazy: `predict(on_dask, parts)` returns a Dask Series or DataFrame. Use partitions of about a million rows; a
# worker holds one at a time. Categorical columns with known categories (`frame.categorize()`) avoid one pass, and
# `client.persist(frame)` avoids reading the files again.
#
# ## Tables in databases
#
# A table of [ibis](https://ibis-project.org) of DuckDB, PostgreSQL, BigQuery, Spark or another engine can be used like a
# DataFrame: the database finds the levels, and sends the codes of all rows. With `encode(table, in_memory=False)`, it counts by
# GROUP BY queries, and only tables of counts are sent, so memory does not depend on the number of rows.

# %%
if ibis is not None:
    con = (
        ibis.duckdb.connect()
    )  # in this process; ibis.postgres.connect(...) and others reach servers
    con.raw_sql(f"CREATE TABLE cars AS FROM read_csv('{path}', all_varchar = true)")
    in_database = con.table("cars")  # of files: con.read_parquet("cars/*.parquet")
    in_sql = bnc("tan_cl", "class", encode(in_database, in_memory=False), smooth=1)
    print(
        families(in_sql) == families(model),
        round(BIC(in_sql, in_database), 3),
        round(BIC(model, car), 3),
    )

# %% [markdown]
# Both models have the same structure and BIC. The first needs three queries; `hc` needs one per step. If values are missing,
# `loglik`, `AIC` and `BIC` raise an error for a table whose rows stay in the database.
#
# Numeric columns are discretized in memory. The model then accepts raw rows, and `to_sql` returns the query that scores them:

# %%
if ibis is not None:
    con.raw_sql(
        "CREATE VIEW priced AS SELECT *, length(maint) + length(buying) / 8 AS price FROM cars"
    )
    cut = bnc("nb", "class", con.table("priced"), smooth=1, discretize="quantile")
    scored = con.raw_sql(to_sql(cut, table="priced")).df()
    print(cut.preparation.discretizer)
    print(
        (
            scored["predicted"]
            == predict(cut, con.raw_sql("FROM priced").df()).astype(str)
        ).mean()
    )

# %% [markdown]
# ## Updating a model with new rows
#
# A model contains its counts, and `update` adds those of new rows. The tables equal those of a fit to all rows:

# %%
first, more = car.iloc[::2], car.iloc[1::2]
grown = update(lp(model, first, smooth=1), more)
print(same(grown))

try:
    update(model, more.astype(str).assign(doors="6"))
except ValueError as error:
    print(error)

# %% [markdown]
# A new level raises an error. With `levels="grow"`, the tables are extended by it:

# %%
wider = update(model, more.astype(str).assign(doors="6"), levels="grow")
print(values(wider)["doors"])

# %% [markdown]
# ## Combining models of several sites
#
# If rows must not leave the sites that collected them, such as hospitals, each site can fit the same structure and send the
# model file:

# %%
structure = tan_cl("class", car)
mixed = car.sample(frac=1, random_state=0)
sites = [lp(structure, mixed.iloc[start::3], smooth=1) for start in range(3)]
print(same(pool(sites)))

# %% [markdown]
# The result equals the model of all rows. The models must have the same structure, prior and cut points;
# `levels="union"` unites their levels. A model contains counts, and a count of 1 describes a single row, so a model
# file can be confidential.

# %%
folder.cleanup()

# %% [markdown]
# ## Summary
#
# Use chunks, Dask or a table of ibis like a DataFrame, and `encode(source, in_memory=False)` for data that do not fit in memory
# or must stay where they are. The result is the same model.
