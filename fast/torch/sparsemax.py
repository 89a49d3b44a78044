"""Sparsemax loss on tensors: the squared distance to the simplex in place of softmax's entropy."""

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._smooth import Simplex


@documented()
def sparsemax(
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
    """Sparsemax loss: the max over p in the simplex of <f + c,p> - ||p||^2/2 + 1/2 - f_y.

    Gradient p - e_y, p the projection of f + c on the simplex. Martins and Astudillo 2016.
    """
    return multiclass(
        Simplex,
        scores,
        y,
        cost=0.0,
        name="sparsemax",
        linear=True,
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
