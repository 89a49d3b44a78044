"""A CVXPY problem as a cone program, and where its variables are in it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.approximations import refuse_approximations
from refsolve.cones.blocks import Block
from refsolve.cones.power import Power
from refsolve.cones.program import ConeProgram
from refsolve.cones.semidefinite import Semidefinite
from refsolve.errors import InvalidParameterError

#: Cones beyond those of `ConeProgram`, by CVXPY's names: from an entry of its dims to a block.
OTHER: dict[str, Callable[[Any], Block]] = {
    "psd": lambda order: Semidefinite(int(order)),
    "p3d": lambda weight: Power((float(weight), 1 - float(weight))),
    "pnd": lambda weights: Power(tuple(map(float, weights))),
}


@dataclass(frozen=True)
class Compiled:
    """A cone program with the columns of the user's variables.

    Attributes
    ----------
    program : ConeProgram
    offset : float
        Constant of the objective that the program leaves out.
    columns : dict of int to slice
        Columns of each variable, by its id.
    variables : tuple
    multipliers : (m,) array or None
        The dual values that the user's constraints have, in linear and quadratic programs.
    """

    program: ConeProgram
    offset: float
    columns: dict[int, slice]
    variables: tuple[Any, ...]
    multipliers: Array | None = None

    @property
    def fixed(self) -> Array:
        """Which columns are the user's."""
        mask = np.zeros(len(self.program.q), dtype=bool)
        for columns in self.columns.values():
            mask[columns] = True
        return mask

    def values(self) -> Array:
        """The user's values in their columns, 0 elsewhere."""
        from cvxpy.reductions.cvx_attr2constr import lower_value, recover_value_for_leaf

        point = np.zeros(len(self.program.q))
        for variable in self.variables:
            value = lower_value(variable, variable.value)
            flat = np.asarray(value, dtype=float).ravel(order="F")
            back = recover_value_for_leaf(variable, flat, project=False)
            if np.asarray(value).size != variable.size and not np.array_equal(
                dense(back), dense(variable.value)
            ):
                raise InvalidParameterError(
                    str(variable), variable.value, "a value with the attributes of the variable",
                    "symmetrise it, or leave out what is not on the diagonal",
                )  # fmt: skip
            point[self.columns[variable.id]] = flat
        return point

    def named(self, x: Array) -> dict[Any, Array]:
        """The user's variables with the values that they have in a point of the program."""
        from cvxpy.reductions.cvx_attr2constr import recover_value_for_leaf

        found = {}
        for variable in self.variables:
            columns = self.columns[variable.id]
            whole = recover_value_for_leaf(variable, x[columns], project=False)
            found[variable] = dense(whole).reshape(variable.shape, order="F")
        return found

    def bounded(self, bounds: dict[Any, tuple[Any, Any]] | None) -> Compiled:
        """The same with declared ranges, (low, high) by variable, as rows of their own."""
        n = len(self.program.q)
        lo, hi = np.full(n, -math.inf), np.full(n, math.inf)
        for variable, given in (bounds or {}).items():
            columns = self.columns.get(getattr(variable, "id", -1))
            if columns is None or columns.stop - columns.start != variable.size:
                raise InvalidParameterError(
                    "bounds", str(variable), "variables of the problem, none of them symmetric",
                    "leave the others out",
                )  # fmt: skip
            try:
                low, high = (
                    np.broadcast_to(np.asarray(side, dtype=float), variable.shape).ravel(order="F")
                    for side in given
                )
            except (TypeError, ValueError):
                expected = f"(low, high) of shape {variable.shape}"
                raise InvalidParameterError(
                    "bounds", given, expected, "two numbers or arrays"
                ) from None
            lo[columns], hi[columns] = low, high
        if np.any(np.isnan(lo) | np.isnan(hi)) or np.any(lo > hi):
            raise InvalidParameterError("bounds", bounds, "low <= high", "swap or widen them")
        program, unit = self.program, sp.eye_array(len(lo), format="csr")
        top, bottom = np.flatnonzero(np.isfinite(hi)), np.flatnonzero(np.isfinite(lo))
        at = program.zero + program.nonneg
        A = sp.csr_array(program.A)
        rows: list[Any] = [A[:at], unit[top], -unit[bottom], A[at:]]
        b = np.concatenate((program.b[:at], hi[top], -lo[bottom], program.b[at:]))
        more = program.nonneg + len(top) + len(bottom)
        z = self.multipliers
        z = None if z is None else np.insert(z, at, np.zeros(len(top) + len(bottom)))
        program = replace(program, A=sp.vstack(rows).tocsc(), b=b, nonneg=more)
        return replace(self, program=program, multipliers=z)


def dense(value: Any) -> Array:
    """An array of floats, whatever matrix it was."""
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)


