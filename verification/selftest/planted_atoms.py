"""Atoms of CVXPY at points where their values and subgradients are known exactly (`programs`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

Array = np.ndarray[Any, Any]
_HADAMARD = {1: [[1]], 2: [[1, 1], [1, -1]]}
_HADAMARD[4] = np.kron(_HADAMARD[2], _HADAMARD[2]).tolist()
_PYTHAGOREAN = ((3, 4), (5, 12), (1, 2, 2), (2, 3, 6), (1, 1, 1, 1), (8,), (2, 4, 5, 6))


@dataclass(frozen=True)
class Term:
    """An atom of ``rows`` affine expressions that have the values ``at``.

    value + logs * log(2) is the atom there, ``gradient`` a subgradient, all dyadic.
    """

    name: str
    at: Array
    make: Callable[[Any], Any]
    value: Fraction
    gradient: Array
    logs: int = 0
    weight: float = 1.0


def integers(rng: np.random.Generator, size: Any, low: int = -4, high: int = 5) -> Array:
    """Small integers, as floats."""
    return rng.integers(low, high, size).astype(float)


def _signed(values: Any, rng: np.random.Generator) -> Array:
    return np.array(values, dtype=float) * rng.choice((-1.0, 1.0), len(values))


def _linear_terms(rng: np.random.Generator) -> Term:
    u = integers(rng, int(rng.integers(1, 6)))
    total = Fraction(float(u.sum()))
    kind = int(rng.integers(7))
    sign = np.where(u == 0, rng.choice((-1, -0.5, 0, 0.25, 1), len(u)), np.sign(u))
    if kind == 0:
        return Term("norm1", u, cp.norm1, Fraction(float(abs(u).sum())), sign)
    if kind == 1:
        active = (u == u.max()) / 1.0
        share = np.eye(len(u))[int(rng.choice(np.flatnonzero(active)))]
        return Term("max", u, cp.max, Fraction(float(u.max())), share)
    if kind == 2:
        i = int(np.argmax(np.abs(u)))
        value = Fraction(float(abs(u[i])))
        return Term("norm_inf", u, cp.norm_inf, value, np.eye(len(u))[i] * np.sign(u[i]))
    if kind == 3:
        slope = np.where(u > 0, 1.0, np.where(u == 0, 0.5, 0.0))
        return Term("pos", u, lambda e: cp.sum(cp.pos(e)), Fraction(float(u[u > 0].sum())), slope)
    if kind == 4:
        k = int(rng.integers(1, len(u) + 1))
        top = np.argsort(-u, kind="stable")[:k]
        slope = np.zeros(len(u))
        slope[top] = 1.0
        value = Fraction(float(u[top].sum()))
        return Term("sum_largest", u, lambda e: cp.sum_largest(e, k), value, slope)
    if kind == 5:
        way = np.diff(u)
        slope = np.where(way == 0, 0.5, np.sign(way))
        pull = np.concatenate(([0.0], slope)) - np.concatenate((slope, [0.0]))
        if len(u) > 1:
            value = Fraction(float(np.abs(way).sum()))
            return Term("total variation", u, lambda e: cp.norm1(cp.diff(e)), value, pull)
    return Term("sum", u, cp.sum, total, np.ones(len(u)))


def _quadratic_terms(rng: np.random.Generator) -> Term:
    u = integers(rng, int(rng.integers(1, 6)))
    kind, square = int(rng.integers(3)), Fraction(float(u @ u))
    if kind == 0:
        return Term("sum_squares", u, cp.sum_squares, square, 2 * u)
    if kind == 1:
        R = integers(rng, (int(rng.integers(1, len(u) + 2)), len(u)), -2, 3)
        P = R.T @ R + np.eye(len(u)) * float(rng.integers(0, 2))
        if np.any(P):
            value = Fraction(float(u @ P @ u))
            return Term("quad_form", u, lambda e: cp.quad_form(e, P), value, 2 * (P @ u))
    M = float(rng.integers(1, 4))
    small = np.abs(u) <= M
    each = np.where(small, u * u, 2 * M * np.abs(u) - M * M)
    slope = np.where(small, 2 * u, 2 * M * np.sign(u))
    return Term("huber", u, lambda e: cp.sum(cp.huber(e, M)), Fraction(float(each.sum())), slope)


def _norm_terms(rng: np.random.Generator) -> Term:
    kind = int(rng.integers(7))
    if kind == 0:
        v = _signed(_PYTHAGOREAN[int(rng.integers(len(_PYTHAGOREAN)))], rng)
        size = float(np.linalg.norm(v))
        u, k = v * float(rng.integers(1, 3)), float(rng.integers(1, 3))
        # the weight makes v / |v| whole
        return Term("norm", u, cp.norm, Fraction(float(np.linalg.norm(u))), v * k, weight=size * k)
    if kind == 1:
        u, y = integers(rng, int(rng.integers(1, 4))), float(rng.choice((1.0, 2.0, 4.0)))
        value = Fraction(float(u @ u)) / Fraction(y)
        slope = np.concatenate((2 * u / y, [-(u @ u) / y**2]))
        return Term(
            "quad_over_lin",
            np.append(u, y),
            lambda e: cp.quad_over_lin(e[:-1], e[-1]),
            value,
            slope,
        )
    return _scalar_terms(rng, kind)


def _scalar_terms(rng: np.random.Generator, kind: int) -> Term:
    y: Array = rng.choice((0.5, 1.0, 2.0, 4.0), int(rng.integers(1, 4)))
    if kind == 2:
        total = Fraction(float((1 / y).sum()))
        return Term("inv_pos", y, lambda e: cp.sum(cp.inv_pos(e)), total, -1 / y**2)
    if kind == 3:
        y = y**2
        total = Fraction(float(-np.sqrt(y).sum()))
        return Term("-sqrt", y, lambda e: -cp.sum(cp.sqrt(e)), total, -0.5 / np.sqrt(y))
    if kind == 4:
        size, g = int(rng.choice((2, 4))), float(rng.choice((1.0, 2.0, 3.0)))
        at, slope = np.full(size, g), np.full(size, -1 / size)
        return Term("-geo_mean", at, lambda e: -cp.geo_mean(e), Fraction(-g), slope)
    if kind == 5:
        total = Fraction(float((y**3).sum()))
        return Term("power 3", y, lambda e: cp.sum(cp.power(e, 3)), total, 3 * y**2)
    y = rng.choice((0.25, 1.0, 4.0), len(y))
    total = Fraction(float((y**1.5).sum()))
    return Term("power 1.5", y, lambda e: cp.sum(cp.power(e, 1.5)), total, 1.5 * np.sqrt(y))


def _exponential_terms(rng: np.random.Generator) -> Term:
    kind, size = int(rng.integers(7)), int(rng.integers(1, 4))
    zero, one = np.zeros(size), np.ones(size)
    if kind == 0:
        return Term("exp", zero, lambda e: cp.sum(cp.exp(e)), Fraction(size), one)
    if kind == 1:
        k = rng.integers(-2, 3, size)
        y = np.exp2(k)
        logs = -int(k.sum())
        return Term("-log", y, lambda e: -cp.sum(cp.log(e)), Fraction(0), -1 / y, logs)
    if kind == 2:
        return Term("-entr", one, lambda e: -cp.sum(cp.entr(e)), Fraction(0), one)
    if kind == 3:
        y = rng.choice((0.5, 1.0, 3.0), size)
        at, slope = np.concatenate((y, y)), np.concatenate((one, -one))
        return Term(
            "rel_entr", at, lambda e: cp.sum(cp.rel_entr(e[:size], e[size:])), Fraction(0), slope
        )
    if kind == 4:
        return Term("logistic", zero, lambda e: cp.sum(cp.logistic(e)), Fraction(0), one / 2, size)
    if kind == 5:
        logs = int(rng.integers(1, 3))
        at, g = np.full(2**logs, float(rng.integers(-3, 4))), np.full(2**logs, 0.5**logs)
        return Term("log_sum_exp", at, cp.log_sum_exp, Fraction(float(at[0])), g, logs)
    return Term("-log1p", zero, lambda e: -cp.sum(cp.log1p(e)), Fraction(0), -one)


def rotation(rng: np.random.Generator) -> Array:
    """Orthogonal up to its size, of integers."""
    H = np.array(_HADAMARD[int(rng.choice((2, 4)))], dtype=float)
    return H[rng.permutation(len(H))] * rng.choice((-1.0, 1.0), len(H))


def _spectral_terms(rng: np.random.Generator) -> Term:
    H = rotation(rng)
    n, kind = len(H), int(rng.integers(4))
    d = np.sort(integers(rng, n))[::-1]
    if kind == 3:
        k = rng.integers(-1, 2, n)
        U, inverse = H @ np.diag(np.exp2(k)) @ H.T / n, H @ np.diag(np.exp2(-k)) @ H.T / n
        flat, slope, logs = U.ravel(), -inverse.ravel(), -int(k.sum())
        return Term("-log_det", flat, lambda e: -cp.log_det(square(e, n)), Fraction(0), slope, logs)
    U = H @ np.diag(d) @ H.T / n
    if kind == 0:
        value, top = Fraction(float(d[0])), np.outer(H[:, 0], H[:, 0]) / n
        return Term(
            "lambda_max", U.ravel(), lambda e: cp.lambda_max(square(e, n)), value, top.ravel()
        )
    other = rotation(rng)
    while len(other) != n:
        other = rotation(rng)
    W = H @ np.diag(d) @ other.T / n  # singular values |d|
    if kind == 1:
        i = int(np.argmax(np.abs(d)))
        slope = np.sign(d[i]) * np.outer(H[:, i], other[:, i]) / n
        value = Fraction(float(abs(d[i])))
        return Term(
            "sigma_max", W.ravel(), lambda e: cp.sigma_max(_whole(e, n)), value, slope.ravel()
        )
    slope = H @ np.diag(np.sign(d)) @ other.T / n
    value = Fraction(float(np.abs(d).sum()))
    return Term("normNuc", W.ravel(), lambda e: cp.normNuc(_whole(e, n)), value, slope.ravel())


def _whole(e: Any, n: int) -> Any:
    return cp.reshape(e, (n, n), order="C")


def square(e: Any, n: int) -> Any:
    """Symmetric by writing, as CVXPY asks."""
    return (_whole(e, n) + _whole(e, n).T) / 2


def _power_terms(rng: np.random.Generator) -> Term:
    size, kind = int(rng.integers(1, 4)), int(rng.integers(3))
    p = float(rng.choice((1.25, 2.75, 3.0, 5.5)))
    one = np.ones(size)
    if kind == 0:
        total = Fraction(size)
        return Term(
            f"power {p}", one, lambda e: cp.sum(cp.power(e, p, approx=False)), total, p * one
        )
    if kind == 1:
        q = float(rng.choice((0.25, 0.375, 0.75)))
        total = Fraction(-size)
        return Term(
            f"-power {q}", one, lambda e: -cp.sum(cp.power(e, q, approx=False)), total, -q * one
        )
    at = np.eye(size)[0] * float(rng.integers(1, 4))
    value = Fraction(float(at[0]))
    return Term(f"pnorm {p}", at, lambda e: cp.pnorm(e, p, approx=False), value, np.eye(size)[0])


TERMS: dict[str, tuple[Callable[[np.random.Generator], Term], ...]] = {
    "lp": (_linear_terms,),
    "qp": (_linear_terms, _quadratic_terms, _quadratic_terms),
    "socp": (_linear_terms, _quadratic_terms, _norm_terms, _norm_terms),
    "exp": (_linear_terms, _quadratic_terms, _exponential_terms, _exponential_terms),
    "sdp": (_linear_terms, _spectral_terms, _spectral_terms),
    "power": (_linear_terms, _norm_terms, _power_terms, _power_terms),
    "mixed": (
        _linear_terms, _quadratic_terms, _norm_terms, _exponential_terms, _spectral_terms,
        _power_terms,
    ),
}  # fmt: skip
