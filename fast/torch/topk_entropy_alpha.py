"""Top-k entropy loss on tensors, alpha variant: softmax with its dual in the top-k simplex."""

from torch import Tensor

from fast.torch._entropies import Entropy
from fast.torch._faces import documented, multiclass


@documented()
def topk_entropy_alpha(
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
    """Top-k entropy loss log(1 + e^v), the softmax loss with its dual restricted to Delta_k^alpha(1).

    v = rho log k + sum_U u/k + (1-rho) log(Z/(1-rho)), rho = |U|/k, U the capped classes;
    u_j = f_j - f_y + c_j over the m - 1 other classes. Lapin, Hein and Schiele 2016, Proposition 8.
    """
    return multiclass(
        Entropy,
        scores,
        y,
        cost=0.0,
        k=k,
        name="topk_entropy_alpha",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
