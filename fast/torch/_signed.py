"""One-vs-all and multilabel losses on tensors: one signed score per class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from fast.torch._entropies import LINEAR
from fast.torch._function import quadratic
from fast.torch._selection import LOWEST, is_own, own_score

HINGE, SMOOTH, LOGISTIC = "hinge", "smooth_hinge", "logistic"


@dataclass(frozen=True)
class OneVsAll:
    """The sum over all classes of a binary loss of z_j = f_j + c, z_y = c - f_y."""

    kind: str = HINGE
    margin: float = 1.0
    gamma: float = 1.0

    def _loss(self, z: Tensor) -> Tensor:
        if self.kind == LOGISTIC:
            return softplus(z, threshold=LINEAR).sum(-1)
        if self.kind == HINGE:
            return torch.relu(z).sum(-1)
        p = z.clamp(0.0, self.gamma)
        return (torch.sub(z.relu(), p, alpha=0.5) * p).sum(-1) / self.gamma

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        return self._loss(torch.where(is_own(f, y), -f, f) + self.margin)

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses."""
        z = self._margins(f, y)
        if self.kind != SMOOTH:
            return (self._loss(z),)
        p = z.relu_().clamp(max=self.gamma)
        return (z.sub_(p, alpha=0.5).mul_(p).sum(-1) / self.gamma,)

    def _margins(self, f: Tensor, y: Tensor) -> Tensor:
        return (f + self.margin).scatter(-1, y.unsqueeze(-1), self.margin - own_score(f, y))

    def kernel(self, m: int) -> tuple[Any, ...] | None:
        """The hinges in one pass; exponentials are as quick in torch."""
        gamma = self.gamma if self.kind == SMOOTH else 0.0
        return None if self.kind == LOGISTIC else ("signed_rows", gamma, self.margin)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The slopes of the binary losses, with the sign of their side."""
        z = self._margins(f, y)
        if self.kind == LOGISTIC:
            x = z.sigmoid_()
        elif self.kind == HINGE:
            x = z.relu_().sign_()  # a comparison costs more
        else:
            x = z.div_(self.gamma).clamp_(0.0, 1.0)
        x.mul_(g)
        return x.scatter_(-1, y.unsqueeze(-1), -own_score(x, y))


@dataclass(frozen=True)
class Bipartite:
    """max{0, max z_N + max z_P}, or its envelope; z = f + c on N, c - f on P."""

    margins: tuple[float, float] = (1.0, 0.0)
    gamma: float = 1.0

    def _z(self, f: Tensor, y: Tensor) -> Tensor:
        return torch.where(y, self.margins[1] - f, f + self.margins[0])

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f."""
        z = self._z(f, y)
        if self.gamma == 0.0:
            low, high = self._tops(z.detach(), y)
            some = y.any(-1) & ~y.all(-1)
            gap = (z.gather(-1, low) + z.gather(-1, high)).squeeze(-1)
            return torch.relu(torch.where(some, gap, 0.0))
        values, a, b = self._envelope(z.detach(), y)
        level = torch.where(y, b, a)
        positive = z.detach() > level
        right, wrong = positive & y, positive & ~y
        n_p, n_n = (s.sum(-1, keepdim=True).to(z.dtype) for s in (right, wrong))
        z_p, z_n = (torch.where(s, z, 0.0).sum(-1, keepdim=True) for s in (right, wrong))
        free = a + b == 0
        common = (z_n - z_p) / (n_n + n_p).clamp(min=1)
        a = torch.where(free, common, (z_n - self.gamma) / n_n.clamp(min=1))
        b = torch.where(free, -common, (z_p - self.gamma) / n_p.clamp(min=1))
        x = torch.where(positive, z - torch.where(y, b, a), 0.0) / self.gamma
        return quadratic(values, f, torch.where(y, -x, x))

    @staticmethod
    def _tops(z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (
            z.masked_fill(y, -math.inf).argmax(-1, keepdim=True),
            z.masked_fill(~y, -math.inf).argmax(-1, keepdim=True),
        )

    def _envelope(self, z: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses, and thresholds on N and on P: the same sum above both, at most gamma."""
        some = (y.any(-1) & ~y.all(-1)).unsqueeze(-1)
        w, order = torch.where(y, -z, z).sort(-1, descending=True)
        right = y.gather(-1, order)
        wrong = ~right
        n_n = wrong.cumsum(-1).to(z.dtype)
        n_p = right.flip(-1).cumsum(-1).flip(-1).to(z.dtype)
        w_n = torch.where(wrong, w, 0.0).cumsum(-1)
        w_p = torch.where(right, w, 0.0).flip(-1).cumsum(-1).flip(-1)
        lowest = torch.full_like(w, -float("inf"))
        full_n = torch.where(wrong, (w_n - self.gamma) / n_n.clamp(min=1), lowest)
        full_p = torch.where(right, (-w_p - self.gamma) / n_p.clamp(min=1), lowest)
        a, b = full_n.amax(-1, keepdim=True), full_p.amax(-1, keepdim=True)
        # or, with less mass, one threshold for w: as much of N above it as of P below
        balance = (w_n - w * n_n) - (w * n_p - w_p)
        at = (balance < 0).sum(-1, keepdim=True).clamp(max=z.shape[-1] - 1)
        before = torch.where(right, 0.0, 1.0).gather(-1, at)
        m_n = n_n.gather(-1, at) - before
        s_n = w_n.gather(-1, at) - before * w.gather(-1, at)
        common = (s_n + w_p.gather(-1, at)) / (m_n + n_p.gather(-1, at)).clamp(min=1)
        free = a + b < 0
        a, b = torch.where(free, common, a), torch.where(free, -common, b)
        over = (z - torch.where(y, b, a)).clamp(min=0)
        # least at the right thresholds, so that their roundings hardly count, however small gamma is
        value = 0.5 * (over * (over / self.gamma)).sum(-1, keepdim=True) + torch.relu(a + b)
        a, b = (torch.where(some, s, float("inf")) for s in (a, b))
        return torch.where(some, value, 0.0).squeeze(-1), a, b

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses; the two classes that count, or the two thresholds."""
        z = self._z(f, y)
        if self.gamma > 0.0:
            return self._envelope(z, y)
        low, high = self._tops(z, y)
        some = y.any(-1) & ~y.all(-1)
        gap = (z.gather(-1, low) + z.gather(-1, high)).squeeze(-1)
        return torch.relu(torch.where(some, gap, 0.0)), low, high

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """1 and -1 at the two classes, or the projection over gamma."""
        if self.gamma > 0.0:
            x = (self._z(f, y) - torch.where(y, state[1], state[0])).clamp_(min=0)
            return torch.where(y, -x, x).mul_(g / self.gamma)
        low, high = state
        loss = self.solve(f, y)[0].unsqueeze(-1)
        x = torch.where(loss > 0, g, 0.0)
        return torch.zeros_like(f).scatter_(-1, low, x).scatter_(-1, high, -x)


@dataclass(frozen=True)
class Uniform:
    """Softmax against the uniform distribution on the right labels, smoothed over all."""

    label_smoothing: float = 0.0

    def _share(self, f: Tensor, y: Tensor) -> Tensor:
        share = torch.where(y, 1.0 - self.label_smoothing, 0.0).to(f.dtype) / y.sum(
            -1, keepdim=True
        )
        return share + self.label_smoothing / f.shape[-1] if self.label_smoothing else share

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f; no right label: nan."""
        top = f.detach().argmax(-1, keepdim=True)
        above = f.gather(-1, top)
        rest = (f - above).scatter(-1, top, LOWEST).exp().sum(-1)
        return (self._share(f, y) * (above - f)).sum(-1) + rest.log1p()

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses."""
        return (self.exact(f, y),)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Probabilities less those of the target."""
        return (f.softmax(-1) - self._share(f, y)).mul_(g)
