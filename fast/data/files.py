"""Files under a source: what their errors say, and whether they are still the same."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from fast.errors import UnreadableError

Stamp = tuple[int, int]


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Give errors of the system the file's name and a fix."""
    try:
        yield
    except UnreadableError:
        raise
    except OSError as error:
        given = error.strerror or str(error)
        fix = "check the path, its permissions and the disk, or write the file again"
        raise UnreadableError(name, given, "a file that may be read", fix) from error


def stamp(name: str, before: Stamp | None = None) -> Stamp:
    """Size and time of change; raises where they are not as ``before``, or it is no plain file."""
    with reading(name):
        found = os.stat(name)
    if not stat.S_ISREG(found.st_mode):
        fix = "pass the files in the order of their rows, for example sorted(Path(...).glob(...))"
        raise UnreadableError(name, "a folder or a device", "a plain file", fix)
    now = (found.st_size, found.st_mtime_ns)
    if before is not None and now != before:
        given = f"changed since it was opened ({before[0]} bytes then, {now[0]} now)"
        fix = "call fast.data.rows again, and write files to another name while they are in use"
        raise UnreadableError(name, given, "the same file in every pass", fix)
    return now
