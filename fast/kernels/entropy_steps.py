"""The prox and the dual block update of the entropies: one strictly convex problem in a row.

x = argmin of a/2 (<x,x> + rho s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over Delta_k(1), rho 0 or 1.

Let t = a rho s - log(1-s), less p/k for ALPHA with p the sum of the multipliers of x_i <= s/k. Then
x_i = min(X(b_i - t), cap) with X(z) the root of a X + log X = z, and what is left is one
equation in t: the mass <1,x> + y of all classes is 1, where y = 1 - s has a root of its own.
"""

import math

from fast._elementary import exp
from fast._numba import inlined, kernel
from fast._simd import choose, fused, plus, smaller
from fast.functions.lambert_w_exp import root
from fast.kernels.entropies import capped, level, point_row
from fast.kernels.hinges import ALPHA, BETA

EPS = 2.220446049250313e-16
FREE = 1e-17  # up to this a the quadratic moves no exponent by a rounding: the closed form holds
TINY = 2.3e-308
STEEP = 1e7  # from this a on bounds of the size of a are too wide a bracket
FLAT = 0.25  # up to this a X the roots are multiples of exponentials
NEAR = 0.015  # steps of t that change the roots by six terms of a series
HUGE = 1e280  # the end of the range of `root`: beyond, the problem is scaled down


@kernel
def _own(t, a, rho):
    """Return y = 1 - s, the root of a rho y + log y = a rho - t, and -y'(t)."""
    if rho == 0.0:
        y = exp(-t)
        return y, y
    y = root(a - t, a, math.log(a))
    return y, y / (1.0 + a * y)


@kernel
def _own_sum(t, a, rho):
    """Return s, the root of a rho s - log(1 - s) = t, and s'(t): for s < 1/2, relatively."""
    if rho == 0.0:
        return -math.expm1(-t), exp(-t)
    s = t / (1.0 + a)  # right of the root of a convex function
    for _ in range(50):
        step = ((a * s - math.log1p(-s)) - t) / (a + 1.0 / (1.0 - s))
        s -= step
        if step <= EPS * abs(s):
            break
    return s, 1.0 / (a + 1.0 / (1.0 - s))


@kernel(forceinline=True)
def _share(e):
    """W(e)/e for 0 <= e <= FLAT: a rational interpolant, relative error 5e-19."""
    p = fused(e, 0.015053415366507103, 1.2322809338263017)
    p = fused(e, p, 8.321902632726966)
    p = fused(e, p, 18.123623039881355)
    p = fused(e, p, 16.68960376393483)
    p = fused(e, p, 6.7782288406841795)
    p = fused(e, p, 1.0)
    q = fused(e, 0.512938390958376, 6.126600419793046)
    q = fused(e, q, 21.49454301853909)
    q = fused(e, q, 32.09077905012514)
    q = fused(e, q, 22.967832604619176)
    q = fused(e, q, 7.778228840684179)
    q = fused(e, q, 1.0)
    return p / q


@kernel
def _roots(b, pivot, tau, a, log_a, top, roots):
    """Write the X(b - t), t = pivot + tau, for the b <= top."""
    if a * exp((top - pivot) - tau) <= FLAT:
        for i in range(b.shape[0]):
            v = exp((b[i] - pivot) - tau)
            roots[i] = v * _share(a * v)
        return
    for i in range(b.shape[0]):
        roots[i] = smaller(root((b[i] - pivot) - tau, a, log_a), 1e290)


@kernel
def _moved(roots, d, a):
    """Write what becomes of the X where t rises by d, |d| <= NEAR: Taylor's series.

    Of X in -d the n-th derivative is X u h^n q_n(u) with u = 1/(1 + a X), h = u d.
    """
    for i in range(roots.shape[0]):
        v = roots[i]
        u = 1.0 / (1.0 + a * v)
        h = d * u
        q = fused(u, fused(u, fused(u, 945.0, -2520.0), 2380.0), -924.0)
        q = fused(u, q, 120.0) * (1.0 / 720.0)
        q = fused(-h, q, fused(u, fused(u, fused(u, 105.0, -210.0), 130.0), -24.0) * (1.0 / 120.0))
        q = fused(-h, q, fused(u, fused(u, 15.0, -20.0), 6.0) * (1.0 / 24.0))
        q = fused(-h, q, fused(u, 3.0, -2.0) * (1.0 / 6.0))
        q = fused(-h, q, 0.5)
        roots[i] = fused(-v * h, fused(-h * u, q, 1.0), v)


