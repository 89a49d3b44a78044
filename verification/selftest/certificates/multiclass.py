"""Multiclass risks against rational quadratic programs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.models import multiclass_erm
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Row, Vector, bounded, close, dot, require
from verification.selftest.certificates.models import ROUNDS, plain, proved, sharp, square, table
from verification.selftest.certificates.sets import ONE, ZERO, inside, rows_of, unit


def multiclass(seed: int) -> None:
    """Hinges of three classes: two examples, four unknowns."""
    rng = np.random.default_rng([seed, 10])
    cases = (("multiclass_hinge", "topk_simplex_alpha", 1), ("topk_hinge_beta", "topk_simplex_beta", 2),
             ("smooth_topk_hinge_alpha", "topk_simplex_alpha", 2))  # fmt: skip
    n, m = 2, 3
    for loss, dual, k in cases * ROUNDS:
        X, y = table(rng, n, n), [int(v) for v in rng.integers(m, size=n)]
        lam, weight = (
            Fraction(int(rng.choice([1, 4, 64])), 4),
            [Fraction(int(v), 2) for v in rng.integers(1, 5, n)],
        )
        gamma = Fraction(int(rng.integers(1, 4)), 2) if "smooth" in loss else ZERO
        own: dict[str, Any] = {"k": k} if "topk" in loss else {}
        own |= {"gamma": float(gamma)} if gamma else {}
        rows, d, C = rows_of(dual, m - 1, ONE, k), m - 1, ONE / (lam * n)

        def blocks(
            x: Vector, C: Fraction = C, y: list[int] = y, weight: list[Fraction] = weight
        ) -> list[Vector]:
            parts = [x[:2], x[2:]]
            out = []
            for part, label, w in zip(parts, y, weight, strict=True):
                a = [-C * w * v for v in part]
                out.append((*a[:label], C * w * sum(part, ZERO), *a[label:]))
            return out

        def model(x: Vector, X: Any = X) -> list[Vector]:
            A = blocks(x)
            return [
                tuple(dot(column, [a[j] for a in A]) for j in range(m))
                for column in zip(*X, strict=True)
            ]

        basis = [[v for row in model(unit(n * d, i)) for v in row] for i in range(n * d)]
        H = [[lam * dot(a, b) for b in basis] for a in basis]
        for i in range(n * d):
            H[i][i] += gamma * weight[i // d] / n
        c = tuple(weight[i // d] / n for i in range(n * d))
        both: list[Row] = [((*g, *[ZERO] * d), h, e) for g, h, e in rows]
        both += [((*[ZERO] * d, *g), h, e) for g, h, e in rows]
        best, least = exact.minimum(tuple(map(tuple, H)), c, tuple(both))
        best_model = model(best)

        def primal(W: list[Vector], X: Any = X, y: Any = y, weight: Any = weight, lam: Fraction = lam,
                   gamma: Fraction = gamma, rows: Any = rows) -> Fraction:  # fmt: skip
            total = lam / 2 * sum(square(row) for row in W)
            for x, label, w in zip(X, y, weight, strict=True):
                f = [dot(x, [row[j] for row in W]) for j in range(m)]
                z = tuple(1 + f[j] - f[label] for j in range(m) if j != label)
                value = exact.support(rows, z) if not gamma else -exact.minimum(
                    exact.form(m - 1, gamma), z, rows)[1]  # fmt: skip
                total += w / n * value
            return total

        given: dict[str, Any] = {
            "X": plain(X),
            "lam": float(lam),
            "sample_weight": exact.floats(weight),
            "n_classes": m,
            **own,
        }
        other = (*inside(rng, rows), *inside(rng, rows))
        wild = exact.eighths(rng, n * d)
        near = [tuple(Fraction(float(v)) for v in row) for row in best_model]
        beyond = tuple(v * 5 / 4 for v in best)
        pairs = [(near, best), (near, other), (list(table(rng, n, m)), other), (near, wild)]
        pairs += [(near, beyond), ([tuple(v * 5 / 4 for v in row) for row in near], beyond)]
        for W, x in pairs:
            A = plain(blocks(x)).T
            found = multiclass_erm.certificate(loss, np.array(y), W=plain(W), A=A, **given)
            free = exact.violation(tuple(both), x) == 0
            D = -exact.quadratic(tuple(map(tuple, H)), c, x) if free else None
            proved(found, -least, f"{loss}:", primal(W), D)
            require(free == (found.violation <= 1e-12), f"{loss}: violation", found.violation, free)
            away = [
                a - b for r, s in zip(W, best_model, strict=True) for a, b in zip(r, s, strict=True)
            ]
            bounded(
                Fraction(found.distance) ** 2, square(away), 1.0, f"{loss}: distance squared", 1e-15
            )
            close(
                found.distance**2 * float(lam) / 2,
                found.gap,
                found.gap,
                f"{loss}: gap of the distance",
            )
            if x is best:
                sharp(found, loss)
