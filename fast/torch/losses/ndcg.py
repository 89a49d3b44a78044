"""Loss of rankings on tensors: the structured hinge of 1 - NDCG."""

from torch import Tensor

from fast.torch._ranking import QUERIES, Rankings, query_losses
from fast.torch._row_functions import documented


@documented(**QUERIES)
def ndcg(
    scores: Tensor, y: Tensor, *, groups: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Losses max over rankings R of 1 - NDCG(R) + <s, Psi(R) - Psi(R*)>, at least 1 - NDCG of the scores.

    Relevance is binary, the discount 1/log2(1 + rank), over all ranks. Subgradients, queries without
    positives or without negatives, refused rows, time and memory are those of `average_precision`.
    Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar, CVPR 2018.
    """
    return query_losses(Rankings(discounted=True), scores, y, groups, reduction)
