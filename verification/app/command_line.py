"""What commands and the pytest plugin have in common: a solver by its name, arguments as text, files."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from verification.errors import InvalidArgumentError

if TYPE_CHECKING:
    from verification.report.document import Document
    from verification.verdicts.report import Report

FORMATS = ("html", "junit", "json")
FILES = {"html": "report.html", "junit": "junit.xml", "json": "report.json"}


@contextmanager
def opened(
    solver: str | None, program: str | None, problem: str, timeout: float = 10.0
) -> Iterator[Callable[..., Any] | None]:
    """What to verify: a function by its name, a program, which is ended, or None for that of `fast`."""
    from verification.kit.solver_call import load_callable

    if solver is not None and program is not None:
        raise InvalidArgumentError("--solver and --exec exclude each other; give one of them")
    with _ending_in_order():
        if program is None:
            yield None if solver is None else load_callable(solver)
            return
        from verification.external import External

        with External(program, problem, timeout=timeout) as started:
            yield started


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP like SIGINT, where nobody handles them: what we started ends with us."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt  # a SystemExit could be the candidate's own

    main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    free = [n for n in numbers if main and signal.getsignal(n) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


def fixed_arguments(words: Iterable[str]) -> dict[str, Any]:
    """``k=3``, ``loss=softmax``, ``costs=[0, 1]`` as arguments that the solver has built in."""
    found: dict[str, Any] = {}
    for word in words:
        name, _, text = word.partition("=")
        if not name.strip() or not text.strip():
            raise InvalidArgumentError(f"set={word!r}: expected NAME=VALUE, e.g. k=3")
        try:
            found[name.strip()] = json.loads(text)
        except (ValueError, RecursionError):
            found[name.strip()] = text.strip()  # a word, such as the name of a loss
    return found


def formats(text: str | None) -> tuple[str, ...]:
    """Formats of ``--report html,junit``; all of them unless given."""
    if text is None:
        return FORMATS
    chosen = [word.strip() for word in text.split(",")]
    for word in chosen:
        if word not in FORMATS:
            raise InvalidArgumentError(
                f"report={text!r}: expected some of {','.join(FORMATS)}, separated by commas; the "
                "folder goes with --output"
            )
    return tuple(f for f in FORMATS if f in chosen)


def write_files(
    document: Document, reports: Sequence[Report], folder: Path, wanted: Iterable[str] = FORMATS
) -> list[Path]:
    """Write a replay file per failing report, and the reports asked for, which link to each other."""
    from verification.app.console import make_folder
    from verification.failures.replay import save
    from verification.report.junit import render_junit
    from verification.report.page import render_html
    from verification.report.render import render_json, write_text

    make_folder("output", folder)
    chosen = tuple(wanted)
    failed = [r for r in reports if any(f.instance is not None for f in r.failures)]
    replays = [save(each, folder / f"{each.problem}.replay.json") for each in failed]
    links = [(f"replay file of {r.problem}", p.name) for r, p in zip(failed, replays, strict=True)]
    links += [(f"as {f}", FILES[f]) for f in chosen if f != "html"]
    shown = replace(document, links=(*document.links, *links))
    texts = {
        "html": lambda: render_html(shown),
        "junit": lambda: render_junit(reports),
        "json": lambda: render_json(shown) + "\n",
    }
    written = [folder / FILES[f] for f in chosen]
    for form, path in zip(chosen, written, strict=True):
        write_text(path, texts[form](), "output")
    return [*written, *replays]
