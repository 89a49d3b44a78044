"""``torch.nn.functional.soft_margin_loss``, summed over the classes: the one-vs-all logistic loss."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "ova_logistic.value"
PACKAGES = ("torch",)
DEFECT = "``soft_margin_loss`` of a score of -710 is inf, its gradient nan; the loss is 710, its slope -1."
FOUND = """log(1 + exp(-y f)) as it is written: the exponential overflows. A score of -710 at a label of 1 (of -89 in
single precision) gives inf, and a gradient of nan, where the loss is 710 and its slope -1;
`torch_soft_margin`, the multilabel function beside it, and ``softplus`` are right. The documentation gives
the formula and no range."""
REPRODUCE = """
import numpy as np
import torch

scores = torch.tensor([-800.0], dtype=torch.float64, requires_grad=True)
loss = torch.nn.functional.soft_margin_loss(scores, torch.ones(1, dtype=torch.float64))
loss.backward()
returned = [loss.item(), scores.grad.item()]
right = [800.0, -1.0]
"""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row; labels are 1 and -1."""
    import torch

    sign = 2 * torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype) - 1
    return torch.nn.functional.soft_margin_loss(scores, sign, reduction="none").sum(-1)


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
