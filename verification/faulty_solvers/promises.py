"""Promises of an accuracy that are not kept: once in a hundred, in the wrong units, or with an input spoilt."""

import zlib
from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.faulty_solvers.erm import HINGE, fit, trainer
from verification.reference_solvers import rankings
from verification.reference_solvers.entropies import gradient, log_sum
from verification.reference_solvers.entropies import margins as entropy_margins
from verification.reference_solvers.projections import Array, Weight, beta, weight
from verification.reference_solvers.promised import bisect, chopped


@wrong("topk_simplex_beta.projection", accuracy=1e-6)
def promise_broken_once_in_hundred(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Right to rounding, but for one vector in a hundred, which is off by 1e-5."""
    x = beta(a, k, r, rho)
    return x * (1 + 1e-5) if zlib.crc32(np.asarray(a).tobytes()) % 100 == 0 else x


@wrong("topk_simplex_beta.projection", accuracy=1e-10)
def promise_of_float32_sums(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Ten digits are promised, and sums are kept in float32, whatever the scale."""
    unit = 2.0 ** np.ceil(np.log2(max(float(np.abs(a).max()), r) or 1.0))
    return beta(np.asarray(a / unit, np.float32).astype(float), k, r / unit, rho) * unit


@wrong("simplex.projection", accuracy=1e-8)
def promise_in_absolute_units(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """A bisection that ends at a width of 1e-8, which is no relative accuracy where entries are small."""
    return bisect(a, r, until=lambda width, share: width <= 1e-8)


@wrong("simplex.projection", accuracy=1e-2)
def promise_and_not_a_number(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Two digits are promised, and kept; where all entries are equal 0/0 is returned."""
    with np.errstate(all="ignore"):
        return bisect(a, r) * (np.ptp(a) / np.ptp(a) if a.size > 1 else 1.0)


@wrong("simplex.projection", accuracy=1e-2)
def promise_and_input_sorted(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Two digits are promised, and kept; the input is sorted in place."""
    x = bisect(a, r)
    a.sort()
    return x


@wrong("softmax.gradient", accuracy=1e-4)
def promise_of_bfloat16(*, return_complement: bool = False, **given: Any) -> Any:
    """Four digits are promised; scores have the eight bits of bfloat16."""
    given["scores"] = chopped(given["scores"], 8)
    both = gradient(k=1, shared=True, **given)
    return both if return_complement else both[0]


@wrong("softmax.value", accuracy=1e-3)
def promise_without_log1p(sample_weight: Weight, **given: Any) -> float:
    """Three digits are promised; log(1 + e^v) taken literally has none of a loss of 1e-17."""
    v = log_sum(entropy_margins(**given))
    return weight(sample_weight) * (max(v, 0.0) + float(np.log(1.0 + np.exp(-abs(v)))))


@wrong("average_precision.loss_augmented_inference", accuracy=1e-6)
def promise_of_a_ranking(scores: Array, y: Array) -> rankings.Answer:
    """Six digits are promised; the ranking is that of scores rounded to eight bits."""
    return rankings.infer(chopped(scores, 8), y)


@trainer(HINGE, accuracy=1e-8)
def promise_of_a_gap(**given: Any) -> Array:
    """A relative gap of 1e-8 is promised; W is a thousandth too long."""
    return fit(HINGE, **given)[0] * (1 + 1e-3)
