"""The consistent top-k hinges on tensors: one sort of the scores, or of the scores and these less 1.

The maximum over p in the simplex of <u,p> - S_k(p) + 1 - gamma/2 (||p||^2 - 1) - u_y has p from two projections: q of u
on {0 <= q <= 1, <1,q> = k}, and that of (u - q)/gamma.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fast.torch._function import quadratic
from fast.torch._selection import is_own, own_score


def threshold(a: Tensor, total: float) -> Tensor:
    """The t with sum_j (a_j - t)_+ = total."""
    n = torch.arange(1, a.shape[-1] + 1, device=a.device, dtype=a.dtype)
    return ((a.sort(-1, descending=True)[0].cumsum(-1) - total) / n).amax(-1, keepdim=True)


def capped_threshold(u: Tensor, k: int) -> Tensor:
    """The w with sum_j clip(u_j - w, 0, 1) = k."""
    ends, order = torch.cat((u, u - 1), -1).sort(-1, descending=True)
    slope = torch.where(order < u.shape[-1], 1.0, -1.0).to(u.dtype).cumsum(-1)
    rise = (slope[..., :-1] * (ends[..., :-1] - ends[..., 1:])).cumsum(-1)
    mass = torch.cat((torch.zeros_like(u[..., :1]), rise), -1)
    at = ((mass <= k).sum(-1, keepdim=True) - 1).clamp(min=0)
    left = (k - mass.gather(-1, at)) / slope.gather(-1, at).clamp(min=1)
    return ends.gather(-1, at) - left


@dataclass(frozen=True)
class Consistent:
    """1 + max{u_[1] - 1, tau} - u_y, sum_j (u_j - tau)_+ = k."""

    k: int = 1
    margin: float = 0.0

    def _scores(self, f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Scores less the largest, that of the truth without the margin; and that of the truth."""
        own = own_score(f, y) - self.margin
        u = torch.where(is_own(f, y), own, f) if self.margin else f
        top = u.amax(-1, keepdim=True)
        return u - top, own - top

    def whole(self, f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Losses, and their gradients p - e_y, differentiable in f."""
        u, own = self._scores(f.detach(), y)
        tau = threshold(u, float(self.k))
        shared = (u > tau).to(u.dtype)
        first = torch.zeros_like(u).scatter(-1, u.argmax(-1, keepdim=True), 1.0)
        p = torch.where(tau > -1, shared / shared.sum(-1, keepdim=True), first)
        return (1 + tau.clamp(min=-1) - own).squeeze(-1), p - is_own(f, y).to(f.dtype)

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses and gradients."""
        return self.whole(f, y)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The gradient that was kept."""
        return state[0] * g

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        values, gradient = self.whole(f, y)
        return quadratic(values.detach(), f, gradient)


@dataclass(frozen=True)
class SmoothConsistent(Consistent):
    """Gamma/2 (||p||^2 - 1) added to the conjugate."""

    gamma: float = 1.0

    def whole(self, f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """As above; which classes have which part in q and p is detached."""
        u, own = self._scores(f, y)
        at, k, gamma = u.detach(), self.k, self.gamma
        q = (at - capped_threshold(at, k)).clamp(0, 1)
        capped, middle = q >= 1, (q > 0) & (q < 1)
        n = middle.sum(-1, keepdim=True).clamp(min=1)
        mass = k - capped.sum(-1, keepdim=True)
        w = (torch.where(middle, u, 0.0).sum(-1, keepdim=True) - mass) / n
        left = torch.where(capped, u - 1, torch.where(middle, w, u))
        ahead = left.detach()  # the largest is positive also where gamma is less than its rounding
        positive = (ahead > threshold(ahead, gamma)) | (ahead >= ahead.amax(-1, keepdim=True))
        kept = torch.where(positive, left, 0.0)
        t = (kept.sum(-1, keepdim=True) - gamma) / positive.sum(-1, keepdim=True)
        p = torch.where(positive, (kept - t) / gamma, 0.0)
        # of exact sum 1, of which an error costs its square; that of (kept - t)/gamma grows as 1/gamma
        there = torch.where(positive, p.detach().clamp(0, 1), 0.0)
        there = torch.where(there.sum(-1, keepdim=True) > 0, there, positive.to(u.dtype))
        there = there / there.sum(-1, keepdim=True)
        p = torch.where((p.detach().sum(-1, keepdim=True) - 1).abs() < 0.5, p, there)
        inner = torch.where(positive, there * (at - own.detach() + (1 - q)), 0.0).sum(-1)
        values = (inner + 0.5 * gamma * (1 - there.square().sum(-1))).clamp(min=0)
        values = torch.where(own.detach().squeeze(-1).isnan(), torch.nan, values)
        return values, p - is_own(f, y).to(f.dtype)
