"""CVXPY programs of the SVM-2K, primal and dual; scales as in `refsolve.models._svm_plus_program`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve.oracle import Answer, Posed, Template

Array = np.ndarray[Any, Any]
Real = np.longdouble


def _scales(data: Any) -> tuple[Array, Array, float, float, float]:
    """Rows of both views, their reaches, and P at 0."""
    G, F = data.x.factor(), data.z.factor()
    t, tz = (float(np.sqrt((R * R).sum(axis=1).max())) or 1.0 for R in (G, F))
    return G, F, t, tz, float(data.bounds[:2].sum())


def pose_primal(data: Any) -> Posed:
    """Instance of ``svm_2k.primal``: x is w (d,), or coef (n,) with K; dual the (3, n) of the dual."""
    G, F, t, tz, U = _scales(data)
    n, y = len(data.y), data.y.astype(float)

    def build() -> Template:
        w, v, b, rho = (
            cp.Variable(G.shape[1]),
            cp.Variable(F.shape[1]),
            cp.Variable(),
            cp.Variable(),
        )
        xi = [cp.Variable(n, nonneg=True) for _ in range(3)]
        rows, z_rows = cp.Parameter(G.shape), cp.Parameter(F.shape)
        labels, costs = cp.Parameter(n), [cp.Parameter(n, nonneg=True) for _ in range(3)]
        a, c, eps = (cp.Parameter(nonneg=True) for _ in range(3))
        f, g = cp.Variable(n), cp.Variable(n)  # labels and rows may not be multiplied
        slopes = [
            cp.multiply(labels, f) + xi[0] >= 1,
            cp.multiply(labels, g) + xi[1] >= 1,
            f - g <= xi[2] + eps,
            g - f <= xi[2] + eps,
        ]
        penalty = (cp.sum_squares(a * w) + cp.sum_squares(c * v)) / 2
        loss = sum(cost @ part for cost, part in zip(costs, xi, strict=True))
        problem = cp.Problem(
            cp.Minimize(penalty + loss), [*slopes, f == rows @ w + b, g == z_rows @ v + rho]
        )
        parameters = {"rows": rows, "z_rows": z_rows, "labels": labels, "a": a, "c": c, "eps": eps}
        parameters |= {f"cost{i}": cost for i, cost in enumerate(costs)}
        found = {f"dual{i}": slope.dual_variables[0] for i, slope in enumerate(slopes)}
        return Template(problem, parameters, {"w": w, "v": v, "b": b, "rho": rho, **found})

    def finish(found: Mapping[str, Any]) -> Answer:
        alpha = U * np.array([found["dual0"], found["dual1"], found["dual2"] - found["dual3"]])
        repaired, off = data.repair(alpha.astype(Real))
        b, rho = Real(found["b"]), Real(found["rho"])
        points = [
            (data.x.from_factor(found["w"] / t), data.z.from_factor(found["v"] / tz)),
            data.pulls(repaired),
        ]
        proofs = [data.certify(w, b, v, rho, repaired, off) for w, v in points]
        proof = min(proofs, key=lambda each: each.gap)
        return Answer(proof.w, proof.primal, proof.alpha, proof)

    values = {"rows": G / t, "z_rows": F / tz, "labels": y, "eps": data.eps}
    values |= {"a": 1 / t / np.sqrt(U), "c": 1 / tz / np.sqrt(U)}
    values |= {f"cost{i}": cost.astype(float) / U for i, cost in enumerate(data.bounds)}
    return Posed((G.shape, F.shape), build, values, finish, 0.0)


def pose_dual(data: Any) -> Posed:
    """Instance of ``svm_2k.dual``: x is (alpha_A, alpha_B, beta), (3, n); dual is w or coef."""
    G, F, t, tz, U = _scales(data)
    n, y = len(data.y), data.y.astype(float)
    size = max(U * (t * t + tz * tz), 1.0)

    def build() -> Template:
        a, c = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
        up, down = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
        rows, z_rows = cp.Parameter(G.T.shape), cp.Parameter(F.T.shape)
        labels, tops = cp.Parameter(n), [cp.Parameter(n, nonneg=True) for _ in range(3)]
        eps, g, h = cp.Parameter(nonneg=True), cp.Variable(n), cp.Variable(n)
        ties = [cp.sum(g) == 0, cp.sum(h) == 0]  # their multipliers are the biases
        value = cp.sum(a) + cp.sum(c) - eps * cp.sum(up + down)
        value -= (cp.sum_squares(rows @ g) + cp.sum_squares(z_rows @ h)) / 2
        bounds = [a <= tops[0], c <= tops[1], up + down <= tops[2]]
        maps = [
            g == cp.multiply(labels, a) - up + down,
            h == cp.multiply(labels, c) + up - down,
        ]
        problem = cp.Problem(cp.Maximize(value), [*ties, *bounds, *maps])
        parameters = {"rows": rows, "z_rows": z_rows, "labels": labels, "eps": eps}
        parameters |= {f"top{i}": top for i, top in enumerate(tops)}
        found = {"a": a, "c": c, "up": up, "down": down}
        found |= {"b": ties[0].dual_variables[0], "rho": ties[1].dual_variables[0]}
        return Template(problem, parameters, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        parts = np.array([found["a"], found["c"], found["up"] - found["down"]])
        repaired, off = data.repair((U / size * parts).astype(Real))
        w, v = data.pulls(repaired)
        proof = data.certify(w, Real(found["b"]), v, Real(found["rho"]), repaired, off)
        return Answer(proof.alpha, proof.dual, proof.w, proof)

    root = np.sqrt(U / size)
    values = {"rows": root * G.T, "z_rows": root * F.T, "labels": y, "eps": data.eps}
    values |= {f"top{i}": top.astype(float) * size / U for i, top in enumerate(data.bounds)}
    return Posed((G.shape, F.shape), build, values, finish, 0.0)
