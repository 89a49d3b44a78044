"""Projections on tensors: smooth top-k hinges and sparsemax.

Such a threshold is where R(t), the excess over t of the classes below the cap, meets a function of the k largest that
is known in closed form. R is convex and piecewise linear. With a tangent in its place the equation is solved at once,
by a lower bound on the threshold: Newton's method, whose solutions ascend until the right classes are active. Traced
calls, and those on devices that one would have to wait for, make a fixed number of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fast.torch._function import quadratic
from fast.torch._selection import few, is_own, largest, others, own_score, removed

Meet = Callable[
    [Tensor, Tensor], Tensor
]  # the bound, from a tangent's number of entries and their sum
STEPS = {torch.float32: 10, torch.float64: 12}  # at most 8 were needed, see the tests
MOST = 60  # steps where they end by themselves


def ascend(rest: Tensor, t: Tensor, meet: Meet, wait: bool | None) -> tuple[Tensor, Tensor, Tensor]:
    """Newton's method from a lower bound t: the threshold, and the sums of the excess and of its squares.

    wait: whether to stop when it is reached; None where calls are traced or transformed: nothing in place.
    """
    relu, sign = (torch.relu, torch.sign) if wait is None else (torch.relu_, Tensor.sign_)
    for _ in range(MOST if wait else STEPS[rest.dtype]):
        above = relu(rest - t)
        mass, count = above.sum(-1, keepdim=True), sign(above).sum(-1, keepdim=True)
        del above
        new = torch.maximum(meet(count, mass + count * t), t)
        if wait and not (new > t).any():
            break
        t = new
    above = relu(rest - t)
    return t, above.sum(-1, keepdim=True), above.square().sum(-1, keepdim=True)


def with_own(x: Tensor, y: Tensor) -> Tensor:
    """Gradient from x at the other classes: minus their sum at y, in place."""
    x.scatter_(-1, y.unsqueeze(-1), 0.0)
    return x.scatter_(-1, y.unsqueeze(-1), -x.sum(-1, keepdim=True))


@dataclass(frozen=True)
class Smooth:
    """(<z,p> - ||p||^2/2)/gamma, p the projection of z on the top-k simplex of radius gamma."""

    k: int = 1
    margin: float = 1.0
    beta: bool = False
    gamma: float = 1.0

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, and what `gradient` reads."""
        return self.whole(f, y, f.is_cpu)

    def whole(self, f: Tensor, y: Tensor, wait: bool | None) -> tuple[Tensor, ...]:
        """Losses; t and u with p = clip(f - t, 0, u) at the other classes."""
        own, rest = own_score(f, y) - self.margin, others(f, y)
        top, classes = largest(rest, min(self.k, f.shape[-1] - 1))
        b = top[..., -1:]  # thresholds are relative to it
        top, shift = top - b, b - own  # and shift is it in z
        rest = removed(rest, classes) - b
        start, meet, height = self._tangents(top, shift)
        t, mass, square = ascend(rest, start, meet, wait)
        u = height(mass)
        p = torch.minimum((top - t).clamp(min=0), u)
        linear = (p * (top + shift - p)).sum(-1, keepdim=True) + (t + shift) * mass
        losses = self._losses(u, linear, square + p.square().sum(-1, keepdim=True))
        return losses, torch.where(t <= -shift, own, t + b) if self.beta else t + b, u

    def _losses(self, u: Tensor, linear: Tensor, square: Tensor) -> Tensor:
        if not self.beta:  # z - p is orthogonal to p on the cone
            linear = torch.where(u < self.gamma / self.k, 0.0, linear)
        return ((0.5 * square + linear) / self.gamma).squeeze(-1)

    def _tangents(
        self, top: Tensor, shift: Tensor
    ) -> tuple[Tensor, Meet, Callable[[Tensor], Tensor]]:
        """A lower bound, bounds from tangents, and u from the excess of the rest; relative to the k-th."""
        k, cap = self.k, self.gamma / self.k
        j = torch.arange(1, top.shape[-1] + 1, device=top.device, dtype=top.dtype)
        sums = top.flip(-1).cumsum(-1)  # of the j smallest
        if self.beta:
            zero, room = -shift, sums - j * cap  # 0 of z; what lies below the cap

            def meet(count: Tensor, mass: Tensor) -> Tensor:
                if k > top.shape[-1]:  # sums stay below gamma
                    return zero.expand_as(mass)
                return torch.maximum(((mass + room) / (j + count)).amin(-1, keepdim=True), zero)

            return zero.clamp(min=-cap), meet, lambda delta: torch.full_like(delta, cap)
        means = sums / j
        mean = means[..., -1:] + shift  # of the top, in z

        def height(delta: Tensor) -> Tensor:
            return torch.where(mean <= 0, 0.0, (mean + delta / k).clamp(max=cap))

        def cone(count: Tensor, mass: Tensor) -> Tensor:
            # delta: what the top has above u + t, and the rest above t, where the sum is gamma or free
            known = mass - count * means
            full = (count * cap + known) / (count / j + 1)
            free = (count * mean + known) / (count * (1 / j - 1 / k) + 1)
            delta = torch.minimum(full.amax(-1, keepdim=True), free.amax(-1, keepdim=True))
            delta = delta.clamp(min=0)
            return (delta / j + means).amin(-1, keepdim=True) - (mean + delta / k).clamp(max=cap)

        return -mean.clamp(max=cap), cone, height

    def kernel(self, m: int) -> tuple[Any, ...] | None:
        """By the k largest and a few more, or whole rows."""
        return few(
            min(self.k, m - 1), "smooth_rows", int(self.beta), self.k, self.gamma, self.margin
        )

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """clip(f - t, 0, u)/gamma."""
        t, u = state
        return with_own(torch.minimum((f - t).clamp_(min=0), u).mul_(g / self.gamma), y)

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        values, t, u = self.whole(f.detach(), y, None)
        k = self.k
        apart, own = ~is_own(f, y), own_score(f, y) - self.margin
        level = t - own.detach()  # in z; all else is relative to it, for the sake of the digits
        over = f - own - level
        excess = f.detach() - t
        capped = apart & (excess >= u) & (u > 0)
        middle = apart & (excess > 0) & (excess < u)
        n, count = (s.sum(-1, keepdim=True).to(f.dtype) for s in (capped, middle))
        top, mid = (torch.where(s, over, 0.0).sum(-1, keepdim=True) for s in (capped, middle))
        some = count.clamp(min=1)
        cap = self.gamma / k
        rise = (mid - (k - n) * cap) / some  # the sum is gamma
        height = torch.full_like(rise, cap)
        if self.beta:
            rise = torch.where(level > 0, rise, 0.0)
        else:
            bottom = n * some + (k - n) ** 2
            free = u < cap
            rise = torch.where(free, (n * mid - (k - n) * (top + k * level)) / bottom, rise)
            above = (some * (top + k * level) + (k - n) * mid) / bottom
            height = torch.where(free, above, height)
        p = torch.where(capped, height, torch.where(middle, over - rise, 0.0)) / self.gamma
        return quadratic(values, f, torch.where(apart, p, -p.sum(-1, keepdim=True)))


