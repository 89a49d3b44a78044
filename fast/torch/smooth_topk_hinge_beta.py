"""Smooth top-k hinge on tensors, beta variant: the Moreau envelope of the top-k hinge."""

from functools import partial

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._inputs import check_gamma
from fast.torch._smooth import Smooth


@documented("1", k=("int, default 1", "At least 1; beyond m - 1 only the factor 1/k changes."))
def smooth_topk_hinge_beta(
    scores: Tensor,
    y: Tensor,
    *,
    k: int = 1,
    gamma: float = 1.0,
    reduction: str = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
    cost_matrix: Tensor | None = None,
) -> Tensor:
    """Smooth top-k hinge (<z,p> - ||p||^2/2)/gamma, p the projection of z on Delta_k^beta(gamma).

    z_j = f_j - f_y + c_j over the m - 1 other classes; gradient p/gamma. Lapin, Hein and Schiele 2016,
    Propositions 6 and 10.
    """
    return multiclass(
        partial(Smooth, beta=True),
        scores,
        y,
        cost=1.0,
        k=k,
        gamma=check_gamma(gamma),
        name="smooth_topk_hinge_beta",
        bounded=False,
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
