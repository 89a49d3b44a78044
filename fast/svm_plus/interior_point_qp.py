"""Mehrotra's predictor-corrector for the quadratic programs of SVM+ on a working set of rows.

min 1/2 ||u||^2 + <c, v> + 1/2 sum_i k_i e_i^2   subject to   A u + F v + e >= h

u (p,) penalised, v (q,) free (q <= 2: offsets), e_i an own slack of example i at price k_i (absent
for k_i = inf). Rows come alone, or in pairs (all first rows, then all second rows) that share e_i.
With the multipliers mu >= 0: u = A'mu, F'mu = c, e = mu/k, and the value is half of <h, mu> + <c, v>.

Newton's system is solved in whichever space is smaller: I + A'TA (p x p) or AA' + T^-1 (m x m).
Nothing here is a certificate: whoever calls computes that from the formulas.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

MOST_STEPS = 100
BOUNDARY = 0.995  # least part of the way to the boundary that a step may take
CLOSEST = 1e-8  # part of the way that is always left
SHORT = 1e-7  # steps below it make no progress
STALLED = 8  # steps without a smaller residual after which rounding rules
FLOOR = 1e-280


@dataclass
class Iterate:
    """u (p,), v (q,), multipliers mu (m,) and how many steps it took; ``done``: residuals small."""

    u: np.ndarray
    v: np.ndarray
    mu: np.ndarray
    n_steps: int
    done: bool


@dataclass
class Rows:
    """A u + F v + e >= h with price k per example (None: no own slack), c for the free variables."""

    A: np.ndarray
    F: np.ndarray
    h: np.ndarray
    c: np.ndarray
    k: np.ndarray | None = None
    paired: bool = False

    def own(self, mu: np.ndarray) -> Any:
        """E at every row (m,), or 0."""
        if self.k is None:
            return 0.0
        if not self.paired:
            return mu / self.k
        half = len(self.k)
        return np.tile((mu[:half] + mu[half:]) / self.k, 2)


def minimise(
    rows: Rows, tol: float, gram: np.ndarray | None = None, price: float | None = None
) -> Iterate:
    """Solve to a relative complementarity of about ``tol``, or as far as rounding allows.

    Parameters
    ----------
    rows : Rows
    tol : float
    gram : (m, m) array, optional
        A A'; with it the systems are m x m.
    price : float, optional
        Guess of the mean multiplier, to start with.
    """
    system: Any = _Primal(rows) if gram is None else _Gram(rows, gram)
    system.price = system.price if price is None else price
    h, c, m = rows.h, rows.c, len(rows.h)
    u, v, mu, s = system.start()
    best, best_merit, since = (u, v, mu), np.inf, 0
    size_h, steps, done = float(np.abs(h).max()), 0, False
    while steps < MOST_STEPS:
        primal = system.product(u, v, mu) + rows.own(mu) - s - h
        dual_u, dual_v = system.residuals(u, v, mu)
        complementarity = float(s @ mu)
        value = max(abs(float(h @ mu) + float(c @ v)) * 0.5, FLOOR)
        merit = max(
            complementarity / value,
            float(np.abs(primal).max()) / size_h,
            float(np.abs(dual_v).max()) / max(float(mu.sum()), FLOOR),
            system.loss(dual_u) / value,
        )
        if merit < 0.9 * best_merit:
            best, best_merit, since = (u, v, mu), merit, 0
        else:
            since += 1
        done = merit <= tol
        if done or since > STALLED or not np.isfinite(merit):
            break
        if not system.factor(s, mu):
            break
        target = -s * mu
        du, dv, dmu = system.solve(target / mu - primal, dual_u, dual_v)
        ds = (target - s * dmu) / mu
        length = min(_longest(s, ds), _longest(mu, dmu))
        left = float((s + length * ds) @ (mu + length * dmu)) / complementarity
        centre = left**3 * complementarity / m
        target = centre - s * mu - ds * dmu
        du, dv, dmu = system.solve(target / mu - primal, dual_u, dual_v)
        ds = (target - s * dmu) / mu
        part = min(max(BOUNDARY, 1.0 - left), 1.0 - CLOSEST)
        length = min(1.0, part * min(_longest(s, ds, 2.0), _longest(mu, dmu, 2.0)))
        if not length > SHORT:
            break
        u, v = u + length * du, v + length * dv
        mu, s = mu + length * dmu, s + length * ds
        steps += 1
    u, v, mu = best
    return Iterate(system.solution(u, mu), v, mu, steps, done)


def _longest(x: np.ndarray, dx: np.ndarray, most: float = 1.0) -> float:
    """Largest step in [0, most] that keeps x + step*dx >= 0."""
    steepest = float((dx / x).min())
    return most if steepest * most >= -1.0 else -1.0 / steepest


class _System:
    """What both spaces share: the prices of the rows and the start."""

    price: float

    def __init__(self, rows: Rows) -> None:
        self.rows, self.k, self.half = rows, rows.k, len(rows.h) // 2

    def weights(self, s: np.ndarray, mu: np.ndarray) -> None:
        """T = (S/M + E)^-1, E the own slacks: a diagonal, or one 2 x 2 block per pair."""
        D = mu / s
        if self.k is None:
            self.T = D
        elif not self.rows.paired:
            self.T = self.k * (D / (self.k + D))  # no product of two large numbers
        else:
            first, second = D[: self.half], D[self.half :]
            total = self.k + first + second
            self.across = first * (second / total)
            self.T = np.concatenate([first * (self.k / total), second * (self.k / total)])

    def apply(self, r: np.ndarray) -> np.ndarray:
        """T r."""
        out = self.T * r
        if self.rows.paired and self.k is not None:
            difference = self.across * (r[: self.half] - r[self.half :])
            out[: self.half] += difference
            out[self.half :] -= difference
        return out

    def shifted(self, s: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mehrotra's push of a least-squares point into the positive orthant."""
        s = s + max(-1.5 * float(s.min()), 0.0)
        mu = mu + max(-1.5 * float(mu.min()), 0.0)
        size_s, size_mu = float(s.sum()), float(mu.sum())
        if not size_mu > 0.0:  # mu = -price s: s is 0, too
            s, mu = s + 1.0, mu + self.price
            size_s, size_mu = float(s.sum()), float(mu.sum())
        product = float(s @ mu)
        s_add = max(0.5 * product / size_mu, 1e-3)
        mu_add = max(0.5 * product / size_s, 1e-3 * size_mu / len(mu), FLOOR)
        return s + s_add, mu + mu_add


