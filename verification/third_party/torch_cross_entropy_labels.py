"""``torch.nn.functional.cross_entropy`` with probabilities: the multilabel cross-entropy."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "multilabel_entropy.value"
PACKAGES = ("torch",)
FOUND = """Right: with several labels the loss is at least the logarithm of their number, so that nothing is left to
cancel."""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row; every right label has the same share."""
    import torch

    share = y.to(scores.dtype) / y.sum(-1, keepdim=True)
    return torch.nn.functional.cross_entropy(scores, share, reduction="none")


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
