"""Pages that run code are run first, on all cores, whichever is next: Sphinx then finds them in the cache.

It reads fixed shares of the list by itself, so that a core with the lighter share waits.
"""

import logging
import multiprocessing
import os
from itertools import zip_longest
from pathlib import Path

from cpu import PAGE
from myst_nb.core.execute import create_client
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def cells(path: Path) -> int:
    """How much code a page has, in characters: the longest begin."""
    return sum(len(p) for p in path.read_text(encoding="utf-8").split("```{code-cell}")[1:])


def run(env: BuildEnvironment, name: str) -> None:
    """Run one page, if the cache has it not; what goes wrong, Sphinx will say when it reads it."""
    os.environ[PAGE] = name
    path = env.doc2path(name)
    text = Path(path).read_text(encoding="utf-8")
    reader = create_nb_reader(path, env.myst_config, env.mystnb_config, text)
    if reader is not None:
        quiet = logging.getLogger("pages")
        quiet.disabled = True
        with create_client(reader.read(text), path, env.mystnb_config, quiet, reader.read_fmt):
            pass


def run_pages(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    size = {name: cells(Path(env.doc2path(name))) for name in names}
    # The longest first, losses in turn with others: neighbours would compile the same kernels twice.
    losses, others = (
        sorted(
            (n for n in names if size[n] and n.startswith("losses/") == is_loss),
            key=lambda n: -size[n],
        )
        for is_loss in (True, False)
    )
    pages = [n for pair in zip_longest(losses, others) for n in pair if n is not None]
    if app.parallel < 2 or len(pages) < 2:
        return
    fork = multiprocessing.get_context("fork")
    with fork.Pool(app.parallel, maxtasksperchild=1) as pool:
        for task in [pool.apply_async(run, (env, name)) for name in pages]:
            task.get()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", run_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
