"""Projections by Newton steps on whole rows: smooth top-k hinges and sparsemax on tensors.

The threshold of a projection is the root of a convex function less a concave one of k known pieces. Newton's
method for the convex part, the other part solved exactly, ascends from the left and ends at the root, as soon as
the right classes are active. The number of steps is fixed: no decision waits for the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fast.torch._function import quadratic
from fast.torch._selection import LOWEST, is_own, largest_others, own_score

STEPS = {torch.float32: 12, torch.float64: 20}


def active(rest: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Number of entries above t, and the sum of their excess, (..., 1)."""
    above = (rest - t).clamp(min=0)
    return (above > 0).sum(-1, keepdim=True).to(rest.dtype), above.sum(-1, keepdim=True)


@dataclass(frozen=True)
class Smooth:
    """(<z,p> - ||p||^2/2)/gamma, p the projection of z on the top-k simplex of radius gamma."""

    k: int = 1
    margin: float = 1.0
    beta: bool = False
    gamma: float = 1.0

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses; t and u with p = clip(f - t, 0, u) at the other classes, (..., 1)."""
        d, k, gamma = f.shape[-1] - 1, self.k, self.gamma
        own = own_score(f, y) - self.margin
        top, classes = largest_others(f, y, min(k, d))
        b = top[..., -1:]  # all thresholds are relative to it
        taken = torch.cat((classes, y.unsqueeze(-1)), -1)
        rest = (f - b).scatter(-1, taken, LOWEST)
        cap = torch.full_like(b, gamma / k)
        low = (top - b).flip(-1)  # ascending
        if self.beta:
            t, u = self._beta(rest, low, b - own, cap), cap
        else:
            t, u = self._alpha(rest, low, (top - own).sum(-1, keepdim=True), cap)
        over = (rest - t).clamp(min=0)
        p = torch.minimum((low - t).clamp(min=0), u)
        level = t + (b - own)  # t in the coordinates z
        z = low + (b - own)
        linear = (p * (z - p)).sum(-1) + (level * over.sum(-1, keepdim=True)).squeeze(-1)
        if not self.beta:  # orthogonal on the cone
            linear = torch.where((u < cap).squeeze(-1), 0.0, linear)
        square = p.square().sum(-1) + over.square().sum(-1)
        t = torch.where(t <= own - b, own, t + b) if self.beta else t + b
        return (0.5 * square + linear) / gamma, t, u

    def _beta(self, rest: Tensor, low: Tensor, shift: Tensor, cap: Tensor) -> Tensor:
        if self.k > low.shape[-1]:
            return -shift  # sums stay below the radius
        j = torch.arange(1, self.k + 1, device=low.device, dtype=low.dtype)
        sums = low.cumsum(-1) - j * cap
        t = torch.maximum(-cap, -shift)
        for _ in range(STEPS[low.dtype]):
            count, excess = active(rest, t)
            mass = excess + count * t
            # the tangent meets the top's part at the least of the roots of its pieces
            none = torch.where(count > 0, mass / count.clamp(min=1), float("inf"))
            root = torch.minimum(((mass + sums) / (j + count)).amin(-1, keepdim=True), none)
            t = torch.maximum(torch.maximum(root, t), -shift)
        return t

    def _alpha(
        self, rest: Tensor, low: Tensor, total: Tensor, cap: Tensor
    ) -> tuple[Tensor, Tensor]:
        k = self.k
        j = torch.arange(1, k + 1, device=low.device, dtype=low.dtype)
        means = low.cumsum(-1) / j
        share = (1 / j, 1 / j - 1 / k)
        u = torch.minimum(total / k, cap)
        t = -u
        for _ in range(STEPS[low.dtype]):
            count, excess = active(rest, t)
            mass = excess + count * t
            full = ((count * (cap - means) + mass) / (count * share[0] + 1)).amax(-1, keepdim=True)
            cone = ((count * (total / k - means) + mass) / (count * share[1] + 1)).amax(
                -1, keepdim=True
            )
            delta = torch.minimum(full, cone).clamp(min=0)
            u = torch.minimum((total + delta) / k, cap)
            t = torch.maximum((delta / j + means).amin(-1, keepdim=True) - u, t)
        return t, torch.where(total <= 0, 0.0, u)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """clip(f - t, 0, u)/gamma."""
        t, u = state
        x = torch.minimum((f - t).clamp_(min=0), u).mul_(g / self.gamma)
        x.scatter_(-1, y.unsqueeze(-1), 0.0)
        return x.scatter_(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True))

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        values, t, u = self.solve(f.detach(), y)
        k = self.k
        others, own = ~is_own(f, y), own_score(f, y) - self.margin
        excess = f.detach() - t
        capped = others & (excess >= u) & (u > 0)
        middle = others & (excess > 0) & (excess < u)
        n, count = (s.sum(-1, keepdim=True).to(f.dtype) for s in (capped, middle))
        z_top = torch.where(capped, f - own, 0.0).sum(-1, keepdim=True)
        z_mid = torch.where(middle, f - own, 0.0).sum(-1, keepdim=True)
        some = count.clamp(min=1)
        cap = self.gamma / k
        level = (z_mid - (k - n) * cap) / some  # the sum is gamma
        height = torch.full_like(level, cap)
        if self.beta:
            level = torch.where(t > own.detach(), level, 0.0)
        else:
            bottom = n * some + (k - n) ** 2
            free = u < cap
            level = torch.where(free, (n * z_mid - (k - n) * z_top) / bottom, level)
            height = torch.where(free, (some * z_top + (k - n) * z_mid) / bottom, height)
        p = torch.where(capped, height, torch.where(middle, f - own - level, 0.0)) / self.gamma
        return quadratic(values, f, p.scatter(-1, y.unsqueeze(-1), -p.sum(-1, keepdim=True)))


@dataclass(frozen=True)
class Simplex:
    """Sparsemax: max over p in the simplex of <z,p> - ||p||^2/2 + 1/2 - z_y."""

    margin: float = 0.0

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses; t with p = max(f - t, 0) at the other classes."""
        at, own = y.unsqueeze(-1), own_score(f, y) - self.margin
        z = f.scatter(-1, at, own)
        top = z.amax(-1, keepdim=True)
        z = z - top
        t = torch.full_like(top, -1.0)
        for _ in range(STEPS[f.dtype]):
            count, excess = active(z, t)
            t = t + (excess - 1) / count
        x = (z - t).clamp(min=0).scatter(-1, at, 0.0)
        above = torch.relu(t + (top - own)).squeeze(-1)
        return 0.5 * (x.square().sum(-1) + x.sum(-1).square()) + above, t + top

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The projection at the other classes, and minus their sum."""
        x = (f - state[0]).clamp_(min=0).mul_(g)
        x.scatter_(-1, y.unsqueeze(-1), 0.0)
        return x.scatter_(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True))

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        values, t = self.solve(f.detach(), y)
        own = is_own(f, y)
        z = torch.where(own, f - self.margin, f)
        positive = z.detach() > t
        count = positive.sum(-1, keepdim=True)
        level = (torch.where(positive, z, 0.0).sum(-1, keepdim=True) - 1) / count
        x = torch.where(positive & ~own, z - level, 0.0)
        return quadratic(values, f, x.scatter(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True)))
