"""Softmax, the top-k entropies and the truncated one on tensors: all by sums of exponentials over the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fast.torch._selection import LOWEST, largest_others, own_score

ALPHA, BETA, TRUNCATED = "alpha", "beta", "truncated"
LINEAR = 40.0  # beyond it log(1 + e^v) is v


@dataclass(frozen=True)
class Entropy:
    """log(1 + Z) with the dual restricted to a top-k simplex, or over all but the k - 1 largest."""

    k: int = 1
    margin: float = 0.0
    variant: str = ALPHA

    def _parts(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Loss, and log odds, log Z, shift, share of the capped, their number, classes, margins, e^(f - b)."""
        k, d = self.k, f.shape[-1] - 1
        own = own_score(f, y) - self.margin
        classes = largest_others(f.detach(), y, min(k, d))[1]
        top = f.gather(-1, classes)
        b = top[..., -1:]
        taken = torch.cat((classes, y.unsqueeze(-1)), -1)
        e = (f - b).scatter(-1, taken, LOWEST).exp()
        log_rest = e.sum(-1, keepdim=True).log1p()  # with the last of the top
        top = top - b
        shift = b - own
        n, log_z, rise = self._capped(top, log_rest, shift)
        rho = n / k
        odds = log_z + shift
        if self.variant == TRUNCATED:
            loss = softplus(odds, threshold=LINEAR)
        else:
            room = 1 - rho
            free = (room * log_z - torch.xlogy(room, room)) + rho * math.log(k) + rise / k
            if self.variant == ALPHA:
                odds = shift + free
                loss = softplus(odds, threshold=LINEAR)
            else:
                part = room * softplus(odds, threshold=LINEAR) - torch.xlogy(room, room)
                loss = part + rho * math.log(k) + (rise + n * shift) / k
        return loss.squeeze(-1), odds, log_z, n, classes, top, e

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
        n = ((k - place).log() + some.detach() > tails).sum(-1, keepdim=True).to(top.dtype)
        capped = place < n
        log_z = torch.cat((some.masked_fill(capped, LOWEST), first), -1).logsumexp(-1, keepdim=True)
        return n, log_z, torch.where(capped, some, 0.0).sum(-1, keepdim=True)

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        return self._parts(f, y)[0]

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, and what the gradient is written from."""
        return self._parts(f, y)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Probabilities, the capped ones and the true class by themselves."""
        odds, log_z, n, classes, top, e = state
        k, q, rho = self.k, odds.sigmoid(), n / self.k
        factor = g * (1 - rho) * q
        x = e * (factor * (-log_z).exp())
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
