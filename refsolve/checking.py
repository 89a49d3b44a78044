"""Arrays as they must be: finite, of the right shape, of a size that squares stay inside float64."""

import numpy as np

from refsolve.errors import InvalidParameterError

#: Largest magnitude accepted: squares and products must stay inside float64.
LARGEST = 1e150

#: Least divisor accepted: quotients by subnormal numbers overflow.
SMALLEST = float(np.finfo(np.float64).tiny)


def refuse_masked(name: str, value: object) -> None:
    """`InvalidParameterError` where an entry is masked: as an array it would count like any other."""
    if np.ma.isMaskedArray(value) and np.ma.is_masked(value):
        fix = f"drop those entries, or fill them: {name}.filled(...)"
        raise InvalidParameterError(name, value, "an array without masked entries", fix)


def check_vector(
    name: str, value: object, *, size: int | None = None, largest: float = LARGEST
) -> np.ndarray:
    """A finite, non-empty 1-D float64 copy of ``value``, or `InvalidParameterError`."""
    return _check_array(name, value, 1, (size,), "a finite, non-empty vector", largest)


def check_matrix(name: str, value: object, shape: tuple[int | None, int | None]) -> np.ndarray:
    """A finite, non-empty 2-D float64 copy of ``value``, or `InvalidParameterError`."""
    return _check_array(name, value, 2, shape, "a finite, non-empty matrix")


def _check_array(
    name: str,
    value: object,
    ndim: int,
    shape: tuple[int | None, ...],
    expected: str,
    largest: float = LARGEST,
) -> np.ndarray:
    if any(size is not None for size in shape):
        sizes = ", ".join("any" if size is None else str(size) for size in shape)
        expected += f" of shape ({sizes}{',' if ndim == 1 else ''})"
    refuse_masked(name, value)
    try:
        array = np.asarray(value)
    except ValueError:  # ragged nested lists
        raise InvalidParameterError(name, value, expected, "give rows of equal length") from None
    if array.dtype.kind not in "fiu":
        fix = f"convert with astype(float); the dtype is {array.dtype}"
        raise InvalidParameterError(name, value, expected, fix)
    if array.ndim != ndim or array.size == 0:
        fix = f"pass {ndim} dimension(s) with at least one entry; one instance at a time"
        raise InvalidParameterError(name, value, expected, fix)
    if any(
        want is not None and have != want for have, want in zip(array.shape, shape, strict=True)
    ):
        raise InvalidParameterError(name, value, expected, "make the sizes agree")
    with np.errstate(over="ignore"):  # a longdouble beyond float64 turns into inf
        array = np.array(array, dtype=np.float64)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array.ravel()))[0])
        fix = f"replace or drop NaN and inf (first at flat index {bad})"
        raise InvalidParameterError(name, value, expected, fix)
    if abs(array).max() > largest:
        fix = f"rescale to magnitudes up to {largest:g}"
        raise InvalidParameterError(name, value, expected, fix)
    return array
