"""Smooth one-vs-all hinge: the sum of the m smooth binary hinges, parameter gamma.

L(y, f) = sum_j min_p max{0, z_j - p} + p^2/(2 gamma), z_j = f_j + c_j at j != y, z_y = -f_y + c_y.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.quadratic import Quadratic
from refsolve.losses import ova_hinge as hinge
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Smooth one-vs-all hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j + c_j at j != y, z_y = -f_y + c_y: all m classes",
        "value": "sum_j (z_j p_j - p_j^2/2)/gamma,  p = clip(z, 0, gamma)",
        "conjugate": "gamma/2 ||x||^2 - <c,x> on 0 <= x_j <= 1; +inf elsewhere",
        "gradient": "x_j at j != y, -x_y at y, with x = p/gamma",
        "sdca_update": (
            "b_j = q_j + c_j at j != y, b_y = -q_y + c_y,\n"
            "x = clip(b/(omega C K_ii + gamma), 0, 1),  a_j = -omega C x_j, a_y = omega C x_y"
        ),
    },
    symbols=(
        Symbol(
            "gamma",
            "smoothing, in units of z",
            low=0,
            low_open=True,
            default=1.0,
            normal=True,
            unit="z",
        ),
    ),
    scaling="the binary losses are added, not averaged; see ova_hinge",
    source="Lapin et al. 2016, long version, equation (9), with margin alpha = 1 - z and beta = -x",
    notes=(
        "0 <= hinge - L <= m gamma/2; the gradient is 1/gamma-Lipschitz",
        "Shalev-Shwartz and Zhang 2014 smooth the binary hinge in the same way",
    ),
    homogeneous=True,
)

family = "ova"
dual_set = "box"
generator = Quadratic("gamma")
dual_params: dict[str, Any] = {}


def value(z: cp.Expression, gamma: float = 1.0) -> Any:
    """CVXPY expression of the loss in z; its own variable p is to be minimised over."""
    p = cp.Variable(z.shape)
    return hinge.value(z - p) + cp.sum_squares(p) / (2 * gamma)


def conjugate(x: cp.Expression, gamma: float = 1.0) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for costs."""
    return gamma / 2 * cp.sum_squares(x), hinge.conjugate(x)[1]
