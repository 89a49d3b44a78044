"""Softmax (cross-entropy) loss on tensors, accurate where it is tiny."""

from torch import Tensor

from fast.torch._entropies import Entropy
from fast.torch._faces import documented, multiclass


@documented()
def softmax(
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
    """Softmax loss log(1 + sum_j e^{u_j}), u_j = f_j - f_y + c_j over the m - 1 other classes.

    Relative accuracy where `torch.nn.functional.cross_entropy` has an absolute one: near certainty that loses
    digits, and its gradient at the true class, 1 - p_y, with them.
    """
    return multiclass(
        Entropy,
        scores,
        y,
        cost=0.0,
        name="softmax",
        linear=True,
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
