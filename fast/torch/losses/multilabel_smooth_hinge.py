"""Smooth multilabel hinge on tensors: the Moreau envelope of the multilabel hinge."""

from torch import Tensor

from fast.torch._faces import LABELLED, documented, label_margins, multilabel
from fast.torch._inputs import check_gamma, check_indicator, check_scores
from fast.torch._signed import Bipartite


@documented("1 on N and 0 on P", **LABELLED)
def multilabel_smooth_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    gamma: float = 1.0,
    reduction: str = "mean",
    costs: float | Tensor | None = None,
) -> Tensor:
    """Smooth multilabel hinge (<z,p> - ||p||^2/2)/gamma, p the projection on the bipartite simplex.

    z = f + c on N = {y = 0} and c - f on P = {y = 1}; p >= 0 has the same sum <= gamma on both.
    Lapin, Hein and Schiele 2018.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    loss = Bipartite(label_margins(costs), check_gamma(gamma))
    return multilabel(loss, f, right, reduction, costs)
