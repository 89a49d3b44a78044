"""Multiclass hinge of Crammer and Singer on tensors: max{0, max_j z_j} over the other classes."""

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._hinges import Hinge


@documented("1")
def multiclass_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    reduction: str = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
    cost_matrix: Tensor | None = None,
) -> Tensor:
    """Multiclass hinge max{0, max_j z_j}, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1 at a largest z_j; 0 where the loss is 0. Crammer and Singer 2001.
    """
    return multiclass(
        Hinge,
        scores,
        y,
        cost=1.0,
        name="multiclass_hinge",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
