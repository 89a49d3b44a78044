"""Which classes count: the largest of the others.

Traced, everything is elementwise or a sum along rows, so that compilers make few kernels of it: the largest of a few
are taken one by one. Eager calls gather, scatter and `topk`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

LOWEST = -1e30  # of a class that is left out: its exponential is 0, and differences stay finite
FEW = 8
MOST = 32  # that kernels select, of the maxima of 64 parts


def is_own(f: Tensor, y: Tensor) -> Tensor:
    """True at the true classes, (..., m)."""
    return y.unsqueeze(-1) == torch.arange(f.shape[-1], device=f.device)


def picked(f: Tensor, classes: Tensor) -> Tensor:
    """Scores of some classes, (..., n)."""
    if not _traced(classes.shape[-1]):
        return f.gather(-1, classes)
    one = (torch.where(at, f, 0.0).sum(-1, keepdim=True) for at in _each(f, classes))
    return torch.cat(tuple(one), -1)


def removed(f: Tensor, classes: Tensor, value: float = -math.inf) -> Tensor:
    """Scores, those of some classes replaced."""
    if not _traced(classes.shape[-1]):
        return f.scatter(-1, classes, value)
    for at in _each(f, classes):
        f = torch.where(at, value, f)
    return f


def largest(f: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The n largest scores, in descending order, and their classes."""
    if not _traced(n):
        return f.topk(n, dim=-1)
    values, classes = [], []
    for _ in range(n):
        values.append(f.amax(-1, keepdim=True))
        classes.append(f.argmax(-1, keepdim=True))
        f = removed(f, classes[-1])
    return torch.cat(values, -1), torch.cat(classes, -1)


def own_score(f: Tensor, y: Tensor) -> Tensor:
    """Scores of the true classes, with an axis of length 1."""
    return picked(f, y.unsqueeze(-1))


def others(f: Tensor, y: Tensor) -> Tensor:
    """Scores (..., m), those of the true classes -inf."""
    return removed(f, y.unsqueeze(-1))


def few(n: int, *kernel: Any) -> tuple[Any, ...] | None:
    """A kernel that selects the n largest, if it is quick at that."""
    return kernel if n <= MOST else None


def _traced(n: int) -> bool:
    return torch.compiler.is_compiling() and n <= FEW


def _each(f: Tensor, classes: Tensor) -> list[Tensor]:
    places = torch.arange(f.shape[-1], device=f.device)
    return [places == at for at in classes.split(1, -1)]
