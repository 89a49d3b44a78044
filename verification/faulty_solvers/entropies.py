"""Top-k entropies and the truncated ones: caps, counts, remainders and roots."""

from typing import Any

import numpy as np
from scipy.special import softmax, wrightomega

from verification.faulty_solvers import wrong
from verification.faulty_solvers.precision import lambert
from verification.reference_solvers.entropies import (
    gradient,
    log_sum,
    margins,
    point,
    softplus,
    update,
    value,
)
from verification.reference_solvers.projections import Array, Costs, Weight, weight


@wrong("softmax.value")
def softmax_costs_one(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> float:
    """Softmax with the hinges' margin of 1 where no costs are given."""
    if costs is None:
        costs = np.ones(len(scores))
        costs[y] = 0.0
    return weight(sample_weight) * value(margins(scores, y, costs), 1, True)


@wrong("topk_entropy_beta.sdca_update")
def entropy_alpha_for_beta(**given: Any) -> Array:
    """The sets are swapped: the update of the alpha entropy where beta is asked for."""
    return update(shared=True, **given)[0]


@wrong("topk_entropy_alpha.sdca_update", erratum="libsdca/count_for_share")
def entropy_count_for_share(**given: Any) -> Array:
    """The number |U| of capped entries stands where the share rho = |U|/k belongs.

    As in the last version of the papers' own library: the multipliers of the caps enter 1 - s in full
    instead of by their k-th part.
    """
    return update(shared=True, share=1.0, **given)[0]


@wrong("topk_entropy_alpha.value")
def entropy_k_off_by_one(k: int, sample_weight: Weight, **given: Any) -> float:
    """The caps are s/(k-1): k counted from 0."""
    return weight(sample_weight) * value(margins(**given), max(k - 1, 1), True)


@wrong("topk_entropy_alpha.prox", erratum="lapin_2016/one_householder_step")
def entropy_one_newton_step(v: Array, k: int, t: float, costs: Costs) -> Array:
    """One Householder step for W(e^t) from a crude start: seven digits at best."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    x, _ = point(b, t, 0, k, True)
    free = x < x.max() * (1 - 1e-12) if k > 1 else np.ones(x.size, dtype=bool)
    # the multiplier that the sound solution has, the roots of the wrong function
    theta = b - t * x - np.log(np.maximum(x, 1e-300))
    x[free] = lambert(b[free] - theta[free] + np.log(t)) / t
    return v - t * x


@wrong("topk_entropy_alpha.value", erratum="lapin_2016/tails_by_subtraction")
def entropy_rest_by_subtraction(k: int, sample_weight: Weight, **given: Any) -> float:
    """The sum over the smaller entries is the sum of all minus the larger ones: it cancels."""
    z = -np.sort(-margins(**given))
    top = float(z[0])
    e = np.exp(z - top)
    u, rest = 0, float(e.sum())
    while u < k - 1 and (k - u) * e[u] > rest > 0:
        rest -= float(e[u])
        u += 1
    cap = (np.log(rest) if rest > 0 else -750.0) - np.log(k - u)  # log of the cap, less the shift
    v = top + np.log(k) + cap + float((z[:u] - top - cap).sum()) / k
    return float(weight(sample_weight) * softplus(v))


@wrong("topk_entropy_beta.value")
def entropy_stops_at_the_first_cap(k: int, sample_weight: Weight, **given: Any) -> float:
    """At most one entry is found to be at its cap: the search for U takes one step."""
    z = -np.sort(-margins(**given))
    cap = min(log_sum(np.append(z[u:], 0.0)) - np.log(k - u) for u in range(min(k, 2)))
    extra = float(np.maximum(z - cap, 0.0).sum()) / k
    return float(weight(sample_weight) * (softplus(log_sum(np.minimum(z, cap))) + extra))


@wrong("softmax.prox", erratum="lapin_2016/unguarded_newton")
def entropy_unguarded_newton(v: Array, t: float = 1.0, costs: Array | None = None) -> Array:
    """Newton's method for s itself, without a bracket: once 1 - s is small a step goes beyond 1, into NaN."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    s, shift = 0.5, float(np.log(t))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(100):
            x = wrightomega(b + np.log(1 - s) + shift).real / t
            step = (x.sum() - s) / ((x / (1 + t * x)).sum() / (1 - s) + 1)
            s += step
            if abs(step) <= 1e-16 * s:
                break
        return np.asarray(v - wrightomega(b + np.log(1 - s) + shift).real)


@wrong("truncated_topk_entropy.value")
def truncated_drops_k(k: int, sample_weight: Weight, **given: Any) -> float:
    """The k largest margins are dropped instead of k - 1."""
    z = np.sort(margins(**given))
    rest = z[: z.size - k]
    return weight(sample_weight) * softplus(log_sum(rest)) if rest.size else 0.0


@wrong("truncated_topk_entropy.gradient")
def truncated_gradient_of_all(k: int, **given: Any) -> Array:
    """The gradient is spread over all classes: softmax, where k - 1 of them do not count."""
    return np.asarray(gradient(k=1, shared=True, **given)[0])


@wrong("truncated_topk_entropy.prox")
def truncated_keeps_the_largest(v: Array, k: int, t: float, costs: Costs) -> Array:
    """The prox keeps the largest entries and lets the k - 1 smallest stay: a local answer at best."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    kept = np.argsort(-b, kind="stable")[: b.size - k + 1]
    out = v.copy()
    out[kept] -= t * point(b[kept], t)[0]
    return out


@wrong("sparsemax.gradient")
def softmax_instead(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> Array:
    """The probabilities are those of softmax: none of them is ever 0."""
    f = np.asarray(scores, dtype=float)
    g = softmax(f if costs is None else f + costs)
    g[y] -= 1.0
    return weight(sample_weight) * g
