"""Problems that are certified through another one: complex, geometric, and with integers.

Each becomes real convex problems of new variables, which are judged; what is proven of them is said of
the original. Quasiconvex problems (DQCP) are refused: their optimum is no single convex problem.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.verdict import ProblemCertificate, Verdict
from refsolve.errors import InvalidParameterError

Judge = Callable[[Any], ProblemCertificate]
_LOGARITHM = (
    "CVXPY's logarithm of the geometric program, its variables' values rounded there: "
    "violation and moved are of logarithms"
)
_COMPLEX = "CVXPY's real and imaginary parts of complex numbers"


def reformulated(problem: Any, judge: Judge, tolerance: float) -> ProblemCertificate | None:
    """Judge a problem through another one; None if it is none of those.

    Parameters
    ----------
    problem : cvxpy.Problem
    judge : callable
        ``certify`` for a real, continuous DCP problem.
    tolerance : float
        Relative, of the bound of problems with integers.

    Raises
    ------
    InvalidParameterError
        A quasiconvex problem; values that are not positive in a geometric one.
    """
    if not problem.is_dcp() and problem.is_dgp():
        return _geometric(problem, judge)
    if not problem.is_dcp() and problem.is_dqcp():
        raise InvalidParameterError(
            "problem", "quasiconvex (DQCP)", "a convex problem by the DCP rules",
            "certify the convex problem of one level: objective <= a number",
        )  # fmt: skip
    if any(leaf.is_complex() for leaf in problem.variables() + problem.parameters()):
        return _complex(problem, judge)
    if any(v.attributes["boolean"] or v.attributes["integer"] for v in problem.variables()):
        return _integer(problem, judge, tolerance)
    return None


def _named(point: dict[Any, Array] | None, of: Callable[[dict[Any, Array]], Any]) -> Any:
    return None if point is None else of(point)


def _complex(problem: Any, judge: Judge) -> ProblemCertificate:
    """Real and imaginary parts are variables of their own."""
    from cvxpy.reductions.complex2real.complex2real import Complex2Real

    reduction = Complex2Real()
    real = reduction.apply(problem)[0]
    reduction.update_parameters(problem)
    parts = reduction.canon_methods._variables
    for variable, (re, im) in parts.items():
        if variable.value is None:
            continue
        value = np.asarray(variable.value)
        if re is not None:
            re.save_value(np.real(value))
        if im is not None:
            whole = np.imag(value)
            im.save_value(whole[np.triu_indices(len(whole), 1)] if re is not None
                          and variable.is_hermitian() else whole)  # fmt: skip

    def back(point: dict[Any, Array]) -> dict[Any, Array]:
        found = {v: point[v] for v in problem.variables() if v in point}
        for variable, (re, im) in parts.items():
            value = np.zeros(variable.shape, dtype=complex)
            if re is not None and re in point:
                value = value + point[re]
            if im is not None and im in point:
                part = point[im]
                if variable.is_hermitian():
                    whole = np.zeros(variable.shape)
                    whole[np.triu_indices(len(whole), 1)] = part
                    part = whole - whole.T
                value = value + 1j * part
            found[variable] = value
        return found

    told = judge(real)
    return replace(told, feasible_point=_named(told.feasible_point, back),
                   assumptions=(*told.assumptions, _COMPLEX), solver_said=str(problem.status))  # fmt: skip


def _exp(value: float, up: bool) -> float:
    """The exponential rounded outwards: C's is within one unit in the last place."""
    try:
        near = math.exp(value)
    except OverflowError:
        return math.inf if up else float(np.finfo(float).max)
    way = math.inf if up else 0.0
    return math.nextafter(math.nextafter(near, way), way)


def _geometric(problem: Any, judge: Judge) -> ProblemCertificate:
    """Logarithms of the variables and of the objective."""
    from cvxpy.reductions.dgp2dcp.dgp2dcp import Dgp2Dcp

    reduction = Dgp2Dcp()
    convex = reduction.apply(problem)[0]
    reduction.update_parameters(problem)
    logs = reduction.canon_methods._variables
    for variable, log in logs.items():
        if variable.value is None:
            continue
        if not np.all(np.asarray(variable.value) > 0):
            raise InvalidParameterError(str(variable), variable.value, "positive values",
                                        "variables of geometric programs are positive")  # fmt: skip
        log.save_value(np.log(variable.value))
    _fill(convex, [log for log in logs.values() if log.value is not None])
    told = judge(convex)
    point = _named(told.feasible_point,
                   lambda p: {v: np.exp(p[log]) for v, log in logs.items() if log in p})  # fmt: skip
    lower, upper = _exp(told.lower, False), _exp(told.upper, True)
    maximise = isinstance(problem.objective, cp.Maximize)
    bound = math.nextafter(upper - lower, math.inf) if told.bound < math.inf else math.inf
    # f(x) is better than f* by a factor of exp(below) at most
    below = upper * (_exp(told.below, True) - 1) if told.below > 0 else 0.0
    return replace(
        told, value=_exp(told.value, not maximise), lower=lower, upper=upper, bound=bound,
        below=below, feasible_point=point, assumptions=(*told.assumptions, _LOGARITHM),
        solver_said=str(problem.status), evidence=None,  # a file would be about another problem
    )  # fmt: skip


