"""Linear programs and an exact simplex, and an attack on what `refsolve.certify` says of their answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def simplex(A: Array, b: Array, c: Array) -> tuple[str, Fraction]:
    """Least c'x over Ax <= b, x >= 0, in rational numbers: the status and the optimum.

    Two phases with Bland's rule, which cannot cycle (Bland, Math. Oper. Res. 1977).
    """
    m, n = A.shape
    rows = [
        [Fraction(v) for v in (*A[i].tolist(), *(float(i == j) for j in range(m)), b[i])]
        for i in range(m)
    ]
    basis = list(range(n, n + m))
    if min(b.tolist(), default=0.0) < 0:
        for row in rows:
            row.insert(n + m, Fraction(-1))
        first = [Fraction(0)] * (n + m) + [Fraction(1), Fraction(0)]
        _pivot(rows, first, basis, min(range(m), key=lambda i: rows[i][-1]), n + m)
        _walk(rows, first, basis)
        if first[-1] != 0:
            return "infeasible", Fraction(0)
        if n + m in basis:
            at = basis.index(n + m)
            _pivot(rows, first, basis, at, next(j for j in range(n + m) if rows[at][j]))
        for row in rows:
            del row[n + m]
    cost = [Fraction(v) for v in c.tolist()] + [Fraction(0)] * (m + 1)
    for i, j in enumerate(basis):
        if cost[j]:
            share = cost[j]
            cost = [a - share * v for a, v in zip(cost, rows[i], strict=True)]
    if not _walk(rows, cost, basis):
        return "unbounded", Fraction(0)
    return "optimal", -cost[-1]


def _walk(rows: list[list[Fraction]], cost: list[Fraction], basis: list[int]) -> bool:
    """Pivot to the optimum; False if there is none."""
    while True:
        j = next((j for j, v in enumerate(cost[:-1]) if v < 0), None)
        if j is None:
            return True
        ratios = [(row[-1] / row[j], basis[i], i) for i, row in enumerate(rows) if row[j] > 0]
        if not ratios:
            return False
        _pivot(rows, cost, basis, min(ratios)[2], j)


def _pivot(
    rows: list[list[Fraction]], cost: list[Fraction], basis: list[int], i: int, j: int
) -> None:
    own = rows[i][j]
    rows[i] = [v / own for v in rows[i]]
    for row in (*(r for k, r in enumerate(rows) if k != i), cost):
        if row[j]:
            share = row[j]
            row[:] = [a - share * v for a, v in zip(row, rows[i], strict=True)]
    basis[i] = j


def drawn(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """A, b, c: small integers or floats, degenerate, infeasible or unbounded now and then, scaled."""
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 8))
    if rng.random() < 0.5:
        A, c = (rng.integers(-4, 5, size).astype(float) for size in ((m, n), n))
    else:
        A, c = rng.standard_normal((m, n)), rng.standard_normal(n)
    x = rng.integers(0, 3, n) * rng.random(n).round(int(rng.integers(0, 9)))
    b = A @ x + rng.random(m) * (rng.random(m) < 0.5) - (rng.random(m) < 0.04)
    if rng.random() < 0.8:  # bounded
        A, b = np.vstack((A, np.ones(n))), np.append(b, x.sum() + 3)
    if rng.random() < 0.4:  # scales of 1e+-12
        rows, columns = (10.0 ** rng.uniform(-6, 6, size) for size in A.shape)
        A, b, c = A * rows[:, None] * columns, b * rows, c * columns
    return A, b, c * 10.0 ** rng.choice((-6.0, 0.0, 0.0, 6.0))


def attack(count: int, seed: int) -> dict[str, Any]:
    """Answers of solvers, disturbed, certified, and held against the exact optimum."""
    import cvxpy as cp

    from refsolve import certify

    rng = np.random.default_rng(seed)
    said: dict[str, int] = {}
    false: list[str] = []
    for number in range(count):
        A, b, c = drawn(rng)
        truth, optimum = simplex(A, b, c)
        x = cp.Variable(A.shape[1], nonneg=True)
        problem = cp.Problem(cp.Minimize(c @ x), [A @ x <= b])
        try:
            problem.solve(solver=("CLARABEL", "HIGHS")[number % 2])
        except cp.error.SolverError:
            x.save_value(None)
        for level in (0.0, 10.0 ** -float(rng.integers(2, 14))):
            if level and x.value is not None:
                x.save_value(x.value + level * rng.standard_normal(len(c)) * (1 + np.abs(x.value)))
            proof = certify(problem)
            said[proof.status] = said.get(proof.status, 0) + 1
            if not _true(proof, truth, optimum, (A, b, c), x):
                false.append(f"seed {seed} number {number}: {proof.status}, {truth}")
    return {"programs": count, "seed": seed, "said": said, "false": false}


def _true(proof: Any, truth: str, optimum: Fraction, data: tuple[Any, ...], x: Any) -> bool:
    """Whether nothing that is told contradicts the exact answer."""
    if proof.status in ("infeasible", "unbounded"):
        return bool(proof.status == truth)
    if truth == "infeasible":
        return bool(proof.status in ("violated", "inconclusive", "feasible only to δ"))
    if truth == "unbounded":
        return proof.status != "certified" and proof.lower == -np.inf
    good = bool(proof.lower <= optimum <= proof.upper)
    if proof.certified:
        _, _, c = data
        value = sum(
            (Fraction(a) * Fraction(v) for a, v in zip(c.tolist(), x.value.tolist(), strict=True)),
            Fraction(),
        )
        size = float(np.max(np.abs(c) * np.maximum(np.abs(x.value), 1)))
        good &= abs(value - optimum) <= Fraction(1.0001e-6) * (
            abs(value) + Fraction(min(1.0, size))
        )
    return good
