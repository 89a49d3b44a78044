"""Cells are limited by CPU time, and a build says which pages took most of it.

Loaded by Sphinx, and by the kernels that run the pages.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE, LIMIT, LOG = "REFSOLVE_PAGE", "REFSOLVE_CELL_SECONDS", "REFSOLVE_PAGE_SECONDS"


def load_ipython_extension(shell: Any) -> None:
    """Let a cell take so many CPU seconds, however busy the machine is; then it raises."""
    page, limit = os.environ.get(PAGE, "this page"), int(os.environ.get(LIMIT, "120"))

    def stop(*_: Any) -> None:
        raise TimeoutError(f"{page}: a cell took more than {limit} s of CPU time ({LIMIT})")

    def before(*_: Any) -> None:
        most = math.ceil(time.process_time()) + limit
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    def after(*_: Any) -> None:
        if folder := os.environ.get(LOG):
            used = sum(os.times()[:4])  # with that of the programs that the page ran
            Path(folder, page.replace("/", "+")).write_text(f"{used:.1f}", encoding="utf-8")

    signal.signal(signal.SIGXCPU, stop)
    shell.events.register("pre_run_cell", before)
    shell.events.register("post_run_cell", after)


def name_page(app: Sphinx, name: str, source: list[str]) -> None:
    """What the kernel of this page will call it."""
    os.environ[PAGE] = name


def tell(app: Sphinx, exception: Exception | None) -> None:
    """CPU seconds of the pages that ran, the five longest by name."""
    from sphinx.util import logging

    ran = {p.name: float(p.read_text(encoding="utf-8")) for p in Path(os.environ[LOG]).iterdir()}
    if ran:
        longest = sorted(ran, key=lambda name: -ran[name])[:5]
        names = ", ".join(f"{name} {ran[name]:.0f}" for name in longest)
        logging.getLogger(__name__).info(
            f"cells of {len(ran)} pages took {sum(ran.values()):.0f} s of CPU: {names}, ..."
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", name_page)
    app.connect("build-finished", tell)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
