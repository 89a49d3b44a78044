"""Binary SVM in structural form: one slack, and a constraint for every labelling of the examples.

A labelling z in {-1,1}^n is wrong on A = {i: z_i != y_i}. With Psi(X, z) = (1/2n) sum_i z_i x_i
and the 0-1 loss |A|/n its constraint is xi >= (1/n) sum_{i in A} (1 - y_i <x_i,w>): the most
violated one is wrong where the hinge is positive, and xi is the mean hinge. In the dual, weights
on labellings enter by alpha_i = (1/n) sum of those that are wrong on i, any point of [0, C/n]^n.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import BOX, CutCertificate, Master, check_weights, outside
from refsolve.models._ap_rankings import check_classes, take
from refsolve.models._data import _check_sparse, _product
from refsolve.models._svm_space import Rows
from refsolve.oracle import Posed
from refsolve.spec import LARGEST, Spec, Symbol, check_matrix, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble

SPEC = Spec(
    title="Binary SVM in structural form",
    kind="models",
    formulas={
        "primal": (
            "min 1/2||w||^2 + C xi,  <w,Psi(X,y) - Psi(X,z)> >= |A_z|/n - xi for z in {-1,1}^n,\n"
            "P(w) = 1/2||w||^2 + (C/n) sum_i max(0, 1 - y_i (<x_i,w> + b))"
        ),
        "dual": (
            "D(alpha) = sum_i alpha_i - 1/2||sum_i alpha_i y_i x_i||^2,  0 <= alpha_i <= C/n,\n"
            "and sum_i alpha_i y_i = 0 with a free b"
        ),
        "maps": "w = sum_i alpha_i y_i x_i, alpha_i = (1/n) sum of lambda_z over z_i != y_i",
        "gap": (
            "sum_i (C/n max(0, m_i) - alpha_i m_i) + 1/2||w - sum_i alpha_i y_i x_i||^2\n"
            "= P(w) - D(alpha), m_i = 1 - y_i (<x_i,w> + b); every term >= 0"
        ),
    },
    symbols=(BOX,),
    scaling="C multiplies the mean hinge; the usual C of an SVM is C/n",
    source="Mohapatra et al. 2014, sections 3.3 and 4.1 (the baseline); 1-slack form: Joachims 2006",
    notes=(
        "bias=True: b is the weight of a constant feature 1, and regularised with w, as in fast",
        "bias='free': b is not regularised, and the dual has sum_i alpha_i y_i = 0",
        "labels='all' has every labelling as a constraint (n <= 10), 'cutting_plane' the violated ones",
        "one class alone is allowed",
    ),
)
#: Examples up to which all labellings are constraints, when asked to and by default.
MOST, FEW = 10, 6


@dataclass(frozen=True)
class HingeCertificate(CutCertificate):
    """A `CutCertificate` with the weights and the residuals of the examples, (n,).

    Attributes
    ----------
    b : float
        Bias that P was taken at.
    """

    b: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True)
class Data:
    """Checked arguments; X has a last column of ones if b is regularised."""

    X: Any
    signs: Array
    C: float
    bias: bool | str

    @property
    def free(self) -> bool:
        """Whether b is not regularised."""
        return self.bias == "free"

    def point(self, w: Any, b: Any) -> tuple[Array, Any]:
        """(w, b) as the coordinates in X and the b beside them, None to be chosen."""
        constant = self.bias is True
        w = check_vector("w", w, size=self.X.shape[1] - constant).astype(Real)
        if b is not None:
            b = float(Symbol("b", "bias", low=-LARGEST, high=LARGEST).check(b))
        if not self.bias and b:
            raise InvalidParameterError("b", b, "no bias", "pass bias=True or bias='free'")
        if not constant:
            return w, b
        if b is None:
            raise InvalidParameterError("b", b, "the weight of the constant", "pass b=...")
        return np.append(w, Real(b)), None

    def margins(self, w: Array, b: Any) -> Array:
        """1 - y_i (<x_i,w> + b)."""
        return 1 - self.signs * (_product(self.X, w[:, None])[:, 0] + b)

    def pull(self, alpha: Array) -> Array:
        """The vector sum alpha_i y_i x_i."""
        return _product(self.X.T, (alpha * self.signs)[:, None])[:, 0]

    def best_bias(self, w: Array) -> Any:
        """A minimiser of the hinges in b: there the slope turns from negative."""
        if not self.free:
            return Real(0)
        breaks = np.sort(self.signs - _product(self.X, w[:, None])[:, 0])
        # right of the k-th break the slope is k - #positives, whichever classes the breaks have
        return breaks[max(int((self.signs > 0).sum()) - 1, 0)]

    def repair(self, alpha: Array) -> tuple[Array, float]:
        """A feasible alpha, and how far the given one was from the constraints."""
        top = Real(self.C) / len(self.signs)
        violation = max(float(-alpha.min()), float((alpha - top).max()), 0.0)
        alpha = np.clip(alpha, 0, top)
        if self.free:
            up, down = alpha[self.signs > 0].sum(), alpha[self.signs < 0].sum()
            violation = max(violation, float(abs(up - down)))
            side = np.where(self.signs > 0, up, down)
            alpha = alpha * np.where(side > 0, min(up, down) / np.where(side > 0, side, 1), 0)
        return alpha, violation


def check_data(X: Any, y: Any, C: Any, bias: Any = False) -> Data:
    """Validated arguments of a binary SVM."""
    X = _check_sparse(X) if hasattr(X, "tocsr") else check_matrix("X", X, (None, None))
    if not isinstance(bias, bool | np.bool_ | str) or bias not in (True, False, "free"):
        raise InvalidParameterError("bias", bias, "True, False or 'free'", "choose")
    signs = np.where(check_classes(y, X.shape[0]), Real(1), Real(-1))
    if not isinstance(bias, str) and bias:
        ones = np.ones((X.shape[0], 1))
        if hasattr(X, "tocsr"):
            from scipy import sparse  # the formulas load without it

            X = sparse.hstack([X, sparse.csr_matrix(ones)]).tocsr()
        else:
            X = np.hstack([X, ones])
        bias = True
    return Data(X, signs, BOX.check(C), bias)


def from_labels(y: Any, *, labels: Any, weights: Any) -> Array:
    """alpha_i = (1/n) sum of the weights of the labellings (m, n) in {-1,1} that are wrong on i."""
    labels = check_matrix("labels", labels, (None, None))
    signs = np.where(check_classes(y, labels.shape[1]), 1, -1)
    if not (abs(labels) == 1).all():
        raise InvalidParameterError("labels", labels, "entries -1 and 1", "pass labellings")
    weights = check_vector("weights", weights, size=len(labels)).astype(Real)
    return weights @ (labels != signs) / len(signs)


def primal(X: Any, y: Any, *, w: Any, C: Any, b: Any = 0.0, bias: bool | str = False) -> float:
    """P(w, b); see `certificate`."""
    data = check_data(X, y, C, bias)
    w, b = data.point(w, b)
    hinges = np.maximum(0, data.margins(w, Real(b or 0)))
    return float((w * w).sum() / 2 + data.C * hinges.mean())


def dual(X: Any, y: Any, *, alpha: Any, C: Any, bias: bool | str = False) -> float:
    """D(alpha), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C, bias)
    n = len(data.signs)
    inside, violation = data.repair(check_vector("alpha", alpha, size=n).astype(Real))
    if outside(violation, n if data.free else 1, data.C / n):
        return -np.inf
    u = data.pull(inside)
    return float(inside.sum() - (u * u).sum() / 2)


