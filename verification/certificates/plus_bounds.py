"""The sides of an SVM+ certificate on their own: P of a model, D of multipliers, parts that are missing.

Where only (w, b) or w is given, the best (b, v, rho) is a small problem of its own,

    min_{b, g} correction(g) subject to xi_i(g) >= need_i - y_i b (and 0),   need = 1 - y <w,x>,

whose multipliers bound it from below: sum need_i alpha_i - 1/2 <gamma, Q gamma>, or for the hinge
sum need_i alpha_i - lam/2 ||(v,h)(gamma)||^2. What solves it is not believed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from refsolve.initial_guess import Problem
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.multipliers import Offset
from verification.certificates.plus_model import judged, multipliers, point, vector
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
    b: Offset
    v: Array | None = None
    rho: Offset = 0.0
    floor: float = -np.inf


def upper(problem: Problem, model: Whole) -> Side:
    """P of a model, or between P and the floor of those with the same given parts."""
    nothing = np.zeros(problem.n)
    proof = certificate(problem, model, nothing, nothing)
    low = proof.primal - 2 * proof.error
    return Side(low if model.floor == -np.inf else min(low, model.floor), proof.primal)


def lower(problem: Problem, alpha: ArrayLike | None, beta: ArrayLike | None = None) -> Side:
    """D of multipliers; P - D is the gap of any model, so the one of the multipliers will do."""
    proof = certificate(problem, of_multipliers(problem, alpha, beta), alpha, beta)
    return Side(proof.dual, proof.dual + 4 * proof.error)


def certificate(
    problem: Problem, model: Whole, alpha: ArrayLike | None, beta: ArrayLike | None = None
) -> ModelCertificate:
    """The gap of a model and multipliers; of the repairs of the model the one that costs least."""
    w, b, v, rho, _ = model
    both = multipliers(problem, alpha, beta)
    return judged(problem, problem.prove(point(problem, w, b, v, rho), *both))


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
        best = problem.best_bias(vector(problem.x, "w", w)) if b is None else b
        return Whole(w, best)
    if v is None and rho is None:
        return completed(problem, w, b)
    if b is None or v is None or rho is None:
        missing = next(n for n, part in (("b", b), ("v", v), ("rho", rho)) if part is None)
        raise InvalidArgumentError(
            f"{missing}=None: expected w alone, (w, b), or all of (w, b, v, rho)"
        )
    return Whole(w, b, v, float(np.reshape(rho, ())))


def completed(problem: Problem, w: Any, b: Any = None) -> Whole:
    """The best (v, rho), and b if it is None, for w; and a bound on how good they can be."""
    p = vector(problem.x, "w", w)
    values = problem.x.values(p)
    need = 1 - problem.y * (values + (0 if b is None else problem.real(b)))
    alpha, beta, found, rho = _solved(problem, need, b is None)
    alpha, beta = problem.repaired(alpha, beta, balance=b is None)
    least = [_floor(problem, need, alpha, beta)]
    none = np.zeros(len(need), problem.real)
    if problem.squared or problem.nonneg:
        least.append(_floor(problem, need, none, none if problem.squared else problem.cost))
    floor = float(problem.x.square(p) / 2 - problem.x.square_slip(p) + max(least))
    floor -= abs(floor) * float(np.finfo(float).eps)
    assert problem.z is not None
    g, _ = problem.best(alpha + beta)
    if not problem.soft or (found is None and b is None):
        model = Whole(*problem.with_offsets(p, g, b), floor=floor)
    else:  # own slacks make good what b and rho lack
        if not problem.squared:
            rho = rho - (problem.cost * problem.z.values(g.v)).sum() / problem.cost.sum()
        model = Whole(w, found if b is None else b, g.v, g.rho if problem.squared else rho, floor)
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


def of_multipliers(problem: Problem, alpha: ArrayLike | None, beta: ArrayLike | None) -> Whole:
    """The model that multipliers stand for once they are repaired."""
    parts = problem.repaired(*multipliers(problem, alpha, beta))
    return Whole(*problem.model_of(*parts))


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
        kernel = kernel + 1 + np.diag(problem.delta.astype(float))
        values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
        values = np.maximum(values, 0)
        F = vectors * np.sqrt(values / (lam + values)) / root[:, None]
    else:
        share = cost / cost.sum()
        row = kernel @ share
        values, vectors = np.linalg.eigh(kernel - row - row[:, None] + share @ row)
        F = vectors * np.sqrt(np.maximum(values, 0) / lam)
        columns, c = [*columns, np.ones(n)], [*c, float(cost.sum())]
        if problem.soft:
            k = lam / problem.delta.astype(float)
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
