"""SVM-2K: two SVMs on two views of the same examples, held together where they disagree.

P = 1/2||w_A||^2 + 1/2||w_B||^2 + CA sum h(y f_A) + CB sum h(y f_B) + D sum max(0, |f_A - f_B| - eps)
with h(m) = max(0, 1 - m), sums weighted by w_i. The view B is privileged: f_A alone predicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsolve import fenchel
from refsolve.certificates import Certificate
from refsolve.errors import InvalidParameterError
from refsolve.models import _svm_2k_program
from refsolve.models._ap_rankings import take
from refsolve.models._svm_space import Space, balanced, check_features, check_rows, scalar
from refsolve.oracle import Posed
from refsolve.spec import Spec, Symbol, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble

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
    symbols=(
        Symbol("CA", "weight of the hinges of the view that predicts", low=0, low_open=True),
        Symbol("CB", "weight of the hinges of the privileged view", low=0, low_open=True),
        Symbol("D", "weight of the disagreement", low=0),
        Symbol("eps", "disagreement that is free", low=0, default=0.0),
    ),
    scaling="CA, CB and D multiply sums, without 1/n; both biases are free",
    source="Farquhar et al. 2005; Xu et al. 2016, section 4 (a baseline)",
    notes=(
        "Farquhar et al. predict with (f_A + f_B)/2; at test time here the view B is not there",
        "D = 0: two SVMs that do not know of each other",
        "rows of weight zero are dropped; one class alone is refused",
    ),
    oracle_only=True,
    reason="a baseline of the experiments on privileged information, small enough for the oracle",
)


@dataclass(frozen=True)
class TwoViewCertificate(Certificate):
    """Certificate of an SVM-2K.

    Attributes
    ----------
    gap : float
        P - D at the repaired multipliers, summed from nonnegative terms.
    violation : float
        Largest violation of the dual's constraints by the multipliers as given.
    distance : float
        sqrt(2 gap), bound on ||(w_A, w_B) - (w_A*, w_B*)||.
    value, primal, dual : float
        P twice, and D.
    scale : float
        max(|P|, |D|).
    residuals : ndarray of shape (n,)
        What each example adds to the gap.
    drift : float
        1/2||w_A - X'g_A||^2 + 1/2||w_B - Z'g_B||^2.
    w, v : ndarray
        The two views' weights, or coefficients (n,) with Gram matrices.
    b, rho : float
        Their biases.
    alpha : ndarray of shape (3, n)
        The repaired alpha_A, alpha_B and beta.
    """

    primal: float
    dual: float
    residuals: Array
    drift: float
    w: Array = field(repr=False)
    b: float
    v: Array = field(repr=False)
    rho: float
    alpha: Array = field(repr=False)


@dataclass(frozen=True)
class Data:
    """One checked instance; bounds (3, n) are CA w_i, CB w_i and D w_i."""

    x: Space
    z: Space
    y: Array
    bounds: Array
    eps: float

    def repair(self, alpha: Array) -> tuple[Array, float]:
        """Feasible (alpha_A, alpha_B, beta), and by how much the given ones were not."""
        a, b, beta = alpha
        violation = max(
            0.0,
            *(float(-part.min()) for part in (a, b)),
            *(float((abs(p) - top).max()) for p, top in zip(alpha, self.bounds, strict=True)),
            float(abs((a * self.y - beta).sum())),
            float(abs((b * self.y + beta).sum())),
        )
        a, b = np.clip(a, 0, self.bounds[0]), np.clip(b, 0, self.bounds[1])
        beta = np.clip(beta, -self.bounds[2], self.bounds[2])
        found = [_towards(a, self.y, beta.sum()), _towards(b, self.y, -beta.sum())]
        if found[0] is None or found[1] is None:  # beta asks for more than there is: balance it
            signs = np.where(beta >= 0, Real(1), Real(-1))
            beta = signs * balanced(abs(beta), signs)[0]
            found = [balanced(a, self.y)[0], balanced(b, self.y)[0]]
        return np.array([*found, beta]), violation

    def pulls(self, alpha: Array) -> tuple[Array, Array]:
        """w_A and w_B of repaired multipliers."""
        a, b, beta = alpha
        return self.x.pull(a * self.y - beta), self.z.pull(b * self.y + beta)

    def lower(self, alpha: Array) -> Any:
        """The dual value of repaired multipliers."""
        w, v = self.pulls(alpha)
        linear = (alpha[0] + alpha[1] - self.eps * abs(alpha[2])).sum()
        return linear - (self.x.square(w) + self.z.square(v)) / 2

    def terms(self, w: Array, b: Any, v: Array, rho: Any) -> tuple[Array, Array]:
        """Signed arguments of the three losses (3, n): m_A, m_B and t."""
        f, g = self.x.values(w) + b, self.z.values(v) + rho
        parts = np.array([1 - self.y * f, 1 - self.y * g, f - g])
        losses = np.maximum(0, np.array([parts[0], parts[1], abs(parts[2]) - self.eps]))
        return parts, losses

    def objective(self, w: Array, b: Any, v: Array, rho: Any) -> Any:
        """P."""
        losses = self.terms(w, b, v, rho)[1]
        return (self.x.square(w) + self.z.square(v)) / 2 + (self.bounds * losses).sum()

    def expanded(self, values: Array) -> Array:
        """Values of the examples for all rows, 0 at those of weight zero."""
        full = np.zeros((*values.shape[:-1], self.x.total))
        full[..., self.x.kept] = values
        return full

    def certify(
        self, w: Array, b: Any, v: Array, rho: Any, alpha: Array, off: float = 0.0
    ) -> TwoViewCertificate:
        """Certificate of any model and any multipliers."""
        alpha, violation = self.repair(alpha)
        u, u_z = self.pulls(alpha)
        parts, losses = self.terms(w, b, v, rho)
        down = np.maximum(0, -parts[:2])
        residuals = ((self.bounds - alpha)[:2] * losses[:2] + alpha[:2] * down).sum(axis=0)
        t, beta = parts[2], alpha[2]
        # D max(0, |t| - eps) - beta t + eps |beta|, without its cancellation
        over, under = losses[2], np.maximum(0, self.eps - abs(t))
        against = np.where(beta * t < 0, 2 * abs(t), 0)
        residuals = residuals + (self.bounds[2] - abs(beta)) * over + abs(beta) * (under + against)
        drift = (self.x.square(w - u) + self.z.square(v - u_z)) / 2
        gap = float(residuals.sum() + drift)
        primal, dual = float(self.objective(w, b, v, rho)), float(self.lower(alpha))
        return TwoViewCertificate(
            gap=gap,
            violation=max(off, violation),
            distance=float(np.sqrt(2 * gap)),
            value=primal,
            scale=max(abs(primal), abs(dual)),
            primal=primal,
            dual=dual,
            residuals=self.expanded(residuals.astype(float)),
            drift=float(drift),
            w=w.astype(float),
            b=float(b),
            v=v.astype(float),
            rho=float(rho),
            alpha=self.expanded(alpha.astype(float)),
        )


def _towards(alpha: Array, y: Array, target: Any) -> Array | None:
    """Alpha with <alpha,y> = target, one class scaled down; None if that cannot be."""
    up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
    if 0 <= down + target <= up:
        return alpha * np.where(y > 0, (down + target) / up if up > 0 else 1, 1)
    if 0 <= up - target <= down:
        return alpha * np.where(y < 0, (up - target) / down if down > 0 else 1, 1)
    return None


def check_data(
    X: Any, y: Any, Z: Any, CA: Any, CB: Any, D: Any, eps: Any = 0.0,
    K: Any = None, Kz: Any = None, sample_weight: Any = None,
) -> Data:  # fmt: skip
    """Validated arguments of an SVM-2K."""
    rows, gram, n = check_features("X", X, "K", K)
    z_rows, z_gram, count = check_features("Z", Z, "Kz", Kz)
    if count != n:
        name = "Z" if z_gram is None else "Kz"
        raise InvalidParameterError(
            name, f"{count} rows", f"{n} rows, one per example", "pass both views of the same rows"
        )
    labels, weight, kept = check_rows(y, n, sample_weight)
    costs = SPEC.check({"CA": CA, "CB": CB, "D": D, "eps": eps})
    bounds = np.array([costs[name] * weight for name in ("CA", "CB", "D")])
    x, z = Space(rows, gram, kept), Space(z_rows, z_gram, kept)
    return Data(x, z, labels[kept], bounds, costs["eps"])


def _multipliers(data: Data, alpha: Any) -> Array:
    parts = np.asarray(alpha)
    if parts.shape != (3, data.x.total):
        raise InvalidParameterError(
            "alpha", alpha, f"alpha_A, alpha_B and beta, (3, {data.x.total})", "stack the three"
        )
    flat = check_vector("alpha", parts.ravel()).astype(Real)
    return flat.reshape(parts.shape)[:, data.x.kept]


def _model(
    data: Data, w: Any, b: Any, v: Any, rho: Any, coef: Any, correction_coef: Any
) -> tuple[Any, Any, Any, Any]:
    point = (
        data.x.given("w", w, "coef", coef),
        data.z.given("v", v, "correction_coef", correction_coef),
    )
    if any(value is None for value in (*point, b, rho)):
        raise InvalidParameterError(
            "w", w, "w (or coef), b, v (or correction_coef) and rho", "pass all"
        )
    return point[0], scalar("b", b), point[1], scalar("rho", rho)


def declaration(X: Any = None, y: Any = None, Z: Any = None, **given: Any) -> fenchel.Model:
    """The model as norms and losses, from which its programs follow."""
    return _svm_2k_program.declared(check_data(X, y, Z, **given))


def primal(
    X: Any = None, y: Any = None, Z: Any = None, *, w: Any = None, b: Any, v: Any = None, rho: Any,
    coef: Any = None, correction_coef: Any = None, **given: Any,
) -> float:  # fmt: skip
    """P of a model; see `certificate`."""
    data = check_data(X, y, Z, **given)
    return float(data.objective(*_model(data, w, b, v, rho, coef, correction_coef)))


def dual(X: Any = None, y: Any = None, Z: Any = None, *, alpha: Any, **given: Any) -> float:
    """D of (alpha_A, alpha_B, beta), -inf outside its domain up to rounding; see `certificate`."""
    data = check_data(X, y, Z, **given)
    alpha = _multipliers(data, alpha)
    inside, violation = data.repair(alpha)
    if violation > 64 * np.finfo(float).eps * abs(alpha).sum():
        return -np.inf
    return float(data.lower(inside))


def certificate(
    X: Any = None,
    y: Any = None,
    Z: Any = None,
    *,
    alpha: Any,
    w: Any = None,
    b: Any = None,
    v: Any = None,
    rho: Any = None,
    coef: Any = None,
    correction_coef: Any = None,
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
        ``correction_coef`` (n,) instead of w or v.
    **given
        ``CA``, ``CB``, ``D``, ``eps``, ``sample_weight`` (n,), ``K``, ``Kz``.

    Raises
    ------
    InvalidParameterError
        Naming the argument; `InvalidGramError` for a Gram matrix that is none.
    """
    data = check_data(X, y, Z, **given)
    point = _model(data, w, b, v, rho, coef, correction_coef)
    return data.certify(*point, _multipliers(data, alpha))


def pose_primal(given: dict[str, Any]) -> Posed:
    """Instance of ``svm_2k.primal``: x is w (d,), or coef (n,) with K; dual is (3, n)."""
    return _svm_2k_program.pose(_take(given), "primal")


def pose_dual(given: dict[str, Any]) -> Posed:
    """Instance of ``svm_2k.dual``: x is (alpha_A, alpha_B, beta), (3, n); dual is w or coef."""
    return _svm_2k_program.pose(_take(given), "dual")


def _take(given: dict[str, Any]) -> Data:
    optional = {"eps": 0.0, "X": None, "Z": None, "K": None, "Kz": None, "sample_weight": None}
    y, CA, CB, D, eps, X, Z, K, Kz, weight = take(given, ("y", "CA", "CB", "D"), optional)
    return check_data(X, y, Z, CA, CB, D, eps, K, Kz, weight)
