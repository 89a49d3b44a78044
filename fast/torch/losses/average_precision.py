"""Loss of rankings on tensors: the structured hinge of 1 - AP."""

from torch import Tensor

from fast.torch._ranking import QUERIES, Rankings, query_losses
from fast.torch._row_functions import documented


@documented(**QUERIES)
def average_precision(
    scores: Tensor, y: Tensor, *, groups: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Losses max over rankings R of 1 - AP(R) + <s, Psi(R) - Psi(R*)>, at least 1 - AP of the scores.

    Loss-augmented: differentiable almost everywhere, with the coefficients of the most violated ranking as
    subgradient, -2 c_i/(P N) at positives with c_i negatives above them. A query without positives or
    without negatives has loss 0; rows of one sample each are refused. Pairs of samples are looked at in blocks
    of 262 144: time is O(n^2) for rows of n samples, memory O(n), but O(n^2) where calls are traced or
    transformed. Mohapatra, Jawahar and Kumar 2014, equation (4).
    """
    return query_losses(Rankings(), scores, y, groups, reduction)
