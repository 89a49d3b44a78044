"""Long runs a row at a time: each is said and kept once it is known, and a run that was ended goes on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from types import UnionType
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin, get_type_hints

import numpy as np
import typer

from verification.app.console import FAILED, LOG, fresh_folder, stderr
from verification.benchmarks.timing import limit_to_one_thread
from verification.errors import InvalidArgumentError
from verification.kit.workers import end_with_parent
from verification.report.lines import Lines

if TYPE_CHECKING:
    from verification.app.console import Task

#: Rows as they were found.
KEPT = "rows.jsonl"
#: Processes that work side by side; each keeps to one thread.
WORKERS = 2

Jobs = Mapping[str, Callable[[], Any]]  # by the name of the row


class Kept:
    """Rows in a file of a folder, a line each; nowhere without a folder.

    ``settings`` decide the numbers: a run goes on with the same ones only.
    """

    def __init__(
        self, option: str, folder: Path | None, settings: Mapping[str, Any], resume: bool, force: bool
    ) -> None:  # fmt: skip
        self.file, self._said, head = None, dict[str, Any](), json.loads(json.dumps(settings))
        if folder is None:
            if resume or force:
                raise InvalidArgumentError(
                    f"resume and force go with --{option}, the folder of a run"
                )
            return
        fresh_folder(option, folder, resume, force)
        self.file = folder / KEPT
        if resume:
            self._read(head)
        else:
            Lines.new(self.file, head)

    def _wrong(self, error: Exception) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"resume: {self.file} is not what a run left ({error}); expected the folder of one: leave "
            "--resume out"
        )

    def _read(self, settings: dict[str, Any]) -> None:
        assert self.file is not None
        try:
            before, *said = Lines(self.file)
            other = [name for name, value in settings.items() if before[name] != value]
            self._said = {each["row"]: each["result"] for each in said}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._wrong(error) from None
        if other:
            raise InvalidArgumentError(
                f"resume: {other[0]} was {before[other[0]]!r}, now it is {settings[other[0]]!r}; expected "
                "the files and options of the run that was ended, or another folder"
            )

    def known(self, rows: Jobs, kind: object) -> dict[str, Any]:
        """Those of the rows that an earlier run left, each of this type."""
        try:
            return {row: built(kind, self._said[row]) for row in rows if row in self._said}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._wrong(error) from None

    def add(self, row: str, result: object) -> None:
        """Keep a row, on the disk before anything else is done."""
        if self.file is not None:
            Lines(self.file).add({"row": row, "result": plain(result)})


def run(
    jobs: Jobs, kept: Kept, task: Task, kind: object, line: Callable[[Any], str],
    prepare: Callable[[], None] | None = None, beside: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Results of type ``kind`` by row, fewer than jobs if Ctrl-C came first; `task` moves on by a row.

    ``line`` says a result; ``prepare`` compiles if anything is left to do; ``beside``: in worker processes.
    """
    found, start = kept.known(jobs, kind), perf_counter()
    left = {row: job for row, job in jobs.items() if row not in found}
    for _ in found:
        task.step()
    with suppress(KeyboardInterrupt), _interrupts() as seen:
        if left and prepare is not None:
            task.describe("compiling")
            prepare()
        for row, result in finished(left) if beside else ((r, job()) for r, job in left.items()):
            if seen:
                break
            kept.add(row, result)
            found[row] = result
            LOG.info("%6.1f s  %-22s %s", perf_counter() - start, row, line(result))
            task.step(row)
    return found


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Those that came, also where a trainer made an end with what it had."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def whole(jobs: Jobs, kept: Kept, *more: Any, **options: Any) -> dict[str, Any]:
    """All rows of `run`; the command ends here if Ctrl-C came first."""
    found = run(jobs, kept, *more, **options)
    if len(found) < len(jobs):
        rest = "lost, without --output" if kept.file is None else "kept; --resume goes on"
        stderr().print(f"Stopped: {len(found)} of {len(jobs)} rows are known, and {rest}")
        raise typer.Exit(FAILED)
    return found


def finished(jobs: Jobs, first: Jobs | None = None) -> Iterator[tuple[str, Any]]:
    """Names and results of jobs done side by side, as they come; the first exception ends them all.

    ``first``: jobs before the others, which wait for the first one of these.
    """
    workers = min(WORKERS, os.cpu_count() or 1)
    # spawn: a forked child would inherit numba's and BLAS's threads in an unknown state.
    with ProcessPoolExecutor(workers, get_context("spawn"), _start_worker) as pool:
        later = jobs if first else {}
        futures = {pool.submit(job): name for name, job in (first or jobs).items()}
        waiting, opening = set(futures), next(iter(futures), None)
        try:
            while waiting:
                ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield futures[future], future.result()
                if opening in ready and later:
                    futures |= (more := {pool.submit(job): name for name, job in later.items()})
                    waiting |= set(more)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _start_worker() -> None:
    end_with_parent()
    limit_to_one_thread()


# -- rows as JSON ---------------------------------------------------------------------------------


def plain(value: object) -> Any:
    """Dataclasses as objects, dictionaries as pairs, arrays as lists: `built` has them back."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return [[plain(name), plain(each)] for name, each in value.items()]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def built(kind: Any, said: Any) -> Any:
    """A value of a type from what `plain` made of it; of a type that says nothing lists become tuples."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        kinds = get_type_hints(kind)
        given = {name: built(kinds[name], value) for name, value in said.items()}
        return cast("type[Any]", kind)(**given)
    if origin is UnionType:
        return None if said is None else built(inner[0], said)
    if (kind is Any and isinstance(said, list)) or origin is tuple:
        each = repeat(inner[0] if inner else Any) if inner[1:] in ((), (...,)) else inner
        return tuple(map(built, each, said))
    if origin is list:
        return [built(inner[0], value) for value in said]
    if origin is dict:
        return {built(inner[0], name): built(inner[1], value) for name, value in said}
    if kind is np.ndarray:
        return np.array(said)
    if kind is not Any and not isinstance(said, (int, float) if kind is float else kind):
        raise TypeError(f"{said!r:.40} is no {kind.__name__}")
    return said
