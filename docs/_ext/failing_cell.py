"""When a cell stops the build, say which cell and why: myst-nb names the page only."""

import re

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def report(app: Sphinx, exception: Exception | None) -> None:
    # A parallel reader hands over its traceback as text, with the failing cell in it.
    cause = getattr(exception, "traceback", None) or getattr(exception, "__cause__", None)
    if cause is not None:
        logger.error("%s", COLOURS.sub("", str(cause)))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
