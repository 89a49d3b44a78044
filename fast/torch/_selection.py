"""Which classes count: the largest of the others, found without a copy of the scores."""

from __future__ import annotations

import torch
from torch import Tensor

LOWEST = -1e30  # of a class that is left out: its exponential is 0, and differences stay finite


def own_score(f: Tensor, y: Tensor) -> Tensor:
    """Scores of the true classes, with an axis of length 1."""
    return f.gather(-1, y.unsqueeze(-1))


def largest_others(f: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Values and classes of the n <= m - 1 largest scores but for that of y, in descending order.

    The n + 1 largest are found; y is taken out where it is among them, else the last.
    """
    values, classes = f.topk(n + 1, dim=-1)
    after = (classes == y.unsqueeze(-1)).cumsum(-1)[..., :n] > 0
    return (
        torch.where(after, values[..., 1:], values[..., :n]),
        torch.where(after, classes[..., 1:], classes[..., :n]),
    )


def is_own(f: Tensor, y: Tensor) -> Tensor:
    """True at the true classes, (..., m)."""
    return y.unsqueeze(-1) == torch.arange(f.shape[-1], device=f.device)
