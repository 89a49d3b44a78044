"""Top-k hinge on tensors, alpha variant: max{0, S_k(z)/k} over the other classes."""

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._hinges import Hinge


@documented("1")
def topk_hinge_alpha(
    scores: Tensor,
    y: Tensor,
    *,
    k: int = 1,
    reduction: str = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
    cost_matrix: Tensor | None = None,
) -> Tensor:
    """Top-k hinge max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1/k at k largest z_j; 0 where the loss is 0. Lapin, Hein and Schiele 2015, equation (3).
    """
    return multiclass(
        Hinge,
        scores,
        y,
        cost=1.0,
        k=k,
        name="topk_hinge_alpha",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
