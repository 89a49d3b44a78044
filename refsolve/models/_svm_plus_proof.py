"""The certificate of an SVM+: P - D as a sum of nonnegative terms, in longdouble.

D needs <gamma, Q gamma>. For any g, with r = sum gamma_i zt_i - Mg, it is at most
2 sum gamma_i xi_i(g) - <g,Mg> + ||r||^2/lam: no inverse has to be trusted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve.errors import InvalidParameterError
from refsolve.models._svm_plus import (
    AS_GOOD,
    MEETING,
    Correction,
    Data,
    Model,
    PlusCertificate,
    check_data,
)
from refsolve.models._svm_space import scalar

Array = np.ndarray[Any, Any]
Real = np.longdouble


def dual_value(data: Data, alpha: Array, beta: Array) -> Any:
    """D at repaired multipliers."""
    gamma = alpha + beta
    u = data.x.pull(alpha * data.y)
    bias = (alpha * data.y).sum() ** 2 if data.penal else 0
    g, r = data.correction(gamma)
    if not data.squared:
        return alpha.sum() - (data.x.square(u) + bias + data.lam * data.size(g)) / 2
    xi = data.slacks(g)
    worst = 2 * gamma @ xi - (data.cost * xi) @ xi - data.lam * data.size(g)
    return alpha.sum() - (data.x.square(u) + bias + worst + data.size(r) / data.lam) / 2


def certify(
    data: Data, w: Array, b: Any, g: Correction, alpha: Array, beta: Array
) -> PlusCertificate:
    """Certificate of any point and any multipliers; both are repaired."""
    alpha, beta, off = data.repair_dual(alpha, beta)
    given = w
    w, b, feasible, short = data.repair_primal(w, b, g)
    g0, r = data.correction(alpha + beta)
    u = data.x.pull(alpha * data.y)
    dual = dual_value(data, alpha, beta)
    point = g if feasible is None else feasible
    xi = data.slacks(point)
    margins = data.y * (data.x.values(w) + b) - 1 + xi
    residuals = alpha * np.maximum(0, margins) + beta * np.maximum(0, xi)
    away = point.less(g0)
    drift = data.x.square(w - u) / 2
    if data.penal:
        drift += (b - (alpha * data.y).sum()) ** 2 / 2
    if data.squared:
        xi_away = data.slacks(away)
        drift += (data.cost * xi_away) @ xi_away / 2
        drift += data.lam * data.size(away.less(r, 1 / Real(data.lam))) / 2
    else:
        drift += data.lam * data.size(away) / 2
    primal = np.inf if feasible is None else data.objective(w, b, point)
    # the two are equal but for a Gram matrix that is semidefinite up to rounding only
    gap = float(max(residuals.sum() + drift, primal - dual))
    primal = float(primal)
    moved = float(np.sqrt(data.x.square(w - given)))
    return PlusCertificate(
        gap=gap,
        violation=max(off, short),
        distance=float(np.sqrt(2 * gap)) + moved,
        value=primal,
        scale=max(abs(primal), abs(float(dual))),
        primal=primal,
        dual=float(dual),
        residuals=data.expanded(residuals.astype(float)),
        drift=float(drift),
        model=to_model(data, w, b, point),
        alpha=data.expanded(alpha.astype(float)),
        beta=data.expanded(beta.astype(float)),
        collapsed=_collapsed(data, w, point, alpha, dual),
    )


def _collapsed(data: Data, w: Array, g: Correction, alpha: Array, dual: Any) -> bool:
    """Whether w = 0 is as good, and w nothing beside the parts of it that the classes pull."""
    zero = 0 * w
    b = Real(0) if data.penal else data.best_bias(zero, data.slacks(g))
    zero, b, g0, _ = data.repair_primal(zero, b, g)
    if g0 is None:
        return False
    primal = data.objective(zero, b, g0)
    if primal - dual > AS_GOOD * max(abs(primal), abs(dual)):
        return False
    # w is half of sum(alpha) times the distance of two points of the classes' hulls
    size = np.sqrt(data.x.square(w))
    return bool(size <= MEETING * alpha.sum() / 2 * data.x.spread())


def to_model(data: Data, w: Array, b: Any, g: Correction) -> Model:
    """The `Model` of a point, slacks for all rows."""
    xi = data.z.all_values(g.v) + g.rho
    xi = data.labels * xi if data.signed else xi
    xi[data.x.kept] = data.slacks(g)
    return Model(w.astype(float), float(b), g.v.astype(float), float(g.rho), xi.astype(float))


def certificate(squared: bool, given: dict[str, Any], **point: Any) -> PlusCertificate:
    """Certificate of a model and multipliers as the public functions take them."""
    data = check_data(squared, given)
    if point["alpha"] is None:
        raise InvalidParameterError(
            "alpha", None, "multipliers (n,)", "pass alpha=...: they bound the optimum from below"
        )
    alpha, beta = multipliers(data, point["alpha"], point["beta"])
    w, b, g = _take_point(data, point, alpha, beta)
    return certify(data, w, b, g, alpha, beta)


def multipliers(data: Data, alpha: Any, beta: Any) -> tuple[Array, Array]:
    """Checked multipliers of the examples."""
    if beta is not None and not data.nonneg:
        raise InvalidParameterError("beta", beta, "none without nonneg_slack", "drop beta")
    return data.multipliers("alpha", alpha), data.multipliers("beta", beta)


def _take_point(
    data: Data, point: dict[str, Any], alpha: Array, beta: Array
) -> tuple[Array, Any, Correction]:
    """The model as given; what is missing is that of the multipliers."""
    repaired = data.repair_dual(alpha, beta)[:2]
    w = data.x.given("w", point["w"], "coef", point["coef"])
    v = data.z.given("v", point["v"], "correction_coef", point["correction_coef"])
    rho, b, eta = point["rho"], point["b"], point["eta"]
    if (v is None) != (rho is None):
        raise InvalidParameterError("rho", rho, "v (or correction_coef) with rho", "pass both")
    if eta is not None and (data.delta == 0 or v is None):
        raise InvalidParameterError("eta", eta, "v, rho and free_slack > 0 with it", "drop eta")
    g, _ = data.correction(repaired[0] + repaired[1])
    if v is not None:
        h = g.h * 0
        if eta is not None:
            h = data.multipliers("eta", eta) / np.sqrt(Real(data.delta))
        g = Correction(v, scalar("rho", rho), h)
    fitted = w is None
    w = data.x.pull(repaired[0] * data.y) if w is None else w
    if b is not None:
        b = scalar("b", b)
    elif data.penal:
        b = (repaired[0] * data.y).sum() if fitted else best_penalised(data, w, data.slacks(g))
    if v is None:
        b, g = data.offsets(w, g, b)
    elif b is None:
        b = data.best_bias(w, data.slacks(g))
    if data.delta > 0 and eta is None:
        g = data.own(w, b, g)
    return w, b, g


def best_penalised(data: Data, w: Array, xi: Array) -> Any:
    """The b nearest to 0 with which the margins hold, or the one whose least is largest."""
    short = 1 - data.y * data.x.values(w) - xi
    low, high = short[data.y > 0].max(), -short[data.y < 0].max()
    return min(max(Real(0), low), high) if low <= high else (low + high) / 2


def scale_free(data: Data, alpha: Array) -> float:
    """1 - (S m/q)^2 = sum alpha_i (g_i - m_i)/q (1 + S m/q), m_i the least g of i's class."""
    if not data.squared or data.nonneg or data.penal:
        raise InvalidParameterError(
            "nonneg_slack", data.nonneg, "neither nonneg_slack nor penalize_bias", "use certificate"
        )
    alpha, _, _ = data.repair_dual(alpha, 0 * alpha)
    u = data.x.pull(alpha * data.y)
    g = data.y * data.x.values(u) + data.slacks(data.correction(alpha)[0])
    q, total = alpha @ g, alpha.sum()
    least = {sign: g[data.y == sign].min() for sign in (-1, 1)}
    if total <= 0 or q <= 0 or least[1] + least[-1] <= 0:
        return np.inf
    ratio = total * (least[1] + least[-1]) / 2 / q
    lacking = alpha * (g - np.where(data.y > 0, least[1], least[-1]))
    return float(lacking.sum() / q * (1 + ratio))


