"""An operation as a CVXPY problem in the units and symbols of the papers, to read, change and solve.

`refsolve.solve` answers with numbers and solves a rescaled twin of what is built here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np

from refsolve import catalogue, notation
from refsolve._ranking import signed
from refsolve._ranking_scores import Query
from refsolve._types import Array
from refsolve.arguments import check_example, check_point, given, set_arguments, take
from refsolve.certificates import STEP, update_data
from refsolve.dual_problem import UnreadableError, conic_dual, lagrange_dual
from refsolve.errors import InvalidParameterError
from refsolve.operations import WEIGHT
from refsolve.optimality import Conditions, Term, kkt
from refsolve.parameters import constant, parameter
from refsolve.proofs import families
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector

Named = dict[str, Any]
#: Options of models that say how `refsolve.solve` solves them.
HOW = ("rankings", "labels", "start")


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
    dual : callable, optional
        Makes the dual; by default it is read off the expressions.
    terms : sequence of refsolve.optimality.Term, optional
        Losses in the objective.
    """

    def __init__(
        self,
        name: str,
        objective: Any,
        constraints: Mapping[str, Any],
        read: Callable[[Mapping[str, Any], float], Any],
        dual: Callable[[], Problem] | None = None,
        terms: Sequence[Term] = (),
    ) -> None:
        super().__init__(objective, list(constraints.values()))
        self.name, self.named, self._read = name, dict(constraints), read
        self._dual, self._terms = dual, tuple(terms)
        self.built: dict[Any, Any] = {}  # values of parameters that the dual cannot follow
        self.fixed: dict[Any, Any] = {}  # those of another problem, that this one holds as numbers

    def solve(self, *args: Any, **kwargs: Any) -> Any:
        """As `cvxpy.Problem.solve`; refused if a parameter has changed that is a number in this dual.

        Where the problem is not DPP, it is compiled for the present values of its parameters.
        """
        _check_unchanged(self.fixed)
        if not kwargs.get("enforce_dpp") and not self.is_dcp(dpp=True):
            kwargs.setdefault("ignore_dpp", True)
        return super().solve(*args, **kwargs)

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
        return self._read(found, float(self.objective.value))

    def kkt(self) -> Conditions:
        """The conditions of Karush, Kuhn and Tucker at the current values; see `refsolve.kkt`."""
        return kkt(self, self._terms)

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
        squared hinge) it is compiled anew for each value. The matrix Q in the dual of
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


def _all(found: Mapping[str, Any], _: float) -> Any:
    """The variables by name."""
    return found


def dual(what: str | cp.Problem, /, **arguments: Any) -> Problem:
    """The dual of a declared operation, or of any CVXPY problem.

    Parameters
    ----------
    what : str or cvxpy.Problem
        "<object>.<operation>", as `problem` takes it, or a problem.
    **arguments
        Those of the operation; none with a problem.

    Returns
    -------
    Problem
        Of a model its dual (primal) as the literature writes it; of an operation of a loss the Fenchel dual with
        its declared value and conjugate, on the same parameters. Of a projection or of a problem of linear
        functions, squares, norms, absolute values, maxima and sums of the largest: a multiplier for each
        constraint (lambda >= 0 of an inequality, nu of an equation, or the name that it has), a vector u for each
        term that is not linear, and an equation for each variable, by its name. Of other problems the dual of the
        cone program that solvers see: P, A, b and c are its data at the present values of the parameters.

    Raises
    ------
    UnknownProblemError
        No such operation.
    InvalidParameterError
        It is not convex, and has no dual; an argument is outside its range; a parameter of a model has changed
        since its problem was made; a cone without a dual here.

    Examples
    --------
    >>> print(dual("simplex.projection", a=[0.6, 0.6, -1.0]))
    maximize    -1/2 ||u||^2 - <a,u> - r nu
    subject to  lambda >= 0
                u - lambda + nu = 0
    with        u in R^3, nu, lambda in R^3, a in R^3, r = 1
    """
    if isinstance(what, str):
        what = problem(what, **arguments)
    elif arguments or not isinstance(what, cp.Problem):
        raise InvalidParameterError(
            "what", what, "a name with its arguments, or a cvxpy.Problem alone", "pass one of them"
        )
    if isinstance(what, Problem) and what._dual is not None:
        _check_unchanged(what.built)
        return what._dual()
    return _derived(what)


