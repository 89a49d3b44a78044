"""An operation as a CVXPY problem in the units and symbols of the papers, to read, change and solve.

`refsolve.solve` answers with numbers and solves a rescaled twin of what is built here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np

from refsolve import catalogue, notation
from refsolve._ranking import signed
from refsolve._ranking_scores import Query
from refsolve._types import Array
from refsolve.arguments import check_example, check_point, set_arguments, take
from refsolve.certificates import STEP, update_data
from refsolve.errors import InvalidParameterError
from refsolve.operations import WEIGHT
from refsolve.parameters import constant, parameter
from refsolve.proofs import families
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector

Named = dict[str, Any]


class Problem(cp.Problem):
    """A `cvxpy.Problem` that can be read: every variable, parameter and constraint has a name.

    Any solver and setting of CVXPY works on it; change the value of a parameter and solve again.

    Parameters
    ----------
    name : str
        "<object>.<operation>".
    objective : cvxpy.Minimize or cvxpy.Maximize
    constraints : mapping of str to cvxpy constraints
        By what they say, such as "x >= 0", or by the multiplier that the papers give them.
    read : callable
        Values of the variables by name, and the optimum -> the answer of the operation.
    """

    def __init__(
        self,
        name: str,
        objective: Any,
        constraints: Mapping[str, Any],
        read: Callable[[Mapping[str, Any], float], Any],
    ) -> None:
        super().__init__(objective, list(constraints.values()))
        self.name, self.named, self._read = name, dict(constraints), read

    @property
    def duals(self) -> dict[str, Any]:
        """Multipliers of the constraints by name, as CVXPY signs them; None before a solve."""
        return {name: rule.dual_value for name, rule in self.named.items()}

    @property
    def answer(self) -> Any:
        """What the operation answers, of the variables' values; None before a solve."""
        found = {v.name(): v.value for v in self.variables()}
        if any(value is None for value in found.values()):
            return None
        return self._read(found, float(self.value))

    def __str__(self) -> str:
        return notation.board(self)

    def latex(self) -> str:
        """The problem in LaTeX, for math mode."""
        return notation.latex(self)

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def problem(name: str, /, **arguments: Any) -> Problem:
    """An operation as the CVXPY problem that declares it.

    Parameters
    ----------
    name : str
        "<object>.<operation>", such as "topk_simplex_alpha.projection".
    **arguments
        Those of the operation (``refsolve show NAME``); numbers become parameters with these values,
        integers such as k are part of the problem.

    Returns
    -------
    Problem
        In the units of the arguments. A projection, prox or update has the answer as its minimiser; a value is
        that of the loss at margins which are tied to the scores, so that the gradient is a multiplier; a
        gradient and a conjugate are suprema. Where a parameter divides (gamma of a value, C of the dual of a
        squared hinge) CVXPY compiles anew for each value, and says so. The matrix Q in the dual of
        svm_plus_squared_hinge is one of the data, of C and of lam, which are no parameters of it.

    Raises
    ------
    UnknownProblemError
        No such operation.
    InvalidParameterError
        An argument is outside its declared range; or the loss is not convex.

    Examples
    --------
    >>> p = problem("simplex.projection", a=[0.6, 0.6, -1.0])
    >>> print(p)
    minimize    1/2 ||x - a||^2
    subject to  x >= 0
                <1,x> = r
    with        x in R^3, a in R^3, r = 1
    >>> print(f"{p.solve():.6f}", abs(p.answer).round(6).tolist())
    0.510000 [0.5, 0.5, 0.0]
    """
    object_name, operation = catalogue.split(name)
    module, kind = catalogue.load(object_name), catalogue.kind(object_name)
    if hasattr(module, "pieces"):
        raise InvalidParameterError(
            "name", name, "a convex problem: this loss is the least of several convex pieces",
            f"take {module.pieces}.{operation} of the entries that the value keeps",
        )  # fmt: skip
    if kind == "losses" and families.is_ranking(module):
        return _ranking(name, module, dict(arguments))
    if kind == "models":
        return _model(name, module, dict(arguments))
    return _OPERATIONS[kind, operation](name, module, dict(arguments))


