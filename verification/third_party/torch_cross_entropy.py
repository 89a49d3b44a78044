"""``torch.nn.functional.cross_entropy`` as the softmax loss."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "softmax.value"
PACKAGES = ("torch",)
FOUND = """As `scipy_log_softmax`: right to rounding in the absolute sense; the relative accuracy
of a loss whose true class leads is lost when 1 + exp(-8) is rounded before its logarithm is taken."""
REPRODUCE = """
import numpy as np
import torch

scores = torch.tensor([[8.0, 0.0]], dtype=torch.float64)
returned = torch.nn.functional.cross_entropy(scores, torch.tensor([0])).item()
right = np.log1p(np.exp(-8.0))
"""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    import torch

    return torch.nn.functional.cross_entropy(scores, y, reduction="none")


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
