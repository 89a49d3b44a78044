"""Squared top-k hinge: half the square of the top-k hinge, alpha variant.

L(y, f) = 1/2 max{0, S_k(z)/k}^2, z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.squared_sum import SquaredSum
from refsolve.losses import topk_hinge_alpha as hinge
from refsolve.sets import topk_cone
from refsolve.spec import Spec

SPEC = Spec(
    title="Squared top-k hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "1/2 max{0, S_k(z)/k}^2,  S_k = sum of the k largest",
        "conjugate": "1/2 s^2 - <c,x> on {x >= 0, x_i <= s/k}, s = <1,x>; +inf elsewhere",
        "gradient": "x_j at j != y, -s at y; s = max{0, S_k(z)/k}, x = s/k at the k largest z_j",
        "prox": "u = v - t x, x = argmin ||x - (v + c)/t||^2 + (1/t) <1,x>^2 over the cone",
        "sdca_update": (
            "alpha = omega C K_ii, b = q - q_y + c over the others,\n"
            "x = argmin ||x - b/alpha||^2 + (1 + 1/alpha) <1,x>^2 over the cone,\n"
            "a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=hinge.SPEC.symbols,
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="the top-k hinge of Lapin et al. 2015, squared as in L2-loss support vector machines",
    notes=(
        "k = 1 and two classes: the squared hinge of liblinear, halved",
        "not smooth for k < d: the k largest entries may be tied, the conjugate is flat where s is",
        "homogeneous of degree 2 in z: the dual block has no bound on its sum",
    ),
)

dual_set = "topk_cone"
generator = SquaredSum()


def value(z: Any, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    return cp.square(hinge.value(z, k)) / 2


def conjugate(x: Any, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.square(cp.sum(x)) / 2, topk_cone.constraints(x, k)
