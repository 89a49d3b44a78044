"""``torch.nn.functional.binary_cross_entropy_with_logits``, summed: the one-vs-all logistic loss."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "ova_logistic.value"
PACKAGES = ("torch",)
FOUND = """Right but for the relative accuracy of losses near 0 at a label of 0: there the score is added to the
negative logarithm of the sigmoid, which cancels: 40 - 40 is 0, where the loss is 4e-18. At a label of 1 the
digits are kept, and `torch_soft_margin` keeps them at both. Absolute errors are those of rounding."""
REPRODUCE = """
import numpy as np
import torch

score, label = torch.tensor([-40.0], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
returned = torch.nn.functional.binary_cross_entropy_with_logits(score, label).item()
right = np.log1p(np.exp(-40.0))  # 4.248354255291589e-18
"""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row; labels are 0 and 1."""
    import torch

    label = torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype)
    each = torch.nn.functional.binary_cross_entropy_with_logits(scores, label, reduction="none")
    return each.sum(-1)


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
