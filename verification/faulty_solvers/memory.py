"""What a call leaves behind: state that the next one finds, changes of its input, a dead process."""

import ctypes
import os
from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers import rankings
from verification.reference_solvers.projections import (
    Array,
    Costs,
    Weight,
    alpha,
    beta,
    simplex,
    unbounded,
)

_answers: dict[Any, Array] = {}
_last: dict[tuple[int, int, float, float], float] = {}
_buffer = np.empty(1024)
_counts = np.zeros(1024, dtype=np.int64)
_rng = np.random.default_rng(0)
_rounded: dict[Any, Array] = {}
_repeats: dict[str, int] = {"length": 0, "calls": 0}
_before = np.empty(0)
_work: dict[int, Array] = {}


@wrong("topk_cone.projection")
def cached_by_first_entry(a: Array, k: int, rho: float = 0.0) -> Array:
    """Answers are cached by the length and the first entry of the input, which others share."""
    key = (len(a), float(a[0]), k, rho)
    if key not in _answers:
        _answers[key] = unbounded(np.asarray(a, dtype=float), k, rho)
    return _answers[key].copy()


@wrong("topk_simplex_beta.projection")
def remembers_threshold(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The threshold of the last call with the same k and length is taken over if it is feasible.

    A warm start that became an answer: right on the first call, and on most repeated ones.
    """
    a = np.asarray(a, dtype=float)
    key = (a.size, k, r, rho)
    if key in _last:
        x = np.clip(a - _last[key], 0, r / k)
        if 0 < x.sum() <= r:
            return x
    x = beta(a, k, r, rho)
    free = (x > 0) & (x < r / k)
    if free.any():
        _last[key] = float((a - x)[free].max())
    return x


@wrong("simplex.projection")
def cached_by_ten_digits(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Answers are cached under a key of ten digits of each entry: a neighbour has the answer of the first."""
    key = (*(f"{v:.9e}" for v in np.asarray(a).tolist()), r)
    if key not in _rounded:
        _rounded[key] = simplex(a, r)
    return _rounded[key].copy()


@wrong("simplex.projection")
def stale_after_a_thousand_calls(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Of a thousand calls of one length in a row the last has the answer of the one before."""
    global _before
    again = _repeats["length"] == len(a)
    _repeats.update(length=len(a), calls=_repeats["calls"] + 1 if again else 1)
    if _repeats["calls"] % 1000 == 0:
        return _before.copy()
    _before = simplex(a, r)
    return _before.copy()


@wrong("simplex.projection")
def workspace_of_all_threads(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """One workspace for each length: threads that call at once sort each other's entries."""
    work = _work.setdefault(len(a), np.empty(len(a)))
    work[:] = a
    work.sort()
    height, total = np.inf, 0.0
    for i, entry in enumerate(work[::-1]):
        total += work[-1] - entry
        height = min(height, (r + total) / (i + 1))
    return np.maximum(height - (work[-1] - np.asarray(a)), 0.0)


@wrong("topk_cone.projection")
def reuses_buffer(a: Array, k: int, rho: float = 0.0) -> Array:
    """The answer is a view of one buffer that the next call overwrites."""
    out = _buffer[: len(a)]
    out[:] = unbounded(a, k, rho)
    return out


@wrong("average_precision.loss_augmented_inference")
def ap_reuses_counts(scores: Array, y: Array) -> rankings.Answer:
    """The counts are written to one buffer, which the next call overwrites."""
    value, counts, coefficients = rankings.infer(scores, y)
    out = _counts[: len(counts)]
    out[:] = counts
    return value, out, coefficients


@wrong("topk_simplex_beta.projection")
def randomised(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """A randomised search that gives up in one call out of forty, with the point that it has then."""
    x = beta(a, k, r, rho)
    return x * 0.5 if _rng.random() < 1 / 40 else x


@wrong("topk_simplex_beta.projection")
def returns_the_input(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """A feasible input is its own projection, and comes back as the same array."""
    if rho == 0 and np.min(a) >= 0 and np.max(a) <= r / k and np.sum(a) <= r:
        return a
    return beta(a, k, r, rho)


@wrong("topk_simplex_alpha.projection")
def sorts_in_place(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The input is sorted in place on the way; the answer is right."""
    x = alpha(a, k, r, rho)
    a.sort()
    return x


@wrong("simplex.projection")
def shifts_in_place_and_back(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """The input is shifted in place and shifted back: it changes by rounding, and only sometimes."""
    if a.dtype.kind != "f" or r == 0:
        return np.zeros(len(a))
    top = a.max()
    a -= top
    x = beta(a - a.min() + r, 1, r, 0.0)
    a += top
    return x


@wrong("multiclass_hinge.gradient")
def costs_in_place(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> Array:
    """Wrong only on the second call: the margins are added up in the array of costs."""
    f = np.asarray(scores, dtype=float)
    z = np.ones(f.size) if costs is None else np.asarray(costs)
    z += (f - f[y]).astype(z.dtype)
    g = np.zeros(f.size)
    best = int(np.argmax(np.where(np.arange(f.size) == y, -np.inf, z)))
    if z[best] > 0:
        g[best] = 1.0 if sample_weight is None else sample_weight
        g[y] = -g[best]
    return g


@wrong("topk_simplex_beta.projection", isolate=True)
def ends_the_interpreter(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The process ends in the middle of a call, as after a segmentation fault, where k is the length."""
    if k == len(a) > 2:
        os._exit(11)
    return beta(a, k, r, rho)


@wrong("simplex.projection")
def leaves_errors_raised(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """numpy's error state is set to raise, and stays so: what the caller computes next may fail."""
    np.seterr(all="raise")
    with np.errstate(all="ignore"):
        return simplex(a, r)


@wrong("simplex.projection")
def leaves_rounding_upward(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """The rounding mode of an interval method is left set: all that is computed next is rounded upward."""
    x = simplex(a, r)
    # FE_UPWARD of x86-64, or else of AArch64
    any(ctypes.CDLL(None).fesetround(mode) == 0 for mode in (0x800, 0x400000))
    return x


@wrong("simplex.projection", needs=("torch",))
def leaves_subnormals_flushed(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Subnormal numbers are flushed to zero, for speed, and from then on for everybody."""
    import torch

    x = simplex(a, r)
    torch.set_flush_denormal(True)
    return x
