"""Sphinx configuration: text notebooks executed at every build, warnings fatal, nothing remote."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# The kernels that run the pages see the same code as autodoc: the checkout, then docs/_ext.
for folder in (HERE / "_ext", ROOT):
    sys.path.insert(0, str(folder))

from kernel_home import fresh_ipython_home  # noqa: E402
from page_cache import page_cache  # noqa: E402

inherited = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(HERE / "_ext"), *inherited])
os.environ["PYTHONWARNINGS"] = "default"
os.environ["IPYTHONDIR"] = fresh_ipython_home()
# Timings in the pages are for one thread.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

project = "refsolve"
author = "the refsolve developers"
copyright = "the refsolve developers"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "fresh_api",
    "plain_docstrings",
    "run_pages",
    "course",
    "cpu",
    "interactive",
    "names",
    "mathml",
    "offline",
    "terminal",
    "duals",
    "terms",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "records", "jupyter_execute", "**.ipynb_checkpoints"]

# -- Pages are programs: every cell runs, and one that raises or writes to stderr fails the build.
# A page that has run with the same cells and the same sources of all packages is not run again.
nb_execution_mode = "cache"
nb_execution_cache_path = page_cache(ROOT)
nb_execution_raise_on_error = (
    False  # but a warning, with its traceback: one page does not end the others
)
nb_execution_show_tb = True
nb_execution_timeout = 1800  # a hang ends; what computes too long is ended by docs/_ext/cpu.py
nb_output_stderr = "error"
nb_merge_streams = True
nb_ipywidgets_js = {}  # the default would load scripts from a remote host
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
# Inline SVG follows the reader's light or dark mode, so HTML comes before images.
nb_mime_priority_overrides = [("html", "text/html", 0)]

myst_enable_extensions = ["amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False

# -- API pages
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the numpydoc sections already say the types
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
# A name that a package re-exports has two homes; either is a good target.
suppress_warnings = ["ref.python"]

# -- HTML
html_theme = "furo"
html_title = "refsolve"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["lessons.css"]
html_js_files = [("narrow.js", {"defer": "defer"})]
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
