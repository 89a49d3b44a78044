"""Multiclass risks against rational quadratic programs."""

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.models import multiclass_erm
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import (
    Matrix,
    Rows,
    Vector,
    bounded,
    close,
    floats,
    require,
)
from verification.selftest.certificates.models import ROUNDS, over, proved, sharp, table
from verification.selftest.certificates.sets import ONE, ZERO, inside, rows_of


def twice(rows: Rows) -> Rows:
    """The rows of two blocks, each in the same set."""
    none = [ZERO] * len(rows[0][0])
    return (*(((*g, *none), h, e) for g, h, e in rows), *(((*none, *g), h, e) for g, h, e in rows))


def blocks(x: Vector, y: Vector, mass: Vector) -> Matrix:
    """A (n, m) of x (n (m - 1),): <1,x> at the class y, -x at the others, times the mass."""
    parts = zip(x.reshape(len(y), -1), y, mass, strict=True)
    return exact.array([w * np.insert(-part, label, part.sum()) for part, label, w in parts])


def basis(X: Matrix, y: Vector, mass: Vector) -> Matrix:
    """A'X (m, d) of the unit vectors x, a row each."""
    units = np.eye(len(y) * 2, dtype=int)
    return exact.array([(blocks(x, y, mass).T @ X).ravel() for x in units])


def multiclass(seed: int) -> None:
    """Hinges of three classes: two examples, four unknowns."""
    rng = np.random.default_rng([seed, 10])
    cases = (("multiclass_hinge", "topk_simplex_alpha", 1), ("topk_hinge_beta", "topk_simplex_beta", 2),
             ("smooth_topk_hinge_alpha", "topk_simplex_alpha", 2))  # fmt: skip
    n, m = 2, 3
    for loss, dual, k in cases * ROUNDS:
        X, y = table(rng, n, n), rng.integers(m, size=n)
        lam = Fraction(int(rng.choice([1, 4, 64])), 4)
        weight = over(rng, 1, 5, 2, n)
        gamma = over(rng, 1, 4, 2) if "smooth" in loss else ZERO
        own: dict[str, Any] = {"k": k} if "topk" in loss else {}
        own |= {"gamma": float(gamma)} if gamma else {}
        rows, d = rows_of(dual, m - 1, ONE, k), m - 1
        mass, both = weight / (lam * n), twice(rows)
        ends = basis(X, y, mass)
        c = np.repeat(weight / n, d)
        H = lam * (ends @ ends.T) + np.diag(gamma * c)
        best, least = exact.minimum(H, c, both)
        best_model = (best @ ends).reshape(m, n).T

        def primal(W: Matrix, X: Any = X, y: Any = y, weight: Any = weight, lam: Fraction = lam,
                   gamma: Fraction = gamma, rows: Any = rows) -> Fraction:  # fmt: skip
            total = lam / 2 * (W**2).sum()
            for f, label, w in zip(X @ W, y, weight, strict=True):
                z = 1 + np.delete(f, label) - f[label]
                value = exact.support(rows, z) if not gamma else -exact.minimum(
                    exact.form(m - 1, gamma), z, rows)[1]  # fmt: skip
                total += w / n * value
            return Fraction(total)

        given: dict[str, Any] = {
            "X": floats(X),
            "lam": float(lam),
            "sample_weight": floats(weight),
            "n_classes": m,
            **own,
        }
        other = np.concatenate([inside(rng, rows), inside(rng, rows)])
        wild = exact.eighths(rng, n * d)
        near, beyond = exact.vector(floats(best_model)), best * 5 / 4
        pairs = [(near, best), (near, other), (table(rng, n, m), other), (near, wild)]
        pairs += [(near, beyond), (near * 5 / 4, beyond)]
        for W, x in pairs:
            A = floats(blocks(x, y, mass))
            found = multiclass_erm.certificate(loss, y, W=floats(W).T, A=A, **given)
            free = exact.violation(both, x) == 0
            D = -exact.quadratic(H, c, x) if free else None
            proved(found, -least, f"{loss}:", primal(W), D)
            require(free == (found.violation <= 1e-12), f"{loss}: violation", found.violation, free)
            away = ((W - best_model) ** 2).sum()
            bounded(Fraction(found.distance) ** 2, away, 1.0, f"{loss}: distance squared", 1e-15)
            through = found.distance**2 * float(lam) / 2
            close(through, found.gap, found.gap, f"{loss}: gap of the distance")
            if x is best:
                sharp(found, loss)
