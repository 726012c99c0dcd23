"""Forms of data: frames in chunks, partitions of Dask, and tables of DuckDB, Parquet files and PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import bnclassify as bn

NUMBERS = count()


def chunks(frame, size=100):
    """A function that gives a frame in pieces, the first of them empty."""
    starts = [0, *range(0, len(frame), size)]
    return lambda: (frame.iloc[start : start + size * (i > 0)] for i, start in enumerate(starts))


def by_dask(frame, parts):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=parts, sort=False)


def with_unknown_categories(frame, parts):
    """Each partition with separate categories in a separate order, and one empty partition."""
    dd = pytest.importorskip("dask.dataframe")
    pieces = np.array_split(np.arange(len(frame)), parts)
    pieces.insert(1, np.array([], dtype=int))
    made = [frame.iloc[rows].astype(object).astype("category") for rows in pieces]
    unknown = dd.from_map(lambda i: made[i], range(len(made)), meta=made[0])
    return unknown.assign(**{c: unknown[c].cat.as_unknown() for c in frame})


def where_they_are(data, **options):
    return bn.encode(data, in_memory=False, **options)


def as_text(frame):
    """The frame without categories, whose levels are sorted as those of a table are."""
    return frame.astype(dict.fromkeys(frame.select_dtypes("category"), "string"))


def in_duckdb(duck, frame, columns="*"):
    name = f"t{next(NUMBERS)}"
    duck.con.register("frame", as_text(frame))
    duck.con.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM frame")
    duck.con.unregister("frame")
    return duck.table(name)


def in_parquet(duck, frame, folder):
    """A folder of files, read where it is."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        as_text(frame.iloc[part]).to_parquet(folder / f"{i}.parquet", index=False)
    return duck.read_parquet(folder / "*.parquet")


def program(name):
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))


@contextmanager
def server_of_postgres():
    """A server on a socket in a temporary folder, of a user who is not root."""
    initialize, control = program("initdb"), program("pg_ctl")
    if initialize is None or control is None:
        if os.environ.get("BNCLASSIFY_ALL_PROGRAMS"):
            pytest.fail("PostgreSQL is not installed")
        pytest.skip("PostgreSQL is not installed; Debian's package postgresql has it")
    pytest.importorskip("psycopg", reason="psycopg is not installed; the extra test has it")
    user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")  # a short path, as that of a socket must be
    if user:
        shutil.chown(folder, user["user"])

    def run(*command):
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **user)

    data, options = f"{folder}/data", f"-c listen_addresses='' -k {folder} -F"
    run(initialize, "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "--no-sync")
    run(control, "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start")
    try:
        server = pytest.importorskip("ibis").postgres.connect(host=folder, user="tester", database="postgres")
        yield server
        server.disconnect()
    finally:
        run(control, "-D", data, "-m", "fast", "stop")
        shutil.rmtree(folder)


TYPES = {"i": "bigint", "u": "bigint", "f": "double precision", "b": "boolean"}


def in_postgres(server, frame, **types):
    name, text = f"t{next(NUMBERS)}", as_text(frame)
    kinds = {column: types.get(column, TYPES.get(text[column].dtype.kind, "text")) for column in text}
    quoted = {column: '"' + column.replace('"', '""') + '"' for column in text}
    rows = text.astype(object).where(text.notna(), None).itertuples(index=False, name=None)
    with server.con.cursor() as cursor:
        columns = ", ".join(f"{quoted[column]} {kind}" for column, kind in kinds.items())
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * text.shape[1])})", list(rows))
    server.con.commit()
    return server.table(name)