def _fill(problem: Any, given: list[Any]) -> None:
    """Give the other variables, which a reduction added, the best values beside the given ones."""
    values = {variable: variable.value for variable in given}
    if not values or all(variable in values for variable in problem.variables()):
        return
    fixed = [variable == value for variable, value in values.items()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cp.Problem(problem.objective, problem.constraints + fixed).solve(solver="CLARABEL")
    except cp.error.SolverError:
        return
    for variable, value in values.items():
        variable.save_value(value)


def _whole(variable: Any) -> Array:
    """Which entries are integers."""
    mask = np.zeros(variable.shape, dtype=bool)
    for kind in ("boolean", "integer"):
        given = variable.attributes[kind]
        if given is True:
            mask[...] = True
        elif given:
            mask[tuple(np.array(given).T) if np.ndim(given) > 1 else given] = True
    return mask


def _integer(problem: Any, judge: Judge, tolerance: float) -> ProblemCertificate:
    """The relaxation bounds the optimum, the problem with these integers fixed has a feasible point."""
    new: dict[int, Any] = {}
    pairs: list[tuple[Any, Any]] = []
    ranges: list[Any] = []
    for variable in problem.variables():
        kept = {
            name: value
            for name, value in variable.attributes.items()
            if value is not None and value is not False and name not in ("boolean", "integer")
        }
        copy = cp.Variable(variable.shape, name=variable.name(), **kept)
        new[id(variable)] = copy
        pairs.append((variable, copy))
        if variable.attributes["boolean"]:
            where = _whole(variable) if variable.attributes["boolean"] is not True else ...
            part = copy if where is ... else copy[where]
            ranges += [part >= 0, part <= 1]
    objective = type(problem.objective)(problem.objective.expr.tree_copy(new))
    constraints = [constraint.tree_copy(new) for constraint in problem.constraints] + ranges
    given = all(variable.value is not None for variable, _ in pairs)
    fixed, off = [], 0.0
    for variable, copy in pairs if given else ():
        mask, value = _whole(variable), np.array(variable.value, dtype=float)
        rounded = np.where(mask, np.round(value), value)
        off = max(off, float(np.max(np.abs(rounded - value), initial=0.0)))
        copy.save_value(rounded)
        if mask.any():
            fixed.append(copy == rounded if mask.all() else copy[mask] == rounded[mask])
    relaxed = judge(cp.Problem(objective, constraints))
    said: dict[str, Any] = {
        "assumptions": (*relaxed.assumptions, "bounded by the relaxation of the integers"),
        "solver_said": str(problem.status),
        "evidence": None,  # a file would be about another problem
    }
    if relaxed.status is Verdict.INFEASIBLE or not given:
        return _without_point(relaxed, said, given=given)
    if off > tolerance:
        reason = f"an integer variable is {off:.3g} from a whole number"
        return _without_point(
            replace(relaxed, status=Verdict.VIOLATED, reason=reason, delta=off),
            said,
            given=True,
        )
    held = judge(cp.Problem(objective, [*constraints, *fixed]))
    if held.status is Verdict.INFEASIBLE:
        reason = "no feasible point has these integers"
        return _without_point(
            replace(held, status=Verdict.VIOLATED, reason=reason), said, given=True
        )
    least, most = relaxed.lower, held.upper
    if isinstance(problem.objective, cp.Maximize):
        least, most = held.lower, relaxed.upper
    gap = math.nextafter(most - least, math.inf) if math.isfinite(held.bound) else math.inf
    point = _named(held.feasible_point, lambda p: {v: p[c] for v, c in pairs if c in p})
    result = replace(held, lower=least, upper=most, bound=gap, feasible_point=point,
                     delta=max(held.delta, off), **said)  # fmt: skip
    if held.status is not Verdict.CERTIFIED or gap <= tolerance * max(abs(most), abs(least)):
        return result
    reason = (
        f"with these integers the objective is within {held.bound:.3g} of its best; "
        f"the relaxation leaves {gap:.3g}"
    )
    return replace(result, status=Verdict.INCONCLUSIVE, reason=reason)


def _without_point(
    told: ProblemCertificate, said: dict[str, Any], *, given: bool
) -> ProblemCertificate:
    """What is known of a problem without a feasible point of it."""
    status, reason = told.status, told.reason
    if not given and status is not Verdict.INFEASIBLE:
        status, reason = Verdict.INCONCLUSIVE, "the variables have no values"
    return replace(told, status=status, reason=reason, bound=math.inf, feasible_point=None, **said)
