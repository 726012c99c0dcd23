"""The site of bnclassify: ``python -m sphinx -j 2 -W vignettes build/site`` builds it, with the extra `docs`."""

import os
import sys
from pathlib import Path

import bnclassify
from numpydoc.xref import DEFAULT_LINKS

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
import executed

project = "bnclassify"
author = project_copyright = "The bnclassify developers"
version = release = bnclassify.__version__
language = "en"

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_nb",
    "sphinx_codeautolink",
    "sphinx_copybutton",
    "cards",
    "chapters",
    "decimals",
    "downloads",
    "mathml",
    "percent",
    "pictures",
    "reference",
    "valid",
]
exclude_patterns = ["_*", "**/_*", "conf.py", "project/paper/*"]
nitpicky = True
nitpick_ignore = [("py:obj", "fit")]  # the method
html_math_renderer = "mathml"

# Pages: scripts in cells; files that they write go to a temporary folder. A page is run again if its code,
# the package, its data or its libraries have changed.
nb_custom_formats = {".py": "percent.read"}
nb_execution_mode = "cache"
nb_execution_cache_path = executed.folder()
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_output_stderr = "warn"
nb_merge_streams = True
myst_enable_extensions = [
    "attrs_inline",
    "attrs_block",
    "colon_fence",
    "deflist",
    "dollarmath",
]
myst_heading_anchors = 3
os.environ["TQDM_DISABLE"] = "1"  # pages show no progress bars

# Reference: a page for each public function, from its docstring.
default_role = "py:obj"
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
DEFAULT_LINKS.clear()  # to the manuals of Python and NumPy, which are elsewhere
numpydoc_xref_aliases = {
    name: f"bnclassify{'' if name in bnclassify.__all__ else '.models'}.{name}"
    for name in bnclassify.models.__all__
}
codeautolink_concat_default = True

html_theme = "furo"
html_title = f"bnclassify {release}"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_favicon = "_static/favicon.svg"
html_last_updated_fmt = "%Y-%m-%d"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div.cell_input pre, div.highlight-python pre, div.highlight-sh pre, div.highlight-pycon pre"
html_css_files = ["site.css"]
html_js_files = ["wide.js"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