@dataclass(frozen=True)
class PrimalDual:
    """A problem and its dual; prints as two columns, in a notebook as two formulas.

    Attributes
    ----------
    primal, dual : Problem
    """

    primal: cp.Problem
    dual: Problem

    @property
    def gap(self) -> float:
        """Value of the minimisation less that of the maximisation; nan before both are solved."""
        values = [np.nan if p.value is None else float(p.value) for p in (self.primal, self.dual)]
        return (values[0] - values[1]) * (
            -1 if isinstance(self.primal.objective, cp.Maximize) else 1
        )

    def __str__(self) -> str:
        return notation.beside(notation.board(self.primal), str(self.dual))

    def _repr_latex_(self) -> str:
        return f"$$\n{notation.latex(self.primal)}\n\\qquad\n{self.dual.latex()}\n$$"


def primal_dual(what: str | cp.Problem, /, **arguments: Any) -> PrimalDual:
    """A problem beside its dual, as `problem` and `dual` make them.

    Examples
    --------
    >>> both = primal_dual("simplex.projection", a=[0.6, 0.6, -1.0])
    >>> print(both)
    minimize    1/2 ||x - a||^2            maximize    -1/2 ||u||^2 - <a,u> - r nu
    subject to  x >= 0                     subject to  lambda >= 0
                <1,x> = r                              u - lambda + nu = 0
    with        x in R^3, a in R^3, r = 1  with        u in R^3, nu, lambda in R^3, a in R^3, r = 1
    >>> for each in (both.primal, both.dual):
    ...     optimum = each.solve(solver="CLARABEL")
    >>> abs(both.gap) < 1e-6
    True
    """
    made = problem(what, **arguments) if isinstance(what, str) else what
    return PrimalDual(made, dual(made, **({} if isinstance(what, str) else arguments)))


def _check_unchanged(built: Mapping[Any, Any]) -> None:
    for q, value in built.items():
        if not np.array_equal(q.value, value):
            raise InvalidParameterError(
                q.name(), q.value, "the value that the problem was made with",
                "call refsolve.dual again, of a model with the new arguments",
            )  # fmt: skip


def _derived(of: cp.Problem) -> Problem:
    named = of.named if isinstance(of, Problem) else notation.by_text(of.constraints)
    title = f"dual of {of.name}" if isinstance(of, Problem) else "dual"
    if not of.is_dcp():
        raise InvalidParameterError(
            "what", title, "a convex problem by the rules of CVXPY", "see problem.is_dcp()"
        )
    try:
        objective, rules = lagrange_dual(of, named)
    except UnreadableError:
        found = Problem(title, *conic_dual(of), _all)
        found.fixed = {q: np.copy(q.value) for q in of.parameters()}
        return found
    return Problem(title, objective, rules, _all)


def conjugate(what: str | cp.Expression, /, *at: Any, **arguments: Any) -> Problem:
    """A conjugate as the supremum that defines it, sup <x,u> - f(u).

    Parameters
    ----------
    what : str or cvxpy.Expression
        A loss, a set (the conjugate of its indicator is its support function), or a convex expression in one
        variable.
    *at : array_like
        The point, for an expression.
    **arguments
        For a loss those of its conjugate, x=..., k=...; for a set w=... and its parameters.

    Returns
    -------
    Problem
        A maximisation; unbounded where the conjugate is infinite.

    Raises
    ------
    UnknownProblemError
        No such object.
    InvalidParameterError
        An expression that is not convex or has not one variable; a loss that is not convex.

    Examples
    --------
    >>> p = conjugate("simplex", w=[1.0, 3.0, 2.0])
    >>> print(p)
    maximize    <w,x>
    subject to  x >= 0
                <1,x> = r
    with        x in R^3, w in R^3, r = 1
    >>> f"{p.solve():.6f}"
    '3.000000'
    """
    if not isinstance(what, str):
        return _supremum(what, *at)
    if at:
        raise InvalidParameterError("at", at, "nothing: the point of a name is x= or w=", "name it")
    if catalogue.kind(what) == "sets":
        return _support(what, catalogue.load(what), dict(arguments))
    return problem(f"{what}.conjugate", **arguments)


