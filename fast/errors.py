"""Exceptions of :mod:`fast`; each message names the argument, what was given and the fix."""

from __future__ import annotations

from typing import Any


class FastError(Exception):
    """Base of every exception raised on purpose by :mod:`fast`."""


class InvalidParameterError(FastError, ValueError):
    """An argument is outside its range, or does not fit the others.

    Parameters
    ----------
    argument : str
        Name of the argument.
    given : str
        What was found.
    expected : str
        What is accepted.
    fix : str
        What to change.
    """

    def __init__(self, argument: str, given: str, expected: str, fix: str) -> None:
        self.argument = argument
        self.given = given
        self.expected = expected
        self.fix = fix
        super().__init__(f"{argument}: {given}; expected {expected}. Fix: {fix}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.given, self.expected, self.fix)


class InvalidTypeError(InvalidParameterError, TypeError):
    """An argument has a type (or an array a dtype) that carries no real numbers."""


class DatasetError(FastError, OSError):
    """A shipped data file is missing or damaged."""
