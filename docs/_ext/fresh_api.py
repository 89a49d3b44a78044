"""API pages are written anew at every build, and stand beside the sidebar, which half of a build went into."""

import shutil
from pathlib import Path

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def clear(app: Sphinx) -> None:
    shutil.rmtree(Path(app.srcdir) / "generated", ignore_errors=True)


def leave_sidebar(app: Sphinx, env: BuildEnvironment) -> None:
    """The sidebar of every page ends at the API's front page, which lists the modules."""
    for name, contents in env.tocs.items():
        if name == "api" or name.startswith("generated/"):
            for tree in list(contents.findall(addnodes.toctree)):
                tree.parent.remove(tree)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", clear, priority=100)  # before autosummary writes them
    app.connect("env-updated", leave_sidebar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
