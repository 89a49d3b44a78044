"""Sequential minimal optimisation step by step: the direction, the partner and the length by definition."""

import numpy as np
import pytest

from fast.svm_plus import alternating_smo, smo


def spd(rng, n, rank):
    A = rng.standard_normal((n, rank))
    return A @ A.T / rank


def signs(rng, n):
    return np.where(rng.permutation(n) % 3 == 0, 1.0, -1.0)


def longest(u, d):
    """How far u + t d stays >= 0."""
    falls = d < 0.0
    return float((u[falls] / -d[falls]).min()) if falls.any() else np.inf


def newton_step(H, u, g, d, flat):
    """From u along d to the maximum of the quadratic with gradient g, or to the boundary."""
    return u + min(float(g @ d) / max(float(d @ H @ d), flat), longest(u, d)) * d


def alternating(K, R, y, u, with_beta, tol):
    """One step on (alpha, beta), or None where no slope exceeds tol."""
    n, e = len(y), np.eye(2 * len(y))
    H = np.block([[K * y * y[:, None] + R, R], [R, R]])
    g = np.append(np.ones(n), np.zeros(n)) - H @ u
    ways = []
    for label in (1.0, -1.0):
        own = np.flatnonzero(y == label)
        up, falls = own[np.argmax(g[own])], own[u[own] > 0.0]
        if len(falls):
            gains = []
            for j in falls:
                d = e[up] - e[j]
                gains.append(max(float(g @ d), 0.0) ** 2 / max(float(d @ H @ d), 1e-300))
            steepest = float(g[up] - g[falls].min())
            ways.append((steepest, e[up] - e[falls[int(np.argmax(gains))]]))
    if with_beta:
        tops = [max(np.flatnonzero(y == label), key=lambda t: g[t]) for label in (1.0, -1.0)]
        lows = [
            min(np.flatnonzero((y == label) & (u[:n] > 0.0)), key=lambda t: g[t], default=None)
            for label in (1.0, -1.0)
        ]
        up, falls = n + int(np.argmax(g[n:])), n + np.flatnonzero(u[n:] > 0.0)
        if len(falls):
            down = min(falls, key=lambda t: g[t])
            both = (e[up] - e[down], 0.5 * (e[tops[0]] + e[tops[1]]) - e[down])
            ways += [(float(g @ d), d) for d in both]
        if None not in lows:
            d = e[up] - 0.5 * (e[lows[0]] + e[lows[1]])
            ways.append((float(g @ d), d))
    slope, d = max(ways, key=lambda way: way[0], default=(-np.inf, None))
    return newton_step(H, u, g, d, 1e-300) if slope > tol else None


