"""Exceptions and statuses of :mod:`refsolve`; each message says what to do next."""

import difflib
import enum
from collections.abc import Iterable
from typing import Any


def _shown(value: object) -> str:
    """A short ``repr``: arrays by type and shape, long text cut."""
    shape = getattr(value, "shape", None)
    if shape is not None and shape != ():
        return f"{type(value).__name__} of shape {tuple(shape)}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class RefsolveError(Exception):
    """Base of every exception raised on purpose by :mod:`refsolve`."""

    def __reduce__(self) -> Any:  # the attributes stand in the order of the arguments
        given = [value for name, value in vars(self).items() if name[0] != "_"]
        return (type(self), tuple(given)) if given else super().__reduce__()


class _Missing:
    def __repr__(self) -> str:
        return "missing"

    def __reduce__(self) -> str:  # one object in every process
        return "MISSING"


#: The value of an argument that was not given.
MISSING = _Missing()


class InvalidParameterError(RefsolveError, ValueError):
    """An argument is outside its declared range.

    Parameters
    ----------
    argument : str
        Name of the argument.
    value : object
        What was given (arrays are shown by shape).
    expected : str
        What is accepted.
    fix : str
        What to change.
    """

    def __init__(self, argument: str, value: object, expected: str, fix: str) -> None:
        self.argument = argument
        self.value = value
        self.expected = expected
        self.fix = fix
        said = f"{argument} is missing" if value is MISSING else f"{argument} = {_shown(value)}"
        super().__init__(f"{said}: expected {expected}. Fix: {fix}.")


class InvalidGramError(InvalidParameterError):
    """The Gram matrix is not square, not symmetric or not positive semidefinite."""


class InfeasibleError(InvalidParameterError):
    """No point meets the constraints.

    Parameters
    ----------
    argument, value, expected, fix : object
        As in `InvalidParameterError`.
    farkas : object
        Multipliers of the constraints that prove it.
    """

    def __init__(
        self, argument: str, value: object, expected: str, fix: str, farkas: object
    ) -> None:
        super().__init__(argument, value, expected, fix)
        self.farkas = farkas


class UnknownProblemError(RefsolveError, LookupError):
    """No problem, object or operation has this name."""

    def __init__(self, name: str, known: Iterable[str], what: str = "problem") -> None:
        self.name = name
        self.known = sorted(known)
        self.what = what
        near = difflib.get_close_matches(str(name), self.known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
        listing = "refsolve.problems() lists the problems, refsolve.catalogue.objects() the objects"
        super().__init__(f"unknown {what} {_shown(name)}: {hint or 'no similar name'} ({listing}).")


class OracleUncertainError(RefsolveError, RuntimeError):
    """The oracle's answer does not carry a good enough certificate."""

    def __init__(self, problem: str, detail: str, remedy: str | None = None) -> None:
        self.problem = problem
        self.detail = detail
        self.remedy = remedy or Status.UNCERTAIN.remedy
        super().__init__(f"{problem}: {detail}. Remedy: {self.remedy}.")


class UncertainError(RefsolveError, RuntimeError):
    """No exact solution with a certificate of its own is at hand: the verdict is inconclusive."""


class Status(enum.StrEnum):
    """What the certificate says of an oracle's answer (never what the solver says)."""

    CERTIFIED = "certified"
    UNCERTAIN = "uncertain"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return _REMEDIES[self]


_REMEDIES = {
    Status.CERTIFIED: "nothing to do: the gap is within the tolerance",
    Status.UNCERTAIN: (
        "rescale the instance so that its numbers are near 1, try solver='CLARABEL', 'OSQP', "
        "'ECOS' or 'SCS', or use refsolve.exact for a projection of small or moderate size"
    ),
}
