"""Records of long runs: a line of JSON each, read again where a run goes on."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from verification.errors import InvalidArgumentError
from verification.instances import files


def read(path: Path, command: str) -> list[dict[str, Any]]:
    """The objects of a file; none if there is no file.

    Raises
    ------
    InvalidArgumentError
        A line that is none, such as the last one of a run that was killed.
    """
    found: list[dict[str, Any]] = []
    try:
        text = files.text(path) if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgumentError(
            f"file={str(path)!r}: expected text that `{command}` wrote ({error})"
        ) from None
    for i, line in enumerate(text.splitlines(), start=1):
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise refused(path, i, command, str(error)) from None
        if not isinstance(found[-1], dict):
            raise refused(path, i, command, "no object")
    return found


@contextmanager
def appended(path: Path) -> Iterator[TextIO]:
    """The file, to add lines to; an OSError of writing them, which names no file, gets its name."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            yield stream
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def refused(path: Path, line: int, command: str, said: str) -> InvalidArgumentError:
    """What is wrong with a line, and what to do."""
    return InvalidArgumentError(
        f"file={str(path)!r}, line {line}: expected a line that `{command}` wrote ({said}); delete the "
        "line, or give another file"
    )


def check(data: Any, kinds: Mapping[str, type | tuple[type, ...]]) -> None:
    """ValueError unless the fields are there, each of its type."""
    for name, kind in kinds.items():
        if not isinstance(data, dict) or name not in data:
            raise ValueError(f"{name} is missing")
        value = data[name]
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise ValueError(f"{name} is {value!r:.40}")
        if isinstance(value, int) and abs(value) > 2**63:
            raise ValueError(f"{name} is too large")
        if isinstance(value, dict) and not all(type(v) is int for v in value.values()):
            raise ValueError(f"{name}: no counts")
