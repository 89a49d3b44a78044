"""Reads what a trainer returned: an array, a tuple, a mapping or an object, as parts by name."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from verification.verdicts.verdict import Candidate


class AnswerError(Exception):
    """The answer is not made of arrays of numbers."""


def unwrap(output: Any, parts: tuple[str, ...], own: int) -> Candidate:
    """The parts of a model's answer.

    Parameters
    ----------
    output : array, tuple, mapping, object with attributes, or Candidate
        An array is the first part, a tuple the parts in order: those of the side asked for, and
        perhaps those of the other.
    parts : tuple of str
        Names of all unknowns, those of the side asked for first.
    own : int
        How many belong to the side asked for.

    Raises
    ------
    AnswerError
    """
    found = _named(output, parts, own)
    arrays = {name: _array(name, value) for name, value in found.items() if value is not None}
    if not arrays:
        raise AnswerError(f"returned {output!r:.200}, expected {', '.join(parts[:own])}")
    other = next((arrays[name] for name in parts[own:] if name in arrays), None)
    return Candidate(arrays.get(parts[0]), other, parts=arrays)


def _named(output: Any, parts: tuple[str, ...], own: int) -> dict[str, Any]:
    if isinstance(output, Mapping):
        unknown = [name for name in output if name not in parts]
        if unknown and not any(name in output for name in parts):
            raise AnswerError(f"returned {', '.join(map(str, unknown))}, expected {_listed(parts)}")
        return {name: output[name] for name in parts if name in output}
    if isinstance(output, tuple):
        if len(output) > own and len(output) != len(parts):
            raise AnswerError(f"returned a tuple of {len(output)}, expected {_listed(parts[:own])}")
        return dict(zip(parts, output, strict=False))
    if hasattr(output, "toarray") or hasattr(output, "__array__") or isinstance(output, list):
        return {parts[0]: output}
    if isinstance(output, Candidate) and output.parts:
        return _named(output.parts, parts, own)
    if any(hasattr(output, name) for name in parts):
        return {name: getattr(output, name) for name in parts if hasattr(output, name)}
    if hasattr(output, "x"):
        sides = (parts[:own], output.x), (parts[own:], getattr(output, "dual", None))
        found: dict[str, Any] = {}
        for names, value in sides:
            if isinstance(value, Mapping):
                found |= _named(value, parts, own)
            elif isinstance(value, tuple) and len(value) == len(names):
                found |= dict(zip(names, value, strict=True))
            elif value is not None and names:
                found[names[0]] = value
        return found
    if np.ndim(output) == 0 and isinstance(output, (int, float)):
        return {parts[0]: output}
    raise AnswerError(f"returned {output!r:.200}, expected {_listed(parts)}")


def _listed(parts: tuple[str, ...]) -> str:
    return f"{', '.join(parts)} as an array, a tuple, a mapping or an object with such attributes"


def _array(name: str, value: Any) -> np.ndarray:
    if hasattr(value, "toarray"):
        value = value.toarray()
    if np.ma.is_masked(value):
        raise AnswerError(f"returned {name} with masked entries, which are no numbers")
    array = read(value, f"{name}=")
    if array.dtype.kind not in "fiub":
        raise AnswerError(f"returned {name}={value!r:.200}, not an array of real numbers")
    return array


def read(value: Any, name: str = "") -> np.ndarray:
    """What was returned as an array; AnswerError if it is none.

    Extended precision, fractions and decimals are rounded to doubles.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise AnswerError(f"returned {name}{value!r:.200}, not an array of numbers") from error
    if array.dtype.kind == "O":
        entries = array.ravel().tolist()
        exact = any(isinstance(v, (Fraction, Decimal)) for v in entries)
        if exact and all(isinstance(v, (int, Fraction, Decimal)) for v in entries):
            return array.astype(np.float64)
    if array.dtype.kind != "f" or array.dtype.itemsize <= np.dtype(np.float64).itemsize:
        return array
    with np.errstate(over="ignore"):
        return array.astype(np.float64)
