"""What exercises judge by that the kit has no problem for: rational arithmetic and rounding bounds."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from verification.verdicts.verdict import Judgement, Verdict

EPS = float(np.finfo(float).eps)
Rows = list[list[Fraction]]


def rows(matrix: np.ndarray) -> Rows:
    """The entries as they are, as fractions."""
    return [[Fraction(float(v)) for v in row] for row in np.atleast_2d(matrix)]


def product(a: Rows, b: Rows) -> Rows:
    """Matrix product."""
    columns = list(zip(*b, strict=True))
    return [
        [sum((u * v for u, v in zip(r, c, strict=True)), Fraction(0)) for c in columns] for r in a
    ]


def solved(a: Rows, b: Rows) -> Rows:
    """X with a X = b, by elimination without rounding."""
    n = len(a)
    table = [[*r, *s] for r, s in zip(a, b, strict=True)]
    for i in range(n):
        pivot = next(p for p in range(i, n) if table[p][i] != 0)
        table[i], table[pivot] = table[pivot], table[i]
        table[i] = [v / table[i][i] for v in table[i]]
        for p in range(n):
            if p != i:
                table[p] = [u - table[p][i] * v for u, v in zip(table[p], table[i], strict=True)]
    return [row[n:] for row in table]


def near(answer: np.ndarray, exact: Any, tolerance: float) -> Judgement:
    """A pass if the answer, of this shape, is within the tolerance of what is exact (inf must be inf)."""
    right = np.asarray(exact, dtype=float)
    if answer.shape != right.shape:
        message = f"shape {answer.shape}, expected {right.shape}"
        return Judgement(Verdict.FAIL, message=message)
    if not np.all(np.isfinite(right)):
        ok = bool(np.array_equal(answer, right))
        return Judgement(Verdict.PASS if ok else Verdict.FAIL, message="" if ok else f"not {right}")
    error = float(np.max(np.abs(answer - right)))
    ok = error <= tolerance
    message = "" if ok else f"off by {error:.3g}, where rounding excuses {tolerance:.3g}"
    verdict = Verdict.PASS if ok else Verdict.FAIL
    return Judgement(verdict, message=message, terms={"error": (error, tolerance)})


def feasible(y: np.ndarray, A: Rows, C: Fraction, k: int) -> bool:
    """Whether the blocks a_i lie in the domain of the dual of the top-k hinge."""
    for label, block in zip(y, A, strict=True):
        s = block[label]
        x = [-v for j, v in enumerate(block) if j != label]
        if sum(x) != s or s > C or min(x) < 0 or k * max(x) > s:
            return False
    return True


def primal(X: Rows, y: np.ndarray, W: Rows, C: Fraction, k: int) -> Fraction:
    """1/2 ||W||^2 + C sum of top-k hinges."""
    found = sum((v * v for row in W for v in row), Fraction(0)) / 2
    for label, f in zip(y, product(X, W), strict=True):
        z = sorted((v - f[label] + 1 for j, v in enumerate(f) if j != label), reverse=True)
        found += C * max(Fraction(0), sum(z[:k], Fraction(0)) / k)
    return found


def dual(X: Rows, y: np.ndarray, A: Rows) -> Fraction:
    """Sum of the s_i minus 1/2 ||X'A||^2, of a feasible A."""
    W = product([list(c) for c in zip(*X, strict=True)], A)
    dual_variables = sum((block[label] for label, block in zip(y, A, strict=True)), Fraction(0))
    return dual_variables - sum((v * v for row in W for v in row), Fraction(0)) / 2


def blocks(rng: np.random.Generator, y: np.ndarray, m: int, k: int, C: float) -> np.ndarray:
    """Feasible blocks of dyadic numbers: k of the others get C/k, or half of it, or nothing."""
    A = np.zeros((y.size, m))
    for i, label in enumerate(y):
        others = rng.permutation(np.delete(np.arange(m), label))[:k]
        A[i, others] = -C / k * rng.choice([0.0, 0.5, 1.0])
        A[i, label] = -A[i].sum()
    return A


def outside(m: int, label: int, k: int, C: float, kind: int) -> tuple[int, np.ndarray]:
    """A block that violates one condition alone: s <= C, then x >= 0, then <1,a> = 0; and its k."""
    x = np.zeros(m - 1)
    x[:k], s = 2 * C / k, 2 * C
    if kind == 1 and m > 3:
        k, s = 1, 0.75 * C
        x[:3] = C / 2, C / 2, -C / 4
    elif kind:
        x[:], s = 0.0, C / 2
    return k, np.insert(-x, label, s)


def training_sets(seed: int = 0, count: int = 56) -> Iterator[dict[str, Any]]:
    """Small to large: X, y, A, C and k, all dyadic, most of them feasible."""
    rng = np.random.default_rng(8 + seed)
    for i in range(count):
        n, d, m = 1 + i // 11, 1 + i // 22, 3 + i // 14
        k = int(rng.choice([1, 2]))
        C = float(rng.choice([0.25, 1.0, 4.0]))
        y = rng.integers(m, size=n)
        A = blocks(rng, y, m, k, C)
        spoilt = i % 4
        if spoilt == 1 and i % 3 == 0:  # outside by several conditions
            A *= 2 if A.any() else 1
            A[0] += np.roll(np.eye(m)[0] - np.eye(m)[1], y[0]) * C * rng.choice([-0.5, 2.0])
        elif spoilt == 1:
            k, A[0] = outside(m, int(y[0]), k, C, i // 4 % 3)
        elif i % 8 == 7:  # all mass on one, within C/k
            k, A[0] = 2, np.roll(np.eye(m)[0] - np.eye(m)[1], y[0]) * C / 2
        yield {"X": rng.integers(-3, 4, (n, d)).astype(float), "y": y, "A": A, "C": C, "k": k}


def rounding(X: np.ndarray, A: np.ndarray, *more: float) -> float:
    """A bound on the error of the dual's sums in floats, plus that of sums of terms of these sizes."""
    n, d, m = *X.shape, A.shape[1]
    size = np.abs(A).sum() + ((np.abs(X.T) @ np.abs(A)) ** 2).sum() + sum(more)
    return float(4 * (n * m + d * m + 8) * EPS * size)
