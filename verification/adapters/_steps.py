"""What an adapter is made of: steps that change the arguments on the way in, the answer on the way out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.errors import CandidateSignatureError, InvalidArgumentError
from verification.kit.signatures import parameters
from verification.problems.problem import Problem

Given = dict[str, Any]
#: The name under which an answer is spoken of that is one array.
ANSWER = "answer"


class Step:
    """One conversion; both directions do nothing unless overridden."""

    #: Names that the step lets the function ask for beyond the problem's own.
    adds: tuple[str, ...] = ()

    def before(self, given: Given) -> Given:
        """The arguments as the function wants them; a new dictionary, arrays never changed."""
        return given

    def after(self, answer: Any, given: Given) -> Any:
        """The answer as the problem wants it; ``given`` is what `before` was given."""
        return answer


def needed(problem: Problem | None, option: str) -> Problem:
    """The problem, or an error that names the option which cannot do without it."""
    if problem is None:
        raise InvalidArgumentError(
            f"problem=None: {option} depends on the shapes of the problem; "
            'say which, e.g. adapt(f, problem="softmax.conjugate", ...)'
        )
    return problem


def as_floats(array: np.ndarray) -> np.ndarray:
    """Integers as floats: answers written to them would be cut, and torch divides them in single precision."""
    return array.astype(float) if array.dtype.kind in "iu" else array


def parts(problem: Problem | None) -> tuple[str, ...]:
    """Names of the unknowns of a trained model, e.g. ("W",); empty for other problems."""
    return tuple(getattr(problem, "parts", ()) or ())


def each(
    answer: Any, change: Callable[[str, Any], Any], names: tuple[str, ...] = (), name: str = ANSWER
) -> Any:
    """An answer with ``change(name, part)`` applied to its parts, in the form that it came in."""
    if isinstance(answer, Mapping):
        return {key: each(value, change, (), str(key)) for key, value in answer.items()}
    if isinstance(answer, tuple):
        labelled = [*names, *[name] * len(answer)]
        return tuple(each(v, change, (), k) for k, v in zip(labelled, answer, strict=False))
    if answer is None:
        return None
    return change(names[0] if names else name, answer)


def sizes(given: Given) -> Given:
    """What formulas may ask for beside the arguments: n rows, m entries or classes, d features."""
    found: Given = {}
    for name in ("X", "K"):  # a data set, or its Gram matrix
        matrix = given.get(name)
        if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
            found["n"] = matrix.shape[0]
            if name == "X":
                found["d"] = matrix.shape[1]
            labels = np.asarray(given.get("y", ()))
            if labels.ndim == 2:
                found["m"] = labels.shape[1]
            elif labels.size:
                found["m"] = int(labels.max()) + 1
            return found
    main = next((v for v in given.values() if isinstance(v, np.ndarray)), None)
    if main is not None:
        found["n"] = len(main) if main.ndim == 2 else 1
        found["m"] = main.shape[-1] if main.ndim else 1
    return found


@dataclass(frozen=True)
class Formula:
    """A function of arguments by name, e.g. ``lambda C, n: 1 / (C * n)``.

    Parameters
    ----------
    function : callable
    what : str
        Where it was given, for messages.
    first : int
        Number of leading parameters that are no arguments of the problem: the answer.
    """

    function: Callable[..., Any]
    what: str
    first: int = 0

    def __call__(self, given: Given, *leading: Any) -> Any:
        """Its value; arguments that it does not name are not passed."""
        known = {**sizes(given), **given}
        missing = [n for n in self.names if n not in known]
        if missing:
            raise CandidateSignatureError(
                f"{self.what} asks for {', '.join(missing)}; there are {', '.join(known)}"
            )
        return self.function(*leading, **{n: known[n] for n in self.names})

    @property
    def names(self) -> list[str]:
        """The arguments that it asks for."""
        listed = parameters(self.function) or []  # np.negative and its like: of the answer alone
        return [p.name for p in listed[self.first :]]


def unknown(names: Iterator[str] | list[str], known: tuple[str, ...], option: str) -> None:
    """Refuse names that the problem does not have."""
    wrong = [n for n in names if n not in known]
    if wrong:
        raise InvalidArgumentError(
            f"{option}: {', '.join(map(repr, wrong))} not known; expected some of {', '.join(known)}"
        )
