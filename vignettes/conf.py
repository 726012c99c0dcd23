"""The site of bnclassify: ``python -m sphinx vignettes vignettes/html`` builds it, with the extra `docs`."""

import sys
from pathlib import Path

import bnclassify

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "bnclassify"
author = project_copyright = "The bnclassify developers"
version = release = bnclassify.__version__
language = "en"

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "myst_nb",
    "sphinx_codeautolink",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "percent",
]
exclude_patterns = ["_*", "**/_*", "html", "conf.py", "quickstart.py"]
html_math_renderer = "mathml"

# Pages: scripts in cells, run as they are; what they write goes to a folder that is forgotten.
nb_custom_formats = {".py": "percent.read"}
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_output_stderr = "warn"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

# Reference: a page for each public function, from its docstring.
default_role = "py:obj"
autosummary_generate = True
autosummary_filename_map = {"bnclassify.BNC": "bnclassify.BNC_class", "bnclassify.AODE": "bnclassify.AODE_class"}
autodoc_typehints = "none"
numpydoc_show_class_members = False
codeautolink_concat_default = True
codeautolink_autodoc_inject = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
import os
os.environ["TQDM_DISABLE"] = "1"
nb_execution_mode = "cache"
nb_execution_cache_path = "/tmp/w/nbcache"
