"""Records of long runs: a line of JSON for each result, on the disk before anything else is done."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verification.errors import InvalidArgumentError


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
