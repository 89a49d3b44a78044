"""Parts of the models' problems as the papers write them, for `refsolve.problem`."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.optimality import Term
from refsolve.parameters import constant
from refsolve.proofs.space import Space

#: An objective, the constraints by the names of their multipliers, and the losses that have kinks.
Written = tuple[Any, dict[str, Any]] | tuple[Any, dict[str, Any], list[Term]]


def linear(x: Space, name: str, data: str, gram: str) -> tuple[Any, Any, Any]:
    """Of a linear function: w (d,) or coefficients (n,), its values, half its squared norm."""
    if x.gram is None:
        w = cp.Variable(x.width, name=name)
        return w, constant(data, x.dense()) @ w, cp.sum_squares(w) / 2
    w = cp.Variable(len(x.kept), name=name)
    K = constant(gram, x.gram)
    return w, K @ w, cp.quad_form(w, cp.psd_wrap(K)) / 2


def half_square(x: Space, a: Any, data: str, gram: str) -> Any:
    """1/2||sum_i a_i x_i||^2."""
    if x.gram is None:
        return cp.sum_squares(constant(data, x.dense()).T @ a) / 2
    return cp.quad_form(a, cp.psd_wrap(constant(gram, x.gram))) / 2


def weighted(weight: Array, paid: Any, name: str = "omega") -> Any:
    """Sum of w_i times an entry."""
    return cp.sum(paid) if _ones(weight) else constant(name, weight) @ paid


def upper_bounds(C: Any, weight: Array) -> Any:
    """C w_i of all examples."""
    return C if _ones(weight) else C * constant("omega", weight)


def _ones(weight: Array) -> bool:
    return bool((np.asarray(weight) == 1).all())
