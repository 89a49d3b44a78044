"""SVM+ with either loss: checked data, the maps between the models, repairs and the certificate.

    xi_i = s_i (<v,z_i> + rho) + sqrt(delta) h_i,   s_i = 1, or y_i for signed correcting functions
    y_i (<w,x_i> + b) >= 1 - xi_i,   and xi_i >= 0 if it is kept: multipliers alpha and beta

gamma = alpha + beta is all that the correcting part sees. The squared loss pays 1/2 <g,Mg> for
g = (v, rho, h), M = lam I + sum_i C w_i zt_i zt_i'; the hinge sum_i C w_i xi_i + lam/2 ||(v,h)||^2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from refsolve.certificates import Certificate
from refsolve.errors import InvalidParameterError
from refsolve.models._svm_space import Space, balanced, check_features, check_flag, check_rows
from refsolve.spec import Symbol, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble
BOX = Symbol("C", "weight of the loss, a sum over the examples", low=0, low_open=True)
LAM = Symbol("lam", "weight of the correcting function", low=0, low_open=True)
OWN = Symbol("free_slack", "delta, own slacks at lam/(2 delta) eta_i^2", low=0, default=0.0)
#: w = 0 is as good as w up to this fraction of P, and w as small as this beside its parts.
AS_GOOD, MEETING = 1e-6, 1e-4


class Correction(NamedTuple):
    """A point (v, rho, h) of the correcting part, eta = sqrt(delta) h."""

    v: Array
    rho: Any
    h: Array

    def less(self, other: Correction, t: Any = 1) -> Correction:
        """Self less t times the other."""
        return Correction(self.v - t * other.v, self.rho - t * other.rho, self.h - t * other.h)

    def times(self, t: Any) -> Correction:
        """Self times t."""
        return Correction(t * self.v, t * self.rho, t * self.h)


class Model(NamedTuple):
    """A model: f(x) = <w,x> + b and its slacks.

    ``w`` (d,) and ``v`` (s,) are coefficients (n,) on the examples where a Gram matrix was given.
    ``xi`` (n,) are the slacks of all rows; one of weight zero has none of its own.
    """

    w: Array
    b: float
    v: Array
    rho: float
    xi: Array


@dataclass(frozen=True)
class PlusCertificate(Certificate):
    """Certificate of an SVM+.

    Attributes
    ----------
    gap : float
        P - D at the repaired points, summed from nonnegative terms; inf if no repair is known.
    violation : float
        Largest violation of the constraints by the points as given.
    distance : float
        Bound on ||w - w*||, w as given: sqrt(2 gap) and what the repair moved w.
    value, primal, dual : float
        P of the repaired model twice, and D of the repaired multipliers.
    scale : float
        max(|P|, |D|).
    residuals : ndarray of shape (n,)
        alpha_i (y_i f(x_i) - 1 + xi_i) + beta_i xi_i.
    drift : float
        What w, b and the correcting function miss of the model of the multipliers.
    model : Model
        The feasible model that P was taken at.
    alpha, beta : ndarray of shape (n,)
        The repaired multipliers.
    collapsed : bool
        w = 0 is as good as the certificate can tell (X4): the correcting function explains all.
    """

    primal: float
    dual: float
    residuals: Array
    drift: float
    model: Model = field(repr=False)
    alpha: Array = field(repr=False)
    beta: Array = field(repr=False)
    collapsed: bool


@dataclass(frozen=True)
class Data:
    """One checked instance; arrays are longdouble, rows the examples of positive weight."""

    squared: bool
    x: Space
    z: Space
    labels: Array
    cost: Array
    C: float
    lam: float
    delta: float
    nonneg: bool
    signed: bool
    penal: bool

    @property
    def y(self) -> Array:
        """Labels of the examples."""
        return self.labels[self.x.kept]

    @property
    def s(self) -> Array:
        """Signs of the correcting function."""
        return self.y if self.signed else np.ones(len(self.cost), Real)

    # ---- the correcting part

    def slacks(self, g: Correction) -> Array:
        """Slacks xi (n,)."""
        return self.s * (self.z.values(g.v) + g.rho) + np.sqrt(self.delta) * g.h

    def pull(self, c: Array) -> Correction:
        """Sum of c_i zt_i."""
        c = c.astype(Real)
        return Correction(self.z.pull(self.s * c), (self.s * c).sum(), np.sqrt(self.delta) * c)

    def size(self, g: Correction) -> Any:
        """What lam/2 multiplies: rho only with the squared loss."""
        return self.z.square(g.v) + (g.h * g.h).sum() + (g.rho**2 if self.squared else 0)

    def augmented(self) -> Array:
        """Kt = s s' (kz + 1) + delta I, (n, n); without the 1 for the hinge."""
        kernel = self.z.kernel().astype(float) + (1 if self.squared else 0)
        s = self.s.astype(float)
        return s[:, None] * kernel * s + self.delta * np.eye(len(s))

    def correction(self, gamma: Array) -> tuple[Correction, Correction]:
        """The g of the multipliers, and r = sum gamma_i zt_i - Mg, what it misses.

        Solved in float64 and refined with residuals in longdouble: the inverse of M never meets
        a difference of nearly equal matrices, as it does in (5).
        """
        if not self.squared:
            g = self.pull(gamma - self.cost).times(1 / Real(self.lam))
            return g._replace(rho=Real(0)), g.times(0)
        cost = self.cost.astype(float)
        if self.z.gram is None and self.delta == 0:
            zt = np.column_stack([self.z.factor(), np.ones(len(cost))])
            M = self.lam * np.eye(zt.shape[1]) + (zt * cost[:, None]).T @ zt
            g, r = self.pull(gamma).times(0), self.pull(gamma)
            for _ in range(4):
                step = np.linalg.solve(M, np.append(r.v, r.rho).astype(float))
                g = Correction(g.v + step[:-1], g.rho + step[-1], g.h)
                r = self._missing(gamma, g)
            return g, r
        root = np.sqrt(cost)
        kernel = self.augmented()
        M = self.lam * np.eye(len(cost)) + root[:, None] * kernel * root
        c, rest = np.zeros(len(cost), Real), gamma
        for _ in range(4):  # (lam I + C W Kt) c = gamma
            c = c + root * np.linalg.solve(M, (rest / root).astype(float))
            rest = gamma - self.lam * c - self.cost * self.slacks(self.pull(c))
        return self.pull(c), self.pull(rest)

    def _missing(self, gamma: Array, g: Correction) -> Correction:
        return self.pull(gamma - self.cost * self.slacks(g)).less(g, self.lam)

    # ---- repairs

    def repair_dual(self, alpha: Array, beta: Array) -> tuple[Array, Array, float]:
        """Multipliers that meet the constraints, and by how much the given did not."""
        violation = max(0.0, float(-alpha.min()), float(-beta.min()))
        beta = np.maximum(0, beta) if self.nonneg else 0 * beta
        alpha = np.maximum(0, alpha)
        if not self.penal:
            alpha, off = balanced(alpha, self.y)
            violation = max(violation, off)
        if self.squared:
            return alpha, beta, violation
        off = abs((self.s * (alpha + beta - self.cost)).sum())
        violation = max(violation, float(off))
        if self.signed:
            return alpha, self._shared(alpha, beta), violation
        total, mass = self.cost.sum(), alpha.sum()
        if self.nonneg and mass <= total:
            return alpha, _spread(beta, total - mass), violation
        if self.nonneg or self.penal:
            return _spread(alpha, total), 0 * beta, violation
        for side in (self.y > 0, self.y < 0):
            alpha[side] = _spread(alpha[side], total / 2)
        return alpha, 0 * beta, violation

    def _shared(self, alpha: Array, beta: Array) -> Array:
        """The beta of signed correcting functions: sum y_i (alpha_i + beta_i - C w_i) = 0."""
        up = self.y > 0
        ahead = beta[up].sum() - beta[~up].sum() - (self.y * (self.cost - alpha)).sum()
        heavy = up if ahead > 0 else ~up
        beta, mass = beta.copy(), beta[heavy].sum()
        if mass >= abs(ahead):
            beta[heavy] = _spread(beta[heavy], mass - abs(ahead))
        else:
            beta[~heavy] = _spread(beta[~heavy], beta[~heavy].sum() + abs(ahead))
        return beta

    def best_bias(self, w: Array, xi: Array) -> Any:
        """The b whose least margin y f + xi is largest."""
        short = 1 - self.y * self.x.values(w) - xi
        return (short[self.y > 0].max() - short[self.y < 0].max()) / 2

    def offsets(self, w: Array, g: Correction, b: Any) -> tuple[Any, Correction]:
        """The b and, with the hinge, the rho that are best for w and v."""
        if self.squared:
            return (self.best_bias(w, self.slacks(g)) if b is None else b), g
        xi = self.slacks(g._replace(rho=Real(0)))
        f = self.x.values(w)
        if self.signed:  # rho in an interval, then b; neither matters where delta > 0
            low = (-xi[self.y > 0]).max() if self.nonneg else Real(0)
            high = xi[self.y < 0].min() if self.nonneg else Real(0)
            rho = low if (self.y * self.cost).sum() >= 0 else high
            g = g._replace(rho=rho)
            return (self.best_bias(w, self.slacks(g)) if b is None else b), g
        b = self.best_bias(w, xi) if b is None else b
        rho = (1 - self.y * (f + b) - xi).max()
        return b, g._replace(rho=max(rho, (-xi).max()) if self.nonneg else rho)

    def objective(self, w: Array, b: Any, g: Correction) -> Any:
        """P at a feasible point."""
        xi = self.slacks(g)
        loss = (self.cost * (xi * xi / 2 if self.squared else xi)).sum()
        bias = b * b / 2 if self.penal else 0
        return self.x.square(w) / 2 + bias + loss + self.lam / Real(2) * self.size(g)

    def short(self, w: Array, b: Any, g: Correction) -> Any:
        """Largest violation of the primal's constraints."""
        xi = self.slacks(g)
        least = max(0, (1 - self.y * (self.x.values(w) + b) - xi).max())
        return max(least, (-xi).max()) if self.nonneg else least

    def repair_primal(self, w: Array, b: Any, g: Correction) -> tuple[Any, Any, Any, float]:
        """A feasible point: own slacks, rho raised or all scaled up; None if none is known."""
        off = self.short(w, b, g)
        if self.delta > 0:
            return w, b, self.own(w, b, g), float(off)
        if off == 0:
            return w, b, g, 0.0
        found = [] if self.signed else [(w, b, g._replace(rho=g.rho + off))]
        if self.nonneg:
            g = self._snapped(g) if self.signed else self._lifted(g)
        xi = self.slacks(g)
        least = (self.y * (self.x.values(w) + b) + xi).min()
        rounding = np.finfo(float).eps * max(1, abs(xi).max()) if self.signed else 0
        if least > 0 and not (self.nonneg and xi.min() < -rounding):
            t = 1 / min(least, Real(1))
            found.append((t * w, t * b, g.times(t)))
        if not found:
            return w, b, None, float(off)
        return *min(found, key=lambda point: self.objective(*point)), float(off)

    def _lifted(self, g: Correction) -> Correction:
        """The same with rho raised until xi >= 0."""
        return g._replace(rho=g.rho + max(Real(0), -self.slacks(g).min()))

    def _snapped(self, g: Correction) -> Correction:
        """The same with the slacks that are about 0 moved onto 0: rho cannot raise signed ones."""
        rows = self.s.astype(float)[:, None] * np.column_stack(
            [self.z.factor(), np.ones(len(self.cost))]
        )
        xi = self.slacks(g)
        near = xi < 1e-6 * max(1, abs(xi).max())
        for _ in range(3 if near.any() else 0):
            step = np.linalg.lstsq(rows[near], -self.slacks(g)[near].astype(float), rcond=None)[0]
            g = Correction(g.v + self.z.from_factor(step[:-1]), g.rho + step[-1], g.h)
        return g

    def own(self, w: Array, b: Any, g: Correction) -> Correction:
        """The best own slacks for w, b, v and rho."""
        xi = self.slacks(g._replace(h=0 * g.h))
        stiff = self.lam / Real(self.delta)
        if self.squared:
            best = xi * stiff / (self.cost + stiff)
        else:
            best = xi - self.cost / stiff
        best = np.maximum(best, 1 - self.y * (self.x.values(w) + b))
        best = np.maximum(best, 0) if self.nonneg else best
        return g._replace(h=(best - xi) / np.sqrt(Real(self.delta)))

    # ---- in and out

    def expanded(self, values: Array) -> Array:
        """Values of the examples for all rows, 0 at those of weight zero."""
        full = np.zeros(self.x.total)
        full[self.x.kept] = values
        return full

    def multipliers(self, name: str, value: Any) -> Array:
        """The examples' part of n multipliers."""
        if value is None:
            return np.zeros(len(self.y), Real)
        return check_vector(name, value, size=self.x.total).astype(Real)[self.x.kept]


