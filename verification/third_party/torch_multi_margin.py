"""``torch.nn.functional.multi_margin_loss``, times m/(m - 1): the mean of all hinges, as k = m - 1 has it."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "topk_hinge_beta.value"
PACKAGES = ("torch",)
REFUSES = ("NotImplementedError",)
FOUND = """Right, where all m - 1 other classes count; torch has no k, and divides by m, the truth's own class
included."""


def loss(scores: Any, y: Any, k: int) -> Any:
    """The loss of each row; it has no other k."""
    import torch

    m = scores.shape[-1]
    if k != m - 1:
        raise NotImplementedError("all other classes count")
    return torch.nn.functional.multi_margin_loss(scores, y, reduction="none") * m / (m - 1)


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
