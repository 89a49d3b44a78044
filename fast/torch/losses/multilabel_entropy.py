"""Multilabel cross-entropy on tensors: softmax against the uniform distribution on the right labels."""

from torch import Tensor

from fast.torch._faces import LABELLED, documented, multilabel
from fast.torch._inputs import check_indicator, check_number, check_scores
from fast.torch._signed import Uniform


@documented("0", **LABELLED)
def multilabel_entropy(
    scores: Tensor,
    y: Tensor,
    *,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
) -> Tensor:
    """Multilabel cross-entropy log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}.

    nan where P is empty: that row has no target. Lapin, Hein and Schiele 2018.
    """
    f = check_scores(scores)
    right = check_indicator(y, f)
    return multilabel(
        Uniform(check_number("label_smoothing", label_smoothing, 1.0)),
        f,
        right,
        reduction,
        costs,
        signed=False,
    )