def certificate(
    X: Any,
    y: Any,
    *,
    C: Any,
    w: Any = None,
    b: Any = None,
    alpha: Any = None,
    labels: Any = None,
    weights: Any = None,
    bias: bool | str = False,
) -> HingeCertificate:
    """Primal-dual gap of (w, b) and alpha, whoever computed them.

    Parameters
    ----------
    X : (n, d) array or scipy sparse matrix
    y : (n,) array
        Labels: booleans, 0/1 or -1/1.
    C : float
        Weight of the mean hinge.
    w : (d,) array, optional
        Model; by default the one that alpha stands for.
    b : float, optional
        Bias, if there is one; by default, where it is free, the best for w.
    alpha : (n,) array, optional
        Dual variables; by default C/n where the hinge is positive, 0 elsewhere. They are clipped
        to [0, C/n] and, for a free b, the heavier class is scaled down.
    labels, weights : (m, n) array of -1/1 and (m,) array, optional
        Labellings with weights of sum C, instead of alpha.
    bias : bool or "free"
        True: b is the weight of a constant feature, so that P has 1/2 b^2; "free": it has not.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, y, C, bias)
    if (labels is None) != (weights is None) or (labels is not None and alpha is not None):
        raise InvalidParameterError(
            "labels", labels, "labels with weights, or alpha", "pass one form of the dual"
        )
    if w is None and alpha is None and labels is None:
        raise InvalidParameterError("w", w, "w or a dual point", "pass the model to be certified")
    point, off = (None, None) if w is None else data.point(w, b), 0.0
    if labels is not None:
        repaired, off = check_weights(weights, len(labels), data.C)
        alpha = from_labels(y, labels=labels, weights=repaired)
    n = len(data.signs)
    given = None if alpha is None else check_vector("alpha", alpha, size=n).astype(Real)
    return _certificate(data, point[0], point[1], given, off)


def _certificate(data: Data, w: Any, b: Any, alpha: Any, off: float = 0.0) -> HingeCertificate:
    top = Real(data.C) / len(data.signs)
    if alpha is None:
        b = data.best_bias(w) if b is None else b
        repaired, _ = data.repair(np.where(data.margins(w, b) > 0, top, 0))
    else:
        repaired, violation = data.repair(alpha)
        off = max(off, violation)
    u = data.pull(repaired)
    w = u if w is None else w
    b = data.best_bias(w) if b is None else Real(b)
    m = data.margins(w, b)
    residuals = (top - repaired) * np.maximum(0, m) + repaired * np.maximum(0, -m)
    drift = ((w - u) ** 2).sum() / 2
    gap = float(residuals.sum() + drift)
    p = float((w * w).sum() / 2 + top * np.maximum(0, m).sum())
    d = float(repaired.sum() - (u * u).sum() / 2)
    w, b = (w[:-1], w[-1]) if data.bias is True else (w, b)
    return HingeCertificate(
        gap=gap,
        violation=off,
        distance=float(np.sqrt(2 * gap)),
        value=p,
        scale=max(abs(p), abs(d)),
        primal=p,
        dual=d,
        residuals=residuals.astype(float),
        drift=float(drift),
        w=w.astype(float),
        weights=repaired.astype(float),
        b=float(b),
    )


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(X: Rows, y: ArrayLike, *, C: float, bias: bool | str = False) -> fenchel.Model:
    """The model by its hinges instead of its labellings; with bias=True b is the last entry of w."""
    data = check_data(X, y, C, bias)
    signs = data.signs.astype(float)[:, None]
    rows = signs * (data.X.toarray() if hasattr(data.X, "toarray") else data.X)
    n, d = rows.shape
    free = {"b": fenchel.Block(1, 0.0)} if data.free else {}
    maps = {"w": -rows} | ({"b": -signs} if free else {})
    hinge = fenchel.Term(fenchel.hinge(np.full(n, data.C / n)), maps, np.ones(n))
    return fenchel.Model({"w": fenchel.Block(d), **free}, {"alpha": hinge})


def _pose(given: dict[str, Any], operation: str) -> Posed:
    optional = {"bias": False, "labels": "auto"}
    X, y, C, bias, how = take(given, ("X", "y", "C"), optional)
    data = check_data(X, y, C, bias)
    n = len(data.signs)
    if how not in ("auto", "all", "cutting_plane") or (how == "all" and n > MOST):
        raise InvalidParameterError(
            "labels", how, f"'auto', 'cutting_plane', or 'all' for n <= {MOST}", "choose"
        )
    rows = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    rows = np.hstack([rows, np.ones((n, int(data.free)))]) * data.signs.astype(float)[:, None]
    master = Master(data.C, 1, data.X.shape[1], data.C, free=int(data.free))

    def add(wrong: Array) -> bool:
        """The constraint of the labelling that is wrong on these examples."""
        return master.add(0, wrong, wrong.mean(), -(wrong @ rows) / n)

    everything = how == "all" or (how == "auto" and n <= FEW)
    for wrong in itertools.product((False, True), repeat=n if everything else 0):
        add(np.array(wrong if everything else np.zeros(n, bool)))
    add(np.ones(n, bool))

    def prove(found: dict[str, Any]) -> HingeCertificate:
        alpha = data.C * (found["parts"][0] @ np.array(master.tags[0])) / n
        points = [(None, None)]
        if "w" in found:
            points += [(found["w"].astype(Real), b) for b in (None, found["b"])]
        proofs = [_certificate(data, *point, alpha) for point in points]
        return min(proofs, key=lambda proof: proof.gap)

    def separate(w: Array, b: float) -> bool:
        if len(w) < data.X.shape[1]:  # an answer, whose b is the last coordinate
            w, b = np.append(w, b), 0.0
        return add(np.asarray(data.margins(w.astype(Real), b) > 0))

    return master.closed("binary_svm", operation, prove, separate)


def pose_primal(given: dict[str, Any]) -> Posed:
    """Instance of ``binary_svm.primal``: x is w (d,), dual alpha (n,), b in the certificate."""
    return _pose(given, "primal")


def pose_dual(given: dict[str, Any]) -> Posed:
    """Instance of ``binary_svm.dual``: x is alpha (n,), dual is w."""
    return _pose(given, "dual")