@dataclass(frozen=True)
class Simplex:
    """Sparsemax: max over p in the simplex of <z,p> - ||p||^2/2 + 1/2 - z_y."""

    margin: float = 0.0

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, and what `gradient` reads."""
        return self.whole(f, y, f.is_cpu)

    @staticmethod
    def _meet(count: Tensor, mass: Tensor) -> Tensor:
        return (mass - 1) / count

    def _z(self, f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        own = own_score(f, y) - self.margin
        return torch.where(is_own(f, y), own, f) if self.margin else f, own

    @staticmethod
    def _losses(x: Tensor, above: Tensor) -> Tensor:
        return 0.5 * (x.square().sum(-1) + x.sum(-1).square()) + above.relu().squeeze(-1)

    def whole(self, f: Tensor, y: Tensor, wait: bool | None) -> tuple[Tensor, ...]:
        """Losses; t with p = max(f - t, 0) at the other classes."""
        z, own = self._z(f, y)
        top = z.amax(-1, keepdim=True)
        t = ascend(z - top, torch.full_like(top, -1.0), self._meet, wait)[0] + top
        x = removed((z - t).clamp(min=0), y.unsqueeze(-1), 0.0)
        return self._losses(x, t - own), t

    def kernel(self, m: int) -> tuple[Any, ...] | None:
        """By a few of the largest, or whole rows."""
        return "smooth_rows", 2, 1, 1.0, self.margin

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The projection at the other classes, and minus their sum."""
        return with_own((f - state[0]).clamp_(min=0).mul_(g), y)

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        values, t = self.whole(f.detach(), y, None)
        own = is_own(f, y)
        over = torch.where(own, f - self.margin, f) - t
        positive = over.detach() > 0
        count = positive.sum(-1, keepdim=True)
        rise = (torch.where(positive, over, 0.0).sum(-1, keepdim=True) - 1) / count
        x = torch.where(positive & ~own, over - rise, 0.0)
        return quadratic(values, f, torch.where(own, -x.sum(-1, keepdim=True), x))
