"""Top-k entropy loss on tensors, beta variant: softmax with its dual in the other top-k simplex."""

from functools import partial

from torch import Tensor

from fast.torch._entropies import BETA, Entropy
from fast.torch._faces import documented, multiclass


@documented(k=("int, default 1", "At least 1; beyond m - 1 only the factor 1/k changes."))
def topk_entropy_beta(
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
    """Top-k entropy loss rho log k + sum_U u/k + (1-rho) log((1+Z)/(1-rho)), rho = |U|/k.

    The softmax loss with its dual restricted to Delta_k^beta(1); U are the capped classes, Z sums e^u over the
    rest; u_j = f_j - f_y + c_j over the m - 1 other classes.
    """
    return multiclass(
        partial(Entropy, variant=BETA),
        scores,
        y,
        cost=0.0,
        k=k,
        name="topk_entropy_beta",
        bounded=False,
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