@kernel
def _capped_mass(a, cap, roots):
    """Of x = min(X, cap): the number of capped entries, and over the others the sums of x and of -x'(t)."""
    s = 0.0
    fall = 0.0
    count = 0
    for i in range(roots.shape[0]):
        v = roots[i]
        take = v < cap
        count += not take
        s = plus(s, choose(take, v, 0.0))
        fall = plus(fall, choose(take, v / (1.0 + a * v), 0.0))
    return count, s, fall


@kernel
def _cone_mass(b, pivot, tau, a, k, roots):
    """Of x = min(X, c) with k c = <1,x>, t = pivot + tau.

    Returns c, the number n of capped entries, s = <1,x>, -s'(t), the sum p of the multipliers of the
    caps, and p'(t). c is the root of the concave function sum of min(X, c) - k c:
    Newton's method comes down to it.
    """
    c = 0.0
    if k == 1:
        fall = 0.0
        for i in range(roots.shape[0]):
            c = plus(c, roots[i])
            fall = plus(fall, roots[i] / (1.0 + a * roots[i]))
        return math.inf, 0, c, fall, 0.0, 0.0
    for i in range(roots.shape[0]):
        c = plus(c, choose(b[i] <= pivot, roots[i], 0.0))
    n = -1
    edge = c
    while True:
        total = 0.0
        count = 0
        for i in range(roots.shape[0]):
            v = roots[i]
            take = v <= c
            count += not take
            total = plus(total, choose(take, v, 0.0))
        if count <= n or count >= k:  # no further, or only by the rounding of equal entries
            break
        n, edge = count, c
        c = total / (k - n)
    fall = 0.0
    if n >= 0:
        for i in range(roots.shape[0]):
            v = roots[i]
            fall = plus(fall, choose(v <= edge, v / (1.0 + a * v), 0.0))
    p = 0.0
    fall = fall / (k - n)
    log_of = max(c, TINY)  # where c underflows, 1 - s rounds to 1 either way
    level = tau + (a * c + math.log(log_of))
    if n > 0:
        for i in range(roots.shape[0]):
            p = plus(p, choose(roots[i] > c, (b[i] - pivot) - level, 0.0))
    return c, n, k * c, k * fall, p, n * ((a + 1.0 / log_of) * fall - 1.0)


@kernel
def _step(mass, target, fall):
    """How far t must rise until the mass falls to its target.

    The mass of one class, or of several equal ones, obeys alpha M + log M = const - t for some alpha;
    that curve is laid through the value and the slope at hand, and solved.
    """
    ratio = mass / fall
    if ratio > 1.0:
        return (ratio - 1.0) / mass * (mass - target) + math.log(mass / target)
    return math.log(mass / target) * ratio


@kernel
def _step_beside(mass, left, fall, gain):
    """The same where the target itself rises: ``left`` now, and by ``gain`` per unit of t.

    The curve meets that line at a mass e^q; Newton's method for q.
    """
    alpha = max(mass / fall - 1.0, 0.0) / mass
    q = math.log(mass)
    for _ in range(20):
        new = math.exp(q)
        rise = alpha * (mass - new) + (math.log(mass) - q)
        move = (new - left - gain * rise) / (new * (1.0 + gain * alpha) + gain)
        q -= move
        if abs(move) < 1e-9:
            break
    return alpha * (mass - math.exp(q)) + (math.log(mass) - q)


@kernel
def _steep_bracket(variant, b, k, a, rho, log_a, pivot, lower, upper, top, work):
    """Bounds of tau that do not grow with a.

    t <= 0 leaves y >= 1; p is at most what the k largest exceed the k-th by. Above, t = a rho s - log(1-s)
    at an s no larger than that of the lower bound.
    """
    if variant == ALPHA and k > 1:
        p = 0.0
        for i in range(min(k, b.shape[0])):
            p += work[i] - pivot
        lower = max(lower, -pivot - p / k)
    _roots(b, pivot, lower, a, log_a, top, work)
    if variant == ALPHA or k == 1:
        _, _, s, _, _, _ = _cone_mass(b, pivot, lower, a, k, work)
    else:
        n, s, _ = _capped_mass(a, 1.0 / k, work)
        s += n / k
    if s < 0.5:
        upper = max(lower, min(upper, (a * rho * s - math.log1p(-s)) - pivot))
    return lower, upper


