"""The eighth set: right ports only, on problems that the seventh leaves out."""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import fsum, inf
from typing import Any

import numpy as np
from scipy.special import expit, wrightomega

from verification.selftest.written.right_seventh_losses import LONG, margins, with_truth
from verification.selftest.written.right_seventh_models import (
    box_qp,
    recall_cuts,
    top_push_pair,
)
from verification.selftest.written.right_seventh_sets import (
    bipartite_newton,
    floating,
    topk_simplex,
)


def long(value: Any, default: float = 1.0) -> Any:
    """In extended precision, None as the default."""
    return np.asarray(default if value is None else value, dtype=LONG)


def entr(p):
    """-p log p in extended precision, 0 at 0."""
    return -p * np.log(np.where(p > 0, p, 1))


def printed_value(scores, y, k=1, costs=None, sample_weight=None):
    """The k largest of all m margins, 0 at the truth."""
    z = np.sort(np.append(margins(scores, y, costs), LONG(0)))
    return float(max(z[-k:].sum() / k, LONG(0)) * long(sample_weight))


def printed_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """1/k at each of the k largest of all m margins, nothing where their sum is not positive."""
    z = np.insert(margins(scores, y, costs), y, LONG(0))
    best = np.argsort(-z, kind="stable")[:k]
    x = np.zeros(z.size)
    if z[best].sum() > 0:
        x[best] = float(long(sample_weight)) / k
    x[y] = 0.0
    x[y] = -x.sum()
    return x


def alpha_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """heapq.nlargest, an answer as a list."""
    z = margins(scores, y, costs)
    best = heapq.nlargest(k, range(z.size), key=lambda j: z[j])
    x = np.zeros(z.size)
    if z[best].sum() > 0:
        x[best] = float(long(sample_weight)) / k
    return with_truth(x, y).tolist()


def alpha_prox(v, k=1, t=1.0, costs=None):
    """Moreau: what the projection takes away."""
    v = np.asarray(v)
    return (v.astype(LONG) - topk_simplex(v + long(costs), k, t)).astype(floating(v))


def alpha_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """In units of the scores: the projection onto the set of sum K omega C, divided by K."""
    b, mass = margins(q, y, costs), long(C) * long(sample_weight)
    if k_ii > 0 and mass > 0:
        x = topk_simplex(b, k, long(k_ii) * mass, 1.0) / long(k_ii)
    else:
        best = np.argsort(-b, kind="stable")[:k]
        x = np.zeros(b.size, dtype=LONG)
        x[best] = mass / k if b[best].sum() > 0 else 0
    return with_truth(-x, y, floating(q))


