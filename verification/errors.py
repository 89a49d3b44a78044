"""Exceptions of the verification package; each names the argument, the value and the fix."""

from collections.abc import Iterator
from contextlib import contextmanager

from refsolve.errors import InvalidParameterError


class VerificationError(Exception):
    """Base of everything that this package raises on purpose."""


class VerificationFailedError(VerificationError, AssertionError):
    """A candidate failed, or nothing was judged; the message holds the smallest counterexample."""


class UnknownProblemError(VerificationError, KeyError):
    """The problem name is not ``<object>.<operation>`` of a known object."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class CandidateSignatureError(VerificationError, TypeError):
    """The callable under test asks for arguments that the problem does not have."""


class InvalidArgumentError(VerificationError, ValueError):
    """An argument has a wrong value."""


@contextmanager
def invalid_arguments() -> Iterator[None]:
    """What `refsolve` refuses of arguments, as an `InvalidArgumentError`."""
    try:
        yield
    except InvalidParameterError as error:
        raise InvalidArgumentError(str(error)) from error


class DataFileError(VerificationError, ValueError):
    """A data file is missing, malformed, or not what the options say it is."""


class UntrustedFileError(VerificationError, PermissionError):
    """A file names something to run, and nobody has said that it may be run."""


class NoDualPointError(VerificationError, ValueError):
    """A certificate was asked for that needs a dual point which nobody supplied."""


class RefusedError(VerificationError, ValueError):
    """A certificate does not prove its claim."""
