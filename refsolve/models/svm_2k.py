"""SVM-2K: two SVMs on two views of the same examples, held together where they disagree.

P = 1/2||w_A||^2 + 1/2||w_B||^2 + CA sum h(y f_A) + CB sum h(y f_B) + D sum max(0, |f_A - f_B| - eps)
with h(m) = max(0, 1 - m), sums weighted by w_i. The view B is privileged: f_A alone predicts.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve._lazy import cp
from refsolve.canonicalize import Answer, ParametrizedProblem, best_answer
from refsolve.errors import InvalidParameterError
from refsolve.fenchel import Block, Term
from refsolve.models._svm_space import Space, check_rows, check_views, scalar
from refsolve.models._symbols import GRAM, GRAM_Z, OR_GRAM, PRIVILEGED, SIGNS, WEIGHTS, take
from refsolve.models._written import Written, half_square, linear, upper_bounds, weighted
from refsolve.parameters import constant, parameter
from refsolve.proofs import two_views
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import EPS, Rows
from refsolve.proofs.svm_plus import Point
from refsolve.spec import Spec, Symbol

#: The multipliers, and the terms of the declaration.
NAMES = ("alpha_A", "alpha_B", "beta")
WEIGHING = (
    Symbol("CA", "weight of the hinges of the view that predicts", low=0, low_open=True),
    Symbol("CB", "weight of the hinges of the privileged view", low=0, low_open=True),
    Symbol("D", "weight of the disagreement", low=0),
    Symbol("eps", "disagreement that is free", low=0, default=0.0),
)

SPEC = Spec(
    title="SVM-2K (two views)",
    kind="models",
    formulas={
        "primal": (
            "P = 1/2||w_A||^2 + 1/2||w_B||^2 + CA sum_i w_i max(0, m_Ai) + CB sum_i w_i max(0, m_Bi)\n"
            "+ D sum_i w_i max(0, |f_A(x_i) - f_B(z_i)| - eps),  m_Vi = 1 - y_i f_V"
        ),
        "dual": (
            "sum_i (alpha_Ai + alpha_Bi - eps |beta_i|) - 1/2 <g_A, K g_A> - 1/2 <g_B, Kz g_B>,\n"
            "g_A = alpha_A y - beta, g_B = alpha_B y + beta, sum g_A = sum g_B = 0,\n"
            "0 <= alpha_V <= CV w_i, |beta_i| <= D w_i"
        ),
        "maps": "w_A = X'g_A, w_B = Z'g_B",
        "gap": (
            "sum_i over both views (CV w_i max(0, m_Vi) - alpha_Vi m_Vi) + sum_i (D w_i max(0, |t_i| - eps)\n"
            "- beta_i t_i + eps |beta_i|) + 1/2||w_A - X'g_A||^2 + 1/2||w_B - Z'g_B||^2, t = f_A - f_B"
        ),
    },
    symbols=WEIGHING,
    arguments=(OR_GRAM, SIGNS, PRIVILEGED, *WEIGHING, WEIGHTS, GRAM, GRAM_Z),
    scaling="CA, CB and D multiply sums, without 1/n; both biases are free",
    source="Farquhar et al. 2005; Xu et al. 2016, section 4 (a baseline)",
    notes=(
        "Farquhar et al. predict with (f_A + f_B)/2; at test time here the view B is not there",
        "D = 0: two SVMs that do not know of each other",
        "rows of weight zero are dropped; one class alone is refused",
    ),
)


@dataclass(frozen=True)
class TwoViewCertificate(ModelCertificate):
    """A `ModelCertificate` with the residuals of the examples, (n,).

    Attributes
    ----------
    w, v : ndarray
        The two views' weights, or coefficients (n,) with Gram matrices.
    b, rho : float
        Their biases.
    alpha : ndarray of shape (3, n)
        The repaired alpha_A, alpha_B and beta.
    """

    w: Array = field(repr=False)
    b: float
    v: Array = field(repr=False)
    rho: float
    alpha: Array = field(repr=False)

    @property
    def named(self) -> dict[str, Any]:
        """w, b, v and rho, and the multipliers of the first view, the second, and what ties them."""
        return super().named | dict(zip(("alpha", "gamma", "beta"), self.alpha, strict=True))


class Data(two_views.Problem):
    """One checked instance; bounds (3, n) are CA w_i, CB w_i and D w_i."""

    x: Space
    z: Space

    @property
    def eps(self) -> float:
        """Disagreement that is free."""
        return float(self.free)

    def repair(self, alpha: Array) -> tuple[Array, float]:
        """Feasible (alpha_A, alpha_B, beta), and by how much the given ones were not."""
        return self.repaired(alpha), self.violation(alpha)

    def certify(self, point: Point, alpha: Array, off: float = 0.0) -> TwoViewCertificate:
        """Certificate of any model and any multipliers."""
        assert point.v is not None
        proof = self.prove(point, alpha)
        violation = max(off, self.violation(alpha))
        width = self.n + self.x.width + self.z.width + 8
        doubt = float(4 * EPS * width * self.mass(point) + 2 * proof.error)
        return TwoViewCertificate.of(
            proof,
            violation,
            self.x.expanded(proof.residuals),
            doubt=doubt,
            w=point.w.astype(float),
            b=float(point.b),
            v=point.v.astype(float),
            rho=float(point.rho),
            alpha=self.x.expanded(proof.alpha),
        )

    def mass(self, point: Point) -> Real:
        """What is summed in P and D, by absolute values."""
        assert point.v is not None
        prices, mass = (
            self.bounds[:2] + self.bounds[2],
            Real(0),
        )  # what an error of a score may cost
        views = ((self.x, point.w, point.b), (self.z, point.v, point.rho))
        for price, (space, function, offset) in zip(prices, views, strict=True):
            reach = space.reach(function) + np.abs(offset)
            mass += (price * (1 + abs(space.values(function) + offset) + reach)).sum()
        return mass

    def model_of(self, alpha: Array) -> Point:
        """The model of repaired multipliers, with offsets that are good for each view alone."""
        offsets, pulls = [], self.pulls(alpha)
        for space, w, bound in zip((self.x, self.z), pulls, self.bounds[:2], strict=True):
            ends = self.y - space.values(w)
            losses = [(bound * np.maximum(0, self.y * (ends - end))).sum() for end in ends]
            offsets.append(ends[int(np.argmin(losses))])
        return Point(pulls[0], offsets[0], pulls[1], offsets[1])


def check_data(
    X: Rows, y: ArrayLike, Z: Rows, CA: float, CB: float, D: float, eps: float = 0.0,
    K: ArrayLike | None = None, Kz: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None, blur: float = 0.0,
) -> Data:  # fmt: skip
    """Validated arguments of an SVM-2K."""
    views, n = check_views(X, K, Z, Kz, "pass both views of the same rows", blur)
    labels, weight, kept = check_rows(y, n, sample_weight)
    costs = SPEC.check({"CA": CA, "CB": CB, "D": D, "eps": eps})
    bounds = np.array([costs[name] * weight for name in ("CA", "CB", "D")])
    return Data(*views(kept), labels[kept], bounds, costs["eps"])


def _multipliers(data: Data, alpha: ArrayLike) -> Array:
    parts = np.asarray(alpha)
    if parts.shape != (3, data.x.total):
        raise InvalidParameterError(
            "alpha", alpha, f"alpha_A, alpha_B and beta, (3, {data.x.total})", "stack the three"
        )
    flat = candidate("alpha", parts.ravel(), parts.size)
    return flat.reshape(parts.shape)[:, data.x.kept]


def _model(
    data: Data,
    w: ArrayLike | None,
    b: float | None,
    v: ArrayLike | None,
    rho: float | None,
    coef: ArrayLike | None,
    correction_coef: ArrayLike | None,
    alpha: Array | None = None,
) -> Point:
    """The model as given, or as a whole that of the multipliers."""
    point = (
        data.x.given("w", w, "coef", coef),
        data.z.given("v", v, "correction_coef", correction_coef),
    )
    if alpha is not None and all(value is None for value in (*point, b, rho)):
        return data.model_of(data.repaired(alpha))
    if any(value is None for value in (*point, b, rho)):
        raise InvalidParameterError(
            "w", w, "w (or coef), b, v (or correction_coef) and rho", "pass all"
        )
    assert point[0] is not None
    return Point(point[0], scalar("b", b), point[1], scalar("rho", rho))


def declaration(X: Rows = None, y: ArrayLike = (), Z: Rows = None, **given: Any) -> fenchel.Model:
    """The model as norms and losses, from which its programs follow."""
    return _declared(check_data(X, y, Z, **given))


def _declared(data: Data) -> fenchel.Model:
    X, Z, ones = data.x.factor(), data.z.factor(), np.ones((len(data.y), 1))
    labels, (top_A, top_B, top) = data.y.astype(float)[:, None], data.bounds.astype(float)
    losses = fenchel.hinge(top_A), fenchel.hinge(top_B), fenchel.tube(top, data.eps)
    terms = (
        Term(losses[0], {"w": -labels * X, "b": -labels}, ones[:, 0]),
        Term(losses[1], {"v": -labels * Z, "rho": -labels}, ones[:, 0]),
        Term(losses[2], {"w": X, "b": ones, "v": -Z, "rho": -ones}),
    )
    blocks = {
        "w": Block(X.shape[1]),
        "b": Block(1, 0.0),
        "v": Block(Z.shape[1]),
        "rho": Block(1, 0.0),
    }
    return fenchel.Model(blocks, dict(zip(NAMES, terms, strict=True)))


def primal(
    X: Rows = None, y: ArrayLike = (), Z: Rows = None, *, w: ArrayLike | None = None, b: float,
    v: ArrayLike | None = None, rho: float, coef: ArrayLike | None = None,
    correction_coef: ArrayLike | None = None, **given: Any,
) -> float:  # fmt: skip
    """P of a model; see `certificate`."""
    data = check_data(X, y, Z, **given)
    return float(data.objective(_model(data, w, b, v, rho, coef, correction_coef)))


def dual(
    X: Rows = None, y: ArrayLike = (), Z: Rows = None, *, alpha: ArrayLike, **given: Any
) -> float:
    """D of (alpha_A, alpha_B, beta), -inf outside its domain up to rounding; see `certificate`."""
    data = check_data(X, y, Z, **given)
    alpha = _multipliers(data, alpha)
    inside, violation = data.repair(alpha)
    if violation > 64 * np.finfo(float).eps * abs(alpha).sum():
        return -np.inf
    return float(data.lower(inside))


def certificate(
    X: Rows = None,
    y: ArrayLike = (),
    Z: Rows = None,
    *,
    alpha: ArrayLike,
    w: ArrayLike | None = None,
    b: float | None = None,
    v: ArrayLike | None = None,
    rho: float | None = None,
    coef: ArrayLike | None = None,
    correction_coef: ArrayLike | None = None,
    **given: Any,
) -> TwoViewCertificate:
    """Primal-dual gap of a model of both views and of multipliers, whoever computed them.

    Parameters
    ----------
    X, Z : (n, d) and (n, s) arrays or sparse matrices
        The views A, which predicts, and B; or Gram matrices ``K`` and ``Kz`` (n, n).
    y : (n,) array
        Labels: booleans, 0/1 or -1/1.
    alpha : (3, n) array
        alpha_A, alpha_B and beta; clipped to their bounds and balanced.
    w, b, v, rho : (d,) array, float, (s,) array, float
        f_A = <w,x> + b, f_B = <v,z> + rho; with a Gram matrix coefficients ``coef`` or
        ``correction_coef`` (n,) instead of w or v. None of them: the model of the multipliers.
    **given
        ``CA``, ``CB``, ``D``, ``eps``, ``sample_weight`` (n,), ``K``, ``Kz``, and ``blur``, the relative
        error of their entries in units of eps, where they were computed.

    Raises
    ------
    InvalidParameterError
        Naming the argument; `InvalidGramError` for a Gram matrix that is none.
    """
    data = check_data(X, y, Z, **given)
    multipliers = _multipliers(data, alpha)
    point = _model(data, w, b, v, rho, coef, correction_coef, multipliers)
    return data.certify(point, multipliers)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``svm_2k.primal``: x is w (d,), or coef (n,) with K; dual is (3, n)."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``svm_2k.dual``: x is (alpha_A, alpha_B, beta), (3, n); dual is w or coef."""
    return _canonicalize(given, "dual")


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    """The primal divided by P at 0, the dual by that and its curvature."""
    X, y, Z, CA, CB, D, eps, weight, K, Kz = take(given, SPEC.arguments)
    data = check_data(X, y, Z, CA, CB, D, eps, K, Kz, weight)
    model, U = _declared(data), float(data.bounds[:2].sum())
    t, tz = (model.reach(term) or 1.0 for term in NAMES[:2])

    def finish(found: dict[str, Array]) -> Answer:
        repaired, off = data.repair(np.array([found[name] for name in NAMES]).astype(Real))
        b, rho = Real(found["b"][0]), Real(found["rho"][0])
        points = [data.pulls(repaired)]
        if "w" in found:
            points.append((data.x.from_factor(found["w"]), data.z.from_factor(found["v"])))
        proofs = (data.certify(Point(w, b, v, rho), repaired, off) for w, v in points)
        return best_answer(operation, proofs, "alpha")

    own = fenchel.primal(model, U, {"w": 1 / t, "v": 1 / tz})
    dual = fenchel.dual(model, U / max(U * (t * t + tz * tz), 1.0))
    return fenchel.canonicalized(operation, own, dual, finish)


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """Two SVMs with slacks xi_A, xi_B, and eta for where they disagree by more than eps."""
    data, (CA, CB, D), weight = _with_costs(arguments)
    _, f, norm_w = linear(data.x, "w", "X", "K")
    _, g, norm_v = linear(data.z, "v", "Z", "Kz")
    f, g, y = f + cp.Variable(name="b"), g + cp.Variable(name="rho"), constant("y", data.y)
    xi, zeta, eta = (cp.Variable(len(weight), name=n) for n in ("xi", "zeta", "eta"))
    paid = CA * weighted(weight, xi) + CB * weighted(weight, zeta) + D * weighted(weight, eta)
    eps = parameter("eps", data.eps, 0)
    rules = {
        "alpha_A": cp.multiply(y, f) >= 1 - xi,
        "alpha_B": cp.multiply(y, g) >= 1 - zeta,
        "beta_+": f - g <= eps + eta,
        "beta_-": g - f <= eps + eta,
    }
    signs = {f"{v.name()} >= 0": v >= 0 for v in (xi, zeta, eta)}
    return cp.Minimize(norm_w + norm_v + paid), rules | signs


