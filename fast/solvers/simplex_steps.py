"""Kernels of `fast.solvers.simplex_rows`: loops over classes, and within them over examples, as SIMD.

Arrays are (classes, examples). A piece (c, low, high) is a run of examples whose own class is c, so that
the others are rows j < c and j > c of the scores; it is short enough to stay in the cache. ``walls`` are
x, nu, s0, lam, t, mu, the last two without rows where there are no caps; ``aims`` the products x nu, s0 lam
and t mu that a step is to lead to, less those of changes; ``kind`` k, kappa, gamma, entropy and merged;
``matrix`` is what `centre` finds, ``sums`` (3, n) scratch.
"""

import numpy as np

from fast._numba import kernel
from fast._simd import choose, larger, plus, smaller

FAR, NEAR = 10.0, 0.1  # products may be so many times tau, corrections so many times tau


@kernel
def centre(pieces, walls, kind, matrix):
    """M^-1 = diag(g) + alpha ee' + beta (eg' + ge') - delta gg', e = kappa c g, without cancellation."""
    x, nu, s0, lam, t, mu = walls
    k, kappa, gamma, entropy, _ = kind
    theta, c, g, shares = matrix
    alpha, beta, delta, free = shares[0], shares[1], shares[2], shares[3]
    for piece in range(pieces.shape[0]):
        low, high = pieces[piece, 1], pieces[piece, 2]
        for i in range(low, high):
            alpha[i], beta[i], free[i] = 0.0, 0.0, k
        for i in range(low, high):
            delta[i] = (lam[i] + entropy) / s0[i]
        for a in range(x.shape[0]):
            for i in range(low, high):
                theta[a, i] = (nu[a, i] + entropy) / x[a, i] + gamma
            if t.shape[0] == 0:
                for i in range(low, high):
                    g[a, i] = 1.0 / theta[a, i]
            else:
                for i in range(low, high):
                    c[a, i] = mu[a, i] / t[a, i]
                for i in range(low, high):
                    g[a, i] = 1.0 / (theta[a, i] + c[a, i])
                for i in range(low, high):
                    full = c[a, i] > theta[a, i]
                    beta[i] += g[a, i] * choose(full, theta[a, i], -c[a, i])
                for i in range(low, high):
                    free[i] -= choose(c[a, i] > theta[a, i], 1.0, 0.0)
                for i in range(low, high):
                    delta[i] += kappa * kappa * (g[a, i] * c[a, i]) * theta[a, i]
            for i in range(low, high):
                alpha[i] += g[a, i]
        for i in range(low, high):  # 1 - <1,e>, which is small where k masses are at their caps
            rest = choose(kappa > 0.0, free[i] / k + kappa * beta[i], 1.0)
            scale = 1.0 / (rest * rest + alpha[i] * delta[i])
            alpha[i] *= scale
            beta[i] = rest * scale
            delta[i] *= scale


