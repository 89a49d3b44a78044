"""Right losses of the seventh set: values, gradients, conjugates, proxes, updates and inference."""

import heapq
from fractions import Fraction
from functools import partial
from math import exp, fsum, inf, log, log1p

import numpy as np
from scipy.special import xlogy

from verification.adapters import adapt

from .right_seventh_sets import LONG, bipartite_newton, floating, simplex_rows, topk_simplex


def margins(scores, y, costs=None, default=1.0):
    """Z over the other classes, in extended precision."""
    f = np.asarray(scores, dtype=LONG)
    z = f - f[y] + (default if costs is None else np.asarray(costs, dtype=LONG))
    return np.delete(z, y)


def with_truth(x, y, dtype=float):
    """The block of the others and minus its sum at the truth."""
    return np.insert(x, y, -x.sum()).astype(dtype)


def softmax_streamed(scores, y, costs=None, sample_weight=None):
    """One pass that keeps the largest exponent, in plain Python."""
    top, rest = 0.0, 0.0
    for j in range(len(scores)):
        if j == y:
            continue
        z = float(scores[j]) - float(scores[y]) + (0.0 if costs is None else float(costs[j]))
        if z > top:
            rest, top = rest * exp(top - z), z
        rest += exp(z - top)
    value = top + log(exp(-top) + rest) if top > 0 else log1p(rest)
    return value if sample_weight is None else value * float(sample_weight)


class SoftmaxGradient:
    """All rows of a batch at once."""

    def __call__(self, scores, y, costs=None, sample_weight=None):
        """The gradient of each row."""
        f = np.atleast_2d(scores).astype(LONG)
        labels = np.atleast_1d(y)[:, None]
        z = f - np.take_along_axis(f, labels, axis=1)
        if costs is not None:
            z = z + np.asarray(costs, dtype=LONG)
        e = np.exp(z - z.max(axis=1, keepdims=True))
        np.put_along_axis(e, labels, np.exp(-z.max(axis=1, keepdims=True)), axis=1)
        x = e / e.sum(axis=1, keepdims=True)
        np.put_along_axis(x, labels, 0, axis=1)
        np.put_along_axis(x, labels, -x.sum(axis=1, keepdims=True), axis=1)
        if sample_weight is not None:
            x = x * np.asarray(sample_weight, dtype=LONG)[..., None]
        return x.reshape(np.shape(scores)).astype(floating(scores))


def softmax_conjugate(x, costs=None):
    """Sums without error, and inf outside."""
    entries = [float(v) for v in x]
    rest = fsum([1.0, *(-v for v in entries)])
    if min(entries) < 0 or rest < 0:
        return inf
    linear = (
        [0.0] if costs is None else [-float(c) * v for c, v in zip(costs, entries, strict=True)]
    )
    return fsum([*xlogy(entries, entries), xlogy(rest, rest), *linear])


def hinge_prox(v, t=1.0, costs=None):
    """The level that takes t from the largest entries, by Newton's method from below."""
    c = np.asarray(1.0 if costs is None else costs, dtype=LONG)
    v, step = np.asarray(v), LONG(t)
    z = v.astype(LONG) + c
    level = LONG(0)
    while True:
        over = z > level
        excess = (z[over] - level).sum() - step
        if excess <= 0 or level + excess / over.sum() == level:
            break
        level = level + excess / over.sum()
    return (np.where(z > level, level - c, v.astype(LONG))).astype(floating(v))


def hinge_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """The threshold from a heap of the largest margins; a list comes back."""
    b = margins(q, y, costs)
    mass = LONG(C) * LONG(1 if sample_weight is None else sample_weight)
    curvature = LONG(k_ii)
    heap = [(-value, j) for j, value in enumerate(b)]
    heapq.heapify(heap)
    top = b.max()
    x = np.zeros(b.size, dtype=LONG)
    if top > 0 and mass > 0:
        if curvature * mass == 0:
            ties = b == top
            x[ties] = mass / ties.sum()
        else:
            # x = (height - (top - b))_+/K, the height is the lesser of those of s <= mass and of
            # top - height = K s
            count, dropped, height = 0, LONG(0), LONG(0)
            while heap and (count == 0 or top + heap[0][0] < height):
                dropped += top + heapq.heappop(heap)[0]
                count += 1
                height = min(
                    (curvature * mass + dropped) / count, (top + dropped) / (1 + LONG(count))
                )
            x = np.maximum(height - (top - b), 0) / curvature
    return [float(v) for v in np.insert(-x, y, x.sum())]


