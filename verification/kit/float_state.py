"""The floating point state of a thread: numpy's error handling, rounding, numbers below the normal ones.

A library that is built with -Ofast flushes subnormal numbers from when it is loaded; interval arithmetic
changes the rounding. Both act on everything that is computed afterwards, on the judge's numbers too.
"""

import ctypes
import sys
from typing import NamedTuple

import numpy as np

ONE, DUST, HALF, LEAST = 1.0, 2.0**-60, 0.5, sys.float_info.min
_ROOM = 512  # bytes of a floating point environment, at most


class State(NamedTuple):
    """What arithmetic does: each in words."""

    errors: tuple[str, ...]
    rounding: str
    subnormals: str


def now() -> State:
    """The state of this thread, by computing."""
    up, down, inward = ONE + DUST > ONE, -ONE - DUST < -ONE, ONE - DUST < ONE
    rounding = "up" if up else "down" if down else "toward zero" if inward else "to nearest"
    kept = "kept" if LEAST * HALF != 0 else "flushed to zero"
    return State(tuple(map(str, np.geterr().values())), rounding, kept)


def changes(before: State, after: State) -> str:
    """What differs, in words."""
    found = []
    if before.errors != after.errors:
        pairs = zip(np.geterr(), before.errors, after.errors, strict=True)
        named = ", ".join(f"{n} from {a!r} to {b!r}" for n, a, b in pairs if a != b)
        found.append(f"numpy's error state (np.seterr): {named}")
    if before.rounding != after.rounding:
        found.append(f"the rounding mode: {before.rounding} became {after.rounding}")
    if before.subnormals != after.subnormals:
        found.append(f"subnormal numbers: {before.subnormals}, then {after.subnormals}")
    return "; ".join(found)


def restore() -> None:
    """Rounding and subnormal numbers as they were when this module was loaded, where the system can."""
    if _SAVED is not None:
        _C.fesetenv(_SAVED)


try:
    _C = ctypes.CDLL(None if sys.platform != "win32" else "ucrtbase")
    _SAVED: "ctypes.Array[ctypes.c_char] | None" = ctypes.create_string_buffer(_ROOM)
    _C.fegetenv(_SAVED)
except (OSError, AttributeError, TypeError):
    _SAVED = None
#: As the process had it; the default, unless a library was loaded before that changes it.
USUAL = now()._replace(rounding="to nearest", subnormals="kept")
