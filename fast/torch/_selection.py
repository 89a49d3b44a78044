"""Which classes count: the largest of the others."""

from __future__ import annotations

import math

import torch
from torch import Tensor

LOWEST = -1e30  # of a class that is left out: its exponential is 0, and differences stay finite


def own_score(f: Tensor, y: Tensor) -> Tensor:
    """Scores of the true classes, with an axis of length 1."""
    return f.gather(-1, y.unsqueeze(-1))


def is_own(f: Tensor, y: Tensor) -> Tensor:
    """True at the true classes, (..., m)."""
    return y.unsqueeze(-1) == torch.arange(f.shape[-1], device=f.device)


def others(f: Tensor, y: Tensor) -> Tensor:
    """Scores (..., m), those of the true classes -inf."""
    return f.scatter(-1, y.unsqueeze(-1), -math.inf)
