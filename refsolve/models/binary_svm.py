"""Binary SVM in structural form: one slack, and a constraint for every labelling of the examples.

A labelling z in {-1,1}^n is wrong on A = {i: z_i != y_i}. With Psi(X, z) = (1/2n) sum_i z_i x_i
and the 0-1 loss |A|/n its constraint is xi >= (1/n) sum_{i in A} (1 - y_i <x_i,w>): the most
violated one is wrong where the hinge is positive, and xi is the mean hinge. In the dual, weights
on labellings enter by alpha_i = (1/n) sum of those that are wrong on i, any point of [0, C/n]^n.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel, initial_guess
from refsolve._lazy import cp
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_cuts import CutCertificate, Master, check_weights, outside
from refsolve.models._ap_rankings import check_classes
from refsolve.models._data import check_examples
from refsolve.models._symbols import BIAS, BOX, CUTS, RELEVANT, ROWS, take
from refsolve.models._written import Written, half_square, linear
from refsolve.oracle import ParametrizedProblem
from refsolve.parameters import constant, parameter
from refsolve.proofs import svm_plus
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import Rows, Space
from refsolve.spec import LARGEST, Spec, Symbol, check_matrix, check_vector

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
    arguments=(ROWS, RELEVANT, BOX, BIAS),
    options=(CUTS,),
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


class Data(initial_guess.Problem):
    """The SVM with costs C/n."""

    def __init__(self, X: Any, signs: Array, C: float, bias: str) -> None:
        self.C, self.top = C, Real(C) / len(signs)
        super().__init__(Space(X), signs, np.full(len(signs), self.top), bias=bias)

    def point(self, w: ArrayLike, b: float | None) -> tuple[Array, float | None]:
        """(w, b); None to be chosen, where b is free."""
        w = candidate("w", w, self.x.width)
        if b is not None:
            b = float(Symbol("b", "bias", low=-LARGEST, high=LARGEST).check(b))
        if b and self.bias == "none":
            raise InvalidParameterError("b", b, "no bias", "pass bias=True or bias='free'")
        if b is None and self.bias == "penalised":
            raise InvalidParameterError("b", b, "the weight of the constant", "pass b=...")
        return w, b

    def best_bias(self, w: Array, xi: Array | None = None) -> Offset:
        """A minimiser of the hinges in b, 0 where it is not free."""
        return super().best_bias(w, xi) if self.bias == "free" else Real(0)


def check_data(X: Rows, y: ArrayLike, C: float, bias: bool | str = False) -> Data:
    """Validated arguments of a binary SVM."""
    rows = check_examples(X)
    if not isinstance(bias, bool | np.bool_ | str) or bias not in (True, False, "free"):
        raise InvalidParameterError("bias", bias, "True, False or 'free'", "choose")
    signs = np.where(check_classes(y, rows.shape[0]), Real(1), Real(-1))
    kind = "free" if isinstance(bias, str) else "penalised" if bias else "none"
    return Data(rows, signs, BOX.check(C), kind)


def from_labels(y: ArrayLike, *, labels: ArrayLike, weights: ArrayLike) -> Array:
    """alpha_i = (1/n) sum of the weights of the labellings (m, n) in {-1,1} that are wrong on i."""
    labels = check_matrix("labels", labels, (None, None))
    signs = np.where(check_classes(y, labels.shape[1]), 1, -1)
    if not (abs(labels) == 1).all():
        raise InvalidParameterError("labels", labels, "entries -1 and 1", "pass labellings")
    weights = check_vector("weights", weights, size=len(labels)).astype(Real)
    return weights @ (labels != signs) / len(signs)


def primal(
    X: Rows,
    y: ArrayLike,
    *,
    w: ArrayLike,
    C: float,
    b: float | None = 0.0,
    bias: bool | str = False,
) -> float:
    """P(w, b); see `certificate`."""
    data = check_data(X, y, C, bias)
    w, b = data.point(w, b)
    offset = Real(b or 0)
    return float(data.objective(w, offset, np.maximum(0, 1 - data.margins(w, offset))))


def dual(X: Rows, y: ArrayLike, *, alpha: ArrayLike, C: float, bias: bool | str = False) -> float:
    """D(alpha), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C, bias)
    given, many = data.part("alpha", alpha), data.n if data.bias == "free" else 1
    if outside(data.violation(given, 0 * given), many, data.C / data.n):
        return -np.inf
    return float(data.lower(*data.repaired(given, 0 * given)))


