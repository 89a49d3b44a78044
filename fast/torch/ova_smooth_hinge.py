"""Smooth one-vs-all hinge on tensors: the sum of the m smooth binary hinges."""

from functools import partial

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._inputs import check_gamma
from fast.torch._signed import SMOOTH, OneVsAll


@documented(
    costs=(
        "float or Tensor, shape (m,) or (..., m), optional",
        "Margins c_j of all classes; default 1.",
    )
)
def ova_smooth_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    gamma: float = 1.0,
    reduction: str = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
    cost_matrix: Tensor | None = None,
) -> Tensor:
    """Smooth one-vs-all hinge sum_j (z_j p_j - p_j^2/2)/gamma, p = clip(z, 0, gamma).

    z_j = f_j + c_j at j != y and z_y = c_y - f_y.
    """
    return multiclass(
        partial(OneVsAll, kind=SMOOTH),
        scores,
        y,
        cost=1.0,
        gamma=check_gamma(gamma),
        signed=True,
        name="ova_smooth_hinge",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
