"""Files of models in the present format, and the fields of their records.

If a field of a record is removed, renamed or changes its meaning, raise `_VERSION` of
`bnclassify.files.storage`, and write the files again: ``python -m tests.stored``.
"""

import json
import warnings
from dataclasses import MISSING, is_dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import bnclassify as bn
from bnclassify.files import storage
from bnclassify.files.storage import _field_defaults
from bnclassify.tools.immutable import RECORDS

FOLDER = Path(__file__).parent / "reference" / "files"


def rows():
    """Rows of two categories, a number that is sometimes missing, and the class y."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("pq"), 60), "b": rng.choice(list("rst"), 60)})
    frame["x"] = rng.normal(size=60).round(2)
    frame["y"] = np.where(rng.random(60) < 0.3, "u", np.where(frame["x"] > 0, "u", "v"))
    frame.loc[::10, "x"] = np.nan
    return frame


def _plain(learner, **settings):
    return bn.bnc(learner, "y", rows(), **{"smooth": 1, "discretize": "mdlp", **settings})


MODELS = {
    "tan": lambda: _plain("tan_cl"),
    "aode": lambda: _plain("aode"),
    "ande": lambda: _plain("ande", dag_args={"n": 2}),
    "kernel": lambda: _plain("nb", discretize=None, numbers="kernel"),
    "backoff": lambda: _plain("kdb_mi", smooth=None, backoff=True),
    "weights": lambda: _plain(
        "kdb_mi", smooth=None, backoff=True, held_out="weights", discretize="averaged5"
    ),
    "default": lambda: bn.bnc(class_var="y", dataset=rows()),
    "scorecard": lambda: bn.scorecard(_plain("nb")),
    "effects": lambda: bn.from_effects(bn.effects(_plain("nb"))),
}


def fields_of_records():
    """The fields of each record of the package, by name, and whether files may lack them."""
    records = [value for value in RECORDS.values() if isinstance(value, type)]
    return {
        cls.__name__: {f: default is not MISSING for f, default in _field_defaults(cls).items()}
        for cls in sorted(records, key=lambda cls: cls.__name__)
        if cls.__module__.startswith("bnclassify.") and (is_dataclass(cls) or hasattr(cls, "_fields"))
    }


def write_again():
    """Write the files, their posteriors and the fields of the records."""
    posteriors = {}
    for name, make in MODELS.items():
        model = make()
        bn.save(model, FOLDER / f"{name}.json")
        posteriors[name] = bn.predict(model, rows(), prob=True)["u"].tolist()
    (FOLDER / "posteriors.json").write_text(json.dumps(posteriors, indent=1) + "\n")
    state = {"version": storage._VERSION, "fields": fields_of_records()}
    (FOLDER / "fields.json").write_text(json.dumps(state, indent=1) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_again()
