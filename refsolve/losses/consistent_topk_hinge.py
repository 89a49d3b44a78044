"""Consistent top-k hinge: polyhedral, convex, and every minimiser of its risk is top-k optimal.

L(y, f) = 1 + max{u_[1] - 1, tau} - u_y with sum_j (u_j - tau)_+ = k over all m classes, u_j = f_j - f_y + c_j.
"""

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.top_sum import TopSum
from refsolve.losses.topk_hinge_alpha import SPEC as HINGE
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec

SPEC = Spec(
    title="Consistent top-k hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": ("1 + max{z_[1] - 1, -1, tau},\ntau such that sum_j (z_j - tau)_+ + (-tau)_+ = k"),
        "conjugate": "S_k((x,1-s)) - 1 - <c,x> on {x >= 0, s <= 1}, s = <1,x>; +inf elsewhere",
        "gradient": (
            "x_j at j != y, -s at y;\n"
            "x_j = sign((z_j - tau)_+)/n if tau >= h - 1 else 1 - sign(h - z_j), h = max{z_[1], 0},\n"
            "n = sum_j sign((z_j - tau)_+) + sign((-tau)_+)"
        ),
        "prox": (
            "u = v - t x, x = argmin t/2 ||x||^2 - <v + c,x> + S_k((x,1-s)) over {x >= 0, s <= 1}"
        ),
        "sdca_update": (
            "alpha = omega C K_ii, b = q - q_y + c over the others,\n"
            "x = argmin alpha/2 (||x||^2 + s^2) - <b,x> + S_k((x,1-s)) over {x >= 0, s <= 1},\n"
            "a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=HINGE.symbols,
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source=(
        "the Fenchel-Young loss of the Bayes risk 1 - S_k(p) of the top-k error; for k = 1 Duchi, Khosravi and "
        "Ruan 2018; that a polyhedral consistent one exists: Finocchiaro, Frongillo, Goodwill and Thilagar 2022"
    ),
    notes=(
        "costs are 0 by default: the margin of 1 is in the loss; a cost shifts it, u + c",
        "0 iff no z_j > 0 and sum_j (z_j + 1)_+ <= k - 1",
        "no upper bound of the top-k error: all scores equal give 1 - k/m",
        "not homogeneous: scores have a unit",
    ),
)

default_cost = 0.0
dual_set = "topk_simplex_alpha"
dual_params = {"k": 1}
generator = TopSum()


def value(z: Any, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c; its own variable tau is to be minimised over."""
    return of_scores(cp.hstack([z, cp.Constant([0.0])]), k)


def of_scores(u: Any, k: int) -> Any:
    """1 + max{u_[1] - 1, tau}: below tau the sum exceeds k by at least the distance."""
    tau = cp.Variable(name="tau")
    return 1 + cp.maximum(cp.max(u) - 1, tau) + cp.pos(cp.sum(cp.pos(u - tau)) - k)


def conjugate(x: Any, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    p = cp.hstack([x, cp.reshape(1 - cp.sum(x), (1,), order="F")])
    return cp.sum_largest(p, k) - 1, topk_simplex_alpha.constraints(x, 1)
