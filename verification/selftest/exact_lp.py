"""Linear programs solved exactly, and an attack on what `refsolve.certify` says of their answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.cones.exact_simplex import solve

Array = np.ndarray[Any, Any]


def simplex(A: Array, b: Array, c: Array) -> tuple[str, Fraction]:
    """Status and optimum of: minimise c'x over Ax <= b, x >= 0, in rational numbers."""
    n = len(c)
    rows, right = np.vstack((A, -np.eye(n))), np.append(b, np.zeros(n))
    answer = solve(c, np.zeros((0, n)), np.zeros(0), rows, right)
    return answer.status, answer.value or Fraction(0)


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
        except (cp.error.SolverError, ValueError):  # the latter where HiGHS says "unknown"
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


def random_program(rng: np.random.Generator) -> tuple[Any, Any, Any, Any, Any]:
    """Numbers (c, E, f, G, h) as they come: small integers, floats, degenerate, redundant, empty."""
    n, m, p = int(rng.integers(1, 7)), int(rng.integers(1, 11)), int(rng.integers(0, 3))
    whole = rng.random() < 0.5

    def numbers(shape: Any) -> Any:
        if whole:
            return rng.integers(-3, 4, shape).astype(float)
        return np.round(rng.standard_normal(shape), int(rng.integers(1, 6)))

    G, c = numbers((m, n)), numbers(n)
    x = numbers(n)
    h = G @ x + np.where(rng.random(m) < 0.5, 0, np.abs(numbers(m)))
    E = numbers((p, n))
    f = E @ x
    kind = int(rng.integers(5))
    if kind == 0:  # whatever comes
        h = numbers(m)
    if kind == 1 and p:  # an equation twice
        E, f = np.vstack((E, E[:1])), np.append(f, f[0])
    if kind in (2, 3):  # a box
        G, h = np.vstack((G, np.eye(n), -np.eye(n))), np.concatenate((h, np.full(2 * n, 5.0)))
    if kind == 3:  # bounded by its own rows
        c = -(np.abs(numbers(len(h))) @ G)
    return c, E, f, G, h
