"""Newton's method on squared hinges below the largest of many scores.

min over w, t of 1/2 ||w||^2 + C sum_i max(0, 1 + t - <x_i, w>)^2   with <x_j, w> <= t for the negatives j

Of m classes w is m blocks: an example has a row for each, which is x in that block and 0 elsewhere. Where the
positives I have a positive hinge the objective is a quadratic, 0 at (w, t) = (0, -1), with a Hessian H, and
every negative lacks one unit there. Below the negatives J its minimiser is (0, -1) - H^-1 A' beta,
A = (x_j, -1), where beta >= 0 minimises 1/2 beta' M beta - <1, beta>, M = A H^-1 A': few negatives share the
largest score, and their set settles by block pivoting. H has a block B for each class and a last row, that of
t, which is eliminated. A block has a row per feature; with fewer positives than features M comes from their
products with each other. An exact line search follows, on the objective with the largest score as t. All of
it is finite: a step that changes no set is the solution.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from fast._numba import kernel
from fast.solvers import simplex_qp
from fast.solvers.rows import dense

ENTER = 20, 200  # negatives that enter in an iteration, at least and at most; else half of d or P
IDLE = 2  # iterations without weight after which a negative leaves
ANEW = 0.5  # part of the rows of H that changed from which on it is computed anew
RIDGE = 1e-13  # part of the mean diagonal; negatives may be alike
REFINED = 2  # solutions of linear equations
PIVOTS, PATIENCE = 100, 3  # exchanges of whole blocks, and of these without fewer wrong signs
WRONG = 1e-10  # of the 1 that a negative may lack for nothing
ROUNDS = 100  # of the line search
CLOSE = 1e-12  # relative accuracy of the line search
LONGEST = 100.0  # step: at the solution dw is rounding, of which 1e15 times is anything
SMALL = 1e-9  # part of the weights that is none


class Step(NamedTuple):
    """Minimiser of the quadratic below the negatives J, and their multipliers beta (|J|,)."""

    w: np.ndarray  # (m, d)
    t: float
    beta: np.ndarray


@kernel
def slope(s, ds, r, dr, square, cross, C, step):
    """First and second derivative of the objective at w + step dw, to the right."""
    t, dt = -np.inf, 0.0
    for j in range(r.shape[0]):
        z = r[j] + step * dr[j]
        if z > t or (z == t and dr[j] > dt):
            t, dt = z, dr[j]
    first, second = cross + step * square, square
    for i in range(s.shape[0]):
        hinge = 1.0 + t - s[i] - step * ds[i]
        if hinge > 0.0:
            change = dt - ds[i]
            first += 2.0 * C * hinge * change
            second += 2.0 * C * change * change
    return first, second


@kernel
def search(s, ds, r, dr, square, cross, C):
    """The step along dw that minimises the objective.

    ``s`` and ``r`` are the scores of positives and negatives, ``ds`` and ``dr`` those of dw, ``square`` is
    <dw, dw> and ``cross`` <w, dw>. Newton's method on the slope within a bracket.
    """
    low, high, step = 0.0, np.inf, 1.0
    for _ in range(ROUNDS):
        first, second = slope(s, ds, r, dr, square, cross, C, step)
        if first > 0.0:
            high = step
        else:
            low = step
        if first == 0.0 or low >= (1.0 - CLOSE) * high:
            break
        new = step - first / second if second > 0.0 else 2.0 * step
        if not low < new < high:
            new = 2.0 * step if high == np.inf else 0.5 * (low + high)
        new = min(new, LONGEST)
        if abs(new - step) <= CLOSE * step:
            break
        step = new
    return step


def nonnegative(M: np.ndarray, passive: np.ndarray) -> np.ndarray:
    """The beta >= 0 that minimises 1/2 beta' M beta - <1, beta>, by block pivoting from a guess of its support.

    All entries of a wrong sign change sides, and only the last one while that does not make fewer of them.
    """
    m, inside = len(M), passive.copy()
    ridge = RIDGE * float(M.trace()) / m
    fewest, patience = m + 1, PATIENCE
    for _ in range(PIVOTS):
        if not inside.any():
            inside[int(M.diagonal().argmin())] = True
        kept = np.flatnonzero(inside)
        H = M[np.ix_(kept, kept)]
        H.reshape(-1)[:: len(kept) + 1] += ridge
        factor, failed = dpotrf(H, lower=1)
        if failed:
            break
        x = np.zeros(len(kept))
        for _ in range(REFINED):  # without the ridge
            x += dpotrs(factor, 1.0 + ridge * x - H @ x, lower=1)[0]
        beta = np.zeros(m)
        beta[kept] = x
        wrong = np.where(inside, beta < 0.0, M @ beta < 1.0 - WRONG)
        count = int(np.count_nonzero(wrong))
        if not count:
            return beta
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        inside ^= wrong
    # a multiple of the point of the hull that is nearest to 0, which interior points find more slowly
    found = simplex_qp.minimise(None, np.zeros(m), 0.0, M).x
    found = np.where(found > SMALL, found, 0.0)
    found /= found.sum()
    return np.asarray(found / max(float(found @ M @ found), 1e-300))


class ByFeatures:
    """The block of one class: B = I + 2C sum x_i x_i' over its positives, kept up as they come and go."""

    def __init__(self, positives: Any, C: float) -> None:
        self.positives, self.C = positives, C
        self.raw = np.zeros((positives.shape[1],) * 2)
        self.inside = np.zeros(positives.shape[0], bool)
        self.factor = np.zeros((0, 0))

    def update(self, inside: np.ndarray) -> None:
        """Take in which positives count."""
        if self.factor.size and (inside == self.inside).all():
            return
        come, gone = inside & ~self.inside, self.inside & ~inside
        if come.sum() + gone.sum() > ANEW * inside.sum():
            self.raw[:], come, gone = 0.0, inside, gone & False
        for rows, sign in ((come, 1.0), (gone, -1.0)):
            if rows.any():
                X = self.positives[rows]
                self.raw += sign * dense(X.T @ X)
        self.inside = inside.copy()
        H = (2.0 * self.C) * self.raw
        H.reshape(-1)[:: len(H) + 1] += 1.0
        self.factor = factored(H)
        pull = (2.0 * self.C) * np.asarray(inside.astype(np.float64) @ self.positives)
        self.v = _solved(self.factor, pull)
        self.rest = 2.0 * self.C * np.count_nonzero(inside) - float(self.v @ self.v)

    def below(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """R B^-1 R' and R B^-1 c - 1 for the rows R of the negatives J, c = 2C sum x_i."""
        self.V = _solved(self.factor, dense(rows).T)
        return self.V.T @ self.V, self.V.T @ self.v - 1.0

    def weights(self, beta: np.ndarray, rows: Any, tau: float) -> np.ndarray:
        """-B^-1 (R' beta + tau c)."""
        return -_solved(self.factor, self.V @ beta + tau * self.v, 1)


class ByPositives:
    """The same from the products of the positives: for fewer of them than features."""

    def __init__(self, positives: Any, C: float) -> None:
        self.positives, self.C = positives, C
        self.gram = dense(positives @ positives.T)

    def update(self, inside: np.ndarray) -> None:
        """As of `ByFeatures`."""
        self.kept = np.flatnonzero(inside)
        Q = self.gram[np.ix_(self.kept, self.kept)]
        Q.reshape(-1)[:: len(Q) + 1] += 0.5 / self.C
        self.factor = factored(Q)
        self.v = _solved(self.factor, np.ones(len(Q)))
        self.rest = float(self.v @ self.v)

    def below(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """As of `ByFeatures`."""
        self.V = _solved(self.factor, dense(self.positives @ rows.T)[self.kept])
        return dense(rows @ rows.T) - self.V.T @ self.V, self.V.T @ self.v - 1.0

    def weights(self, beta: np.ndarray, rows: Any, tau: float) -> np.ndarray:
        """As of `ByFeatures`: X' alpha - R' beta."""
        alpha = _solved(self.factor, self.V @ beta - tau * self.v, 1)
        return np.asarray(self.positives[self.kept].T @ alpha - rows.T @ beta)


class Blocks:
    """The quadratic in W (m, d) and t: a block of H for each class, which have t in common.

    Positives are the entries of ``own`` (n, m), negatives the others, both by rows.
    """

    def __init__(self, X: Any, own: np.ndarray, C: float) -> None:
        self.X, self.C, self.m = X, C, own.shape[1]
        self.down = np.flatnonzero(~own)
        rows, classes = np.nonzero(own)
        self.at = [np.flatnonzero(classes == y) for y in range(self.m)]
        mine = [X[rows[at]] for at in self.at]
        self.sides = [(ByPositives if P.shape[0] <= P.shape[1] else ByFeatures)(P, C) for P in mine]
        self.sums = np.stack([np.asarray(P.sum(axis=0)).ravel() for P in mine])

    def step(self, inside: np.ndarray, J: np.ndarray, passive: np.ndarray) -> Step:
        """The step for these sets; ``passive`` are the negatives that are thought to carry weight."""
        M, lacks, rest = np.zeros((len(J), len(J))), np.empty(len(J)), 0.0
        parts = self._parts(J)
        for at, side, (mine, R) in zip(self.at, self.sides, parts, strict=True):
            side.update(inside[at])
            M[np.ix_(mine, mine)], lacks[mine] = side.below(R)
            rest += side.rest
        inner = max(int(np.count_nonzero(inside)), 1)  # none of them: t is free
        rest = max(rest, RIDGE * 2.0 * self.C * inner)  # of t, without w
        beta = nonnegative(M + np.outer(lacks, lacks) / rest, passive)
        tau = float(lacks @ beta) / rest
        both = zip(self.sides, parts, strict=True)
        W = np.stack([side.weights(beta[mine], R, tau) for side, (mine, R) in both])
        return Step(W, -1.0 - tau, beta)

    def pull(self, alpha: np.ndarray, beta: np.ndarray, J: np.ndarray) -> np.ndarray:
        """The W of multipliers, beta of J."""
        both = zip(self.at, self.sides, self._parts(J), strict=True)
        return np.stack([alpha[at] @ s.positives - beta[mine] @ R for at, s, (mine, R) in both])

    def _parts(self, J: np.ndarray) -> list[tuple[np.ndarray, Any]]:
        """For each class the places of its negatives in J, and their rows."""
        i, y = np.divmod(self.down[J], self.m)
        mine = [np.flatnonzero(y == c) for c in range(self.m)]
        return [(at, self.X[i[at]]) for at in mine]


def _solved(factor: np.ndarray, B: np.ndarray, trans: int = 0) -> np.ndarray:
    """L^-1 B or L'^-1 B, also of nothing."""
    return np.asarray(dtrtrs(factor, B, lower=1, trans=trans)[0]) if B.size else B


def factored(H: np.ndarray) -> np.ndarray:
    """Cholesky factor, with a ridge where rounding asks for one."""
    ridge = 0.0
    while True:
        moved = H.copy()
        moved.reshape(-1)[:: len(H) + 1] += ridge
        factor, failed = dpotrf(moved, lower=1, clean=1)
        if not failed:
            return np.asarray(factor)
        ridge = max(10.0 * ridge, RIDGE * float(H.trace()) / len(H))