def primal(squared: bool, given: dict[str, Any], **point: Any) -> float:
    """P of a model, or inf."""
    data = check_data(squared, given)
    w = data.x.given("w", point["w"], "coef", point["coef"])
    v = data.z.given("v", point["v"], "correction_coef", point["correction_coef"])
    if w is None or v is None:
        name = "w" if w is None else "v"
        raise InvalidParameterError(name, None, "a whole model", f"pass {name}=...")
    h = np.zeros(len(data.cost), Real)
    if point["eta"] is not None:
        if data.delta == 0:
            raise InvalidParameterError("eta", point["eta"], "free_slack > 0 with it", "drop eta")
        h = data.multipliers("eta", point["eta"]) / np.sqrt(Real(data.delta))
    b, g = scalar("b", point["b"]), Correction(v, scalar("rho", point["rho"]), h)
    if data.delta > 0 and point["eta"] is None:
        g = data.own(w, b, g)
    size = 1 + max(abs(data.x.values(w)).max(), abs(b), abs(data.slacks(g)).max())
    if data.short(w, b, g) > 64 * np.finfo(float).eps * size:
        return np.inf
    return float(data.objective(w, b, g))


def dual(squared: bool, given: dict[str, Any], alpha: Any, beta: Any) -> float:
    """D of multipliers, or -inf."""
    data = check_data(squared, given)
    alpha, beta = multipliers(data, alpha, beta)
    inside_a, inside_b, violation = data.repair_dual(alpha, beta)
    size = abs(alpha).sum() + abs(beta).sum() + (0 if data.squared else data.cost.sum())
    if violation > 64 * np.finfo(float).eps * size:
        return -np.inf
    return float(dual_value(data, inside_a, inside_b))
