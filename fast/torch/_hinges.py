"""The top-k hinges on tensors, of which a few of the largest entries decide, and their weighted kin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fast.torch._selection import few, largest, others, own_score, picked


@dataclass(frozen=True)
class Hinge:
    """max{0, S_k(z)/k}, or for beta S_k(max(z, 0))/k; half the square of it with ``squared``."""

    k: int = 1
    margin: float = 1.0
    beta: bool = False
    squared: bool = False

    def _loss(self, z: Tensor) -> Tensor:
        hinge = (z.relu().sum(-1) if self.beta else z.sum(-1).relu()) / self.k
        return 0.5 * hinge * hinge if self.squared else hinge

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        n = min(self.k, f.shape[-1] - 1)
        classes = largest(others(f.detach(), y), n)[1]
        return self._loss(picked(f, classes) - own_score(f, y) + self.margin)

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, the classes that count, and their margins."""
        top, classes = largest(others(f, y), min(self.k, f.shape[-1] - 1))
        z = top - (own_score(f, y) - self.margin)
        return self._loss(z), classes, z

    def kernel(self, m: int) -> tuple[Any, ...] | None:
        """max{0, S_k(z)/k} of the k largest."""
        return few(
            min(self.k, m - 1), "hinge_rows", int(self.beta), self.k, self.squared, self.margin
        )

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """1/k at the classes that count, times the hinge if squared."""
        classes, z = state
        factor = g / self.k
        if self.beta:
            x = z.relu().sign_().mul_(factor)
        else:
            hinge = z.sum(-1, keepdim=True).relu_().div_(self.k)
            x = (hinge if self.squared else hinge.sign_()).mul_(factor).expand_as(z)
        out = torch.zeros_like(f).scatter_(-1, classes, x)
        return out.scatter_(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True))


@dataclass(frozen=True, eq=False)
class Ordered:
    """sum_i beta_i max(z_[i], 0), the largest first; beta one number for all, or a tensor (m - 1,)."""

    beta: Any = 1.0
    margin: float = 1.0

    def _weights(self, f: Tensor) -> Tensor:
        return torch.as_tensor(self.beta, dtype=f.dtype, device=f.device)

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        classes = largest(others(f.detach(), y), f.shape[-1] - 1)[1]
        z = picked(f, classes) - own_score(f, y) + self.margin
        return (z.relu() * self._weights(f)).sum(-1)

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, the classes by their margins, and these."""
        top, classes = largest(others(f, y), f.shape[-1] - 1)
        z = top - (own_score(f, y) - self.margin)
        return (z.relu() * self._weights(f)).sum(-1), classes, z

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Beta_i at the i-th class, where its margin is positive."""
        classes, z = state
        x = z.relu().sign_() * self._weights(f) * g
        out = torch.zeros_like(f).scatter_(-1, classes, x)
        return out.scatter_(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True))
