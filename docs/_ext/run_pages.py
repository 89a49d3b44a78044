"""Pages that run code are run first, on all cores, whichever is next: Sphinx then finds them in the cache.

It reads fixed shares of the list by itself, so that a core with the lighter share waits.
"""

import json
import logging
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path

import warm_kernels as warm
from cpu import PAGE
from myst_nb.core.execute import create_client
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError


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
    with warm_kernels(), fork.Pool(app.parallel, maxtasksperchild=1) as pool:
        for task in [pool.apply_async(run, (env, name)) for name in pages]:
            task.get()


@contextmanager
def warm_kernels() -> Iterator[None]:
    """Kernels that start inside are forks of one process."""
    program, paths = warm.__file__, os.environ.get("JUPYTER_PATH")
    with tempfile.TemporaryDirectory(prefix="refsolve-kernels-") as folder:
        spec = Path(folder, "kernels", "python3", "kernel.json")
        spec.parent.mkdir(parents=True)
        asking = [sys.executable, "-S", program, "ask", "{connection_file}"]
        told = {"argv": asking, "display_name": "Python 3", "language": "python"}
        spec.write_text(json.dumps(told), encoding="utf-8")
        address = str(Path(folder, "line"))
        serving = [sys.executable, program, "serve", address]
        with subprocess.Popen(serving, stdin=subprocess.PIPE) as server:
            while not Path(address).exists():  # it imports
                if server.poll() is not None:
                    raise ExtensionError("the process that kernels are forked from has ended")
                time.sleep(0.1)
            os.environ |= {"JUPYTER_PATH": folder, warm.ASK: address}
            try:
                yield
            finally:
                del os.environ[warm.ASK], os.environ["JUPYTER_PATH"]
                os.environ |= {"JUPYTER_PATH": paths} if paths else {}
                assert server.stdin is not None
                server.stdin.close()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-before-read-docs", run_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
