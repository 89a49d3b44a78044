"""What all commands share: where they print, how they show progress, how they end."""

import importlib
import logging
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from verification.errors import InvalidArgumentError
from verification.report.document import Document
from verification.report.render import render_json, render_terminal

LOG = logging.getLogger("verification")
#: Exit codes: 0 all well, 1 a check failed, 2 the request could not be understood, 3 nothing failed, and
#: on a small instance no reference could certify itself.
FAILED, MISUSED, INCONCLUSIVE = 1, 2, 3


def stdout() -> Console:
    """Console for results; made on demand so that redirections are seen."""
    # A pipe has no width of its own: tables there must not be folded to 80 columns.
    width = None if sys.stdout.isatty() else 160
    # text also inside a notebook, where rich would bypass standard output
    return Console(width=width, force_jupyter=False)


def stderr() -> Console:
    """Console for progress and errors, so that standard output stays clean."""
    return Console(stderr=True, force_jupyter=False)


def finish(document: Document, as_json: bool) -> None:
    """Print the document; end with exit code 1 if its verdict is negative, 3 if it is inconclusive."""
    if as_json:
        sys.stdout.write(render_json(document) + "\n")
    else:
        render_terminal(document, stdout())
    if document.ok is False:
        raise typer.Exit(INCONCLUSIVE if document.inconclusive else FAILED)


def make_folder(option: str, folder: Path) -> None:
    """Make the folder of an option now: not after minutes of work for nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(
            f"{option}={str(folder)!r}: expected a folder, or where one can be made "
            f"({error.strerror})"
        ) from None


def fresh_folder(option: str, folder: Path, resume: bool, force: bool) -> None:
    """Make the folder of a run; refuse one that holds something, unless the run goes on or replaces it."""
    make_folder(option, folder)
    if not (force or resume) and any(folder.iterdir()):
        raise InvalidArgumentError(
            f"{option}={str(folder)!r} is not empty; expected a new folder; --resume goes on with a run that was "
            "ended, --force replaces what there is"
        )


def picture_folder(folder: Path | None) -> None:
    """Make the folder for pictures, if they are asked for, and see that they can be drawn."""
    from verification.benchmarks.plots import pyplot

    if folder is not None:
        pyplot()
        make_folder("output", folder)


def one_of(option: str, given: Iterable[Any] | None, known: Iterable[Any]) -> list[Any]:
    """What was given for an option, each once; everything known if nothing was.

    Raises
    ------
    InvalidArgumentError
        Something that is not known.
    """
    possible = list(known)
    if unknown := sorted(set(given or ()) - set(possible)):
        raise InvalidArgumentError(
            f"{option} is {unknown}; expected one of {', '.join(map(str, possible))}"
        )
    return list(dict.fromkeys(given or possible))


def check_file(option: str, file: Path) -> None:
    """Refuse the file of an option now, if it cannot be written: not after minutes of work."""
    existed = file.exists()
    try:
        with file.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise InvalidArgumentError(
            f"{option}={str(file)!r}: expected a file that can be written, in a folder that exists "
            f"({error.strerror})"
        ) from None
    if not existed:
        file.unlink()


class Alive:
    """Where standard error is no terminal, a line after each ten silent seconds: what is going on."""

    def __init__(self) -> None:
        self.doing, self.said, self.start = "", perf_counter(), perf_counter()

    def note(self, doing: str | None = None) -> None:
        """Something was said; what goes on from now."""
        self.said = perf_counter()
        self.doing = self.doing if doing is None else doing

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Say so until the end of the block."""
        self.doing, self.start = "", perf_counter()
        self.note()
        ended = threading.Event()
        if not sys.stderr.isatty():
            threading.Thread(target=self._run, args=(ended, sys.stderr), daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _run(self, ended: threading.Event, stream: Any) -> None:
        while not ended.wait(1.0):
            now = perf_counter()
            if now - self.said >= SILENT:
                with suppress(OSError, ValueError):  # nobody reads it any more
                    stream.write(f"{now - self.start:6.0f} s  still at work: {self.doing}\n")
                    stream.flush()
                self.note()


ALIVE = Alive()


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Say on standard error, once a stage is done, how many seconds it took."""
    start, before = perf_counter(), ALIVE.doing
    ALIVE.note(STAGES.get(text, text))
    yield
    LOG.info("%6.1f s  %s", perf_counter() - start, text)
    ALIVE.note(before)


@contextmanager
def imported_beside(file: Path, *modules: str) -> Iterator[None]:
    """Import modules that are there in a thread while a large file is read, which leaves the interpreter free."""

    def run() -> None:
        for module in modules:
            with suppress(ImportError):
                importlib.import_module(module)

    beside = threading.Thread(target=run)
    large = file.is_file() and file.stat().st_size > LARGE
    if large:
        for module in READING:  # first, so that no package is imported by two threads
            with suppress(ImportError):
                importlib.import_module(module)
        beside.start()
    try:
        yield
    finally:
        if large:
            beside.join()


def say(*lines: str) -> None:
    """Lines on standard error: what a file's columns were taken for, and the like."""
    ALIVE.note()
    for line in lines:
        stderr().print(line, style="dim", highlight=False, soft_wrap=True, markup=False)


def wrote(*files: Path) -> None:
    """A line on standard error: where the results are."""
    say("wrote " + ", ".join(map(str, files)))


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Warnings, such as that of columns that are left out, as lines on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    say(*(str(each.message) for each in caught))


#: Bytes of a file that takes as long to read as modules to import.
LARGE = 1 << 24
READING = ("pandas", "pyarrow.compute", "pyarrow.csv", "pyarrow.parquet")
#: Seconds between two lines of progress in a log.
EVERY = 5.0
#: Silent seconds after which a log hears that the command still runs, and what it does in stages named by their end.
SILENT = 9.0
STAGES = {"made the kernels ready": "compiling kernels, once for all runs", "trained": "training",
          "measured, and drawn": "measuring and drawing", "measured": "measuring", "audited": "auditing"}  # fmt: skip


class Task:
    """One bar: `step` moves it on, `at` sets it, `describe` says what is being worked on."""

    def __init__(self, bar: Progress, total: int) -> None:
        self._bar = bar
        self._id = bar.add_task("", total=total)
        self._start = self._said = perf_counter()

    def describe(self, text: str) -> None:
        """Say what is being worked on, or waited for."""
        self._bar.update(self._id, description=text)
        self._say(text)

    def step(self, text: str | None = None) -> None:
        """One unit is done."""
        self._bar.update(self._id, advance=1, description=text)
        self._say(text)

    def _say(self, text: str | None) -> None:
        """Where nobody looks at a bar, say in a line every few seconds how far it is."""
        now, task = perf_counter(), self._bar.tasks[0]
        done = f"{min(task.completed, task.total or 0):.0f}/{task.total:.0f}  {text or task.description}"
        ALIVE.doing = done
        if self._bar.disable and now - self._said >= EVERY:
            self._said = now
            ALIVE.note()
            line = f"{now - self._start:6.0f} s  {done}"
            self._bar.console.print(line, style="dim", highlight=False, soft_wrap=True)

    def at(self, done: int, text: str, total: int | None = None) -> None:
        """So many units are done, of a total that may have changed."""
        self._bar.update(self._id, completed=done, description=text, total=total)
        self._say(text)


@contextmanager
def progress(total: int) -> Iterator[Task]:
    """Show a progress bar on standard error, and only if somebody is looking at it."""
    console = stderr()
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        yield Task(bar, total)
