"""One-vs-all hinge on tensors: the sum of the m binary hinges."""

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._signed import OneVsAll


@documented(
    costs=(
        "float or Tensor, shape (m,) or (..., m), optional",
        "Margins c_j of all classes; default 1.",
    )
)
def ova_hinge(
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
    """One-vs-all hinge sum_j max{0, z_j} over all m classes.

    z_j = f_j + c_j at j != y and z_y = c_y - f_y. Subgradient 1 where z_j > 0, else 0.
    """
    return multiclass(
        OneVsAll,
        scores,
        y,
        cost=1.0,
        signed=True,
        name="ova_hinge",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
