"""Consistent top-k hinge: polyhedral, convex, and every minimiser of its risk is top-k optimal.

L(y, f) = 1 + max{u_[1] - 1, tau} - u_y with sum_j (u_j - tau)_+ = k over all m classes, u = f + c; it is
the maximum over p in the simplex of <u,p> - S_k(p) + 1 - u_y, S_k the sum of the k largest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._numba import inlined, kernel
from fast._simd import choose, larger, plus, smaller
from fast._validation import LIMIT
from fast.families import Loss, module_functions
from fast.kernels.hinges import divided, others, with_own
from fast.kernels.projections import LOWEST, kth_largest, uncapped_row, write_zero
from fast.kernels.rows import compiled
from fast.sets import capped_simplex

Array = np.ndarray[Any, Any]
EPS = np.finfo(np.float64).eps
SHORT = 64  # other classes up to which the prox begins with mass 1 on few of them, then with one threshold
SMALL = 0.01  # a of an example, in parts of the other classes, at which the projection of q is more exact
SEARCH, ROUNDS = 20, 100  # of the search for q_y where the truth is curved less, and of what rounding leaves of it


@inlined
def parts(space, m):
    """Of the scratch behind its first row: scores, that of the truth last, q, and what projecting takes."""
    flat = space[1:].reshape(-1)
    return flat[:m], flat[m : 2 * m], flat[2 * m : 3 * m]


@kernel
def nearest(p, u, q, own, tied, a, rho, x, work):
    """Write x = argmin a/2 (||x||^2 + rho s^2) - <u - q + own,x> + gamma/2 ||(x,1-s)||^2 over {x >= 0, s <= 1}.

    u - q is the same at all 0 < q < 1, and u_y - own too where ``tied``. Returns how many these are, u - q
    there, and s.
    """
    gamma = p[1]
    level, inner = 0.0, 0
    for j in range(x.shape[0]):
        if 0.0 < q[j] < 1.0:
            level = u[j] - q[j]
            inner += 1
    same = (u[x.shape[0]] if tied else level + own) + gamma
    for j in range(x.shape[0]):
        x[j] = choose((q[j] > 0.0) & (q[j] < 1.0), same, ((u[j] - q[j]) + own) + gamma)
    den = min(a + gamma, LIMIT)
    uncapped_row(x, den, (a * rho + gamma) / den, False, x, work)
    return inner, level, divided(x, den)


@kernel
def flat_row(u, q, x):
    """Write a p that maximises <u,p> - S_k(p), without its last entry, given q; returns the last."""
    m = u.shape[0]
    first, count = 0, 0
    for j in range(m):
        count += q[j] > 0.0
        if u[j] > u[first]:
            first = j
    one = q[first] >= 1.0
    share = 1.0 if one else 1.0 / count
    for j in range(m - 1):
        x[j] = choose((j == first) if one else (q[j] > 0.0), share, 0.0)
    return share if (one and first == m - 1) or (not one and q[m - 1] > 0.0) else 0.0


@kernel
def own_share(p, u, a, q, x, work):
    """Return q_y where the truth is curved less and tied at the k-th largest, and s; writes q and x of the others.

    With tau the threshold of q_j = clip(u_j - tau, 0, 1), q_y = k - <1,q>, the k-th largest is
    theta = (tau + q_y)/a and the entries are (u_j - q_j + q_y + gamma theta)_+/(a + gamma). What is left to 1
    less theta falls in tau, piecewise linearly, and tau is less than 1 below the k-th largest score: Newton's
    method within a bracket. Where q_y is not in (0, 1) the truth is not tied, and nothing written; s is -1 then,
    and where the search has not ended or a is small.
    """
    k, gamma = p
    pivot = kth_largest(u, k, np.inf, work)[0]
    low, high, e, own, shift, s = -2.0, 1.0, -0.5, 0.0, 0.0, -1.0  # -1 and 0 are ends to be tried
    for _ in range(SEARCH):
        total, inner = 0.0, 0
        for j in range(u.shape[0]):
            v = (u[j] - pivot) - e
            total = plus(total, larger(smaller(v, 1.0), 0.0))
            inner += (v > 0.0) & (v < 1.0)
        own = k - total
        scaled = (pivot + e) + own
        shift, active, both, mass = own + gamma / a * scaled, 0, 0, 0.0
        for j in range(u.shape[0]):
            v = (u[j] - pivot) - e
            w = (u[j] - larger(smaller(v, 1.0), 0.0)) + shift
            active += w > 0.0
            both += (w > 0.0) & (v > 0.0) & (v < 1.0)
            mass = plus(mass, larger(w, 0.0))
        left = a - mass * (a / (a + gamma))
        off = larger(left, 0.0) - scaled
        grown = 1.0 + inner
        slope = grown
        if left > 0.0:
            slope += (active * (inner + gamma / a * grown) + both) * (a / (a + gamma))
        change = off / slope
        if (own >= 1.0 and off >= 0.0) or (own <= 0.0 and off <= 0.0):
            break  # so it stays
        if abs(change) <= 2.0 * EPS * (1.0 + abs(pivot)):
            s = 0.0 if left >= 0.0 and a >= SMALL * u.shape[0] else -1.0
            break
        if off > 0.0:
            low = e
        else:
            high = e
        new = min(max(e + change, -1.0), 0.0)
        e = new if low < new < high else 0.5 * (max(low, -1.0) + min(high, 0.0))
    if not 0.0 < own < 1.0:
        return min(max(own, 0.0), 1.0), -1.0
    done = s >= 0.0  # the search
    for j in range(u.shape[0]):
        inside = larger(smaller((u[j] - pivot) - e, 1.0), 0.0)
        v = choose((inside > 0.0) & (inside < 1.0), pivot + e, u[j] - inside)
        q[j], x[j] = inside, larger(v + shift, 0.0) / (a + gamma)
        s = plus(s, x[j])
    return own, s if done else -1.0


@kernel
def plain(u, top, den, k, x, work):
    """Write the x of s = 1 whose S_k is all of it, (u - nu - 1)_+/den; returns whether it is the solution.

    It is if k reaches the sum of the least q, min((u_j - nu)_+, 1) of the others and (-nu)_+ of the truth.
    """
    den = min(den, LIMIT)
    uncapped_row(u, den, 0.0, True, x, work)
    largest, total = 0.0, 0.0
    for j in range(u.shape[0]):
        largest = larger(largest, x[j])
    level = top - largest
    if level < 0.0:
        return False
    for j in range(u.shape[0]):
        total = plus(total, larger(smaller((u[j] - level) + 1.0, 1.0), 0.0))
    if total + max(1.0 - level, 0.0) > k:
        return False
    divided(x, den)
    return True


@kernel
def step(p, u, a, rho, x, q, work):
    """Write x = argmin a/2 (||x||^2 + rho s^2) - <u,x> + conjugate(x); returns 1 - s, and q.

    u and q have an entry more than x, that of the truth. x is 0 where the loss is 0 at u: no u_j above -gamma,
    and sum_j (u_j + 1 + gamma)_+ <= k - 1. Else, with rho = 1, the two projections, of the scores with a for the
    truth on 0 <= q <= 1, <1,q> = k, and of u - q on the simplex, are all. With rho = 0 the score of the truth is
    a (1 - s): where that is not 0, q_y is where it exceeds the threshold of the others by q_y.
    """
    k, gamma = p
    d = x.shape[0]
    top, over = LOWEST, 0.0
    for j in range(d):
        top = larger(top, u[j])
        over = plus(over, larger(u[j] + (1.0 + gamma), 0.0))
    if top + gamma <= 0.0 and over <= k - 1:
        q[d] = 1.0
        return 1.0 - write_zero(x)
    if not a + gamma > 0.0:
        u[d] = 0.0
        capped_simplex.project_row(u, float(k), 1.0, q, work)
        return flat_row(u, q, x)
    if rho > 0.0 or a == 0.0:
        u[d] = a
        capped_simplex.project_row(u, float(k), 1.0, q, work)
        return 1.0 - nearest(p, u, q, q[d], 0.0 < q[d] < 1.0, a, rho, x, work)[2]
    if k > 1 and d <= SHORT and plain(u[:d], top, a + gamma, k, x, work):
        return 0.0
    low, high, own = -1.0, 2.0, 0.0  # beyond the ends until these are tried
    if d <= SHORT:
        own, s = own_share(p, u[:d], a, q, x, work)
        if s >= 0.0:
            q[d] = own
            return 1.0 - s
    else:
        u[d] = 0.5 * a
        capped_simplex.project_row(u, float(k), 1.0, q, work)
        own = q[d]
    for turn in range(ROUNDS):
        if turn > 0 or (d <= SHORT and (not 0.0 < own < 1.0 or a < SMALL * d)):
            capped_simplex.project_row(u[:d], k - own, 1.0, q[:d], work)
        inner, level, s = nearest(p, u, q, own, False, a, 0.0, x, work)
        score = a * (1.0 - s)
        active, both, top, least = 0, 0, -np.inf, np.inf
        for j in range(d):
            between = (q[j] > 0.0) & (q[j] < 1.0)
            active += x[j] > 0.0
            both += (x[j] > 0.0) & between
            v = u[j] - q[j]
            top = larger(top, choose(q[j] < 1.0, v, -np.inf))
            least = smaller(least, choose(q[j] > 0.0, v, np.inf))
        if own >= 1.0:
            off = score - top - 1.0
            if off >= 0.0:
                break
        elif own <= 0.0:
            off = score - least
            if off <= 0.0:
                break
        else:  # without others inside, own is 0 or 1 up to rounding
            off = score - level - own if inner > 0 else 0.5 - own
            if abs(off) <= 4.0 * EPS * (1.0 + abs(level)):
                break
        slope = a / (a + gamma + gamma * active) * (active + both / max(inner, 1)) if s < 1.0 else 0.0
        far = 2.0 * abs(off) if inner > 0 and 0.0 < own < 1.0 else 2.0  # off falls by 1 or more with own by 1
        if off > 0.0:
            low, high = own, min(high, own + far)
        else:
            low, high = max(low, own - far), own
        new = min(max(own + off / (slope + 1.0 + 1.0 / max(inner, 1)), 0.0), 1.0)
        if not low < new < high or turn % 8 == 7 or (inner == 0 and 0.0 < own < 1.0):
            new = 0.5 * (max(low, 0.0) + min(high, 1.0))
            if new in (low, high):
                break
        own = new
    q[d] = own
    return 1.0 - s


@inlined
def scores_of(row, y, costs, space):
    """Scores less that of the truth, which stands last, and scratch."""
    u, q, work = parts(space, row.shape[0])
    others(row, y, costs, u[: row.shape[0] - 1])
    return u, q, space[5, 1:], work


@inlined
def value_at(p, row, y, costs, space):
    """sum_j p_j (u_j + 1 - q_j) + gamma/2 (1 - ||p||^2), p the gradient with 1 - s at the truth."""
    u, q, x, work = scores_of(row, y, costs, space)
    own = step(p, u, 0.0, 0.0, x, q, work)
    d = x.shape[0]
    total, square = own * (1.0 - q[d]), own * own
    for j in range(d):
        total = plus(total, choose(x[j] > 0.0, x[j] * (u[j] + (1.0 - q[j])), 0.0))
        square = plus(square, x[j] * x[j])
    return larger(total + 0.5 * p[1] * (1.0 - square), 0.0)


@inlined
def gradient_at(p, row, y, costs, weight, out, space):
    """Write ``weight`` times the gradient in the scores; returns 1 - <1,x>."""
    u, q, x, work = scores_of(row, y, costs, space)
    own = step(p, u, 0.0, 0.0, x, q, work)
    with_own(x, y, weight, out)
    return own


@inlined
def update_at(p, row, y, costs, r, norm, out, space):
    """Write the dual block of an example; returns 1 - <1,x>."""
    u, q, x, work = scores_of(row, y, costs, space)
    own = step(p, u, min(r * norm, LIMIT), 1.0, x, q, work)
    with_own(x, y, -r, out)
    return own


@inlined
def prox_at(p, row, y, costs, t, out, space):
    """Write the proximal point v - t x of a row over the others; returns 1 - <1,x>."""
    d = row.shape[0]
    u, q, work = parts(space, d + 1)
    for j in range(d):
        u[j] = row[j] + costs[j]
    own = step(p, u, t, 0.0, out, q, work)
    for j in range(d):
        out[j] = row[j] - t * out[j]
    return own


@inlined
def conjugate_at(p, row, y, costs, known, slack, space):
    """S_k(p) - 1 + gamma/2 (||p||^2 - 1) - <costs,x> with p = (x, 1 - s): the first is minus the smaller entries."""
    k, gamma = p
    d = row.shape[0]
    u, _, work = parts(space, d + 1)
    s, square, inner, least = 0.0, 0.0, 0.0, 0.0
    for j in range(d):
        v = row[j]
        u[j] = v
        s = plus(s, v)
        square = plus(square, v * v)
        inner = plus(inner, costs[j] * v)
        least = larger(least, -v)
    if not (s <= 1.0 + slack and least <= slack):
        return np.inf
    u[d] = 1.0 - s
    at = kth_largest(u, k, np.inf, work)[0]
    below, count = 0.0, 0
    for j in range(d + 1):
        count += u[j] < at
        below = plus(below, choose(u[j] < at, u[j], 0.0))
    below += (d + 1 - k - count) * at
    return gamma * (0.5 * square - s * (1.0 - 0.5 * s)) - below - inner


@dataclass(frozen=True)
class ConsistentTopKHinge(Loss):
    """The loss, with its parameters."""

    k: int = 1
    cost = 0.0
    bounded = True
    kernels = compiled(globals(), __file__)

    @property
    def capabilities(self) -> frozenset[str]:
        """What solvers may need of it."""
        return super().capabilities | (set() if self.smooth else {"faces"})

    def parameters(self, others: int, *, given: bool = True) -> tuple[int, float]:
        """(k, gamma)."""
        return int(self._checked("k", self.k, others)), 0.0


value, gradient, conjugate, prox, sdca_update = module_functions(
    ConsistentTopKHinge,
    value="""
Losses 1 + max{u_[1] - 1, tau} - u_y, sum_j (u_j - tau)_+ = k over all classes, u = f + c.

Of all minimisers of its risk the k largest scores are the best guesses; for k = 1 it is the loss of Duchi,
Khosravi and Ruan 2018. It is no upper bound of the top-k error: all scores equal give 1 - k/m.
""",
    gradient="""
1 at the largest score if u_[1] - 1 > tau, else the same at all scores above tau; less 1 at y.
""",
    conjugate="L*(x) = S_k((x,1-s)) - 1 - <c,x> on {x >= 0, s <= 1}, s = <1,x>.",
    prox="It is v - t x with x = argmin t/2 ||x||^2 - <v + c,x> + S_k((x,1-s)) over {x >= 0, s <= 1}.",
    sdca_update="""
With a = w C k_ii and u = q + c + a e_y, p = argmin a/2 ||p||^2 - <u,p> + S_k(p) over the simplex, and the
block is w C (e_y - p): two projections, q of u on {0 <= q <= 1, <1,q> = k}, and that of (u - q)/a.
""",
)
_warmup = ConsistentTopKHinge.warm_up
