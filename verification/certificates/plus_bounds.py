"""The sides of an SVM+ certificate on their own: P of a model, D of multipliers, parts that are missing.

Where only (w, b) or w is given, the best (b, v, rho) is a small problem of its own,

    min_{b, g} correction(g) subject to xi_i(g) >= need_i - y_i b (and 0),   need = 1 - y <w,x>,

whose multipliers bound it from below: sum need_i alpha_i - 1/2 <gamma, Q gamma>, or for the hinge
sum need_i alpha_i - lam/2 ||(v,h)(gamma)||^2. What solves it is not believed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from verification.certificates.plus_model import PlusCertificate, Problem
from verification.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]
#: Relative complementarity that the small problem is solved to, if rounding allows.
FINEST = 1e-13


class Side(NamedTuple):
    """An interval that holds the objective of a model or of multipliers, repaired."""

    low: float
    high: float


class Whole(NamedTuple):
    """A whole model, and a lower bound on P of every model with its w (and b, if that was given)."""

    w: Array
    b: float
    v: Array | None
    rho: float
    floor: float


def upper(problem: Problem, model: Whole) -> Side:
    """P of a model, or between P and the floor of those with the same given parts."""
    nothing = np.zeros(problem.n)
    proof = certificate(problem, model, nothing, nothing)
    low = proof.primal - 2 * proof.error
    return Side(low if model.floor == -np.inf else min(low, model.floor), proof.primal)


def lower(problem: Problem, alpha: Any, beta: Any = None) -> Side:
    """D of multipliers; P - D is the gap of any model, so the one of the multipliers will do."""
    a, c = problem.repaired(problem.part("alpha", alpha), problem.part("beta", beta))
    proof = certificate(problem, of_multipliers(problem, a, c), alpha, beta)
    return Side(proof.dual, proof.dual + 2 * proof.error)


def certificate(problem: Problem, model: Whole, alpha: Any, beta: Any = None) -> PlusCertificate:
    """The gap of a model and multipliers; of the repairs of the model the one that costs least."""
    found = []
    for w, b, v, rho in repairs(problem, model):
        found.append(problem.certificate(w, b, alpha, v=v, rho=rho, beta=beta))
    return min(found, key=lambda proof: proof.gap)


def repairs(problem: Problem, model: Whole) -> list[tuple[Any, Any, Any, Any]]:
    """The model itself, whose rho will be raised, and the multiple of it that is feasible."""
    w, b, v, rho, _ = model
    found: list[tuple[Any, Any, Any, Any]] = [(w, b, v, rho)]
    if problem.plain or problem.delta > 0:
        return found
    assert problem.z is not None
    g = problem.z.values(problem.z_vector(v)) + problem.real(rho)
    raised = max(problem.real(0), -g.min()) if problem.nonneg else problem.real(0)
    f = problem.x.values(problem.x.vector("w", w)) + problem.real(b)
    least = (problem.y * f + g + raised).min()
    if 0 < least < 1:
        t = 1 / least
        found.append((np.asarray(w) * t, b * t, np.asarray(v) * t, (rho + raised) * t))
    return found


# ---- models of which parts are missing


def whole(problem: Problem, w: Any, b: Any = None, v: Any = None, rho: Any = None) -> Whole:
    """A model with the best values of the parts that are None.

    Raises
    ------
    InvalidArgumentError
        Where a part is needed to judge the others: w always, and all parts beside v or rho.
    """
    if w is None:
        raise InvalidArgumentError("w=None: a primal answer needs w, the weights that predict")
    for name, value in (("b", b), ("rho", rho)):
        if value is not None and (np.size(value) != 1 or not np.isfinite(value).all()):
            raise InvalidArgumentError(f"{name}={value!r:.100}: expected one finite number")
    b = None if b is None else float(np.reshape(b, ()))
    if problem.plain:
        point = problem.x.vector("w", w)
        best = best_bias(problem, point) if b is None else b
        return Whole(w, best, None, 0.0, -np.inf)
    if v is None and rho is None:
        return completed(problem, w, b)
    if b is None or v is None or rho is None:
        missing = next(n for n, part in (("b", b), ("v", v), ("rho", rho)) if part is None)
        raise InvalidArgumentError(
            f"{missing}=None: expected w alone, (w, b), or all of (w, b, v, rho)"
        )
    return Whole(w, b, v, float(np.reshape(rho, ())), -np.inf)


def best_bias(problem: Problem, w: Array) -> Any:
    """The b that minimises the loss of the ordinary SVM for w: where its slope turns positive."""
    y, cost = problem.y, problem.cost
    ends = np.sort(y - problem.x.values(w))  # where a margin is 1

    def slope(b: Any, beyond: float) -> Any:
        m = 1 - y * (problem.x.values(w) + b)
        if problem.squared:
            return -(cost * y * np.maximum(0, m)).sum()
        on = np.where(m == 0, y * beyond < 0, m > 0)
        return -(cost * y * on).sum()

    low, high = 0, len(ends) - 1
    while low < high:  # first break whose slope to the right is not negative
        middle = (low + high) // 2
        if slope(ends[middle], 1.0) >= 0:
            high = middle
        else:
            low = middle + 1
    if not problem.squared or low == 0:
        return ends[low]
    left, right = slope(ends[low - 1], 1.0), slope(ends[low], 1.0)
    if not right > left:
        return ends[low]
    return ends[low - 1] - left / (right - left) * (ends[low] - ends[low - 1])


def completed(problem: Problem, w: Any, b: Any = None) -> Whole:
    """The best (v, rho), and b if it is None, for w; and a bound on how good they can be."""
    point = problem.x.vector("w", w)
    values = problem.x.values(point)
    need = 1 - problem.y * (values + (0 if b is None else problem.real(b)))
    alpha, beta, found, rho = _solved(problem, need, b is None)
    alpha, beta = problem.repaired(alpha, beta, balance=b is None)
    least = [_floor(problem, need, alpha, beta)]
    none = np.zeros(len(need), problem.real)
    if problem.squared or problem.nonneg:
        least.append(_floor(problem, need, none, none if problem.squared else problem.cost))
    floor = float(problem.x.square(point) / 2 - problem.x.square_slip(point) + max(least))
    floor -= abs(floor) * float(np.finfo(float).eps)
    model = _with_offsets(problem, w, values, alpha + beta, found if b is None else b, rho)
    model = model._replace(b=model.b if b is None else b, floor=floor)
    return min((model, _constant(problem, model, values, b)), key=lambda each: _high(problem, each))


def _high(problem: Problem, model: Whole) -> float:
    return upper(problem, model).high


def _constant(problem: Problem, model: Whole, f: Array, b: Any) -> Whole:
    """The same slack for everybody: nothing can be lost in v."""
    short = 1 - problem.y * f
    if b is None:
        b = (short[problem.up].max() - short[~problem.up].max()) / 2
    rho = (1 - problem.y * (f + b)).max()
    rho = max(rho, problem.real(0)) if problem.nonneg or problem.squared else rho
    assert problem.z is not None
    return model._replace(b=b, v=np.zeros(problem.z.width), rho=rho)


def of_multipliers(problem: Problem, alpha: Array, beta: Array) -> Whole:
    """The model that repaired multipliers stand for."""
    w = problem.x.pull(alpha * problem.y)
    if problem.plain:
        return Whole(w, best_bias(problem, w), None, 0.0, -np.inf)
    return _with_offsets(problem, w, problem.x.values(w), alpha + beta, None, None)


def _with_offsets(problem: Problem, w: Any, f: Array, gamma: Array, b: Any, rho: Any) -> Whole:
    """The correcting function of gamma with b and rho: with own slacks as given, else the best."""
    assert problem.z is not None
    g, _ = problem.best(gamma)
    values = problem.z.values(g.v)
    own = np.sqrt(problem.delta) * g.h
    if b is None or problem.delta == 0:
        short = 1 - problem.y * f - values - own
        b = (short[problem.up].max() - short[~problem.up].max()) / 2
    if problem.squared:
        return Whole(w, b, g.v, g.rho, -np.inf)
    if rho is None or problem.delta == 0:
        rho = (1 - problem.y * (f + b) - values - own).max()
        rho = max(rho, (-values - own).max()) if problem.nonneg else rho
    else:
        rho = rho - (problem.cost * values).sum() / problem.cost.sum()
    return Whole(w, b, g.v, rho, -np.inf)


def _solved(problem: Problem, need: Array, free: bool) -> tuple[Array, Array, Any, Any]:
    """(alpha, beta, b, rho) of about the best correcting function, rho for centred values."""
    from fast.svm_plus.interior_point_qp import Rows, minimise

    assert problem.z is not None
    n, cost, lam = len(need), problem.cost.astype(float), float(problem.lam)
    gram = problem.z.gram if problem.z.rows is None else problem.z.dense() @ problem.z.dense().T
    kernel = np.asarray(gram, dtype=float)
    own, k, c, columns = np.zeros(n), None, [], []
    if free:
        columns, c = [problem.y.astype(float)], [0.0]
    if problem.squared:
        root = np.sqrt(cost)
        kernel = kernel + 1 + float(problem.delta) * np.eye(n)
        values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
        values = np.maximum(values, 0)
        F = vectors * np.sqrt(values / (lam + values)) / root[:, None]
    else:
        share = cost / cost.sum()
        row = kernel @ share
        values, vectors = np.linalg.eigh(kernel - row - row[:, None] + share @ row)
        F = vectors * np.sqrt(np.maximum(values, 0) / lam)
        columns, c = [*columns, np.ones(n)], [*c, float(cost.sum())]
        if problem.delta > 0:
            k = np.full(n, lam / float(problem.delta))
            own = cost / k
    G = np.column_stack(columns) if columns else np.zeros((n, 0))
    h = need.astype(float) + own
    if problem.nonneg:
        G = np.vstack([G, G * ([0.0] * free + [1.0] * (G.shape[1] - free))])
        F, h = np.vstack([F, F]), np.append(h, own)
    if not c:
        # the solver wants a free variable: one that only a row of its own bounds
        c, size = [float(cost.mean())], len(h)
        G = np.append(np.zeros((size, 1)), [[1.0]], axis=0)
        F, h = np.vstack([F, 0 * F[:1]]), np.append(h, 0.0)
    found = minimise(Rows(F, G, h, np.array(c), k, paired=problem.nonneg and k is not None), FINEST)
    mu = np.maximum(found.mu, 0).astype(problem.real)
    mu = np.where(np.isfinite(mu), mu, 0)
    beta = mu[n : 2 * n] if problem.nonneg else np.zeros(n, problem.real)
    b = found.v[0] if free else None
    return mu[:n], beta, b, None if problem.squared else found.v[-1]


def _floor(problem: Problem, need: Array, alpha: Array, beta: Array) -> Any:
    """Sum need_i alpha_i - 1/2 <gamma, Q gamma>, or its like for the hinge, less rounding."""
    assert problem.z is not None
    gamma = alpha + beta
    g, r = problem.best(gamma)
    linear = need * alpha
    size = problem.z.square(g.v) + (g.h * g.h).sum()
    terms = [problem.lam * size, (abs(linear)).sum()]
    if problem.squared:
        size += g.rho**2
        missed = (problem.z.square(r.v) + r.rho**2 + (r.h**2).sum()) / problem.lam
        spent = 2 * gamma * g.xi - problem.cost * g.xi * g.xi
        value = linear.sum() - (spent.sum() - problem.lam * size + missed) / 2
        terms += [abs(gamma * g.xi).sum() * 2, (problem.cost * g.xi**2).sum(), missed]
    else:
        value = linear.sum() - problem.lam / 2 * size
    width = problem.n + problem.z.width + problem.x.width + 8
    return value - 8 * width * problem.eps * sum(terms)
