"""The deformed kernel of SVM2+.

In the SVM with privileged information and squared hinge the slacks are linear functions of
privileged features z_i, and the dual has the kernel of the SVM plus Q = (the part of the
slacks). With Zt = [Z 1] (a column of ones) it is

    Q = Zt (lam I + C Zt'Zt)^-1 Zt'.

Write `kernel(Z, C, lam)`: Q of shape (n, n) for Z of shape (n, s). C/lam may be 1e12, and Q
must keep its digits; as Xu et al. 2016 print it, equation (5), with K = Zt Zt' and the
inverse of an n x n matrix subtracted, it does not.

Hints
-----
Two forms of the same matrix (Woodbury). Which one subtracts nearly equal numbers when C/lam
is large?

The form above: an s+1 by s+1 matrix, positive definite, nothing is subtracted. Q = F F'
keeps it symmetric.

L = cholesky(lam I + C Zt'Zt), F = (L^-1 Zt')', Q = F F'.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from verification.exercises import _exact, wrong
from verification.verdicts.verdict import Judgement

LECTURE = 11


def kernel(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """A sum of squares: F F' with F = Zt L^-T."""
    Zt = np.column_stack([Z, np.ones(len(Z))])
    L = np.linalg.cholesky(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt)
    F = np.linalg.solve(L, Zt.T).T
    return F @ F.T


def instances(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Integers of full column rank, C/lam from 1 to 1e12."""
    rng = np.random.default_rng(11 + seed)
    for i in range(36):
        n, s = 3 + i // 9, 1 + i // 18
        while True:
            Z = rng.integers(-4, 5, (n, s)).astype(float)
            if np.linalg.matrix_rank(np.column_stack([Z, np.ones(n)])) == s + 1:
                break
        yield {"Z": Z, "C": float(4.0 ** (i % 9)) / 16, "lam": float(2.0 ** -(3 * (i % 9)))}


def judge(answer: np.ndarray, Z: Any, C: float, lam: float) -> Judgement:
    """Compare with Q in rational arithmetic; a Cholesky solve errs by n eps cond at most."""
    Zt = np.column_stack([Z, np.ones(len(Z))])
    exact = _exact.rows(Zt)
    columns = [list(c) for c in zip(*exact, strict=True)]
    gram = _exact.product(columns, exact)
    for i, row in enumerate(gram):
        gram[i] = [Fraction(C) * v + (Fraction(lam) if i == j else 0) for j, v in enumerate(row)]
    Q = np.array(_exact.product(exact, _exact.solved(gram, columns)), dtype=float)
    condition = float(np.linalg.cond(Zt)) ** 2  # lam I only lowers it
    return _exact.near(answer, Q, 8 * len(Z) * _exact.EPS * condition * float(np.abs(Q).max()))


@wrong
def as_printed(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """Equation (5) as printed: right on paper, at C/lam = 1e12 no digit is left."""
    Zt = np.column_stack([Z, np.ones(len(Z))])
    K = Zt @ Zt.T
    return (K - K @ np.linalg.solve(lam / C * np.eye(len(K)) + K, K)) / lam


@wrong
def without_the_bias(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """No column of ones: the slack function has no bias then."""
    return Z @ np.linalg.solve(lam * np.eye(Z.shape[1]) + C * Z.T @ Z, Z.T)


@wrong
def swapped(Z: np.ndarray, C: float, lam: float) -> np.ndarray:
    """C and lam exchanged."""
    return kernel(Z, lam, C)