@pytest.mark.parametrize("with_beta", [True, False])
@pytest.mark.parametrize("empty", [0.0, 0.6, 0.97])
def test_alternating_steps_one_by_one(with_beta, empty, rng):
    kinds = set()
    for i in range(60):
        n = 9
        K, R = spd(rng, n, 5) * [1.0, 30.0][i % 2], spd(rng, n, 6) * [1.0, 0.05][i % 3 == 0]
        y = signs(rng, n)
        u = rng.random(2 * n) * (rng.random(2 * n) >= empty) * 10.0 ** rng.integers(-2, 2)
        if not with_beta:
            u[n:] = 0.0
        alpha, beta = u[:n].copy(), u[n:].copy()
        p, r = 1.0 - y * (K @ (alpha * y)), -R @ (alpha + beta)
        given = [x.copy() for x in (alpha, beta, p, r)]
        after = alternating(K, R, y, u, with_beta, 1e-9)
        taken = alternating_smo.steps(K, R, y, alpha, beta, p, r, 1e-9, 1, with_beta)
        assert taken == (after is not None)
        after = u if after is None else np.where(after <= 1e-15, 0.0, after)
        moved = after - u
        kinds.add((int(np.count_nonzero(moved[:n])), int(np.count_nonzero(moved[n:]))))
        assert np.array_equal(np.append(alpha, beta) == 0.0, after == 0.0)
        np.testing.assert_allclose(np.append(alpha, beta), after, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(p, 1.0 - y * (K @ (alpha * y)), atol=1e-9)
        np.testing.assert_allclose(r, -R @ (alpha + beta), atol=1e-9)
        more = [
            alternating_smo.steps(K, R, y, alpha, beta, p, r, 1e-9, 1, with_beta) for _ in range(6)
        ]
        assert alternating_smo.steps(K, R, y, *given, 1e-9, 7, with_beta) == taken + sum(more)
        for one, seven in zip((alpha, beta, p, r), given, strict=True):
            np.testing.assert_array_equal(one, seven)
    wanted = {(2, 0), (0, 2), (2, 1)} if with_beta else {(2, 0)}
    assert kinds >= (wanted if empty == 0.0 else set())


@pytest.mark.parametrize("kind", ["alphas", "betas", "three up", "three down"])
def test_where_nothing_bends_a_step_goes_to_the_boundary(kind):
    K = R = np.zeros((4, 4))
    y = np.array([1.0, 1.0, -1.0, -1.0])
    alpha, beta = np.array([0.25, 0.5, 0.5, 0.25]), np.array([0.125, 0.0, 0.0, 0.0])
    p, r = np.zeros(4), np.zeros(4)
    if kind == "alphas":
        p[0], after = 1.0, ([0.75, 0.0, 0.5, 0.25], beta.copy())
    elif kind == "betas":
        r[2], p[2], p[3], after = 1.0, -1.0, 0.5, (alpha.copy(), [0.0, 0.0, 0.125, 0.0])
        p[0] = p[1] = 0.5
    elif kind == "three up":
        p[:], after = 1.0, ([0.3125, 0.5, 0.5625, 0.25], np.zeros(4))
    else:
        p[:], after = -1.0, ([0.0, 0.5, 0.25, 0.25], [0.625, 0.0, 0.0, 0.0])
    assert alternating_smo.steps(K, R, y, alpha, beta, p, r, 1e-9, 1, True) == 1
    np.testing.assert_array_equal(alpha, after[0])
    np.testing.assert_array_equal(beta, after[1])


def test_the_partner_of_an_alpha_gains_most(rng):
    for _ in range(40):
        n = 8
        K, R, y = spd(rng, n, 9), spd(rng, n, 9), signs(rng, n)
        alpha = rng.random(n) * (rng.random(n) < 0.7)
        p, r = rng.standard_normal((2, n))
        i = int(rng.integers(n))
        M = K + R
        gains = {
            t: (p[i] + r[i] - p[t] - r[t]) ** 2 / (M[i, i] + M[t, t] - 2.0 * M[i, t])
            for t in range(n)
            if alpha[t] > 0.0 and y[t] == y[i] and p[i] + r[i] > p[t] + r[t]
        }
        found = alternating_smo.partner(K, R, y, alpha, p, r, i)
        if gains:
            assert found == max(gains, key=gains.__getitem__)
        else:
            assert found == i or alpha[found] > 0.0


def plain(M, y, a):
    """One step on signed multipliers: the steepest rises, the partner that gains most falls."""
    v, n = y - M @ a, len(y)
    rises = (y > 0.0) | (a < 0.0)
    up = max(np.flatnonzero(rises), key=lambda t: v[t])
    falls = [t for t in range(n) if (y[t] < 0.0 or a[t] > 0.0) and v[t] < v[up]]

    def bend(t):
        return max(M[up, up] + M[t, t] - 2.0 * M[up, t], 1e-12 * M.diagonal().max())

    down = max(falls, key=lambda t: (v[up] - v[t]) ** 2 / bend(t))
    step = (v[up] - v[down]) / bend(down)
    step = min(step, -a[up] if y[up] < 0.0 else np.inf, a[down] if y[down] > 0.0 else np.inf)
    after = a.copy()
    after[up] += step
    after[down] -= step
    return np.where(np.abs(after) <= 1e-15, 0.0, after)


@pytest.mark.parametrize("n", [5, 9, 70, 140])
def test_steps_of_smo_one_by_one(n, rng):
    for i in range(6 if n > 9 else 20):
        K, Q, y = spd(rng, n, n + 2), spd(rng, n, 3) + 0.1, signs(rng, n)
        M, ready, work = np.full((n, n), np.nan), np.zeros(n, np.bool_), np.empty((3, n))
        full = K + Q * y * y[:, None]
        a = rng.random(n) * (rng.random(n) < 0.5) * y * (i % 3 > 0)
        v = y - full @ a
        state = [x.copy() for x in (M, ready, y, a, v)]
        after = plain(full, y, a)
        assert smo.steps(K, Q, M, ready, y, a, v, 0.0, 1, work) == 1
        np.testing.assert_array_equal(a == 0.0, after == 0.0)
        np.testing.assert_allclose(a, after, rtol=1e-9, atol=1e-13)
        taken = sum(smo.steps(K, Q, M, ready, y, a, v, 0.0, 1, work) for _ in range(11))
        assert smo.steps(K, Q, *state, 0.0, 12, work) == 1 + taken
        for one, twelve in zip((M, ready, y, a, v), state, strict=True):
            np.testing.assert_array_equal(one, twelve)
        np.testing.assert_allclose(v, y - full @ a, atol=1e-9)
        np.testing.assert_allclose(M[ready], full[ready], rtol=1e-13)
        assert np.isnan(M[~ready]).all()


@pytest.mark.parametrize("n", [9, 80])
def test_smo_looks_at_its_gap_now_and_then(n, rng):
    """Every n/4 steps, and no less than 16: it ends at the first look that finds the gap small."""
    H, y = spd(rng, n, n + 5) + 0.2, signs(rng, n)
    M = H * y * y[:, None]
    every = max(n // 4, 16)
    a = np.zeros(n)
    gaps = [np.inf]
    while gaps[-1] > 1e-3:
        smo.steps(M, M, M, np.ones(n, np.bool_), y, a, y - M @ a, 0.0, every, np.empty((3, n)))
        gaps.append(smo.certificate(y, a, y - M @ a).gap)
    for tol in (0.5, 0.1, 1e-3):
        look = next(k for k, gap in enumerate(gaps) if gap <= tol)
        found = smo.solve(H, y, tol)
        assert found.iterations == look * every
        assert found.gap == pytest.approx(gaps[look], rel=1e-6)
    assert smo.solve(H, y, 0.0, max_iter=7).iterations == 7


def test_the_certificate_by_definition(rng):
    for _ in range(30):
        n = 7
        H, y = spd(rng, n, 9) + 0.3, signs(rng, n)
        alpha = rng.random(n) * 10.0 ** rng.integers(-2, 3)
        alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
        M, g = H * y * y[:, None], H @ alpha
        found = smo.certificate(y, alpha * y, y - M @ (alpha * y))
        S, q, m = alpha.sum(), alpha @ g, 0.5 * (g[y > 0].min() + g[y < 0].min())
        assert (found.margin, found.square) == pytest.approx((m, q), rel=1e-9)
        assert found.dual == pytest.approx(0.5 * S**2 / q, rel=1e-9)
        assert found.scale == pytest.approx(S / q, rel=1e-9)
        if m > 0.0:
            assert found.primal == pytest.approx(0.5 * q / m**2, rel=1e-9)
            assert found.gap == pytest.approx(1.0 - found.dual / found.primal, rel=1e-7, abs=1e-12)
        else:
            assert (found.primal, found.gap) == (np.inf, np.inf)
        result = smo.solve(H, y, 1.0, max_iter=0, start=alpha)
        np.testing.assert_allclose(result.alpha, alpha * S / q, rtol=1e-9)
    none = smo.certificate(y, 0.0 * y, y)
    assert (none.gap, none.dual, none.primal, none.scale) == (np.inf, 0.0, np.inf, 1.0)