def _model(name: str, module: ModuleType, params: Named) -> Problem:
    """The primal or dual that the model's file writes down."""
    write = getattr(module, f"problem_{name.rpartition('.')[2]}", None)
    if write is None:
        raise InvalidParameterError(
            "name", name, "a convex problem: this objective is not convex, and has no dual",
            "take the model that its convex steps solve, ap_svm.primal",
        )  # fmt: skip
    objective, rules = write({n: v for n, v in params.items() if n != "tol"})
    return Problem(name, objective, rules, lambda found, _: found)


def _numbers(checked: Mapping[str, Any], module: ModuleType) -> tuple[Named, Named]:
    """Integers, which are structure, and parameters with the sign that the symbol declares."""
    symbols = {s.name: s for s in module.SPEC.symbols}
    whole = {n: v for n, v in checked.items() if isinstance(v, int)}
    real = {n: v for n, v in checked.items() if n in symbols and n not in whole}
    return whole, {n: parameter(n, v, symbols[n].low) for n, v in real.items()}


def _projection(name: str, module: ModuleType, params: Named) -> Problem:
    a = check_vector("a", take(params, "a"))
    biased = "rho" in params
    rho, checked = set_arguments(module, params.pop("rho", 0.0), params, a.size)
    whole, real = _numbers(checked, module)
    labels = {"y": checked["y"]} if "y" in checked else {}
    x = cp.Variable(a.size, name="x")
    objective = cp.sum_squares(x - parameter("a", a)) / 2
    if biased:
        objective += parameter("rho", rho, 0) / 2 * cp.square(cp.sum(x))
    rules = notation.by_text(module.constraints(x, **labels, **whole, **real))
    return Problem(name, cp.Minimize(objective), rules, lambda found, _: found["x"])


def _example(name: str, params: Named) -> tuple[Loss, Any, Any, float, Array]:
    """Of a value or gradient: the loss, its ground truth, the scores, the weight, the costs."""
    object_name, _ = catalogue.split(name)
    costs, weight = params.pop("costs", None), WEIGHT.check(take(params, "sample_weight", 1.0))
    scores, y, loss = check_example(
        object_name, "scores", take(params, "scores"), take(params, "y"), params
    )
    return loss, y, scores, weight, np.asarray(loss.check_costs(costs, y), dtype=float)


def _declared(loss: Loss, z: Any) -> Any:
    """The declared value at z, real parameters by name."""
    whole, real = _numbers(loss.params, loss.module)
    return loss.module.value(z, *loss.arguments, **whole, **real)


def _conjugated(loss: Loss, x: Any) -> tuple[Any, Named]:
    """The declared conjugate at x and its domain."""
    whole, real = _numbers(loss.params, loss.module)
    conjugate, domain = loss.module.conjugate(x, *loss.arguments, **whole, **real)
    return conjugate, notation.by_text(domain)


def _value(name: str, module: ModuleType, params: Named) -> Problem:
    loss, y, scores, weight, costs = _example(name, params)
    z = cp.Variable(costs.size, name="z")
    M = constant("M", loss.family.matrix(scores.size, y).T)
    tie = z == M @ parameter("f", scores) + parameter("c", costs)
    objective = cp.Minimize(parameter("omega", weight, 0) * _declared(loss, z))
    return Problem(name, objective, {"x": tie}, lambda _, value: value)


def _gradient(name: str, module: ModuleType, params: Named) -> Problem:
    loss, y, scores, weight, costs = _example(name, params)
    z = parameter("z", np.asarray(loss.margins(scores, y, costs), dtype=float))
    x = cp.Variable(z.size, name="x")
    conjugate, domain = _conjugated(loss, x)
    return Problem(
        name, cp.Maximize(z @ x - conjugate), domain,
        lambda found, _: -weight * loss.block(found["x"], y),
    )  # fmt: skip


