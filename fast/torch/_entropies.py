"""Softmax, the top-k entropies and the truncated one on tensors: all by sums of exponentials over the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fast.torch._selection import LOWEST, few, largest, others, own_score, picked, removed

ALPHA, BETA, TRUNCATED = "alpha", "beta", "truncated"
LINEAR = 40.0  # beyond it log(1 + e^v) is v


@dataclass(frozen=True)
class Entropy:
    """log(1 + Z) with the dual restricted to a top-k simplex, or over all but the k - 1 largest."""

    k: int = 1
    margin: float = 0.0
    variant: str = ALPHA

    def _loss(self, top: Tensor, log_rest: Tensor, own: Tensor) -> tuple[Tensor, ...]:
        """Loss, and log odds, log Z and the number of capped classes, all but the loss (..., 1).

        top: the k largest of the others; log_rest: of the sum of e^(f - b) without the k - 1 largest, b
        the last of the top.
        """
        # b is a constant: derivatives that went by it would cancel in the last of the top
        k, b = self.k, top[..., -1:].detach()
        shift = b - own
        n, log_z, rise = self._capped(top - b, log_rest, shift)
        odds = log_z + shift
        if self.variant == TRUNCATED or k == 1:
            return softplus(odds, threshold=LINEAR).squeeze(-1), odds, log_z, n
        rho = n / k
        room = 1 - rho
        fixed = rho * math.log(k) - torch.xlogy(room, room)
        if self.variant == ALPHA:
            odds = shift + (room * log_z + fixed + rise / k)
            return softplus(odds, threshold=LINEAR).squeeze(-1), odds, log_z, n
        loss = room * softplus(odds, threshold=LINEAR) + fixed + (rise + n * shift) / k
        return loss.squeeze(-1), odds, log_z, n

    def _capped(
        self, top: Tensor, log_rest: Tensor, shift: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Number of capped classes, log Z of the others, and the sum over the capped."""
        k, d = self.k, top.shape[-1]
        if self.variant == TRUNCATED or k == 1:
            zero = torch.zeros_like(log_rest)
            return zero, log_rest, zero
        some = top if k > d else top[..., :-1]
        first = torch.full_like(log_rest, LOWEST) if k > d else log_rest
        size = some.shape[-1]
        if size == 0:
            zero = torch.zeros_like(log_rest)
            return zero, log_rest, zero
        place = torch.arange(size, device=top.device, dtype=top.dtype)
        tails = (
            torch.cat((some, first), -1).detach().flip(-1).logcumsumexp(-1).flip(-1)[..., :-1]
        )  # from each on
        if self.variant == BETA:
            tails = torch.logaddexp(tails, -shift.detach())
        # of scores so far apart that a sum would hide log k: the difference does not
        n = ((k - place).log() > tails - some.detach()).sum(-1, keepdim=True).to(top.dtype)
        capped = place < n
        log_z = torch.cat((some.masked_fill(capped, LOWEST), first), -1).logsumexp(-1, keepdim=True)
        return n, log_z, torch.where(capped, some, 0.0).sum(-1, keepdim=True)

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        own, classes = (
            own_score(f, y) - self.margin,
            largest(others(f.detach(), y), self._top(f))[1],
        )
        top = picked(f, classes)
        taken = torch.cat((classes, y.unsqueeze(-1)), -1)
        last = top[..., -1:]
        rest = removed(f - last.detach(), taken, LOWEST).exp().sum(-1, keepdim=True)
        return self._loss(top, torch.log1p(rest + torch.expm1(last - last.detach())), own)[0]

    def _top(self, f: Tensor) -> int:
        return min(self.k, f.shape[-1] - 1)

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, and what the gradient is written from: probabilities of the rest among it."""
        masked = others(f, y)
        top, classes = largest(masked, self._top(f))
        # one call of softmax costs less than one of exp; the last of the top has the largest entry
        e = masked.clamp_(max=top[..., -1:]).softmax(-1)
        unit = e.gather(-1, classes[..., -1:])
        e.scatter_(-1, classes, 0.0)
        log_rest = (e.sum(-1, keepdim=True) / unit).log1p()
        return *self._loss(top, log_rest, own_score(f, y) - self.margin), classes, top, e, unit

    def kernel(self, m: int) -> tuple[Any, ...] | None:
        """By the k largest and the exponentials of the rest."""
        variant = (ALPHA, BETA, TRUNCATED).index(self.variant)
        return few(min(self.k, m - 1), "entropy_rows", variant, self.k, self.margin)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Probabilities, the capped ones and the true class by themselves."""
        odds, log_z, n, classes, top, e, unit = state
        top = top - top[..., -1:]
        k, q, rho = self.k, odds.sigmoid(), n / self.k
        factor = g * (1 - rho) * q
        x = e * (factor * (-log_z).exp() / unit)
        place = torch.arange(top.shape[-1], device=f.device, dtype=f.dtype)
        s = q
        if self.variant == TRUNCATED:
            cap, n = torch.zeros_like(q), torch.full_like(n, k - 1)
        elif self.variant == ALPHA:
            cap = g * q / k
        else:
            cap, s = g / k, rho + (1 - rho) * q
        kept = torch.where(place < n, cap, factor * (top - log_z).exp())
        x.scatter_(-1, classes, kept)
        return x.scatter_(-1, y.unsqueeze(-1), -g * s)
