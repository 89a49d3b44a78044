"""Exceptions of :mod:`fast`; each message names the argument, what was given and the fix."""

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


class UnreadableError(InvalidParameterError, OSError):
    """A file of examples that cannot be read, or is no longer what it was when it was opened."""


class ClusterError(InvalidParameterError, ConnectionError):
    """A Dask cluster whose scheduler is lost, or that has had no worker for some time."""


class ContradictionError(FastError, ArithmeticError):
    """A lower bound on the optimum above an upper one: one of them is wrong, and nothing is certified.

    Bounds are rounded outwards, so this is a fault of :mod:`fast` or of the machine's arithmetic.

    Parameters
    ----------
    primal, dual : float
        The upper bound, and the lower one.
    """

    def __init__(self, primal: float, dual: float) -> None:
        self.primal, self.dual = primal, dual
        super().__init__(
            f"a lower bound {dual!r} on the optimum above an upper one {primal!r}: expected none, both are "
            "rounded outwards; nothing is certified, please report the data and the parameters"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.primal, self.dual)


class DatasetError(FastError, OSError):
    """A shipped data file is missing or damaged."""


class ColumnWarning(UserWarning):
    """Columns that were left out: a model that is used on them was trained without them."""


class UnjudgedWarning(UserWarning):
    """Classes that no example was measured on."""


class CollapseWarning(UserWarning):
    """An SVM+ whose weights are 0: its correcting function takes the blame for every example."""


class InseparableError(InvalidParameterError):
    """Easy examples that no hyperplane separates, with the proof.

    Parameters
    ----------
    mu : (n,) array
        mu >= 0 with sum 1/2 in each class: every w with y_i (<x_i, w> + b) >= 1 for all i has
        <r, w> >= 1, r = sum_i mu_i y_i x_i, and so ||w|| >= 1/||r|| (Farkas).
    norm : float
        ||r||.
    argument : str, default "easy"
        Name of the argument that chose the examples.
    """

    def __init__(self, mu: Any, norm: float, argument: str = "easy") -> None:
        self.mu, self.norm = mu, norm
        count = int((mu > 0).sum())
        bound = f"longer than {1.0 / norm:.1g}" if norm > 0.0 else "infinite"
        super().__init__(
            argument,
            f"{count} of the {len(mu)} easy examples prove that no w separates them "
            f"(it would be {bound}; their weights are this error's attribute mu)",
            "easy examples with y_i (<x_i, w> + b) >= 1 for some w and b",
            "take fewer easy examples: those that a binary SVM separates are separable together",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mu, self.norm, self.argument)
