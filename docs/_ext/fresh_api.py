"""API pages are written anew at every build: none survives a module that is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx


def clear(app: Sphinx) -> None:
    shutil.rmtree(Path(app.srcdir) / "generated", ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", clear, priority=100)  # before autosummary writes them
    return {"parallel_read_safe": True, "parallel_write_safe": True}
