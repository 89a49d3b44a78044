"""Records of long runs: a line of JSON for each result, on the disk before anything else is done."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verification.errors import InvalidArgumentError
from verification.instances import files


@dataclass(frozen=True)
class Lines:
    """A file of such lines. One that was not finished, as the machine went down, counts as not written."""

    path: Path

    @classmethod
    def new(cls, path: Path, *first: Any) -> "Lines":
        """A file with these lines alone."""
        path.write_text("".join(map(_line, first)), encoding="utf-8")
        return cls(path)

    def __iter__(self) -> Iterator[Any]:
        lines = self.path.read_bytes().split(b"\n")[:-1]
        yield from map(json.loads, filter(bytes.strip, lines))

    def read(self, command: str, kept: Callable[[Any], Any]) -> list[Any]:
        """What ``kept`` makes of the lines that a command wrote; none if there is no file.

        Raises
        ------
        InvalidArgumentError
            Naming a line that is no JSON, or of which ``kept`` makes nothing.
        """
        found, what = [], f"file={str(self.path)!r}"
        try:
            text = files.text(self.path) if self.path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(
                f"{what}: expected text that `{command}` wrote ({error})"
            ) from None
        for i, line in enumerate(text.split("\n")[:-1], start=1):
            try:
                found.append(kept(json.loads(line)))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise InvalidArgumentError(
                    f"{what}, line {i}: expected a line that `{command}` wrote ({error}); delete the "
                    "line, or give another file"
                ) from None
        return found

    def add(self, value: object) -> None:
        """Write a line.

        Raises
        ------
        InvalidArgumentError
            The disk is full, or the file cannot be written.
        """
        try:
            with self.path.open("a+b") as stream:
                stream.seek(0)
                stream.truncate(stream.read().rfind(b"\n") + 1)
                stream.write(_line(value).encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise InvalidArgumentError(
                f"{self.path} cannot be written ({error.strerror}); the rows before are kept: make room, then "
                "go on"
            ) from None


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


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
