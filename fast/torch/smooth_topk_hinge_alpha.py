"""Smooth top-k hinge on tensors, alpha variant: the Moreau envelope of the top-k hinge."""

from torch import Tensor

from fast.torch._faces import documented, multiclass
from fast.torch._inputs import check_gamma
from fast.torch._smooth import Smooth


@documented("1")
def smooth_topk_hinge_alpha(
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
    """Smooth top-k hinge (<z,p> - ||p||^2/2)/gamma, p the projection of z on Delta_k^alpha(gamma).

    z_j = f_j - f_y + c_j over the m - 1 other classes; gradient p/gamma. Lapin, Hein and Schiele 2016,
    Propositions 6 and 10.
    """
    return multiclass(
        Smooth,
        scores,
        y,
        cost=1.0,
        k=k,
        gamma=check_gamma(gamma),
        name="smooth_topk_hinge_alpha",
        reduction=reduction,
        weight=weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        costs=costs,
        cost_matrix=cost_matrix,
    )
