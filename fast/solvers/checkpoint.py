"""The state of a run in a file, written whole or not at all, from which it goes on to the same bits."""

import contextlib
import errno
import hashlib
import os
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from fast.errors import InvalidParameterError

SHARE = 0.05  # of the time that writing may take
FORMAT = 2  # of what is written


class Checkpoint:
    """A file that holds the last state written of one run.

    Parameters
    ----------
    path : path-like
        An .npz file; beside it, while it is written, one whose name ends in ".part".
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.problem = Path(path), ""
        self.due = -np.inf

    def open(self, parts: Iterable[Any]) -> dict[str, np.ndarray] | None:
        """What the file holds, if there is one; ``parts``, numbers and arrays, tell the problem.

        Raises
        ------
        fast.errors.InvalidParameterError
            The file belongs to another problem, or is none of ours.
        """
        if not self.path.absolute().parent.is_dir():
            raise self._refused("its folder is not there")
        found = hashlib.sha256(bytes([FORMAT]))
        for part in parts:
            array = isinstance(part, np.ndarray)
            found.update(f"{part.dtype} {part.shape}".encode() if array else repr(part).encode())
            found.update(np.ascontiguousarray(part).tobytes() if array else b"")
        self.problem = found.hexdigest()
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                held = dict(file)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise self._refused(f"no checkpoint ({error})") from None
        if str(held.pop("problem", "")) != self.problem:
            raise self._refused("of other data, labels, weights, C or loss")
        return held

    def _refused(self, why: str) -> InvalidParameterError:
        fix = "name another file, or remove this one to begin anew"
        return InvalidParameterError("checkpoint", f"{self.path}: {why}", "one of this run", fix)

    def save(self, state: Callable[[], dict[str, Any]]) -> None:
        """Write ``state()`` if it is time to.

        Raises
        ------
        fast.errors.InvalidParameterError
            It cannot be written; the last state stays as it was.
        """
        begun = time.monotonic()
        if begun < self.due:
            return
        short = self.path.with_name(self.path.name + ".part")
        try:
            with short.open("wb") as file:
                np.savez(file, problem=np.array(self.problem), **state())
                file.flush()
                os.fsync(file.fileno())
            short.replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                short.unlink()
            given = f"{self.path}: {error.strerror}"
            room = "make room" if error.errno == errno.ENOSPC else "make it so"
            fix = f"{room}; the last state is whole: fit again to go on"
            raise InvalidParameterError("checkpoint", given, "a file to write to", fix) from None
        now = time.monotonic()
        self.due = now + (now - begun) / SHARE