def certificate(
    X: Rows,
    y: ArrayLike,
    *,
    C: float,
    w: ArrayLike | None = None,
    b: float | None = None,
    alpha: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    weights: ArrayLike | None = None,
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
        repaired, off = check_weights(weights, len(np.asarray(labels)), data.C)
        alpha = from_labels(y, labels=labels, weights=repaired)
    given = None if alpha is None else data.part("alpha", alpha)
    return _certificate(data, point[0], point[1], given, off)


def _certificate(
    data: Data, w: Array | None, b: float | None, alpha: Array | None, off: float = 0.0
) -> HingeCertificate:
    if alpha is None:
        assert w is not None
        margins = data.margins(w, data.best_bias(w) if b is None else b)
        alpha = np.where(margins < 1, data.top, Real(0))
    else:
        off = max(off, data.violation(alpha, 0 * alpha))
    own = data.model_of(*data.repaired(alpha, 0 * alpha))
    offset = b if b is not None else own.b if w is None else data.best_bias(w)
    w = own.w if w is None else w
    proof = data.prove(svm_plus.Point(w, Real(offset)), alpha, 0 * alpha)
    return HingeCertificate.of(
        proof,
        off,
        w=w.astype(float),
        weights=proof.alpha.astype(float),
        b=float(offset),
    )


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(X: Rows, y: ArrayLike, *, C: float, bias: bool | str = False) -> fenchel.Model:
    """The model by its hinges instead of its labellings."""
    data = check_data(X, y, C, bias)
    signs = data.y.astype(float)[:, None]
    rows = signs * data.x.dense().astype(float)
    n, d = rows.shape
    own = {} if data.bias == "none" else {"b": fenchel.Block(1, float(data.bias == "penalised"))}
    maps = {"w": -rows} | ({"b": -signs} if own else {})
    hinge = fenchel.Term(fenchel.hinge(np.full(n, data.C / n)), maps, np.ones(n))
    return fenchel.Model({"w": fenchel.Block(d), **own}, {"alpha": hinge})


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    X, y, C, bias, how = take(given, SPEC.arguments, labels="auto")
    data = check_data(X, y, C, bias)
    n, d = data.n, data.x.width
    if how not in ("auto", "all", "cutting_plane") or (how == "all" and n > MOST):
        raise InvalidParameterError(
            "labels", how, f"'auto', 'cutting_plane', or 'all' for n <= {MOST}", "choose"
        )
    rows = np.hstack([data.x.dense().astype(float), np.ones((n, int(data.bias != "none")))])
    rows *= data.y.astype(float)[:, None]
    free = int(data.bias == "free")  # else the master's w ends with b
    master = Master(data.C, 1, rows.shape[1] - free, data.C, free=free)

    def add(wrong: Array) -> bool:
        """The constraint of the labelling that is wrong on these examples."""
        return master.add(0, wrong, wrong.mean(), -(wrong @ rows) / n)

    everything = how == "all" or (how == "auto" and n <= FEW)
    for wrong in itertools.product((False, True), repeat=n if everything else 0):
        add(np.array(wrong if everything else np.zeros(n, bool)))
    add(np.ones(n, bool))

    def prove(found: dict[str, Any]) -> Iterator[HingeCertificate]:
        alpha = data.C * (found["parts"][0] @ np.array(master.tags[0])) / n
        points = [(None, None)]
        if "w" in found:
            w = found["w"].astype(Real)
            offsets = (None, found["b"]) if data.bias != "penalised" else (w[-1],)
            points += [(w[:d], b) for b in offsets]
        return (_certificate(data, *point, alpha) for point in points)

    def separate(w: Array, b: float) -> bool:
        b = w[-1] if len(w) > d else b
        return add(np.asarray(data.margins(w[:d].astype(Real), b) < 1))

    return master.closed("binary_svm", operation, prove, separate)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``binary_svm.primal``: x is w (d,), dual alpha (n,), b in the certificate."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``binary_svm.dual``: x is alpha (n,), dual is w."""
    return _canonicalize(given, "dual")


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """1/2||w||^2 + C/n sum_i xi_i, and 1/2 b^2 where b is regularised."""
    data = check_data(*take(arguments, SPEC.arguments))
    _, f, objective = linear(data.x, "w", "X", "K")
    xi = cp.Variable(data.n, name="xi")
    if data.bias != "none":
        b = cp.Variable(name="b")
        f += b
        objective += cp.square(b) / 2 if data.bias == "penalised" else 0
    objective += parameter("C", data.C, 0) / data.n * cp.sum(xi)
    rules = {"alpha": cp.multiply(constant("y", data.y), f) >= 1 - xi, "beta": xi >= 0}
    return cp.Minimize(objective), rules


def problem_dual(arguments: dict[str, Any]) -> Written:
    """Sum alpha - 1/2||sum_i alpha_i y_i x_i||^2 on 0 <= alpha_i <= C/n."""
    data = check_data(*take(arguments, SPEC.arguments))
    alpha, y = cp.Variable(data.n, name="alpha"), constant("y", data.y)
    objective = cp.sum(alpha) - half_square(data.x, cp.multiply(y, alpha), "X", "K")
    objective -= cp.square(y @ alpha) / 2 if data.bias == "penalised" else 0
    rules = {"alpha >= 0": alpha >= 0, "xi": alpha <= parameter("C", data.C, 0) / data.n}
    return cp.Maximize(objective), rules | ({"b": y @ alpha == 0} if data.bias == "free" else {})
