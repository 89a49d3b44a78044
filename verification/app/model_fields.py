"""The JSON of a model file, read field by field: one that is wrong is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verification.errors import DataFileError

AGAIN = "write it again with `refsolve train`, or copy it again"


class ModelFileError(DataFileError):
    """A model file is missing, damaged, from another version, or no model file."""


class Fields:
    """An object of JSON whose fields are taken one by one; one that is wrong is named."""

    def __init__(self, data: object, where: str) -> None:
        if type(data) is not dict:
            raise ModelFileError(f"{where}: expected an object with names; {AGAIN}")
        self.data, self.where = data, where

    def refuse(self, name: str, expected: str) -> ModelFileError:
        """The complaint about a field."""
        given = f"is {self.data[name]!r:.80}" if name in self.data else "is missing"
        return ModelFileError(f"{self.where}: {name} {given}; expected {expected}; {AGAIN}")

    def take(self, name: str, expected: str, *kinds: type) -> Any:
        """A field of one of these types."""
        value = self.data.get(name)
        if name not in self.data or type(value) not in kinds:
            raise self.refuse(name, expected)
        return value

    def one_of(self, name: str, known: Sequence[str]) -> str:
        """A field that names one of those known."""
        value = self.take(name, f"one of {', '.join(known)}", str)
        if value not in known:
            raise self.refuse(name, f"one of {', '.join(known)}")
        return str(value)

    def number(self, name: str) -> float:
        """A number, also inf or nan as text."""
        value = self.data.get(name)
        if type(value) is str and value not in ("inf", "-inf", "nan"):
            raise self.refuse(name, "a number")
        return float(self.take(name, "a number", float, int, str))

    def optional(self, name: str) -> str | None:
        """A text; None where there is none, as in files of earlier releases."""
        return self.take(name, "a name or null", str, type(None)) if name in self.data else None

    def within(self, name: str) -> Fields:
        """A field that is an object itself."""
        return Fields(self.data.get(name), f"{self.where}, {name}")
