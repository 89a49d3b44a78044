"""Files under a source: what their errors say, and whether they are still the same."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from fast.errors import InvalidParameterError, UnreadableError

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
        fix = "pass a file, or the files in the order of their rows: fast.data.files.parts(folder)"
        raise UnreadableError(name, "a folder or a device", "a plain file", fix)
    now = (found.st_size, found.st_mtime_ns)
    if before is not None and now != before:
        given = f"changed since it was opened ({before[0]} bytes then, {now[0]} now)"
        fix = "call fast.data.rows again, and write files to another name while they are in use"
        raise UnreadableError(name, given, "the same file in every pass", fix)
    return now


def parts(folder: str | os.PathLike[str]) -> list[str]:
    """The files of a folder in the order of the numbers in their names: part 2 before part 10.

    Names that begin with a dot or an underscore are left out, as Spark and others do.

    Raises
    ------
    fast.errors.InvalidParameterError
        Files of several formats, or none.
    """
    where = os.fspath(folder)
    with reading(where):
        names = [name for name in os.listdir(where) if name[0] not in "._"]
    suffixes = sorted({os.path.splitext(name)[1].lower() for name in names})
    if len(suffixes) != 1:
        given = (
            f"files of the suffixes {', '.join(map(repr, suffixes))}"
            if names
            else "an empty folder"
        )
        fix = "keep other files elsewhere, or pass a list of files"
        raise InvalidParameterError(where, given, "a folder with the parts of one table", fix)
    return [os.path.join(where, name) for name in sorted(names, key=_numeric)]


def _numeric(name: str) -> list[tuple[int, str]]:
    """Numbers in a name compare as numbers."""
    return [(int(word), "") if word.isdigit() else (-1, word) for word in re.split(r"(\d+)", name)]
