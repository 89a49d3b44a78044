"""One-vs-all logistic loss on tensors: the sum of the m binary logistic losses."""

from functools import partial

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._signed import LOGISTIC, OneVsAll


@documented(
    costs=(
        "float or Tensor, shape (m,) or (..., m), optional",
        "Margins c_j of all classes; default 0.",
    )
)
def ova_logistic(
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
    """One-vs-all logistic loss sum_j log(1 + e^{z_j}) over all m classes.

    z_j = f_j + c_j at j != y and z_y = c_y - f_y.
    """
    return multiclass(
        partial(OneVsAll, kind=LOGISTIC),
        scores,
        y,
        cost=0.0,
        signed=True,
        name="ova_logistic",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
