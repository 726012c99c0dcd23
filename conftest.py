"""What running the examples needs: charts are drawn without a display, or not where matplotlib is missing."""

import os
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "agg")

collect_ignore = [] if find_spec("matplotlib") else ["bnclassify/plotting/charts.py"]
