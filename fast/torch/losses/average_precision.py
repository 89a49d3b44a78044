"""Loss of rankings on tensors: the structured hinge of 1 - AP."""

import torch
from torch import Tensor

from fast.errors import InvalidParameterError
from fast.torch._function import rows
from fast.torch._inputs import check_indicator, check_reduction, check_scores
from fast.torch._ranking import Rankings
from fast.torch._row_functions import LABELLED, PARAMETERS, documented


@documented(
    scores=(
        "Tensor, shape (..., n)",
        f"One query per row. {PARAMETERS['scores'][1].split('. ')[-1]}",
    ),
    y=("Tensor, shape (..., n)", "1 (or True) for positives; 0 or -1 for negatives."),
    groups=(
        "Tensor of int, shape (n,), optional",
        "Numbers of the queries, in any order, for a vector of scores of several queries.",
    ),
    reduction=LABELLED["reduction"],
    returns=("Tensor", "A number, or losses of shape (...) for 'none'; the mean is over queries."),
)
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
    f = check_scores(scores, 1)
    if (
        f.ndim > 1 and f.shape[-1] == 1
    ):  # a vector may be the last batch, rows are all of one length
        raise InvalidParameterError(
            "scores",
            f"shape {tuple(f.shape)}, queries of one sample each, whose loss is 0 whatever they are",
            "the samples of a query on the last axis",
            "pass scores.squeeze(-1) and y.squeeze(-1) for one query, and groups for several",
        )
    check_reduction(reduction)
    right = check_indicator(y, f).long()
    if groups is None:
        return rows(Rankings(), f, right, reduction)
    whole = isinstance(groups, torch.Tensor) and not groups.is_floating_point()
    if not whole or groups.shape != f.shape or f.ndim != 1:
        raise InvalidParameterError(
            "groups",
            f"shape {tuple(getattr(groups, 'shape', ()))} beside scores {tuple(f.shape)}"
            + ("" if whole else ", not integers"),
            "vectors: a query's whole number for each score",
            "pass rows of scores without groups where all queries have one length",
        )
    if reduction == "none":
        raise InvalidParameterError(
            "reduction",
            "'none' with groups",
            "'mean' or 'sum': how many queries there are, only the data say",
            "pass the queries one by one",
        )
    total = rows(Rankings(), f, 2 * groups.long() + right)
    if reduction == "sum":
        return total
    ordered = groups.sort().values
    return total / ((ordered[1:] != ordered[:-1]).sum() + 1)
