"""One-vs-all logistic loss: the sum of the m binary logistic losses.

L(y, f) = sum_j log(1 + e^{z_j}) over all m classes, z_j = f_j + c_j at j != y, z_y = -f_y + c_y.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.binary_entropy import BinaryEntropy
from refsolve.sets import box
from refsolve.spec import Spec

SPEC = Spec(
    title="One-vs-all logistic loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j + c_j at j != y, z_y = -f_y + c_y: all m classes",
        "value": "sum_j log(1 + e^{z_j})",
        "conjugate": "sum_j (x_j log x_j + (1-x_j) log(1-x_j)) - <c,x> on 0 <= x_j <= 1; +inf elsewhere",
        "gradient": "x_j at j != y, -x_y at y; x_j = 1/(1 + e^{-z_j})",
        "sdca_update": (
            "b_j = q_j + c_j at j != y, b_y = -q_y + c_y, alpha = omega C K_ii,\n"
            "x_j the root of alpha x + log(x/(1-x)) = b_j,  a_j = -omega C x_j, a_y = omega C x_y"
        ),
    },
    symbols=(),
    scaling="the binary losses are added, not averaged; see ova_hinge",
    source="Lapin et al. 2016, Table 1 and equation (3), with margin y_j f_j = -z_j",
    notes=("costs are 0 by default", "calibrated for every k: Proposition 2 there"),
)

family = "ova"
generator = BinaryEntropy()
default_cost = 0.0
dual_set = "box"


def value(z: cp.Expression) -> Any:
    """CVXPY expression of the loss in z."""
    return cp.sum(cp.logistic(z))


def conjugate(x: cp.Expression) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for costs."""
    return -cp.sum(cp.entr(x) + cp.entr(1 - x)), box.constraints(x)
