"""CVXPY programs of the SVM+ models, primal and dual, with both losses and all variants.

With U = C sum w_i (+ lam) the value of w = 0, rho = 1 is at most U. The primal is divided by U, rows
by their largest norm; the dual by U/size, size bounding the quadratic terms.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve._lazy import cp
from refsolve.canonicalize import Answer, ParametrizedProblem, best_answer
from refsolve.errors import InfeasibleError
from refsolve.fenchel import Block, Map, Term
from refsolve.models._svm_plus import Data, PlusCertificate, check_data, scaled
from refsolve.models._svm_plus_proof import Formulas, certify
from refsolve.models._svm_space import reach, separated
from refsolve.models._written import Written, half_square, linear, upper_bounds, weighted
from refsolve.oracle import SOLVERS
from refsolve.parameters import constant, parameter
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.space import Rows
from refsolve.proofs.svm_plus import Point

#: Farkas multipliers of sum 1 that pull to less than this, beside the largest row, are a proof.
TOUCHING = 1e-9


def _unit(data: Data) -> float:
    """A value of P that is easily reached: all slacks 1, or w that separates without slacks."""
    lam = float(data.lam)
    unit = float(data.cost.sum()) + (lam if data.squared else 0.0)
    unit += float((lam / data.delta).sum()) if data.signed and data.soft else 0.0
    return unit if data.penal else min(unit, separated(data.x.factor(), data.y.astype(float)))


def _proofs(
    data: Data, alpha: Array, beta: Array, points: list[Point]
) -> Iterator[PlusCertificate]:
    """Certificates of the multipliers with their own model, and with each of the points."""
    alpha, beta = data.repaired(alpha.astype(Real), beta.astype(Real))
    if data.squared:
        t = scaled(data, alpha, beta)
        alpha, beta = t * alpha, t * beta
    for point in (data.model_of(alpha, beta), *points):
        yield certify(data, point, alpha, beta)


@dataclass(frozen=True)
class Offered(Formulas):
    """All that the module of an SVM+ offers: its formulas and its programs."""

    def check_data(self, **given: Any) -> Data:
        """The data of checked arguments; see `certificate`."""
        return check_data(self.squared, given)

    def declaration(
        self, X: Rows = None, y: ArrayLike | None = None, Z: Rows = None, **given: Any
    ) -> fenchel.Model:
        """The model as norms and losses, from which its programs follow.

        With the squared hinge, "paid" absorbed in "tie" leaves the published dual.
        """
        return declared(check_data(self.squared, {"X": X, "y": y, "Z": Z, **given}))

    def canonicalize_primal(self, given: dict[str, Any]) -> ParametrizedProblem:
        """Instance of the primal: x is w (d,), or coef (n,) with K; dual alpha.

        The certificate holds the whole model, beta and whether it collapsed.
        """
        return _canonicalize(check_data(self.squared, given), "primal")

    def canonicalize_dual(self, given: dict[str, Any]) -> ParametrizedProblem:
        """Instance of the dual: x is alpha (n,), dual is w or coef."""
        return _canonicalize(check_data(self.squared, given), "dual")

    def problem_primal(self, arguments: dict[str, Any]) -> Written:
        """The SVM whose slacks are xi = <v,z> + rho, and own slacks eta where they are free."""
        return problem_primal(self.squared, arguments)

    def problem_dual(self, arguments: dict[str, Any]) -> Written:
        """In alpha and, with xi >= 0, beta; Q of the squared hinge is a matrix of the data."""
        return problem_dual(self.squared, arguments)


def _canonicalize(data: Data, operation: str) -> ParametrizedProblem:
    """Instance of an SVM+; `InfeasibleError` if signed correcting functions leave no point."""
    if data.signed and not data.soft:
        _check_feasible(data)
    model, U = declared(data), _unit(data)
    reduced = model.absorbed("paid", "tie") if data.squared else model
    size = max(U * sum(reduced.reach(term) ** 2 for term in reduced.terms), 1.0)

    def finish(found: dict[str, Array]) -> Answer:
        points = []
        if "w" in found:
            w, v = data.x.from_factor(found["w"]), data.z.from_factor(found["v"])
            points.append(Point(w, Real(found["b"][0]), v, Real(found["rho"][0])))
        alpha = found["alpha"]
        proofs = _proofs(data, alpha, found.get("beta", 0 * alpha), points)
        return best_answer(operation, proofs, "alpha")

    primal = fenchel.primal(model, U, {"w": 1 / reach(data.x.factor())})
    return fenchel.canonicalized(operation, primal, fenchel.dual(reduced, U / size), finish)


def declared(data: Data) -> fenchel.Model:
    """Slacks xi as a free block that is tied to the correcting function, and what they cost."""
    G, Z = data.x.factor(), data.z.factor()
    y, s = data.y.astype(float)[:, None], data.s.astype(float)[:, None]
    cost, n, lam = data.cost.astype(float), len(data.cost), float(data.lam)
    blocks = {
        "w": Block(G.shape[1]),
        "b": Block(1, float(data.penal)),
        "v": Block(Z.shape[1], lam),
        "rho": Block(1, lam if data.squared else 0.0),
        "xi": Block(n, 0.0, None if data.squared else cost),
    }
    slack: dict[str, Map] = {"xi": 1.0, "v": -s * Z, "rho": -s}
    if data.soft:
        blocks["h"], slack["h"] = Block(n, lam), -np.diag(np.sqrt(data.delta.astype(float)))
    margins = Term(fenchel.nonpositive(), {"w": -y * G, "b": -y, "xi": -1.0}, np.ones(n))
    terms = {"alpha": margins, "tie": Term(fenchel.zero(), slack)}
    if data.squared:
        terms["paid"] = Term(fenchel.square(cost), {"xi": 1.0})
    if data.nonneg:
        terms["beta"] = Term(fenchel.nonpositive(), {"xi": -1.0})
    return fenchel.Model(blocks, terms)


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
            "drop label_signed, or pass free_slack > 0", np.array([data.x.expanded(a), data.x.expanded(c)]),
        )  # fmt: skip


def problem_primal(squared: bool, arguments: dict[str, Any]) -> Written:
    """The SVM whose slacks are xi = <v,z> + rho, and own slacks eta where they are free."""
    data, C, lam, weight = _with_costs(squared, arguments)
    _, f, norm_w = linear(data.x, "w", "X", "K")
    _, g, norm_v = linear(data.z, "v", "Z", "Kz")
    n, rho, b = len(weight), cp.Variable(name="rho"), cp.Variable(name="b")
    xi, y = cp.Variable(n, name="xi"), constant("y", data.y)
    objective, slack = norm_w + lam * norm_v, g + rho
    if data.signed:
        slack = cp.multiply(y, slack)
    if data.penal:
        objective += cp.square(b) / 2
    if data.soft:
        eta, delta = cp.Variable(n, name="eta"), parameter("delta", arguments["free_slack"], 0)
        slack += eta
        objective += lam / (2 * delta) * weighted(weight, cp.square(eta))
    if squared:
        objective += lam / 2 * cp.square(rho) + C / 2 * weighted(weight, cp.square(xi))
    else:
        objective += C * weighted(weight, xi)
    rules = {
        "alpha": cp.multiply(y, f + b) >= 1 - xi,
        "xi": xi == slack,
    }
    return cp.Minimize(objective), rules | ({"beta": xi >= 0} if data.nonneg else {})


def problem_dual(squared: bool, arguments: dict[str, Any]) -> Written:
    """In alpha and, with xi >= 0, beta; Q of the squared hinge is a matrix of the data."""
    data, C, lam, weight = _with_costs(squared, arguments)
    n, y = len(weight), constant("y", data.y)
    alpha = cp.Variable(n, name="alpha")
    rules = {} if data.penal else {"b": y @ alpha == 0}
    rules["alpha >= 0"] = alpha >= 0
    gamma = alpha
    if data.nonneg:
        beta = cp.Variable(n, name="beta")
        gamma, rules["beta >= 0"] = alpha + beta, beta >= 0
    objective = cp.sum(alpha) - half_square(data.x, cp.multiply(y, alpha), "X", "K")
    if data.penal:
        objective -= cp.square(y @ alpha) / 2
    own = np.asarray(data.delta, dtype=float)
    if squared:
        signs = np.asarray(data.s, dtype=float)
        Kt = np.outer(signs, signs) * (data.z.kernel() + 1) + np.diag(own)
        cost = np.asarray(data.cost, dtype=float)
        Q = np.linalg.solve(float(data.lam) * np.eye(n) + Kt * cost, Kt)
        objective -= cp.quad_form(gamma, cp.psd_wrap(constant("Q", (Q + Q.T) / 2))) / 2
        return cp.Maximize(objective), rules
    e = gamma - upper_bounds(C, weight)
    pulled = cp.multiply(y, e) if data.signed else e
    objective -= half_square(data.z, pulled, "Z", "Kz") / lam
    if data.soft:
        objective -= constant("delta", own) @ cp.square(e) / (2 * lam)
    return cp.Maximize(objective), rules | {"rho": cp.sum(pulled) == 0}


def _with_costs(squared: bool, arguments: dict[str, Any]) -> tuple[Data, Any, Any, Array]:
    """The data, C and lam as parameters, and the weights of the examples."""
    data = check_data(squared, arguments)
    weight = np.asarray(data.cost, dtype=float) / float(arguments["C"])
    return data, parameter("C", arguments["C"], 0), parameter("lambda", arguments["lam"], 0), weight
