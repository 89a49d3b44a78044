"""Multilabel hinge: the worst violation of a margin between a wrong and a right label.

L(y, f) = max{0, max over j in N, l in P of f_j - f_l + c_j}, P = {y = 1}, N = {y = 0}.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve._lazy import cp
from refsolve.sets import bipartite_simplex
from refsolve.spec import Spec

SPEC = Spec(
    title="Multilabel hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j + c_j at j in N, z_l = -f_l + c_l at l in P: all m labels",
        "value": "max{0, max z_N + max z_P}; 0 if N or P is empty",
        "conjugate": "-<c,x> on {x >= 0, <1,x_N> = <1,x_P> <= 1}; +inf elsewhere",
        "gradient": "x_j on N, -x_l on P, for any x attaining max <z,x>",
        "sdca_update": (
            "b = q + c on N, -q + c on P,  x = argmin ||x - b/(omega C K_ii)||^2 over the set,\n"
            "a = -omega C x on N, omega C x on P"
        ),
    },
    symbols=(),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2018 (TPAMI), multilabel SVM; Crammer and Singer 2003",
    notes=(
        (
            "default costs: 1 on N, 0 on P; only the sums c_j + c_l matter, so that a margin of 1/2 on "
            "both sides is the same loss"
        ),
        "one right label: the multiclass hinge, with the dual mass of P at that label",
    ),
    homogeneous=True,
)

family = "multilabel"
dual_set = "bipartite_simplex"


def value(z: cp.Expression, y: ArrayLike) -> Any:
    """CVXPY expression of the loss in z."""
    right, wrong = np.flatnonzero(y), np.flatnonzero(np.asarray(y) == 0)
    if right.size == 0 or wrong.size == 0:
        return 0 * cp.sum(z)
    return cp.pos(cp.max(z[wrong]) + cp.max(z[right]))


def conjugate(x: cp.Expression, y: ArrayLike) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for costs."""
    return cp.Constant(0), bipartite_simplex.constraints(x, y)
