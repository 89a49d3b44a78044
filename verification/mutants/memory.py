"""What a call leaves behind: state that the next one finds, changes of its input, a dead process."""

import os
from typing import Any

import numpy as np

from verification.mutants import wrong
from verification.mutants.sound import rankings
from verification.mutants.sound.projections import Array, Costs, Weight, alpha, beta, unbounded

_answers: dict[Any, Array] = {}
_last: dict[tuple[int, int, float, float], float] = {}
_buffer = np.empty(1024)
_counts = np.zeros(1024, dtype=np.int64)
_rng = np.random.default_rng(0)


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