class _Primal(_System):
    """Newton's system as I + A'TA on (u, v)."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self.p, self.q = rows.A.shape[1], rows.F.shape[1]
        self.G = np.hstack([rows.A, rows.F])
        self.paired = rows.paired and self.k is not None
        self.stack = (
            np.vstack([self.G, self.G[: self.half] - self.G[self.half :]])
            if self.paired
            else self.G
        )
        self.scaled = np.empty_like(self.stack)
        norm = float(np.einsum("ij,ij->", rows.A, rows.A)) / len(rows.h)
        self.price = _price(norm, rows)

    def start(self) -> tuple[np.ndarray, ...]:
        """Minimiser of 1/2 ||u||^2 + <c, v> + price/2 ||Au + Fv - h||^2, shifted."""
        rows = self.rows
        self.T = np.full(len(rows.h), self.price)
        if self.paired:
            self.across = np.zeros(self.half)
        self._factor()
        right = self.price * (self.G.T @ rows.h)
        right[self.p :] -= rows.c
        x = self._solve(right)
        s = self.G @ x - rows.h
        s, mu = self.shifted(s, -self.price * s)
        return x[: self.p], x[self.p :], mu, s

    def product(self, u: np.ndarray, v: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """A u + F v."""
        return self.G @ np.concatenate([u, v])

    def residuals(self, u: np.ndarray, v: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, ...]:
        """U - A'mu and c - F'mu."""
        back = self.G.T @ mu
        self.size = float(np.linalg.norm(back[: self.p]))
        return u - back[: self.p], self.rows.c - back[self.p :]

    def loss(self, dual_u: np.ndarray) -> float:
        """What u - A'mu may change in the value."""
        size = float(np.linalg.norm(dual_u))
        return size * (size + self.size)

    def factor(self, s: np.ndarray, mu: np.ndarray) -> bool:
        """Cholesky factor of the system at (s, mu); False if there is none."""
        self.weights(s, mu)
        return self._factor()

    def _factor(self) -> bool:
        weights = np.concatenate([self.T, self.across]) if self.paired else self.T
        np.multiply(self.stack, np.sqrt(weights)[:, None], out=self.scaled)
        N = dsyrk(1.0, self.scaled.T, lower=1)
        diagonal = N.diagonal()[: self.p] + 1.0
        N[np.arange(self.p), np.arange(self.p)] = diagonal
        self.L, failed = _cholesky(N)
        return not failed

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(dpotrs(self.L, right, lower=1)[0])

    def solve(
        self, r: np.ndarray, dual_u: np.ndarray, dual_v: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Directions (du, dv, dmu)."""
        right = self.G.T @ self.apply(r)
        right[: self.p] -= dual_u
        right[self.p :] -= dual_v
        x = self._solve(right)
        return x[: self.p], x[self.p :], self.apply(r - self.G @ x)

    def solution(self, u: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """U."""
        return u


class _Gram(_System):
    """Newton's system as AA' + T^-1 on mu, u = A'mu throughout; bordered by the free variables."""

    def __init__(self, rows: Rows, gram: np.ndarray) -> None:
        super().__init__(rows)
        self.K, self.F, self.m = gram, rows.F, len(rows.h)
        self.H = gram
        if self.k is not None:
            self.H = gram.copy()
            if rows.paired:
                first, second = np.arange(self.half), np.arange(self.half, self.m)
                for a in (first, second):
                    for b in (first, second):
                        self.H[a, b] += 1.0 / self.k
            else:
                self.H[np.diag_indices(self.m)] += 1.0 / self.k
        norm = float(gram.trace()) / self.m
        self.price = _price(norm, rows)

    def start(self) -> tuple[np.ndarray, ...]:
        """As in the other space."""
        rows = self.rows
        ridge = 1.0 / self.price
        while not self._factor(np.full(self.m, ridge)) and ridge < 1.0 / FLOOR:
            ridge *= 100.0  # beside it the gram matrix is indefinite by rounding
        _, v, mu = self.solve(rows.h, np.zeros(0), rows.c)
        s = self.product(np.zeros(0), v, mu) - rows.h
        s, mu = self.shifted(s, -self.price * s)
        return np.zeros(0), v, mu, s

    def product(self, u: np.ndarray, v: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """A A'mu + F v."""
        return self.K @ mu + self.F @ v

    def residuals(self, u: np.ndarray, v: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, ...]:
        """Nothing, and c - F'mu."""
        return np.zeros(0), self.rows.c - self.F.T @ mu

    def loss(self, dual_u: np.ndarray) -> float:
        """U = A'mu holds by construction."""
        return 0.0

    def factor(self, s: np.ndarray, mu: np.ndarray) -> bool:
        """Cholesky factor of the system at (s, mu); False if there is none."""
        with np.errstate(over="ignore"):  # then there is none
            ridge = s / mu
        return self._factor(ridge)

    def _factor(self, ridge: np.ndarray) -> bool:
        N = np.asfortranarray(self.H)
        N = N.copy(order="F") if N is self.H or np.shares_memory(N, self.H) else N
        N[np.arange(self.m), np.arange(self.m)] += ridge
        self.L, failed = _cholesky(N)
        if failed:
            return False
        self.VF = np.asarray(dpotrs(self.L, self.F, lower=1)[0])
        self.border = self.F.T @ self.VF
        return True

    def solve(
        self, r: np.ndarray, dual_u: np.ndarray, dual_v: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Directions (du, dv, dmu)."""
        a = np.asarray(dpotrs(self.L, r, lower=1)[0])
        dv = np.linalg.lstsq(self.border, self.F.T @ a - dual_v, rcond=None)[0]
        return np.zeros(0), dv, a - self.VF @ dv

    def solution(self, u: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """A'mu."""
        return self.rows.A.T @ mu


def _price(norm: float, rows: Rows) -> float:
    """Size of a multiplier: 1/||a_i||^2, or what the free variables ask for."""
    asked = float(np.abs(rows.c).max()) / len(rows.h)
    return max(1.0 / norm, asked) if norm > FLOOR else asked or 1.0


def _cholesky(N: np.ndarray) -> tuple[np.ndarray, bool]:
    """Lower factor, with a growing ridge where rounding made N indefinite."""
    L, info = dpotrf(N, lower=1, clean=0)
    ridge = 1e-15
    while info != 0 and ridge < 1e-6:
        M = N.copy(order="F")
        M[np.diag_indices(len(N))] *= 1.0 + ridge
        L, info = dpotrf(M, lower=1, clean=0)
        ridge *= 100.0
    return L, info != 0 or not np.isfinite(L.diagonal()).all()
