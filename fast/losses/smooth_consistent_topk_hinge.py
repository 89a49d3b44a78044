"""Smooth consistent top-k hinge: gamma/2 (||p||^2 - 1) added to the conjugate of the consistent top-k hinge.

L(y, f) = max over p in the simplex of <u,p> - S_k(p) + 1 - gamma/2 (||p||^2 - 1) - u_y over all m classes, u = f + c.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.losses.consistent_topk_hinge import ConsistentTopKHinge


@dataclass(frozen=True)
class SmoothConsistentTopKHinge(ConsistentTopKHinge):
    """The loss, with its parameters."""

    gamma: float = 1.0
    smooth = True

    def parameters(self, others: int, *, given: bool = True) -> tuple[int, float]:
        """(k, gamma)."""
        k = super().parameters(others)[0]
        return k, float(self._checked("gamma", self.gamma, others))


value, gradient, conjugate, prox, sdca_update = module_functions(
    SmoothConsistentTopKHinge,
    value="""
Losses max over p in the simplex of <u,p> - S_k(p) + 1 - gamma/2 (||p||^2 - 1), less u_y, u = f + c.

At least 0 and the hinge, which it exceeds by gamma/2 (1 - 1/m) at most.
""",
    gradient="p less 1 at y: with q the projection of u on {0 <= q <= 1, <1,q> = k}, p is that of (u - q)/gamma.",
    conjugate="L*(x) = S_k(p) - 1 + gamma/2 (||p||^2 - 1) - <c,x> at p = (x,1-s), on {x >= 0, s <= 1}.",
    prox="It is v - t x with x = argmin t/2 ||x||^2 - <v + c,x> + L*(x) over {x >= 0, s <= 1}.",
    sdca_update="""
With a = w C k_ii and u = q + c + a e_y, p = argmin (a + gamma)/2 ||p||^2 - <u,p> + S_k(p) over the simplex;
the block is w C (e_y - p).
""",
)
_warmup = SmoothConsistentTopKHinge.warm_up