def compiled(problem: Any) -> Compiled:
    """Reduce a problem to the cones that are judged here.

    Raises
    ------
    InvalidParameterError
        No DCP problem, integer or complex variables, finite sets, parameters without values.
    """

    def need(good: object, given: Any, expected: str, fix: str) -> None:
        if not good:
            raise InvalidParameterError("problem", given, expected, fix)

    need(isinstance(problem, cp.Problem), problem, "a cvxpy.Problem", "pass the problem itself")
    variables, parameters = problem.variables(), problem.parameters()
    need(variables, problem, "variables", "there is nothing to judge")
    real = not any(leaf.is_complex() for leaf in variables + parameters)
    need(real, "complex variables", "real ones", "write out real and imaginary parts")
    fix = "relax them: bounds are convex"
    need(not problem.is_mixed_integer(), "integer variables", "continuous variables", fix)
    need(problem.is_dcp(), "not DCP", "a convex problem by the DCP rules", "see problem.is_dcp()")
    known = all(parameter.value is not None for parameter in parameters)
    need(known, "parameters without values", "values", "set parameter.value")
    refuse_approximations(problem)
    need(
        all(v.size for v in variables), "a variable of size 0", "variables with entries", "drop it"
    )
    data, chain, inverse = _reduced(problem)
    stuffed, dims = data["param_prob"], data["dims"]
    whole = any(stuffed.x.attributes[kind] for kind in ("boolean", "integer"))
    need(not whole, "a constraint to whole numbers", "continuous sets", "relax it")
    expected = "linear, second-order and exponential cones"
    for name in ("psd", "p3d", "pnd"):
        given = "a semidefinite cone" if name == "psd" else "a power cone"
        unknown = getattr(dims, name, None) and name not in OTHER
        need(not unknown, given, expected, "no bound is known here for others")
    P, q, offset, A, b = _numbers(data, stuffed)
    order, other = _ordered(dims, len(b))
    program = ConeProgram(
        P, q, A if order is None else A[order], b if order is None else b[order], zero=dims.zero,
        nonneg=dims.nonneg, soc=tuple(map(int, dims.soc)), exp=dims.exp, other=other,
    )  # fmt: skip
    columns = _columns(problem, stuffed, inverse)
    multipliers = _multipliers(problem, program, chain, inverse[-1])
    return Compiled(program, offset, columns, tuple(variables), multipliers)


def _ordered(dims: Any, rows: int) -> tuple[Array | None, tuple[Block, ...]]:
    """The rows with the cones that `ConeProgram` has of its own first, and the others."""
    psd, powers = (
        [OTHER[name](entry) for name in names for entry in getattr(dims, name, ())]
        for names in (("psd",), ("p3d", "pnd"))
    )
    if not psd:
        return None, tuple(powers)
    start = dims.zero + dims.nonneg + int(sum(dims.soc))
    stop = start + sum(block.size for block in psd)
    exp = np.arange(stop, stop + 3 * dims.exp)
    rest = np.arange(stop + 3 * dims.exp, rows)
    return np.concatenate((np.arange(start), exp, np.arange(start, stop), rest)), (*psd, *powers)


@cache
def _interface() -> Any:
    """CVXPY's interface to Clarabel, but with the entries of semidefinite matrices as they are."""
    from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL

    class Entries(CLARABEL):
        PSD_SQRT2_SCALING = False

        def name(self) -> str:
            return "ENTRIES"

    return Entries()


def _reduced(problem: Any) -> tuple[dict[str, Any], Any, list[Any]]:
    """CVXPY's data for Clarabel; some reductions look at values, and fail on them or depend on them."""
    kept = [(variable, variable.value) for variable in problem.variables()]
    try:
        for variable, _ in kept:
            variable.save_value(None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, chain, inverse = problem.get_problem_data(
                _interface(), ignore_dpp=bool(problem.parameters())
            )
    except Exception as error:  # CVXPY raises what its reductions happen to raise
        raise InvalidParameterError(
            "problem", str(error), "a problem that CVXPY can reduce to cones", "see its message"
        ) from error
    finally:
        for variable, value in kept:
            variable.save_value(value)
    return data, chain, inverse


def _numbers(data: dict[str, Any], stuffed: Any) -> tuple[Any, Array, float, Any, Array]:
    q, b = np.asarray(data["c"], dtype=float), np.asarray(data["b"], dtype=float)
    n = len(q)
    given = data.get("P")
    P = sp.csc_array((n, n)) if given is None else sp.csc_array(given)
    P = sp.csc_array((P + P.T) / 2)
    offset = float(
        stuffed.apply_parameters(quad_obj=given is not None)[2 if given is not None else 1]
    )
    return P, q, offset, sp.csc_array(data["A"]), b


def _columns(problem: Any, stuffed: Any, inverse: list[Any]) -> dict[int, slice]:
    """Columns of the user's variables, through CVXPY's renaming of those with attributes."""
    renamed: dict[int, Any] = {}
    for step in inverse:
        if isinstance(step, tuple) and len(step) == 3:
            renamed = step[0]
    found = {}
    for variable in problem.variables():
        inner = renamed.get(variable.id, variable)
        start = stuffed.var_id_to_col.get(inner.id)
        if start is None:
            raise InvalidParameterError(
                str(variable), "lost in CVXPY's reduction", "a variable of the reduced problem",
                "report it: it is none of the attributes that are known here",
            )  # fmt: skip
        found[variable.id] = slice(start, start + inner.size)
    return found


def _multipliers(problem: Any, program: ConeProgram, chain: Any, inverse: Any) -> Array | None:
    """Dual values in the order of the rows; ranges of variables in linear programs get what is left."""
    if program.zero + program.nonneg < len(
        program.b
    ):  # of other cones CVXPY's are lists, in an order of its own
        return None
    final = chain.compose_constr_id_map()
    given = {final.get(row.id): row.dual_value for row in problem.constraints}
    z, start = np.full(len(program.b), np.nan), 0
    for row in inverse["eq_constr"] + inverse["other_constr"]:
        value = given.get(row.id)
        if value is not None and np.size(value) == row.size:
            z[start : start + row.size] = np.ravel(value, order="F")
        start += row.size
    A, rows = program.rows, np.flatnonzero(np.isnan(z))
    at = A.indptr[rows]
    if (len(rows) and program.P.nnz) or np.any(A.indptr[rows + 1] - at != 1):
        return None
    z[rows] = 0.0
    left = program.q + program.columns.T @ z
    z[rows] = np.maximum(-left[A.indices[at]] / A.data[at], 0.0)
    return z
