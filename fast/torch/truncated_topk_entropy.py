"""Truncated top-k entropy loss on tensors: softmax over all but the k - 1 largest other classes."""

from functools import partial

from torch import Tensor

from fast.torch._entropies import TRUNCATED, Entropy
from fast.torch._faces import documented, multiclass


@documented()
def truncated_topk_entropy(
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
    """Truncated top-k entropy log(1 + sum_J e^{u_j}), J the m - k smallest of the other classes.

    u_j = f_j - f_y + c_j. Not convex for k >= 2; gradient of the piece that is kept. Lapin, Hein and
    Schiele 2016, equation (15).
    """
    return multiclass(
        partial(Entropy, variant=TRUNCATED),
        scores,
        y,
        cost=0.0,
        k=k,
        name="truncated_topk_entropy",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
