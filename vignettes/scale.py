# %% [markdown]
# # Past one machine
#
# Most models of this package are made of counts, and counts add up: over rows that stand for many, over pieces of
# a file that does not fit into memory, over the machines of a cluster, and over what came last year and this. On
# this page one tree is learned in all these ways, and is the same each time.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from bnclassify import (
    bnc,
    cv,
    encode,
    families,
    load_car,
    loglik,
    lp,
    params,
    predict,
    sample,
    tan_cl,
    update,
)

try:
    import dask.dataframe as dd
except ImportError:  # the extra `dask` installs it
    dd = None

car = load_car()
model = bnc("tan_cl", "class", car, smooth=1)


def same(other):
    """Whether a model is that of memory, to the last digit of each table."""
    tables = params(other)
    return families(other) == families(model) and all(
        (tables[v] == t).all() for v, t in params(model).items()
    )


# %% [markdown]
# ## Rows that count more than once
#
# Counts are often all that is published: 16 lines stand for the 2,201 people aboard the Titanic. `weights=` names
# the column that says how many each line stands for. It may hold any numbers from 0 on; whole ones are the same as
# rows repeated.

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
titanic = encode(counted, weights="people")
print(titanic)
aboard = lp(tan_cl("survived", titanic), titanic, smooth=0)
print(predict(aboard, pd.DataFrame({"sex": ["female", "male"], "cabin": ["3rd", "1st"]}), prob=True).round(3))

# %% [markdown]
# Everything that counts goes by these weights: structures, tables, scores, and the folds and metrics of `cv`.
#
# ## A file in chunks
#
# Pass a function that opens the file anew in place of the data frame. One chunk is in memory at a time, and where
# somebody watches, a bar shows how far it is. The first chunk tells the columns: the others must have them, and columns
# that only later chunks have are left out.

# %%
folder = TemporaryDirectory()
path = Path(folder.name) / "car.csv"
car.to_csv(path, index=False)


def chunks():
    """Open the file, some rows at a time; all columns as text, so that all chunks agree."""
    return pd.read_csv(path, chunksize=500, dtype=str)


in_chunks = bnc("tan_cl", "class", chunks, smooth=1)
print(
    families(in_chunks) == families(model), round(loglik(in_chunks, chunks), 3), round(loglik(model, car), 3)
)

# %% [markdown]
# `tan_cl` goes through the file once for the levels of the columns, which are sorted, and once for all pairs; `lp`
# once more for the tables. `nb` and `aode` need no pass for pairs, `kdb_mi` goes through the file once more, `hc` and
# `ban` once a step. Where one pass is enough, as for `lp` of a structure that knows its
# levels, and for scores, an iterator will do. Several frames may as well stand in a list, and batches of Arrow are
# taken as they are, such as the groups of rows of a Parquet file.

# %%
once = lp(model, pd.read_csv(path, chunksize=500, dtype=str), smooth=1)
print(same(once))

# %% [markdown]
# ## Threads, processes, a cluster
#
# A [Dask](https://docs.dask.org) DataFrame goes wherever a data frame goes, if counts are all that is needed. Its
# partitions are encoded and counted where they lie, the tables of sixteen at a time are added up, and only these
# travel: your process sees no row. Where that happens Dask decides, on the threads of this process unless you say
# otherwise. With
#
# ```python
# from distributed import Client
#
# client = Client(n_workers=8)              # eight processes here
# client = Client("tcp://10.0.0.1:8786")    # a cluster elsewhere
# ```
#
# the same line below runs on a cluster, and if one of its processes dies, its part is counted again by others.

# %%
if dd is not None:
    parts = dd.from_pandas(car, npartitions=3)  # from files: dd.read_parquet("cars/*.parquet")
    on_dask = bnc("tan_cl", "class", parts, smooth=1)
    print(same(on_dask))

# %% [markdown]
# Predictions are lazy: they come back as a Dask Series or DataFrame, to be written in parts, or computed. `cv`
# deals rows into folds by a hash of the row and its label, or by a column that you name, and adds up what metrics
# are made of.

# %%
if dd is not None:
    posteriors = predict(on_dask, parts, prob=True)
    print(type(posteriors).__name__, posteriors.npartitions)
    print(posteriors.tail(2).round(3))
    print(cv(on_dask, parts, k=5, metric=["accuracy", "log_loss"], rng=0).round(3))

# %% [markdown]
# Make partitions of about a million rows, with `split_row_groups=` or `blocksize=` of `dd.read_parquet`: a worker
# holds one at a time. Columns of known categories, `frame.categorize()`, save the pass that looks for levels, and
# `client.persist(frame)` the reading, where all workers together have the memory.
#
# ## More rows later
#
# `lp` keeps the counts, also in files that `save` writes. `update` adds rows to them: the structure, the levels
# and the prior stay, and the tables are those of all rows.

# %%
first, more = car.iloc[::2], car.iloc[1::2]
grown = update(lp(model, first, smooth=1), more)
print(same(grown))

try:
    update(model, more.astype(str).assign(doors="6"))
except ValueError as error:
    print(error)

# %% [markdown]
# A value that is new is an error, and a sign that it is time to learn all again.
#
# ## What needs rows
#
# Search by cross-validation (`tan_hc`, `kdb`, …), EM, weights by WANBIA, AWNB and leave-one-out, and cut points go
# through rows again and again. They say so, and how to take a sample.

# %%
try:
    lp(tan_cl("class", car), chunks, smooth=1, missing="em")
except TypeError as error:
    print(error)

# %% [markdown]
# Often that is all that is needed: learn the structure, or where to cut numbers, from a sample in memory, and the
# tables from all rows. A model that cuts numbers by itself takes them raw in parts, too:

# %%
numbers = sample(model, 2_000, rng=0).assign(price=lambda rows: range(len(rows)))
cutting = bnc("nb", "class", numbers.sample(frac=0.2, random_state=0), smooth=1, discretize="mdlp")
print(predict(lp(cutting, [numbers.iloc[:1000], numbers.iloc[1000:]], smooth=1), numbers.tail(2)).tolist())
folder.cleanup()
