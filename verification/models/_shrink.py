"""Makes data sets small and simple: fewer rows, columns and classes, dyadic numbers, plain parameters."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Params = dict[str, Any]
#: Bits of the grids that arrays are rounded to, coarsest first.
GRIDS = (0, 1, 2, 4, 8, 16)


def fewer(
    params: Params, rows: Mapping[str, tuple[int, ...]], columns: Mapping[str, tuple[int, ...]]
) -> Iterator[Params]:
    """Without half of the rows, or one of them; then the same for columns.

    Parameters
    ----------
    params : dict
    rows, columns : mapping
        Names of the arrays that have one entry per row (per column), and the axes concerned:
        ``{"X": (0,), "y": (0,), "K": (0, 1)}``. Arguments that are None are passed over.
    """
    for axes in (rows, columns):
        for kept in subsets(_length(params, axes)):
            yield {**params, **_take(params, axes, kept)}


def _length(params: Params, axes: Mapping[str, tuple[int, ...]]) -> int:
    sizes = [params[n].shape[a[0]] for n, a in axes.items() if params.get(n) is not None and a]
    return sizes[0] if sizes else 0


def _take(
    params: Params, axes: Mapping[str, tuple[int, ...]], kept: Sequence[int]
) -> dict[str, Any]:
    found = {}
    for name, along in axes.items():
        value = params.get(name)
        if value is None:
            continue
        for axis in along:
            value = np.take(value, kept, axis=axis)
        found[name] = value
    return found


def subsets(n: int) -> Iterator[list[int]]:
    """Of 0, ..., n - 1, without half of them, a quarter, ..., one: large steps first."""
    everything = list(range(n))
    size = n // 2
    while size >= 1 and n > 1:
        for start in range(0, n, size):
            kept = everything[:start] + everything[start + size :]
            if kept:
                yield kept
        size //= 2


def fewer_classes(
    params: Params, rows: Mapping[str, tuple[int, ...]], classes: Mapping[str, tuple[int, ...]]
) -> Iterator[Params]:
    """Without the examples of one class; the other classes are numbered anew. Then two as one.

    ``classes``: arrays with one entry per class, and the axes concerned.
    """
    y = params["y"]
    m = int(y.max()) + 1 if y.size else 0
    for gone in reversed(range(m)):
        kept = np.flatnonzero(y != gone)
        if kept.size == 0 or m < 3:
            continue
        smaller = {**params, **_take(params, rows, kept.tolist())}
        smaller |= _take(smaller, classes, [j for j in range(m) if j != gone])
        smaller["y"] = smaller["y"] - (smaller["y"] > gone)
        yield smaller
        if params.get("k") is not None and params["k"] > 1:
            yield {**smaller, "k": params["k"] - 1}


def relabelled(y: np.ndarray) -> np.ndarray:
    """Classes numbered 0, 1, ... without holes."""
    return np.unique(y, return_inverse=True)[1].reshape(y.shape).astype(np.int64)


def defaults(params: Params, values: Mapping[str, Any]) -> Iterator[Params]:
    """One argument after the other at its simplest value."""
    for name, simple in values.items():
        if name in params and not _equal(params[name], simple):
            yield {**params, name: simple}


def _equal(a: Any, b: Any) -> bool:
    return a is b if a is None or b is None else bool(np.array_equal(a, b))


def smaller_k(params: Params) -> Iterator[Params]:
    """K = 1, half of it, one less."""
    k = params.get("k")
    if k is not None:
        for simple in sorted({1, k // 2, k - 1} - {0, k}):
            yield {**params, "k": simple}


def rounder(params: Params, *names: str) -> Iterator[Params]:
    """Arrays on coarse dyadic grids, then entry by entry 0, 1 or the nearest such number.

    Scalars become 1, or a power of two, or have few bits.
    """
    for name in names:
        value = params.get(name)
        if value is None:
            continue
        if not isinstance(value, np.ndarray):
            yield from ({**params, name: simple} for simple in roundings(float(value)))
            continue
        if value.dtype.kind != "f":
            continue
        top = float(np.abs(value).max(initial=0.0))
        exponent = int(np.floor(np.log2(top))) if top > 0 else 0
        for bits in GRIDS:
            for unit in {2.0**-bits, 2.0 ** (exponent - bits)}:
                yield {**params, name: np.round(value / unit) * unit + 0.0}
        if exponent:
            yield {**params, name: np.ldexp(value, -exponent) + 0.0}
        for index in np.ndindex(value.shape):
            for simple in roundings(float(value[index])):
                changed = value.copy()
                changed[index] = simple
                yield {**params, name: changed}


def roundings(value: float) -> list[float]:
    """Simpler numbers in the place of one, simplest first."""
    if value == 0 or not np.isfinite(value):
        return []
    sign = float(np.sign(value))
    exponent = int(np.floor(np.log2(abs(value))))
    found = [0.0, 1.0, sign, float(np.round(value)) + 0.0, sign * 2.0**exponent]
    found += [sign * 2.0 ** (exponent // 2)]
    found += [float(np.round(value * 2.0**b) / 2.0**b) + 0.0 for b in (1, 2, 4, 8)]
    return [v for v in dict.fromkeys(found) if v != value]