def _supremum(f: Any, *at: Any) -> Problem:
    if not (isinstance(f, cp.Expression) and f.is_scalar() and f.is_convex()):
        raise InvalidParameterError(
            "what", f, "a name or a convex scalar expression", "see f.is_convex()"
        )
    if len(f.variables()) != 1 or len(at) != 1:
        raise InvalidParameterError(
            "what",
            [v.name() for v in f.variables()],
            "one variable, and one point",
            "stack the others",
        )
    u = f.variables()[0]
    try:
        point = np.asarray(at[0], dtype=float)
    except (TypeError, ValueError):
        point = np.full((0,), np.nan)
    if point.shape != u.shape or not np.isfinite(point).all():
        raise InvalidParameterError(
            "at", at[0], f"finite numbers of shape {u.shape}", "the shape of the variable"
        )
    x = parameter("x", point)
    inner = x @ u if u.ndim == 1 else cp.sum(cp.multiply(x, u))
    return Problem("conjugate", cp.Maximize(inner - f), {}, lambda _, value: value)


def _support(name: str, module: ModuleType, params: Named) -> Problem:
    """Max <w,x> over the set."""
    w = check_vector("w", take(params, "w"))
    _, checked = set_arguments(module, 0.0, params, w.size)
    x = cp.Variable(w.size, name="x")
    objective = cp.Maximize(parameter("w", w) @ x)
    return Problem(
        f"{name}.support", objective, _inside(x, module, checked), lambda _, value: value
    )


def _inside(x: Any, module: ModuleType, checked: Mapping[str, Any]) -> Named:
    """The constraints of a set by what they say."""
    whole, real = _numbers(checked, module)
    labels = {"y": checked["y"]} if "y" in checked else {}
    return notation.by_text(module.constraints(x, **labels, **whole, **real))


def _model(name: str, module: ModuleType, params: Named) -> Problem:
    """The primal or dual that the model's file writes down."""
    write = getattr(module, f"problem_{name.rpartition('.')[2]}", None)
    if write is None:
        raise InvalidParameterError(
            "name", name, "a convex problem: this objective is not convex, and has no dual",
            "take the model that its convex steps solve, ap_svm.primal",
        )  # fmt: skip
    how = {"tol", *(s.name for s in module.SPEC.options if s.name in HOW)}
    objective, rules, *terms = write(
        {n: v for n, v in given(module, params).items() if n not in how}
    )
    object_name, operation = catalogue.split(name)
    other = f"{object_name}.{'primal' if operation == 'dual' else 'dual'}"
    found = Problem(name, objective, rules, _all, lambda: _model(other, module, params), *terms)
    found.built = {q: np.copy(q.value) for q in found.parameters()}
    return found


def _numbers(checked: Mapping[str, Any], module: ModuleType) -> tuple[Named, Named]:
    """Integers, which are structure, and parameters with the sign that the symbol declares."""
    symbols = {s.name: s for s in module.SPEC.symbols}
    whole = {n: v for n, v in checked.items() if isinstance(v, int)}
    real = {n: v for n, v in checked.items() if n in symbols and n not in whole}
    return whole, {n: parameter(n, v, symbols[n].low) for n, v in real.items()}


def _projection(name: str, module: ModuleType, params: Named) -> Problem:
    a = check_vector("a", take(params, "a"))
    rho, checked = set_arguments(module, params.pop("rho", 0.0), params, a.size)
    x = cp.Variable(a.size, name="x")
    objective = cp.sum_squares(x - parameter("a", a)) / 2
    if rho:
        objective += parameter("rho", rho, 0) / 2 * cp.square(cp.sum(x))
    rules = _inside(x, module, checked)
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
    f, c = parameter("f", scores), parameter("c", costs)
    tie, omega = z == M @ f + c, parameter("omega", weight, 0)
    declared = _declared(loss, z)
    objective, term = cp.Minimize(omega * declared), Term(loss, z, "x", omega, declared)

    def dual() -> Problem:
        x = cp.Variable(costs.size, name="x")
        conjugate, domain = _conjugated(loss, x)
        gained = omega * ((M @ f + c) @ x - conjugate)
        return Problem(f"dual of {name}", cp.Maximize(gained), domain, _all)

    return Problem(name, objective, {"x": tie}, lambda _, value: value, dual, (term,))