def _spread(part: Array, total: Any) -> Array:
    """A vector >= 0 with this sum: scaled if that is little, else moved by a constant."""
    mass = part.sum()
    if mass > 0 and abs(total - mass) <= mass / 2:
        return part * (total / mass)
    order = np.sort(part)[::-1]
    shifts = (np.cumsum(order) - total) / np.arange(1, len(part) + 1)
    k = int((order > shifts).sum())
    moved = np.maximum(0, part - shifts[max(k, 1) - 1])
    return moved * (total / moved.sum()) if moved.sum() > 0 else moved


def check_data(squared: bool, given: dict[str, Any]) -> Data:
    """Validated arguments of an SVM+; unknown names are refused."""
    rest = dict(given)
    rows, gram, n = check_features("X", rest.pop("X", None), "K", rest.pop("K", None))
    z_rows, z_gram, count = check_features("Z", rest.pop("Z", None), "Kz", rest.pop("Kz", None))
    if count != n:
        name = "Z" if z_gram is None else "Kz"
        raise InvalidParameterError(
            name, f"{count} rows", f"{n} rows, one per example", "pass privileged data of the rows"
        )
    y = rest.pop("y", None)
    if y is None:
        raise InvalidParameterError("y", "missing", "n labels -1/1", "pass y=...")
    labels, weight, kept = check_rows(y, n, rest.pop("sample_weight", None))
    for name in ("C", "lam"):
        if rest.get(name) is None:
            raise InvalidParameterError(name, "missing", "a number > 0", f"pass {name}=...")
    C, lam = BOX.check(rest.pop("C")), LAM.check(rest.pop("lam"))
    delta = OWN.check(rest.pop("free_slack", 0.0))
    nonneg = check_flag("nonneg_slack", rest.pop("nonneg_slack", not squared))
    signed = check_flag("label_signed", rest.pop("label_signed", False))
    penal = check_flag("penalize_bias", rest.pop("penalize_bias", False))
    if rest:
        name = next(iter(rest))
        raise InvalidParameterError(
            name, rest[name], "X or K, Z or Kz, y, C, lam, sample_weight, nonneg_slack, "
            "label_signed, penalize_bias, free_slack", f"drop {name}",
        )  # fmt: skip
    if signed and not squared and not nonneg:
        raise InvalidParameterError(
            "label_signed", True, "nonneg_slack=True with the hinge",
            "keep xi >= 0: C sum y_i rho w_i, with b = -rho, is unbounded or constant without it",
        )  # fmt: skip
    x, z = Space(rows, gram, kept), Space(z_rows, z_gram, kept)
    return Data(squared, x, z, labels, C * weight, C, lam, delta, nonneg, signed, penal)


def model_of(data: Data, alpha: Array, beta: Array) -> tuple[Array, Any, Correction]:
    """(w, b, g) that the repaired multipliers stand for."""
    g, _ = data.correction(alpha + beta)
    w = data.x.pull(alpha * data.y)
    b = (alpha * data.y).sum() if data.penal else None
    b, g = data.offsets(w, g, b)
    return w, b, g


def scaled(data: Data, alpha: Array, beta: Array) -> Any:
    """The t for which t (alpha, beta) has the largest dual value; squared loss only."""
    u = data.x.pull(alpha * data.y)
    g, _ = data.correction(alpha + beta)
    q = data.x.square(u) + ((alpha + beta) * data.slacks(g)).sum()
    q += (alpha * data.y).sum() ** 2 if data.penal else 0
    return alpha.sum() / q if q > 0 and alpha.sum() > 0 else Real(1)
