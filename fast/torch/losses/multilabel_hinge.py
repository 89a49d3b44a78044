"""Multilabel hinge on tensors: the worst violation of a margin between a wrong and a right label."""

from torch import Tensor

from fast.torch._faces import LABELLED, documented, label_margins, multilabel
from fast.torch._inputs import check_indicator, check_scores
from fast.torch._signed import Bipartite


@documented("1 on N and 0 on P", **LABELLED)
def multilabel_hinge(
    scores: Tensor,
    y: Tensor,
    *,
    reduction: str = "mean",
    costs: float | Tensor | None = None,
) -> Tensor:
    """Multilabel hinge max{0, max z_N + max z_P}, z = f + c on N = {y = 0} and c - f on P = {y = 1}.

    0 where N or P is empty. Subgradient: 1 at a largest z of N, -1 at one of P. Crammer and Singer 2003.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    return multilabel(Bipartite(label_margins(costs)), f, right, reduction, costs)