def _gradient(name: str, module: ModuleType, params: Named) -> Problem:
    loss, y, scores, weight, costs = _example(name, params)
    z = parameter("z", np.asarray(loss.margins(scores, y, costs), dtype=float))
    x = cp.Variable(z.size, name="x")
    conjugate, domain = _conjugated(loss, x)

    def dual() -> Problem:
        v = cp.Variable(z.size, name="v")
        declared = _declared(loss, v)
        objective, term = cp.Minimize(declared), Term(loss, v, "x", 1.0, declared)
        return Problem(f"dual of {name}", objective, {"x": v == z}, _all, None, (term,))

    return Problem(
        name, cp.Maximize(z @ x - conjugate), domain,
        lambda found, _: -weight * loss.block(found["x"], y), dual,
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
    point, c, declared = parameter("x", x), parameter("c", costs), _declared(loss, z)
    # CVXPY 1.9 gives SCS no problem without a constraint
    tie = {"x": z == u + c}
    term = Term(loss, z, "x", 1.0, declared)

    def dual() -> Problem:
        s = cp.Variable(point.size, name="s")
        conjugate, domain = _conjugated(loss, s)
        return Problem(
            f"dual of {name}", cp.Minimize(conjugate - c @ s), {**domain, "u": s == point}, _all
        )

    objective = cp.Maximize(point @ u - declared)
    return Problem(name, objective, tie, lambda _, value: value, dual, (term,))


def _prox(name: str, module: ModuleType, params: Named) -> Problem:
    t = STEP.check(take(params, "t", 1.0))
    loss, v, costs = _point(name, "v", params)
    u, z = cp.Variable(v.size, name="u"), cp.Variable(v.size, name="z")
    step, point, c = parameter("t", t, 0), parameter("v", v), parameter("c", costs)
    declared = _declared(loss, z)
    term = Term(loss, z, "t x", step, declared)

    def dual() -> Problem:
        x = cp.Variable(v.size, name="x")
        conjugate, domain = _conjugated(loss, x)
        gained = step * ((point + c) @ x - conjugate) - step**2 / 2 * cp.sum_squares(x)
        return Problem(f"dual of {name}", cp.Maximize(gained), domain, _all)

    return Problem(
        name, cp.Minimize(cp.sum_squares(u - point) / 2 + step * declared), {"t x": z == u + c},
        lambda found, _: found["u"], dual, (term,),
    )  # fmt: skip


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
    kappa, b = parameter("kappa", float(gram * mass), 0), parameter("b", np.asarray(b, dtype=float))

    def dual() -> Problem:
        x, z = cp.Variable(loss.d, name="x"), cp.Variable(loss.d, name="z")
        square = cp.sum_squares(x) + (cp.square(cp.sum(x)) if loss.family.coupled else 0)
        pulled = x + cp.sum(x) if loss.family.coupled else x
        declared = _declared(loss, z)
        term = Term(loss, z, "x", 1.0, declared)
        objective = cp.Maximize(-kappa / 2 * square - declared)
        return Problem(
            f"dual of {name}", objective, {"x": z == b - kappa * pulled}, _all, None, (term,)
        )

    return Problem(
        name, cp.Minimize(kappa / 2 * square - b @ x + conjugate), domain,
        lambda found, _: float(mass) * loss.block(found["x"], y), dual,
    )  # fmt: skip


def _ranking(name: str, module: ModuleType, params: Named) -> Problem:
    """The inference: x_jk = 1 where the k-th positive stands above the j-th negative."""
    scores, y = take(params, "scores"), take(params, "y")
    module.SPEC.check(params)
    query = Query(scores, y, module.LOSS)
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
    t = parameter("t", module.SPEC.check(params)["t"])
    w = cp.Variable(name="w")

    def dual() -> Problem:
        p = cp.Variable(name="p")
        return Problem(f"dual of {name}", cp.Maximize(module.dual_objective(p, t)), {}, _all)

    objective = cp.Minimize(module.objective(w, 1.0, 1.0, t))
    return Problem(name, objective, {}, lambda found, _: float(found["w"]), dual)


_OPERATIONS: dict[tuple[str, str], Callable[[str, ModuleType, Named], Problem]] = {
    ("sets", "projection"): _projection,
    ("losses", "value"): _value,
    ("losses", "gradient"): _gradient,
    ("losses", "conjugate"): _conjugate,
    ("losses", "prox"): _prox,
    ("losses", "sdca_update"): _sdca_update,
    ("functions", "value"): _function,
}
