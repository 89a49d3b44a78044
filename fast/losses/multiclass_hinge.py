"""Multiclass hinge of Crammer and Singer: the worst margin violation.

L(y, f) = max{0, max_j z_j}, z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.hinges import Hinge


@dataclass(frozen=True)
class MulticlassHinge(Hinge):
    """The loss, with its parameters."""

    domain = "{x >= 0, <1,x> <= 1}"
    unit, radius = "{x >= 0, <1,x> <= 1}", "{x >= 0, <1,x> <= r}"


value, gradient, conjugate, prox, sdca_update = module_functions(
    MulticlassHinge,
    value="""
Losses max{0, max_j z_j}: both top-k hinges with k = 1.

Crammer and Singer 2001.
""",
    gradient="All mass on the largest z_j (ties: the first class); 0 where the loss is 0.",
)
_warmup = MulticlassHinge.warm_up
