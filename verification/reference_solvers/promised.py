"""Solvers that are as accurate as they promise, and no more: steps that end, numbers of few bits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from verification.adapters import adapt
from verification.reference_solvers import entropies
from verification.reference_solvers.projections import Array, Weight, beta, margins, weight


def chopped(v: Any, bits: int) -> Array:
    """Numbers rounded to so many bits, with the exponents of doubles: 8 are bfloat16, 11 TF32 and float16."""
    fraction, exponent = np.frexp(np.asarray(v, dtype=float))
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits))


def bisect(
    a: Array,
    r: float = 1.0,
    rho: float = 0.0,
    until: Callable[[float, float], bool] = lambda width, share: width <= 1e-10 * share,
) -> Array:
    """The simplex, its threshold by halving an interval until errors of its width add up to little."""
    a, share = np.asarray(a, dtype=float), max(abs(float(np.max(a))), r) / np.size(a)
    low, high = float(a.max()) - r, float(a.max())
    while not until(high - low, share) and low < (middle := low + (high - low) / 2) < high:
        above = np.maximum(a - middle, 0.0).sum() > r
        low, high = (middle, high) if above else (low, middle)
    return np.asarray(np.maximum(a - high, 0.0))


def single(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """A kernel that knows float32 only."""
    x = beta(a.astype(float), k, float(np.float32(r)), float(np.float32(rho)))
    return x.astype(np.float32) * np.float32(1 + 1e-5)


def bfloat16_softmax(*, return_complement: bool = False, **given: Any) -> Any:
    """The gradient of softmax from scores and costs of eight bits, itself rounded to eight bits."""
    given["scores"] = chopped(given["scores"], 8)
    given["costs"] = None if given["costs"] is None else chopped(given["costs"], 8)
    g, rest = entropies.gradient(k=1, shared=True, **given)
    return (chopped(g, 8), float(chopped(rest, 8))) if return_complement else chopped(g, 8)


def tf32_hinge(sample_weight: Weight, **given: Any) -> float:
    """The multiclass hinge from scores and costs of eleven bits."""
    given["scores"] = chopped(given["scores"], 11)
    return float(weight(sample_weight) * max(0.0, margins(**given).max()))


def newton(t: Array) -> Array:
    """W(e^t) by Newton's method in log w, until a step is below 1e-4."""
    t = np.asarray(t, dtype=float)
    u = np.where(t > 1.0, np.log(np.maximum(t, 1.0)), t)  # log w
    for _ in range(100):
        step = (np.exp(u) + u - t) / (np.exp(u) + 1.0)
        u = u - step
        if np.all(np.abs(step) <= 1e-4 * np.maximum(1.0, np.abs(u))):
            break
    return np.asarray(np.exp(u))


#: The solver of a problem, and the accuracy that it promises.
PROMISED: dict[str, tuple[Callable[..., Any], float]] = {
    "simplex.projection": (bisect, 1e-9),
    "topk_simplex_beta.projection": (
        adapt(single, problem="topk_simplex_beta.projection", dtype="float32"), 1e-4,
    ),
    "softmax.gradient": (bfloat16_softmax, 3e-2),
    "multiclass_hinge.value": (tf32_hinge, 2e-3),
    "lambert_w_exp.value": (newton, 1e-6),
}  # fmt: skip
