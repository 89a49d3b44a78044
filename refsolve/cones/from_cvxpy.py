"""A CVXPY problem as a cone program, and where its variables are in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.program import ConeProgram
from refsolve.errors import InvalidParameterError


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
    """

    program: ConeProgram
    offset: float
    columns: dict[int, slice]
    variables: tuple[Any, ...]

    @property
    def fixed(self) -> Array:
        """Which columns are the user's."""
        mask = np.zeros(len(self.program.q), dtype=bool)
        for columns in self.columns.values():
            mask[columns] = True
        return mask

    def values(self) -> Array:
        """The user's values in their columns, 0 elsewhere."""
        from cvxpy.reductions.cvx_attr2constr import lower_value

        point = np.zeros(len(self.program.q))
        for variable in self.variables:
            if variable.id not in self.columns:
                continue
            value = lower_value(variable, variable.value)
            point[self.columns[variable.id]] = np.asarray(value, dtype=float).ravel(order="F")
        return point

    def box(self, bounds: dict[Any, tuple[Any, Any]] | None) -> tuple[Array, Array]:
        """Declared ranges as (lo, hi) of all columns."""
        n = len(self.program.q)
        lo, hi = np.full(n, -math.inf), np.full(n, math.inf)
        for variable, (low, high) in (bounds or {}).items():
            if variable.id not in self.columns:
                raise InvalidParameterError(
                    "bounds", str(variable), "variables of the problem", "leave the others out"
                )
            for side, given in ((lo, low), (hi, high)):
                side[self.columns[variable.id]] = np.broadcast_to(
                    np.asarray(given, dtype=float), variable.shape
                ).ravel(order="F")
        if np.any(np.isnan(lo) | np.isnan(hi)) or np.any(lo > hi):
            raise InvalidParameterError("bounds", bounds, "low <= high", "swap or widen them")
        return lo, hi


def compiled(problem: Any) -> Compiled:
    """Reduce a problem to the cones that are judged here.

    Raises
    ------
    InvalidParameterError
        No DCP problem, integer variables, complex ones, semidefinite or power cones, parameters
        without values.
    """
    if not isinstance(problem, cp.Problem):
        raise InvalidParameterError(
            "problem", problem, "a cvxpy.Problem", "pass the problem itself"
        )
    if problem.is_mixed_integer():
        raise InvalidParameterError(
            "problem", "integer variables", "continuous variables", "relax them: bounds are convex"
        )
    if not problem.is_dcp():
        raise InvalidParameterError(
            "problem", "not DCP", "a convex problem by the DCP rules", "see problem.is_dcp()"
        )
    if any(parameter.value is None for parameter in problem.parameters()):
        raise InvalidParameterError(
            "problem", "parameters without values", "values", "set parameter.value"
        )
    data, _chain, inverse = problem.get_problem_data("CLARABEL", ignore_dpp=True)
    stuffed = data["param_prob"]
    P, q, offset, A, b = _numbers(data, stuffed)
    dims = data["dims"]
    for name in ("psd", "p3d", "pnd"):
        if getattr(dims, name, None):
            raise InvalidParameterError(
                "problem",
                {"psd": "a semidefinite cone"}.get(name, "a power cone"),
                "linear, second-order and exponential cones",
                "no bound is known here for others",
            )
    program = ConeProgram(
        P, q, A, b, zero=dims.zero, nonneg=dims.nonneg, soc=tuple(map(int, dims.soc)), exp=dims.exp
    )
    return Compiled(
        program, offset, _columns(problem, stuffed, inverse), tuple(problem.variables())
    )


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
        if start is not None:
            found[variable.id] = slice(start, start + inner.size)
    return found