def problem_dual(arguments: dict[str, Any]) -> Written:
    """In alpha of the first view, gamma of the second, and beta_+, beta_- of what ties them."""
    data, (CA, CB, D), weight = _with_costs(arguments)
    names = ("alpha", "gamma", "beta_+", "beta_-")
    alpha, gamma, up, down = (cp.Variable(len(weight), name=n) for n in names)
    y, beta = constant("y", data.y), up - down
    a, c = cp.multiply(y, alpha) - beta, cp.multiply(y, gamma) + beta
    objective = cp.sum(alpha) + cp.sum(gamma) - parameter("eps", data.eps, 0) * cp.sum(up + down)
    objective -= half_square(data.x, a, "X", "K") + half_square(data.z, c, "Z", "Kz")
    rules = {"b": cp.sum(a) == 0, "rho": cp.sum(c) == 0}
    rules |= {f"{v.name()} >= 0": v >= 0 for v in (alpha, gamma, up, down)}
    rules |= {"xi": alpha <= upper_bounds(CA, weight), "zeta": gamma <= upper_bounds(CB, weight)}
    return cp.Maximize(objective), rules | {"eta": up + down <= upper_bounds(D, weight)}


def _with_costs(arguments: dict[str, Any]) -> tuple[Data, list[Any], Array]:
    """The data, CA, CB and D as parameters, and the weights of the examples."""
    X, y, Z, CA, CB, D, eps, sample_weight, K, Kz = take(arguments, SPEC.arguments)
    data = check_data(X, y, Z, CA, CB, D, eps, K, Kz, sample_weight)
    weight = np.asarray(data.bounds[0], dtype=float) / float(arguments["CA"])
    return data, [parameter(n, arguments[n], 0) for n in ("CA", "CB", "D")], weight
