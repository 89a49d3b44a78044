"""Top-k hinge on tensors, beta variant: S_k(max(z, 0))/k over the other classes."""

from functools import partial

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._hinges import Hinge


@documented("1", k=("int, default 1", "At least 1; beyond m - 1 only the factor 1/k changes."))
def topk_hinge_beta(
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
    """Top-k hinge S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the m - 1 other classes.

    Subgradient: 1/k at those of k largest z_j that are positive. Lapin, Hein and Schiele 2015, equation (5).
    """
    return multiclass(
        partial(Hinge, beta=True),
        scores,
        y,
        cost=1.0,
        k=k,
        name="topk_hinge_beta",
        bounded=False,
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
