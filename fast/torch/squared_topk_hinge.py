"""Squared top-k hinge on tensors: max{0, S_k(z)/k}^2/2 over the other classes."""

from functools import partial

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._hinges import Hinge


@documented("1")
def squared_topk_hinge(
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
    """Squared top-k hinge max{0, S_k(z)/k}^2/2, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: the hinge over k at k largest z_j.
    """
    return multiclass(
        partial(Hinge, squared=True),
        scores,
        y,
        cost=1.0,
        k=k,
        name="squared_topk_hinge",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
