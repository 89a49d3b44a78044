"""A hinge over the bag, bent: its conjugate is 2/3 delta sum x^(3/2)."""

from typing import Any

from refsolve.generators.bent import Bent

from refsolve._lazy import cp
from refsolve.sets import bag
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Bent hinge",
    kind="losses",
    formulas={"value": "max <z,x> - 2/3 delta sum x^(3/2) over the bag"},
    symbols=(
        Symbol("cap", "bound on every entry", low=0.05, high=2.0, default=0.4),
        Symbol("delta", "how bent", low=0.1, high=10.0, default=1.0),
    ),
    scaling="a loss per example",
    source="none",
)

family = "multiclass"
generator = Bent()
dual_set = "bag"


def value(z: Any, cap: Any = 0.4, delta: Any = 1.0) -> Any:
    """CVXPY expression: the support function of the bag, inf-convolved with (p_+)^3/(3 delta^2)."""
    p, t = cp.Variable(z.shape), cp.Variable(nonneg=True)
    smooth = cp.sum(cp.power(cp.pos(p), 3)) / (3 * delta**2)
    return t + cap * cp.sum(cp.pos(z - p - t)) + smooth


def conjugate(x: Any, cap: Any = 0.4, delta: Any = 1.0) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain."""
    return 2 / 3 * delta * cp.sum(cp.power(x, 1.5)), bag.constraints(x, 1.0, cap)
