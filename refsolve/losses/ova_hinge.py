"""One-vs-all hinge: the sum of the m binary hinges, one for each class against the rest.

L(y, f) = sum_j max{0, z_j} over all m classes, z_j = f_j + c_j at j != y, z_y = -f_y + c_y.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.sets import box
from refsolve.spec import Spec

SPEC = Spec(
    title="One-vs-all hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j + c_j at j != y, z_y = -f_y + c_y: all m classes",
        "value": "sum_j max{0, z_j}",
        "conjugate": "-<c,x> on 0 <= x_j <= 1; +inf elsewhere",
        "gradient": "x_j at j != y, -x_y at y, for any x attaining max <z,x>",
        "sdca_update": (
            "b_j = q_j + c_j at j != y, b_y = -q_y + c_y,  x = clip(b/(omega C K_ii), 0, 1),\n"
            "a_j = -omega C x_j at j != y, omega C x_y at y"
        ),
    },
    symbols=(),
    scaling=(
        "the binary losses are added, not averaged: with the regulariser lambda/2 ||W||^2 the m binary\n"
        "problems separate, each with the C = 1/(lambda n) of the whole"
    ),
    source="Lapin et al. 2016, Table 1 and equation (2), with margin y_j f_j: z_j = c_j - y_j f_j",
    notes=("c = 1 is the margin of the papers", "blocks do not sum to 0"),
    homogeneous=True,
)

family = "ova"
dual_set = "box"


def value(z: cp.Expression) -> Any:
    """CVXPY expression of the loss in z."""
    return cp.sum(cp.pos(z))


def conjugate(x: cp.Expression) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for costs."""
    return cp.Constant(0), box.constraints(x)
