"""Ctrl-C and a model that is trained, but not yet certified and stored: the first one waits for it.

Within `Interrupts` a SIGINT raises KeyboardInterrupt as ever, except between `hold_back`, which every
trainer calls when it is done, and the next check of a training (`let_through`), or the end. Outside,
in other threads, and where somebody handles SIGINT, nothing is changed.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

_running = threading.local()


class Interrupts:
    """Handles SIGINT instead of Python's default; an interrupt that had to wait is raised at the end."""

    def __enter__(self) -> None:
        self.holding = self.waiting = False
        self.outer: Interrupts | None = getattr(_running, "innermost", None)
        self.before = signal.getsignal(signal.SIGINT)
        usual = self.before is signal.default_int_handler or isinstance(self.before, Interrupts)
        self.handles = usual and threading.current_thread() is threading.main_thread()
        if self.handles:
            _running.innermost = self
            signal.signal(signal.SIGINT, self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.holding = True  # until it is handed back
        if self.handles:
            _running.innermost = self.outer
            signal.signal(signal.SIGINT, self.before)
        if self.waiting and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.waiting or not self.holding:
            raise KeyboardInterrupt
        self.waiting = True


def hold_back() -> None:
    """From here on the first interrupt waits; a second one does not."""
    innermost: Interrupts | None = getattr(_running, "innermost", None)
    if innermost is not None:
        innermost.holding = True


def let_through() -> None:
    """From here on interrupts are raised, first of all one that has waited."""
    innermost: Interrupts | None = getattr(_running, "innermost", None)
    if innermost is not None:
        innermost.holding = False
        if innermost.waiting:
            innermost.waiting = False
            raise KeyboardInterrupt


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within it the first interrupt waits, where one would be raised."""
    innermost: Interrupts | None = getattr(_running, "innermost", None)
    raises = innermost is not None and not innermost.holding
    hold_back()
    try:
        yield
    finally:
        if raises:
            let_through()


def keep_trained(results: list[Any]) -> None:
    """After an interrupt between two models: those that there are, the last of them as interrupted."""
    if not results:
        raise KeyboardInterrupt
    results[-1].interrupted = results[-1].stopped = True