@kernel
def curvature(pieces, r, kind, matrix, start, out):
    """Write r B'M^-1 B of examples from ``start`` on: what is left of the diagonal, row after row.

    Of a class and the own one it is -r (alpha e + beta g).
    """
    _, c, g, shares = matrix
    alpha, beta, delta = shares[0], shares[1], shares[2]
    kappa, merged = kind[1], kind[4]
    m = g.shape[0] + 1
    if merged:
        m = int(0.5 + np.sqrt(2.0 * out.shape[0] + 0.25))
    stop = start + np.uint64(out.shape[1])
    for piece in range(pieces.shape[0]):
        own = pieces[piece, 0]
        low, high = max(pieces[piece, 1], start), min(pieces[piece, 2], stop)
        for j in range(m if low < high else 0):
            for h in range(j):
                row = out[j * (j - 1) // 2 + h, low - start :]
                a, b = (j - 1 if j > own else j), (h - 1 if h > own else h)
                if merged:
                    part = (-1.0 if j == own or h == own else 1.0 / (m - 1.0)) / (m - 1.0)
                    for i in range(low, high):
                        row[i - low] = part * r[i] * alpha[i]
                elif j == own or h == own:
                    a = b if j == own else a
                    for i in range(low, high):
                        row[i - low] = -r[i] * beta[i] * g[a, i]
                    if kappa > 0.0:
                        for i in range(low, high):
                            row[i - low] -= r[i] * alpha[i] * (kappa * c[a, i] * g[a, i])
                elif kappa > 0.0:
                    for i in range(low, high):
                        first, second = kappa * c[a, i], kappa * c[b, i]
                        both = alpha[i] * first * second + beta[i] * (first + second) - delta[i]
                        row[i - low] = r[i] * g[a, i] * g[b, i] * both
                else:
                    for i in range(low, high):
                        row[i - low] = -r[i] * delta[i] * g[a, i] * g[b, i]


@kernel
def solve_piece(low, high, kappa, matrix, v, sums):
    """Shares of g and e in M^-1 v = g v + g sums[0] + e sums[1]; the last is its sum, too."""
    _, c, g, shares = matrix
    near, ds, across = sums[0], sums[1], sums[2]
    alpha, beta, delta = shares[0], shares[1], shares[2]
    for i in range(low, high):
        near[i], across[i] = 0.0, 0.0
    for a in range(v.shape[0]):
        for i in range(low, high):
            near[i] += g[a, i] * v[a, i]
        if kappa > 0.0:
            for i in range(low, high):
                across[i] += kappa * c[a, i] * g[a, i] * v[a, i]
    for i in range(low, high):
        ds[i] = alpha[i] * across[i] + beta[i] * near[i]
    for i in range(low, high):
        near[i] = beta[i] * across[i] - delta[i] * near[i]


@kernel
def add_margins(c, low, high, f, merged, v):
    """Add f_j - f_c to v."""
    part = 1.0 / (f.shape[0] - 1.0) if merged else 1.0
    for j in range(f.shape[0]):
        if j != c:
            row = v[0 if merged else (j - 1 if j > c else j)]
            for i in range(low, high):
                row[i] += part * (f[j, i] - f[c, i])


@kernel
def put_blocks(c, low, high, r, x, merged, out):
    """Rows of the dual: radius times dual variables, minus at the others, their sum at c."""
    m = out.shape[0]
    for i in range(low, high):
        out[c, i] = 0.0
    for a in range(x.shape[0]):
        for i in range(low, high):
            out[c, i] += r[i] * x[a, i]
    for j in range(m):
        if j != c and merged:
            for i in range(low, high):
                out[j, i] = out[c, i] / (1.0 - m)
        elif j != c:
            a = j - 1 if j > c else j
            for i in range(low, high):
                out[j, i] = -r[i] * x[a, i]


@kernel
def blocks(pieces, r, x, merged, out):
    """Rows of the dual of all examples."""
    for piece in range(pieces.shape[0]):
        put_blocks(pieces[piece, 0], pieces[piece, 1], pieces[piece, 2], r, x, merged, out)


@kernel
def pull(pieces, f, r, walls, slopes, aims, kind, matrix, sums, v, moved, out):
    """Right side v of M dx = v as long as the scores f stay, and rows of the dual after that step."""
    x, _, s0, _, t, _ = walls
    kappa, merged = kind[1], kind[4]
    _, c, g, _ = matrix
    near, ds = sums[0], sums[1]
    for piece in range(pieces.shape[0]):
        own, low, high = pieces[piece, 0], pieces[piece, 1], pieces[piece, 2]
        for i in range(low, high):
            near[i] = aims[1][i] / s0[i]
        for a in range(t.shape[0]):
            for i in range(low, high):
                near[i] -= kappa * (aims[2][a, i] / t[a, i])
        for a in range(x.shape[0]):
            for i in range(low, high):
                v[a, i] = aims[0][a, i] / x[a, i] - slopes[a, i] - near[i]
            if t.shape[0]:
                for i in range(low, high):
                    v[a, i] -= aims[2][a, i] / t[a, i]
        add_margins(own, low, high, f, merged, v)
        solve_piece(low, high, kappa, matrix, v, sums)
        for a in range(x.shape[0]):
            for i in range(low, high):
                moved[a, i] = x[a, i] + g[a, i] * (v[a, i] + near[i])
            if kappa > 0.0:
                for i in range(low, high):
                    moved[a, i] += kappa * c[a, i] * g[a, i] * ds[i]
        put_blocks(own, low, high, r, moved, merged, out)


@kernel
def partner(low, high, u, w, aim, du, dw):
    """Change of w with u w = aim to first order; the largest part of u or w that is taken."""
    most = 0.0
    for i in range(low, high):
        change = (aim[i] - w[i] * du[i]) / u[i] - w[i]
        dw[i] = change
        most = larger(most, larger(-du[i] / u[i], -change / w[i]))
    return most


@kernel
def step(pieces, df, v, walls, aims, kind, matrix, sums, change):
    """Changes of all variables for M dx = v and the margins of df, which are added to v.

    Returns the largest part of a variable that is taken.
    """
    x, nu, s0, lam, t, mu = walls
    dx, dnu, ds0, dlam, dt, dmu = change
    kappa = kind[1]
    theta, c, g, _ = matrix
    near, ds = sums[0], sums[1]
    most = 0.0
    for piece in range(pieces.shape[0]):
        own, low, high = pieces[piece, 0], pieces[piece, 1], pieces[piece, 2]
        add_margins(own, low, high, df, kind[4], v)
        solve_piece(low, high, kappa, matrix, v, sums)
        for i in range(low, high):
            ds0[i] = -ds[i]
        most = max(most, partner(low, high, s0, lam, aims[1], ds0, dlam))
        for a in range(x.shape[0]):
            for i in range(low, high):
                dx[a, i] = g[a, i] * (v[a, i] + near[i])
            if t.shape[0]:
                for i in range(low, high):
                    dt[a, i] = kappa * theta[a, i] * g[a, i] * ds[i] - dx[a, i]
                most = max(most, partner(low, high, t[a], mu[a], aims[2][a], dt[a], dmu[a]))
            if kappa > 0.0:
                for i in range(low, high):
                    dx[a, i] += kappa * c[a, i] * g[a, i] * ds[i]
            most = max(most, partner(low, high, x[a], nu[a], aims[0][a], dx[a], dnu[a]))
    return most


@kernel
def products(u, w, du, dw, length, r):
    """Sum of r (u + length du)(w + length dw)."""
    total = 0.0
    for a in range(u.shape[0]):
        for i in range(r.shape[0]):
            total = plus(
                total, r[i] * (u[a, i] + length * du[a, i]) * (w[a, i] + length * dw[a, i])
            )
    return total


@kernel
def aim_at(target, tau, du, dw, aim):
    """``aim`` = ``target`` less the products of the changes, bounded."""
    for a in range(du.shape[0]):
        for i in range(du.shape[1]):
            aim[a, i] = target - smaller(larger(du[a, i] * dw[a, i], -FAR * tau), FAR * tau)


@kernel
def aim_nearer(target, length, u, w, du, dw, aim, out):
    """``aim``, and what brings products that are far after a part of a step nearer to the target."""
    for a in range(u.shape[0]):
        for i in range(u.shape[1]):
            product = (u[a, i] + length * du[a, i]) * (w[a, i] + length * dw[a, i])
            lift = smaller(larger(product, NEAR * target), FAR * target) - product
            out[a, i] = aim[a, i] + larger(lift, -FAR * target)


@kernel
def advance(length, u, du):
    """Add length * du to u."""
    for a in range(u.shape[0]):
        for i in range(u.shape[1]):
            u[a, i] += length * du[a, i]


@kernel
def tidy(pieces, walls, kind, sums):
    """Let dual variables and rooms agree: of two that have a sum the larger absorbs its rounding."""
    x, _, s0, _, t, _ = walls
    k, kappa = kind[0], kind[1]
    total = sums[0]
    for piece in range(pieces.shape[0]):
        low, high = pieces[piece, 1], pieces[piece, 2]
        for i in range(low, high):
            total[i] = 0.0
        for a in range(x.shape[0]):
            for i in range(low, high):
                total[i] += x[a, i]
        for i in range(low, high):
            s = 1.0 - s0[i] if t.shape[0] == 0 or s0[i] < 0.5 else total[i]
            best, most = 0, -1.0
            cap = kappa * s if kappa > 0.0 else 1.0 / k
            if t.shape[0]:
                s0[i] = s0[i] if s0[i] < 0.5 else 1.0 - s
                total[i] = 0.0
            for a in range(x.shape[0]):
                room = x[a, i]
                if t.shape[0]:
                    if x[a, i] > t[a, i]:
                        x[a, i] = cap - t[a, i]
                    else:
                        t[a, i] = cap - x[a, i]
                    room = min(x[a, i], t[a, i])
                    total[i] += x[a, i]
                if room > most:
                    best, most = a, room
            off = s - total[i]
            if t.shape[0]:
                if FAR * abs(off) < most:
                    x[best, i] += off
                    t[best, i] -= off
            elif most > s0[i]:
                x[best, i] += off
            else:
                s0[i] += off