@kernel
def solve_row(variant, b, k, a, rho, x, work):
    """Write the minimiser x; returns 1 - <1,x>. 0 <= a <= HUGE.

    Newton's method for t, kept inside a bracket (where it falters, bisection). t is held as a
    difference to the k-th largest b, so that x is as accurate for large b as for small ones.
    """
    if a <= FREE:
        return point_row(variant, b, k, x, work)
    d = b.shape[0]
    log_a = math.log(a)
    n, base, z = capped(variant, b, k, work)
    pivot, top = work[min(k, d) - 1], work[0]
    # The answer for a = 0 is where the search starts.
    p, total = level(base, z)
    tau = (p - pivot) + math.log(total / (1.0 - n / k))
    if variant == ALPHA and n > 0:
        tau = (base - pivot) + math.log(z / (1.0 - n / k))
    lower = -pivot
    upper = tau + a * rho
    if k <= d:  # the k largest would all reach 1/k
        bound = math.log(k) - a / k
        lower = max(lower, bound) if k == 1 or variant == BETA else bound
    if k > 1 and variant == ALPHA:  # s <= 1/2 and y <= 1/2
        eta = 0.5 / (k * (d - k + 1.0))
        upper = max(-a * eta - math.log(eta), (0.5 * a * rho + math.log(2.0)) - pivot)
    size = a
    if a > STEEP:
        lower, upper = _steep_bracket(variant, b, k, a, rho, log_a, pivot, lower, upper, top, work)
        size = abs(lower) + abs(upper)
    slack = 16.0 * EPS * (abs(pivot) + size + math.log(k) + 1.0)
    if a * min(exp(-tau), 1.0) > 4.0:  # far from a = 0; Newton's method does better from the left
        tau = lower
    tau = min(max(tau, lower + slack), upper)
    lower -= slack
    upper += slack
    least = -a if a * rho > STEEP else -1.0  # where a dwarfs t, y says nothing
    before = -1
    cap = 1.0 / k
    at = math.inf  # where the roots are known
    sweeps = 0
    settled = False
    near = False
    while True:
        sweeps += 1
        target = 1.0
        if abs(tau - at) <= NEAR:
            _moved(work, tau - at, a)
        else:
            _roots(b, pivot, tau, a, log_a, top, work)
        at = tau
        if variant == ALPHA or k == 1:
            cap, n, s, fall, p, p_fall = _cone_mass(b, pivot, tau, a, k, work)
        else:
            n, s, fall = _capped_mass(a, cap, work)
            p, p_fall, target = 0.0, 0.0, (k - n) / k
        t = (pivot + tau) + p / k
        rise = 1.0 + p_fall / k
        y, y_fall = _own(t, a, rho)
        excess = (s - target) + y
        pull = fall + y_fall * rise
        size = target
        room = target - y
        near = target == 1.0 and least <= t < 0.5 * a * rho + math.log(2.0)
        if near:
            # s is small: compare it with what it is to be, not with 1 - y
            room, y_fall = _own_sum(t, a, rho)
            excess = s - room
            pull = fall + y_fall * rise
            y = 1.0 - room
            size = max(s, abs(room))
        if (settled and n == before) or abs(excess) <= 2.0 * EPS * size or sweeps > 200:
            break
        if excess > 0.0:
            lower = tau
        else:
            upper = tau
        new = math.inf  # no step from here: bisection
        if t < -1.0:  # y > e: t has to rise to 0 at least
            new = tau - t / rise
            if s > target > 0.0:
                new = max(new, tau + _step(s, target, fall))
        elif abs(excess) < 0.1 * size < 0.1 * target:
            new = tau + excess / pull
        elif a * rho * y > 1.0 and s > 1e-290:  # y is almost linear
            new = tau + _step_beside(s, room, fall, y_fall * rise)
        elif target > 0.0 and s + y > 0.0:
            new = tau + _step(s + y, target, fall + y_fall * rise)
        if new == tau:
            break
        settled = abs(new - tau) <= 1e-8  # the next error is about the square
        if not lower < new < upper or sweeps % 40 >= 20:
            settled = False
            new = 0.5 * lower + 0.5 * upper
            if not lower < new < upper:
                break
        before, tau = n, new
    for i in range(d):
        x[i] = smaller(work[i], cap)
    if near:  # t may be lost in what it is the difference of, where s underflows
        y = 1.0 - s
    return min(y, 1.0)


@inlined
def gradient_row(p, z, x, work):
    """Write the gradient; returns 1 - <1,x>."""
    return point_row(p[0], z, p[1], x, work)


@inlined
def step_row(p, b, a, rho, x, work):
    """The minimiser for any a; returns 1 - s. ``b`` is scaled down, with the problem, where a > HUGE."""
    if a > HUGE:
        for i in range(b.shape[0]):
            b[i] *= HUGE / a
    return solve_row(p[0], b, p[1], min(a, HUGE), rho, x, work)