def topk_alpha_value(scores, y, k=1, costs=None, sample_weight=None):
    """Quickselect in plain Python with the middle entry as pivot."""
    weight = 1.0 if sample_weight is None else float(sample_weight)
    values, chosen, wanted = [Fraction(float(v)) for v in scores], [], k
    truth = values[y]
    values = [
        v - truth + (1 if costs is None else Fraction(float(costs[j])))
        for j, v in enumerate(values)
        if j != y
    ]
    while wanted:
        pivot = values[len(values) // 2]
        larger = [v for v in values if v > pivot]
        equal = [v for v in values if v == pivot]
        if len(larger) >= wanted:
            values = larger
        elif len(larger) + len(equal) >= wanted:
            chosen += larger + equal[: wanted - len(larger)]
            break
        else:
            chosen += larger + equal
            wanted -= len(larger) + len(equal)
            values = [v for v in values if v < pivot]
    return float(max(sum(chosen), Fraction(0)) / k * Fraction(weight))


def topk_beta_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """1/k at those of the k largest that are positive; a tuple comes back."""
    z = margins(scores, y, costs)
    chosen = np.argpartition(-z, k - 1)[:k] if k < z.size else np.arange(z.size)
    x = np.zeros(z.size)
    x[chosen] = (z[chosen] > 0) / k * (1.0 if sample_weight is None else float(sample_weight))
    return tuple(with_truth(x, y))


def topk_beta_value(scores, y, k=1, costs=None, sample_weight=None):
    """In single precision throughout."""
    z = scores - scores[y] + (np.float32(1) if costs is None else costs.astype(np.float32))
    z = np.sort(np.maximum(np.delete(z, y), 0))[::-1][:k]
    return (z / np.float32(k)).sum() * np.float32(1 if sample_weight is None else sample_weight)


topk_beta_single = adapt(topk_beta_value, "topk_hinge_beta.value", dtype="float32")


def topk_alpha_conjugate(x, k=1, costs=None):
    """Rational sums; a point counts as inside within four roundings an entry."""
    entries = [Fraction(float(v)) for v in x]
    s = sum(entries)
    slack = 4 * len(entries) * Fraction(float(np.finfo(np.asarray(x).dtype).eps))
    if min(entries) < 0 or s > 1 + slack or k * max(entries) > s * (1 + slack):
        return inf
    c = [1] * len(entries) if costs is None else [Fraction(float(v)) for v in costs]
    return float(-sum(a * b for a, b in zip(c, entries, strict=True)))


def squared_prox(v, k=1, t=1.0, costs=None):
    """The top-k cone's projection with rho = 1/t, which the step need not divide."""
    c = LONG(1) if costs is None else np.asarray(costs, dtype=LONG)
    v = np.asarray(v)
    moved = topk_simplex(v.astype(LONG) + c, k, np.finfo(LONG).max / 4, 1 / LONG(t))
    return (v.astype(LONG) - moved).astype(floating(v))


def squared_value(scores, y, k=1, costs=None, sample_weight=None):
    """A full sort."""
    mean = max(np.sort(margins(scores, y, costs))[-k:].sum() / k, LONG(0))
    return float(mean * mean / 2 * (1 if sample_weight is None else LONG(sample_weight)))


def sparsemax_gradient(scores, y, costs=None, sample_weight=None):
    """The projection of all m margins, 0 at the truth, onto the simplex."""
    z = np.insert(margins(scores, y, costs, 0.0), y, LONG(0))
    p = simplex_rows(z)
    p[y] = 0
    p[y] = -p.sum()
    return (p * (1 if sample_weight is None else LONG(sample_weight))).astype(floating(scores))


def sparsemax_value(scores, y, costs=None, sample_weight=None):
    """<z,p> - 1/2 ||p||^2 + 1/2, summed so that nothing cancels where p is near the truth."""
    z = margins(scores, y, costs, 0.0)
    x = simplex_rows(np.append(z, LONG(0)))[:-1]
    s = x.sum()
    value = (x * (z - x / 2)).sum() + s - s * s / 2
    return float(value * (1 if sample_weight is None else LONG(sample_weight)))


def _signed(scores, y, costs):
    f, y = np.asarray(scores, dtype=LONG), np.asarray(y)
    default = np.where(y == 1, 0, 1)
    return np.where(y == 1, -f, f) + (default if costs is None else np.asarray(costs, dtype=LONG))


def multilabel_gradient(scores, y, costs=None, sample_weight=None):
    """One pass for the hardest label of each side."""
    z = _signed(scores, y, costs)
    g = np.zeros(z.size)
    best = {}
    for j in range(z.size):
        side = int(y[j])
        if side not in best or z[j] > z[best[side]]:
            best[side] = j
    if len(best) == 2 and z[best[0]] + z[best[1]] > 0:
        g[best[0]] = 1.0 if sample_weight is None else float(sample_weight)
        g[best[1]] = -g[best[0]]
    return g


def multilabel_smooth_value(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """From the projection onto the bipartite simplex of sum gamma."""
    z = _signed(scores, y, costs)
    p = bipartite_newton(z, y, gamma)
    value = (p / LONG(gamma) * (z - p / 2)).sum()
    return float(value * (1 if sample_weight is None else LONG(sample_weight)))


def multilabel_entropy_gradient(scores, y, costs=None, sample_weight=None):
    """A softmax over all labels, less the uniform weights of the right ones."""
    z = np.asarray(scores, dtype=LONG) + (0 if costs is None else np.asarray(costs, dtype=LONG))
    e = np.exp(z - z.max())
    right = np.asarray(y) == 1
    g = (e / e.sum() - right / LONG(right.sum())) * LONG(
        1 if sample_weight is None else sample_weight
    )
    return g.astype(floating(scores))


def ova_prox(v, t=1.0, costs=None):
    """Each entry by itself: soft thresholding on one side."""
    c = LONG(1) if costs is None else np.asarray(costs, dtype=LONG)
    z = np.asarray(v).astype(LONG) + c
    x = np.where(z > t, z - LONG(t), np.minimum(z, 0)) - c
    return np.where(z > 0, x, v).astype(floating(v))


def halved(low, high, below):
    """The root between low and high to the last bit: below says whether a point is under it."""
    while True:
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():
            return high
        under = below(middle)
        low, high = np.where(under, middle, low), np.where(under, high, middle)


def ova_logistic_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """Bisection for u = logit x in alpha/(1 + e^-u) + u = b, all classes at once."""
    sign = np.where(np.arange(len(q)) == y, -1, 1)
    b = np.asarray(q, dtype=LONG) * sign
    b = b if costs is None else b + np.asarray(costs, dtype=LONG)
    mass = LONG(C) * LONG(1 if sample_weight is None else sample_weight)
    alpha = mass * LONG(k_ii)
    low = np.maximum(b - alpha, np.minimum(b, 0) - np.log1p(alpha) - 1)
    odds = halved(low, b, lambda u: alpha / (1 + np.exp(-u)) + u < b)
    return -sign * mass / (1 + np.exp(-odds))


def ova_logistic_value(base, scores, y, costs=None, sample_weight=None):
    """log(1 + e^z), added up; base is fixed by a partial."""
    z = np.array(scores, dtype=LONG)
    z[y] = -z[y]
    z = z if costs is None else z + np.asarray(costs, dtype=LONG)
    return float(np.logaddexp(base, z).sum() * LONG(1 if sample_weight is None else sample_weight))


ova_logistic_partial = partial(ova_logistic_value, LONG(0))


def _ranks(scores, y):
    """Both classes by falling score, and for each negative the best rank among the positives."""
    s, y = np.asarray(scores, dtype=LONG), np.asarray(y) == 1
    positive = np.flatnonzero(y)[np.argsort(-s[y], kind="stable")]
    negative = np.flatnonzero(~y)[np.argsort(-s[~y], kind="stable")]
    count, others = len(positive), len(negative)
    k = np.arange(1, count + 1, dtype=LONG)
    rank, total = np.empty(others, dtype=int), LONG(0)
    for j in range(others):
        h = k / ((j + 1 + k) * (j + k)) / count
        h = h - 2 * (s[positive] - s[negative[j]]) / LONG(count * others)
        delta = np.append(np.cumsum(h[::-1])[::-1], LONG(0))
        rank[j] = count - int(np.argmax(delta[::-1]))
        total += delta[rank[j]]
    return positive, negative, rank, total


def ap_inference(scores, y):
    """A scan over all ranks for each negative; the fewest inversions among equals."""
    positive, negative, rank, _ = _ranks(scores, y)
    a = np.zeros(len(scores))
    count, others = len(positive), len(negative)
    a[negative] = 2.0 * (count - rank) / (count * others)
    above = np.searchsorted(np.sort(rank), np.arange(count), side="right")
    a[positive] = -2.0 * above / (count * others)
    return a


def ap_value(scores, y):
    """The same scan, the value only."""
    return float(_ranks(scores, y)[3])


def lambert_scalar(t):
    """Newton's method on w + log w = t, in the logarithm where w is small; a loop over entries."""
    answer = np.empty(np.shape(t))
    for index, entry in np.ndenumerate(np.asarray(t, dtype=float)):
        t0 = float(entry)
        if t0 < 1.0:
            level = min(t0, 0.0)  # log w: e^level + level = t
            for _ in range(60):
                level -= (exp(level) + level - t0) / (exp(level) + 1.0)
            # one more in differences: w = e^(t - w)
            w = exp(level)
            w = exp(t0 - w) if t0 < -1 else w
        else:
            w = max(t0 - log(t0), 0.5)
            for _ in range(60):
                w *= (1.0 + t0 - log(w)) / (1.0 + w)
        answer[index] = w
    return answer if np.ndim(t) else float(answer)


def truncated_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """The softmax of all but the k - 1 largest, the first of equals left out."""
    z = margins(scores, y, costs, 0.0)
    order = sorted(range(z.size), key=lambda j: (-z[j], j))
    kept = order[k - 1 :]
    top = max(z[kept].max(), LONG(0))
    x = np.zeros(z.size, dtype=LONG)
    x[kept] = np.exp(z[kept] - top)
    x /= np.exp(-top) + x.sum()
    weight = LONG(1 if sample_weight is None else sample_weight)
    return with_truth(x * weight, y, floating(scores))


def entropy_beta_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """Bisection for t in e^-t + sum min(e^(z-t), 1/k) = 1."""
    z = margins(scores, y, costs, 0.0)
    most = -np.log(LONG(k))
    high = max(z.max(), LONG(0)) + np.log(LONG(z.size + 1))

    def below(t):  # what is not at 1/k beside what is left for it: no small term is added to 1
        full = z - t > most
        rest = np.exp(-t) + np.exp(np.minimum(z - t, most))[~full].sum()
        return rest >= LONG(k - full.sum()) / k

    t = halved(LONG(0), high, below)
    x = np.exp(np.minimum(z - t, most))
    weight = LONG(1 if sample_weight is None else sample_weight)
    return with_truth(x * weight, y, floating(scores))


def entropy_alpha_value(scores, y, k=1, costs=None, sample_weight=None):
    """All k candidates of u, the first that is valid taken; tails from the smallest up."""
    z = np.sort(margins(scores, y, costs, 0.0))[::-1]
    tails = np.logaddexp.accumulate(z[::-1])[::-1]
    for u in range(k):
        if np.log(LONG(k - u)) + z[u] <= tails[u] or u == k - 1:
            break
    rho = LONG(u) / k
    v = (z[:u] / k).sum() + rho * np.log(LONG(k)) + (1 - rho) * (tails[u] - np.log(1 - rho))
    weight = LONG(1 if sample_weight is None else sample_weight)
    return float(np.logaddexp(LONG(0), v) * weight)


def smooth_alpha_gradient(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The projection of the margins onto the set of sum gamma, divided by it."""
    x = topk_simplex(margins(scores, y, costs), k, gamma) / LONG(gamma)
    weight = LONG(1 if sample_weight is None else sample_weight)
    return with_truth(x * weight, y, floating(scores))


def smooth_beta_value(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """A sweep of the threshold from above, in rational arithmetic."""
    f, radius = [Fraction(float(v)) for v in scores], Fraction(float(gamma))
    c = [1] * len(f) if costs is None else [Fraction(float(v)) for v in costs]
    z = [v - f[y] + c[j] for j, v in enumerate(f) if j != y]
    cap = radius / k
    t, total, slope = max(z), Fraction(0), 0
    for at, bend in sorted([(v, 1) for v in z] + [(v - cap, -1) for v in z], reverse=True):
        if at <= 0 or total + slope * (t - at) >= radius:
            t = max(t - (radius - total) / slope, 0) if slope else max(min(t, at), 0)
            break
        total, t, slope = total + slope * (t - at), at, slope + bend
    p = [min(max(v - t, Fraction(0)), cap) for v in z]
    value = sum(a * (v - a / 2) for a, v in zip(p, z, strict=True)) / radius
    return float(value * (1 if sample_weight is None else Fraction(float(sample_weight))))
