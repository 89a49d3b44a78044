"""CVXPY programs of the SVM+ models, primal and dual, with both losses and all variants.

With U = C sum w_i (+ lam) the value of w = 0, rho = 1 is at most U. The primal is divided by U, rows
by their largest norm; in the dual alpha = U a/size, size bounding the quadratic terms.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve.errors import InfeasibleError
from refsolve.models._svm_plus import (
    Correction,
    Data,
    PlusCertificate,
    check_data,
    model_of,
    scaled,
)
from refsolve.models._svm_plus_proof import certify
from refsolve.models._svm_space import reach, separated
from refsolve.oracle import SOLVERS, Answer, Posed, Template

Array = np.ndarray[Any, Any]
Real = np.longdouble
#: Farkas multipliers of sum 1 that pull to less than this, beside the largest row, are a proof.
TOUCHING = 1e-9


def _unit(data: Data) -> float:
    """A value of P that is easily reached: all slacks 1, or w that separates without slacks."""
    unit = float(data.cost.sum()) + (data.lam if data.squared else 0.0)
    unit += len(data.cost) * data.lam / data.delta if data.signed and data.delta else 0.0
    return unit if data.penal else min(unit, separated(data.x.factor(), data.y.astype(float)))


def _answer(operation: str, proof: PlusCertificate) -> Answer:
    if operation == "primal":
        return Answer(proof.model.w, proof.primal, proof.alpha, proof)
    return Answer(proof.alpha, proof.dual, proof.model.w, proof)


def _key(data: Data, *shapes: int) -> tuple[Any, ...]:
    variants = (data.squared, data.nonneg, data.signed, data.penal, data.delta > 0)
    return (*variants, len(data.cost), *shapes)


def _prove(data: Data, alpha: Array, beta: Array, *points: Any) -> PlusCertificate:
    """The best certificate of the multipliers with one of the points, or with their own model."""
    alpha, beta, _ = data.repair_dual(alpha.astype(Real), beta.astype(Real))
    if data.squared:
        t = scaled(data, alpha, beta)
        alpha, beta = t * alpha, t * beta
    models = (model_of(data, alpha, beta), *points)
    proofs = [certify(data, w, b, g, alpha, beta) for w, b, g in models]
    return min(proofs, key=lambda proof: proof.gap)


def pose(squared: bool, operation: str, given: dict[str, Any]) -> Posed:
    """Instance of an SVM+; `InfeasibleError` if signed correcting functions leave no point."""
    data = check_data(squared, given)
    if data.signed and data.delta == 0:
        _check_feasible(data)
    forms = (_primal, _dual) if operation == "primal" else (_dual, _primal)
    first, other = (form(data, operation) for form in forms)
    return replace(first, other=other)


def _primal(data: Data, operation: str) -> Posed:
    G, Z = data.x.factor(), data.z.factor()
    n, U, t = len(data.cost), _unit(data), reach(G)
    y, s = data.y.astype(float), data.s.astype(float)

    def build() -> Template:
        w, v, b, rho = (
            cp.Variable(G.shape[1]),
            cp.Variable(Z.shape[1]),
            cp.Variable(),
            cp.Variable(),
        )
        rows, z_rows = cp.Parameter(G.shape), cp.Parameter(Z.shape)
        labels, signs = cp.Parameter(n), cp.Parameter(n)
        cost = cp.Parameter(n, nonneg=True)
        a, c, unit = (cp.Parameter(nonneg=True) for _ in range(3))
        parameters = {"rows": rows, "z_rows": z_rows, "labels": labels, "signs": signs,
                      "cost": cost, "a": a, "c": c, "unit": unit}  # fmt: skip
        xi, slack = cp.Variable(n), z_rows @ v + signs * rho  # costs and rows may not be multiplied
        penalty = cp.sum_squares(a * w) + cp.sum_squares(c * v)
        found = {"w": w, "v": v, "b": b, "rho": rho}
        if data.delta > 0:
            h, root = cp.Variable(n), cp.Parameter(nonneg=True)
            slack = slack + root * h
            parameters["own"], found["h"] = root, h
            penalty += cp.sum_squares(c * h)
        if data.squared:
            penalty += cp.sum_squares(c * rho) + cp.sum_squares(cp.multiply(cost, xi))
        if data.penal:
            penalty += cp.sum_squares(unit * b)
        objective = penalty / 2 if data.squared else penalty / 2 + cost @ xi
        margins = rows @ w + labels * b + xi >= 1
        found["alpha"] = margins.dual_variables[0]
        constraints = [margins, xi == slack]
        if data.nonneg:
            constraints.append(xi >= 0)
            found["beta"] = constraints[-1].dual_variables[0]
        return Template(cp.Problem(cp.Minimize(objective), constraints), parameters, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        w, v = data.x.from_factor(found["w"] / t), data.z.from_factor(found["v"])
        g = Correction(v, Real(found["rho"]), found.get("h", np.zeros(n)).astype(Real))
        alpha = U * found["alpha"]
        beta = U * found["beta"] if "beta" in found else 0 * alpha
        proof = _prove(data, alpha, beta, (w, Real(found["b"]), g))
        return _answer(operation, proof)

    cost = data.cost.astype(float) / U
    root = np.sqrt(data.lam / U)
    values = {
        "rows": y[:, None] * G / t,
        "z_rows": s[:, None] * Z,
        "labels": y,
        "signs": s,
        "cost": np.sqrt(cost) if data.squared else cost,
        "a": 1 / t / np.sqrt(U),
        "c": root,
        "unit": 1 / np.sqrt(U),
    }
    if data.delta > 0:
        values["own"] = np.sqrt(data.delta)
    return Posed(("primal", *_key(data, G.shape[1], Z.shape[1])), build, values, finish, 0.0)


def _dual(data: Data, operation: str) -> Posed:
    G = data.x.factor() * data.y.astype(float)[:, None]
    F = data.deformed()
    n, U = len(data.cost), _unit(data)
    t, tz = reach(G), reach(F)
    size = max(U * (t * t + tz * tz), 1.0)
    y, s = data.y.astype(float), data.s.astype(float)

    def build() -> Template:
        alpha = cp.Variable(n, nonneg=True)
        rows, z_rows = cp.Parameter(G.T.shape), cp.Parameter(F.T.shape)
        labels = cp.Parameter(n)
        parameters = {"rows": rows, "z_rows": z_rows, "labels": labels}
        gamma, found, constraints = alpha, {"alpha": alpha}, []
        if data.nonneg:
            found["beta"] = cp.Variable(n, nonneg=True)
            gamma = alpha + found["beta"]
        if not data.squared:
            parameters["cost"], parameters["signs"] = cp.Parameter(n), cp.Parameter(n)
            net = cp.Variable(n)  # costs and rows may not be multiplied
            constraints += [net == gamma - parameters["cost"], parameters["signs"] @ net == 0]
            gamma = net
        value = (
            cp.sum(alpha) - cp.sum_squares(rows @ alpha) / 2 - cp.sum_squares(z_rows @ gamma) / 2
        )
        if data.penal:
            parameters["unit"] = cp.Parameter(nonneg=True)
            offset = cp.Variable()
            constraints.append(labels @ alpha == offset)
            value -= cp.square(parameters["unit"] * offset) / 2
        else:
            constraints.append(labels @ alpha == 0)
        return Template(cp.Problem(cp.Maximize(value), constraints), parameters, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        alpha = U / size * found["alpha"]
        beta = U / size * found["beta"] if "beta" in found else 0 * alpha
        return _answer(operation, _prove(data, alpha, beta))

    root = np.sqrt(U / size)
    values = {"rows": root * G.T, "z_rows": root * F.T, "labels": y}
    if not data.squared:
        values |= {"cost": data.cost.astype(float) * size / U, "signs": s}
    if data.penal:
        values["unit"] = root
    return Posed(("dual", *_key(data, G.shape[1], F.shape[1])), build, values, finish, 0.0)


def _check_feasible(data: Data) -> None:
    """`InfeasibleError` with (alpha, beta) >= 0 that pull to 0 in w, b, v and rho: D is unbounded."""
    G, Z = data.x.factor(), data.z.factor()
    y, s = data.y.astype(float), data.s.astype(float)
    rows = np.column_stack([G / reach(G), np.ones(len(y))]) * y[:, None]
    z_rows = np.column_stack([Z / reach(Z), np.ones(len(y))]) * s[:, None]
    alpha, beta = cp.Variable(len(y), nonneg=True), cp.Variable(len(y), nonneg=True)
    pulls = cp.norm1(rows.T @ alpha) + cp.norm1(z_rows.T @ (alpha + beta))
    constraints = [cp.sum(alpha) == 1] + ([] if data.nonneg else [beta == 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result is judged by formula
        cp.Problem(cp.Minimize(pulls), constraints).solve(solver="CLARABEL", **SOLVERS["CLARABEL"])
    if alpha.value is None:
        return
    a = np.maximum(0, alpha.value)
    c = np.maximum(0, beta.value) if data.nonneg else 0 * a
    a, c = a / a.sum(), c / a.sum()
    if abs(rows.T @ a).sum() + abs(z_rows.T @ (a + c)).sum() <= TOUCHING:
        raise InfeasibleError(
            "label_signed", True, "classes that (x, z) separates: y (f(x) + g(z)) >= 1 has no "
            "solution, as the multipliers in .farkas prove",
            "drop label_signed, or pass free_slack > 0", np.array([data.expanded(a), data.expanded(c)]),
        )  # fmt: skip
