"""Digits lost: single precision, cancellation, overflow, and approximations that end too early."""

from typing import Any

import numpy as np
from scipy.special import expit, lambertw, wrightomega

from verification.faulty_solvers import wrong
from verification.reference_solvers.entropies import gradient, log_sum, margins
from verification.reference_solvers.projections import Array, Costs, Weight, beta, weight
from verification.reference_solvers.projections import margins as hinge_margins


@wrong("topk_simplex_beta.projection")
def returns_single(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The answer is right, but rounded to float32."""
    return beta(a, k, r, rho).astype("float32")


@wrong("topk_simplex_beta.projection")
def single_precision_sums(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Input and sums are kept in float32 although the input is float64."""
    return beta(np.asarray(a, dtype=np.float32), k, r, rho)


@wrong("multiclass_hinge.value")
def value_to_nine_digits(sample_weight: Weight, **given: Any) -> float:
    """The value is right to nine digits: more than any plot shows, and a million times the rounding error."""
    z = hinge_margins(**given)
    return float(weight(sample_weight) * max(0.0, z.max())) * (1 + 1e-9)


@wrong("smooth_topk_hinge_beta.gradient")
def gradient_to_nine_digits(
    y: int, k: int, gamma: float, sample_weight: Weight, **given: Any
) -> Array:
    """The threshold is shifted by a relative 1e-9; the answer is feasible to the last bit."""
    z = hinge_margins(y=y, **given) * (1 + 1e-9)
    x = beta(z / gamma, k, 1.0, 0.0) * weight(sample_weight)
    return np.insert(x, y, -x.sum())


@wrong("softmax.gradient")
def complement_by_subtraction(*, return_complement: bool = False, **given: Any) -> Any:
    """1 - s is computed as a difference: 0 or noise as soon as s rounds to 1."""
    g, _ = gradient(k=1, shared=True, **given)
    x, _ = gradient(k=1, shared=True, **{**given, "sample_weight": None})
    return (g, max(1.0 + x[given["y"]], 0.0)) if return_complement else g


@wrong("topk_entropy_alpha.gradient")
def complement_in_single_precision(*, return_complement: bool = False, **given: Any) -> Any:
    """1 - s passes through float32: seven digits, and 0 below 1e-45."""
    g, rest = gradient(shared=True, **given)
    with np.errstate(under="ignore"):
        return (g, float(np.float32(rest))) if return_complement else g


@wrong("topk_entropy_beta.gradient")
def complement_is_the_sum(*, return_complement: bool = False, **given: Any) -> Any:
    """s is returned in the place of 1 - s."""
    g, rest = gradient(shared=False, **given)
    return (g, 1.0 - rest) if return_complement else g


@wrong("softmax.value")
def softmax_without_shift(sample_weight: Weight, **given: Any) -> float:
    """Softmax exponentiates the scores as they are: e^710 overflows."""
    with np.errstate(over="ignore"):
        return float(weight(sample_weight) * np.log1p(np.exp(margins(**given)).sum()))


@wrong("softmax.value")
def softmax_without_log1p(sample_weight: Weight, **given: Any) -> float:
    """Log(1 + e^v) is taken literally: a loss of 1e-17 comes out as 0, one of 1e-12 with four digits."""
    v = log_sum(margins(**given))
    return weight(sample_weight) * (max(v, 0.0) + float(np.log(1.0 + np.exp(-abs(v)))))


@wrong("ova_logistic.value")
def logistic_overflows(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> float:
    """log(1 + e^z) is taken literally: infinite from z = 710 on, and 0 below -37."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    z += 0.0 if costs is None else costs
    with np.errstate(over="ignore", invalid="ignore"):
        return float(weight(sample_weight) * np.log(1 + np.exp(z)).sum())


@wrong("ova_logistic.sdca_update")
def logistic_three_newton_steps(
    q: Array, y: int, k_ii: float, C: float = 1.0, costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:  # fmt: skip
    """Three Newton steps for the update, from the probability of the scores."""
    signs = np.ones(len(q))
    signs[y] = -1.0
    b = signs * np.asarray(q, dtype=float) + (0.0 if costs is None else costs)
    mass = C * weight(sample_weight)
    u = b.copy()  # the logit: alpha expit(u) + u = b
    for _ in range(3):
        x = expit(u)
        u -= (mass * k_ii * x + u - b) / (1 + mass * k_ii * x * (1 - x))
    return np.asarray(-mass * signs * expit(u))


@wrong("lambert_w_exp.value")
def lambert_asymptotic(t: Array) -> Array:
    """W(e^t) = t - log t for t > 20: the first two terms of its expansion."""
    t = np.asarray(t, dtype=float)
    return np.where(t > 20, t - np.log(np.maximum(t, 20.0)), wrightomega(t).real)


@wrong("lambert_w_exp.value", erratum="lapin_2016/lambertw_overflow")
def lambert_of_the_exponential(t: Array) -> Array:
    """W(e^t) as lambertw(exp(t)): e^t overflows from t = 710 on."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(lambertw(np.exp(np.asarray(t, dtype=float))).real)


def lambert(t: Array) -> Array:
    """W(e^t) after one step of order three."""
    w = np.where(t > 1.0, t - np.log(np.maximum(t, 1.0)), np.exp(np.minimum(t, 1.0) - 1.0))
    w = np.maximum(w, np.finfo(float).tiny)
    r = t - w - np.log(w)
    return np.asarray(w * (1.0 + r / (1.0 + w) + r * r / (2.0 * (1.0 + w) ** 3)))


@wrong("lambert_w_exp.value", erratum="lapin_2016/one_householder_step")
def lambert_one_householder_step(t: Array) -> Array:
    """One Householder step: enough for float32 outside of (-2, 4), never for double precision."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.nan_to_num(lambert(np.asarray(t, dtype=float)))
