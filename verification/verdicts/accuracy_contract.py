"""What a candidate promises: a relative accuracy, by which certificates widen their bounds, and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError

_PROMISE: ContextVar[Callable[[], float | None]] = ContextVar("promise", default=lambda: None)


def current() -> float | None:
    """The relative accuracy promised by whoever is judged now; None: rounding is all that is excused."""
    return _PROMISE.get()()


@contextmanager
def held(promised: Callable[[], float | None]) -> Iterator[None]:
    """Judge by a promise, which is asked for anew each time: a program makes it with its first line."""
    token = _PROMISE.set(promised)
    try:
        yield
    finally:
        _PROMISE.reset(token)


def checked(accuracy: Any) -> float | None:
    """The promise as a float; InvalidArgumentError unless 0 < accuracy < 1."""
    if accuracy is None:
        return None
    if isinstance(accuracy, (int, float, np.number)) and 0 < accuracy < 1:
        return float(accuracy)
    raise InvalidArgumentError(
        f"accuracy={accuracy!r}: expected a relative accuracy 0 < accuracy < 1, e.g. 1e-10; leave it "
        "out where only rounding is excused"
    )