def smooth_alpha_value(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """From the projection."""
    z = margins(scores, y, costs)
    p = topk_simplex(z, k, gamma)
    return float((p / long(gamma) * (z - p / 2)).sum() * long(sample_weight))


def smooth_alpha_update(q, y, k_ii, C=1.0, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The biased projection of the margins over K + gamma/(omega C)."""
    mass, b = long(C) * long(sample_weight), margins(q, y, costs)
    if mass == 0:
        return np.zeros(len(q))
    den = long(k_ii) + long(gamma) / mass
    x = topk_simplex(b, k, den * mass, long(k_ii) / den) / den
    return with_truth(-x, y, floating(q))


def squared_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """The cone's projection in units of the scores; without curvature the loss's own maximiser."""
    b, mass = margins(q, y, costs), long(C) * long(sample_weight)
    alpha = mass * long(k_ii)
    if alpha > 0:
        x = topk_simplex(b, k, np.finfo(LONG).max / 4, 1 + 1 / alpha) / alpha
    else:
        best = np.argsort(-b, kind="stable")[:k]
        x = np.zeros(b.size, dtype=LONG)
        x[best] = max(b[best].sum() / k, LONG(0)) / k
    return with_truth(-mass * x, y, floating(q))


def sparsemax_prox(v, t=1.0, costs=None):
    """As printed, in units of v + c + 1."""
    v, t = np.asarray(v), long(t)
    x = topk_simplex(v + long(costs, 0.0) + 1, 1, 1 + t, 1 / (1 + t)) / (1 + t)
    return (v - t * x).astype(floating(v))


def sparsemax_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """As printed, in units of the margins + 1."""
    mass = long(C) * long(sample_weight)
    alpha = mass * long(k_ii)
    x = topk_simplex(margins(q, y, costs, 0.0) + 1, 1, 1 + alpha, 1.0) / (1 + alpha)
    return with_truth(-mass * x, y, floating(q))


def hinge_value(scores, y, costs=None, sample_weight=None):
    """A generator and max."""
    truth = Fraction(float(scores[y]))
    c = [1] * len(scores) if costs is None else [Fraction(float(v)) for v in costs]
    worst = max(Fraction(float(v)) - truth + c[j] for j, v in enumerate(scores) if j != y)
    return float(max(worst, 0) * Fraction(float(long(sample_weight))))


def hinge_conjugate(x, costs=None):
    """math.fsum for both sums."""
    entries = [float(v) for v in x]
    if min(entries) < 0 or fsum(entries) > 1:
        return inf
    return -fsum(
        entries if costs is None else (float(c) * v for c, v in zip(costs, entries, strict=True))
    )


def signed(scores, y, costs):
    """The margins of all labels in extended precision, and which are right."""
    right = np.asarray(y) == 1
    c = np.where(right, 0, 1) if costs is None else long(costs)
    return np.where(right, -long(scores), long(scores)) + c, right


def multilabel_value(scores, y, costs=None, sample_weight=None):
    """The largest of each side."""
    z, right = signed(scores, y, costs)
    if right.all() or not right.any():
        return 0
    return float(max(z[right].max() + z[~right].max(), LONG(0)) * long(sample_weight))


def multilabel_prox(v, y, t=1.0, costs=None):
    """Moreau, by the bipartite simplex."""
    v, y = np.asarray(v), np.asarray(y)
    z = v + (np.where(y == 1, 0, LONG(1)) if costs is None else long(costs))
    return (v - bipartite_newton(z, y, t)).astype(floating(v))


def multilabel_smooth_prox(v, y, t=1.0, gamma=1.0, costs=None):
    """A projection of sum t + gamma, of which t/(t + gamma) is taken away."""
    v, y, both = np.asarray(v), np.asarray(y), long(t) + long(gamma)
    z = v + (np.where(y == 1, 0, LONG(1)) if costs is None else long(costs))
    return (v - bipartite_newton(z, y, both) * (long(t) / both)).astype(floating(v))


def multilabel_entropy_value(scores, y, costs=None, sample_weight=None):
    """The mean over the right labels of log sum e^(z - z_l)."""
    z, right = long(scores) + long(costs, 0.0), np.asarray(y) == 1
    gap = z.max() - z
    return float((np.log(np.exp(-gap).sum()) + gap[right].mean()) * long(sample_weight))


def ova_smooth_value(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """Clipped margins."""
    z = np.array(scores, dtype=LONG)
    z[y] = -z[y]
    z = z + long(costs)
    p = np.clip(z, 0, long(gamma))
    return float((p / long(gamma) * (z - p / 2)).sum() * long(sample_weight))


def ova_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None, gamma=0.0):
    """Entry by entry: clip(b/(omega C K + gamma), 0, 1), and 0 or 1 where that divides by 0."""
    mass = long(C) * long(sample_weight)
    sign = np.where(np.arange(len(q)) == y, -1, 1)
    b, den = long(q) * sign + long(costs), mass * long(k_ii) + long(gamma)
    x = np.clip(b, 0, den) / den if den > 0 else (b > 0).astype(LONG)
    return (-sign * mass * x).astype(floating(q))


def ova_smooth_update(q, y, k_ii, C=1.0, gamma=1.0, costs=None, sample_weight=None):
    """The same with gamma."""
    return ova_update(q, y, k_ii, C, costs, sample_weight, gamma)


def ova_gradient(scores, y, costs=None, sample_weight=None):
    """0 or 1, as integers unless there is a weight."""
    sign = np.where(np.arange(len(scores)) == y, -1, 1)
    x = sign * (long(scores) * sign + long(costs) > 0)
    return x if sample_weight is None else x * float(sample_weight)


def ova_logistic_gradient(scores, y, costs=None, sample_weight=None):
    """Scipy's expit."""
    sign = np.where(np.arange(len(scores)) == y, -1, 1)
    x = expit(long(scores) * sign + long(costs, 0.0))
    return (sign * x * long(sample_weight)).astype(floating(scores))


def ova_logistic_conjugate(x, costs=None):
    """Scipy's entr of both parts."""
    p = long(x)
    if p.min() < 0 or p.max() > 1:
        return np.inf
    return float(-(entr(p) + entr(1 - p)).sum() - (long(costs, 0.0) * p).sum())


def alpha_entropy_conjugate(x, k=1, costs=None):
    """Exact sums decide on the domain, up to four roundings an entry; 1 - s is a sum without error."""
    entries = [Fraction(float(v)) for v in x]
    s = sum(entries)
    slack = 4 * len(entries) * Fraction(float(np.finfo(np.asarray(x).dtype).eps))
    if min(entries) < 0 or s > 1 + slack or k * max(entries) > s * (1 + slack):
        return inf
    p = np.append(long(x), LONG(float(max(1 - s, Fraction(0)))))
    return float(-entr(p).sum() - (long(costs, 0.0) * long(x)).sum())


def beta_entropy_value(scores, y, k=1, costs=None, sample_weight=None):
    """Rho log k + sum_U z/k + (1 - rho) t with the least u that is valid."""
    z = np.sort(margins(scores, y, costs, 0.0))[::-1]
    tails = np.logaddexp.accumulate(np.append(z, LONG(0))[::-1])[::-1]
    for u in range(min(k, z.size + 1)):
        if u == min(k - 1, z.size) or np.log(LONG(k - u)) + z[u] <= tails[u]:
            break
    rho = LONG(u) / k
    rest = np.log1p(np.exp(z).sum()) if u == 0 and z[0] < 0 else tails[u] - np.log1p(-rho)
    value = (z[:u] / k).sum() + rho * np.log(LONG(k)) + (1 - rho) * rest
    return float(value * long(sample_weight))


def truncated_value(scores, y, k=1, costs=None, sample_weight=None):
    """Without the k - 1 largest."""
    z = np.sort(margins(scores, y, costs, 0.0))
    z = z[: z.size - k + 1]
    top = max(z[-1], LONG(0))
    if top == 0:
        return float(np.log1p(np.exp(z).sum()) * long(sample_weight))
    return float((top + np.log(np.exp(-top) + np.exp(z - top).sum())) * long(sample_weight))


def lambert_scipy(t):
    """Scipy's function of any shape."""
    return np.real(wrightomega(np.asarray(t, dtype=float)))


def plus_primal(X, y, Z, C, lam, sample_weight=None):
    """The dual with Q from a Cholesky factor of lam I + C Zt'WZt, by the interior point method."""
    y = np.asarray(y, dtype=float)
    weights = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = weights > 0
    x, sign, z = X[used], y[used], np.column_stack([Z, np.ones(y.size)])[used]
    mass = C * weights[used]
    L = np.linalg.cholesky(lam * np.eye(z.shape[1]) + (z.T * mass) @ z)
    F = np.linalg.solve(L, z.T).T
    rows = np.column_stack([x * sign[:, None], F])
    H = rows @ rows.T
    unit = 1 / max(np.trace(H) / len(sign), 1e-300)
    alpha, b = box_qp(H * unit, np.ones(sign.size), np.full(sign.size, np.inf), sign)
    alpha = alpha * unit
    return {
        "w": x.T @ (alpha * sign),
        "b": b,
        "v": (vt := np.linalg.solve(L.T, F.T @ alpha))[:-1],
        "rho": vt[-1],
    }


def push_primal(X, y, C):
    """An array alone."""
    return top_push_pair(X, y, C)["w"]


def recall_dual(X, y, C, k=1, tol=1e-6):
    """The cuts and their weights."""
    _, sets, weights = recall_cuts(X, y, C, k, tol)
    return {"sets": sets, "weights": weights}


PORTS: Sequence[tuple[Any, str, dict[str, Any]]] = [
    (printed_value, "topk_hinge_alpha_printed.value", {}),
    (printed_gradient, "topk_hinge_alpha_printed.gradient", {}),
    (alpha_gradient, "topk_hinge_alpha.gradient", {}),
    (alpha_prox, "topk_hinge_alpha.prox", {}),
    (alpha_update, "topk_hinge_alpha.sdca_update", {}),
    (smooth_alpha_value, "smooth_topk_hinge_alpha.value", {}),
    (smooth_alpha_update, "smooth_topk_hinge_alpha.sdca_update", {}),
    (squared_update, "squared_topk_hinge.sdca_update", {}),
    (sparsemax_prox, "sparsemax.prox", {}),
    (sparsemax_update, "sparsemax.sdca_update", {}),
    (hinge_value, "multiclass_hinge.value", {}),
    (hinge_conjugate, "multiclass_hinge.conjugate", {}),
    (multilabel_value, "multilabel_hinge.value", {}),
    (multilabel_prox, "multilabel_hinge.prox", {}),
    (multilabel_smooth_prox, "multilabel_smooth_hinge.prox", {}),
    (multilabel_entropy_value, "multilabel_entropy.value", {}),
    (ova_smooth_value, "ova_smooth_hinge.value", {}),
    (ova_smooth_update, "ova_smooth_hinge.sdca_update", {}),
    (ova_update, "ova_hinge.sdca_update", {}),
    (ova_gradient, "ova_hinge.gradient", {}),
    (ova_logistic_gradient, "ova_logistic.gradient", {}),
    (ova_logistic_conjugate, "ova_logistic.conjugate", {}),
    (alpha_entropy_conjugate, "topk_entropy_alpha.conjugate", {}),
    (beta_entropy_value, "topk_entropy_beta.value", {}),
    (truncated_value, "truncated_topk_entropy.value", {}),
    (lambert_scipy, "lambert_w_exp.value", {}),
    (plus_primal, "svm_plus_squared_hinge.primal", {"fixed": {"nonneg_slack": False}}),
    (push_primal, "top_push.primal", {}),
    (recall_dual, "recall_at_k.dual", {}),
]
