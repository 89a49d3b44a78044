"""``torch.nn.functional.multilabel_soft_margin_loss``, times m, as the one-vs-all logistic loss."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "ova_logistic.value"
PACKAGES = ("torch",)
FOUND = """Right once it is multiplied by the number of classes: it is a mean over the classes
where the loss is a sum. The logistic functions are evaluated so that tiny losses keep their
digits."""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row; the classes are wanted as rows of 0 and 1."""
    import torch

    target = torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype)
    return torch.nn.functional.multilabel_soft_margin_loss(scores, target, reduction="none")


candidate = adapt(loss, PROBLEM, torch=True, rows=True, answer=lambda value, m: m * value)