def _point(name: str, vector: str, params: Named) -> tuple[Loss, Array, Array]:
    """Of a conjugate or prox: the loss, the point, the costs."""
    object_name, _ = catalogue.split(name)
    point = check_vector(vector, take(params, vector))
    y, costs = params.pop("y", None), params.pop("costs", None)
    loss = check_point(object_name, point.size, y, params)
    return loss, point, np.asarray(loss.check_own_costs(costs), dtype=float)


def _conjugate(name: str, module: ModuleType, params: Named) -> Problem:
    params.pop("complement", None)  # 1 - s to more digits, which no solver sees
    loss, x, costs = _point(name, "x", params)
    u, z = cp.Variable(x.size, name="u"), cp.Variable(x.size, name="z")
    objective = parameter("x", x) @ u - _declared(loss, z)
    # CVXPY 1.9 gives SCS no problem without a constraint
    tie = {"x": z == u + parameter("c", costs)}
    return Problem(name, cp.Maximize(objective), tie, lambda _, value: value)


def _prox(name: str, module: ModuleType, params: Named) -> Problem:
    t = STEP.check(take(params, "t", 1.0))
    loss, v, costs = _point(name, "v", params)
    u, z = cp.Variable(v.size, name="u"), cp.Variable(v.size, name="z")
    paid = parameter("t", t, 0) * _declared(loss, z)
    objective = cp.sum_squares(u - parameter("v", v)) / 2 + paid
    tie = z == u + parameter("c", costs)
    return Problem(name, cp.Minimize(objective), {"t x": tie}, lambda found, _: found["u"])


def _sdca_update(name: str, module: ModuleType, params: Named) -> Problem:
    """In x = -a/(omega C) at the others: 1/2 K_ii omega C ||block(x)||^2 - <b,x> + conjugate(x)."""
    object_name, _ = catalogue.split(name)
    k_ii, box = take(params, "k_ii"), take(params, "C", 1.0)
    costs, weight = params.pop("costs", None), take(params, "sample_weight", 1.0)
    q, y, loss = check_example(object_name, "q", take(params, "q"), take(params, "y"), params)
    gram, mass, b = update_data(loss, q, y, k_ii, box, costs, weight)
    x = cp.Variable(loss.d, name="x")
    conjugate, domain = _conjugated(loss, x)
    square = cp.sum_squares(x) + (cp.square(cp.sum(x)) if loss.family.coupled else 0)
    beta = parameter("beta", float(gram * mass), 0)
    objective = beta / 2 * square - parameter("b", np.asarray(b, dtype=float)) @ x + conjugate
    return Problem(
        name, cp.Minimize(objective), domain,
        lambda found, _: float(mass) * loss.block(found["x"], y),
    )  # fmt: skip


def _ranking(name: str, module: ModuleType, params: Named) -> Problem:
    """The inference: x_jk = 1 where the k-th positive stands above the j-th negative."""
    scores, y = take(params, "scores"), take(params, "y")
    module.SPEC.check(params)
    query = Query(scores, y)
    h = np.asarray(query.gains(), dtype=float)
    x = cp.Variable((query.P, query.N), name="x")
    objective = module.objective(x, parameter("h", h.ravel(order="F")))

    def read(found: Mapping[str, Any], value: float) -> Any:
        if name.endswith(".value"):
            return value
        ranks = np.sort(1 + (found["x"] < 0.5).sum(axis=0))
        return signed(query.positive, query.ranking(ranks)).astype(float)

    return Problem(name, cp.Maximize(objective), notation.by_text(module.constraints(x)), read)


def _function(name: str, module: ModuleType, params: Named) -> Problem:
    t = module.SPEC.check(params)["t"]
    w = cp.Variable(name="w")
    objective = module.objective(w, 1.0, 1.0, parameter("t", t))
    return Problem(name, cp.Minimize(objective), {}, lambda found, _: float(found["w"]))


_OPERATIONS: dict[tuple[str, str], Callable[[str, ModuleType, Named], Problem]] = {
    ("sets", "projection"): _projection,
    ("losses", "value"): _value,
    ("losses", "gradient"): _gradient,
    ("losses", "conjugate"): _conjugate,
    ("losses", "prox"): _prox,
    ("losses", "sdca_update"): _sdca_update,
    ("functions", "value"): _function,
}
