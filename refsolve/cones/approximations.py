"""Where CVXPY's reduction to cones is not the problem that was written.

Rational powers, factorised quadratic forms, piecewise functions: what is replaced by something else is
refused by name, since no bound about the reduced problem says anything about the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.errors import InvalidParameterError

#: An exponent that is off by that much is what rounding makes of a fraction.
_ROUNDED = 1e-15
#: Share of a matrix by which its factors may miss it.
_FACTORS = 1e-13
#: Constants by which CVXPY's functions that are approximations, not atoms, are known.
_LOGGAMMA, _NORMCDF = (0.845568, 0.918939), (0.02301291, 0.04641081)


def refuse_approximations(problem: Any) -> None:
    """Raise for expressions that CVXPY's reduction replaces by others.

    Raises
    ------
    InvalidParameterError
        Names the expression and what it is replaced by.
    """
    trees = [(problem.objective.expr, True)]
    trees += [(argument, False) for c in problem.constraints for argument in c.args]
    for tree, quadratic in trees:
        for atom, kept in _atoms(tree, quadratic):
            _look(atom, kept)


def _atoms(expression: Any, quadratic: bool) -> Iterator[tuple[Any, bool]]:
    """Atoms of a tree, and whether only affine ones of an objective are above them."""
    yield expression, quadratic
    below = quadratic and bool(getattr(expression, "is_atom_affine", lambda: False)())
    for argument in expression.args:
        yield from _atoms(argument, below)


def _look(atom: Any, kept: bool) -> None:
    error = float(getattr(atom, "approx_error", 0.0) or 0.0)
    if error > _ROUNDED:
        exponent = (
            getattr(atom, "p_used", None) or getattr(atom, "w", None) or getattr(atom, "p", "")
        )
        _refuse(atom, f"CVXPY replaces an exponent or weight, {error:.1g} away, by {exponent}",
            "pass approx=False, a larger max_denom or an exact fraction")  # fmt: skip
    if isinstance(atom, cp.atoms.sum_largest):
        items = _items(atom)
        if atom.k > items:
            _refuse(atom, f"k = {atom.k} of {items} numbers: CVXPY's reduction has no bound there",
                "take k at most the number of entries")  # fmt: skip
    if isinstance(atom, _quad_form()):
        matrix = atom.args[1].value
        if not kept and matrix is not None and atom.args[1].is_constant():
            missed = _missed(matrix)
            if missed > _FACTORS:
                _refuse(atom, f"CVXPY's factors of the matrix miss a share of {missed:.1g} of it",
                    "write it as sum_squares(F @ x) with the factor F that is meant")  # fmt: skip
    if isinstance(atom, cp.atoms.maximum):
        given = {abs(float(v)) for v in _constants(atom)}
        for numbers, name in ((_LOGGAMMA, "loggamma"), (_NORMCDF, "log_normcdf")):
            if all(any(abs(v * v - n) < 1e-9 or abs(v - n) < 1e-9 for v in given) for n in numbers):
                _refuse(atom, f"cp.{name}, CVXPY's piecewise approximation of the function",
                    "write the pieces out if they are what is meant")  # fmt: skip


def _refuse(atom: Any, what: str, fix: str) -> None:
    expected = "expressions that CVXPY reduces as they are"
    raise InvalidParameterError("problem", f"{what}: {str(atom)[:80]}", expected, fix)


def _quad_form() -> Any:
    from cvxpy.atoms.quad_form import QuadForm

    return QuadForm


def _items(atom: Any) -> int:
    shape, axis = atom.args[0].shape, atom.axis
    if axis is None:
        return int(atom.args[0].size)
    axes = (axis,) if isinstance(axis, int) else axis
    return int(np.prod([shape[i] for i in axes]))


def _constants(expression: Any) -> Iterator[float]:
    if isinstance(expression, cp.Constant):
        value = expression.value
        data = value.data if hasattr(value, "tocoo") else np.asarray(value).ravel()
        yield from np.asarray(data)[:64].tolist()
    for argument in expression.args:
        yield from _constants(argument)


def _missed(matrix: Any) -> float:
    """Share of a matrix that CVXPY's factors of it do not give back."""
    from cvxpy.atoms.quad_form import decomp_quad

    scale, plus, minus = decomp_quad(matrix)
    whole = _dense(matrix)
    rest = whole - scale * (_square(plus, len(whole)) - _square(minus, len(whole)))
    size = float(np.abs(whole).max(initial=0.0))
    # what is small in a matrix may still be all there is in a direction: eigenvalues, not entries
    lost = float(np.abs(rest).max(initial=0.0))
    return lost / size if size else 0.0


def _square(factor: Any, size: int) -> Array:
    dense = _dense(factor)
    return dense @ dense.T if dense.size else np.zeros((size, size))


def _dense(value: Any) -> Array:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
