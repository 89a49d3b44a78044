"""The most violated ranking of average precision on tensors: the pairs of a negative and a positive, in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fast.torch._function import eager

BLOCK = 1 << 18  # pairs at a time in eager calls; traced ones hold all


@dataclass(frozen=True)
class Rankings:
    """max over rankings of 1 - AP + <s, Psi(R) - Psi(R*)>; the last axis holds queries, y = 2 query + label.

    A negative j stands above the positives from rank opt_j on, where sum_{k >= i} h_k(j) is largest,
    h_k(j) = k/((j+k)(j+k-1))/P - 2 (s_k - s_j)/(P N); ranks count from the top, in each query.
    """

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Sum of the losses of all queries, and the subgradient."""
        return self._ranked(f, y)

    @staticmethod
    def _ranked(f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Losses of all queries, summed, and the coefficients of the scores."""
        by_score = f.sort(dim=-1, descending=True, stable=True).indices
        query = (y // 2).gather(-1, by_score)
        order = by_score.gather(-1, query.sort(dim=-1, stable=True).indices)
        s, label = f.gather(-1, order), y.gather(-1, order)
        query, right = label // 2, label % 2 == 1
        place = torch.arange(f.shape[-1], device=f.device).expand(f.shape)
        changes = torch.nn.functional.pad(query[..., 1:] != query[..., :-1], (1, 1), value=True)
        start = torch.where(changes[..., :-1], place, 0).cummax(-1).values
        end = torch.where(changes[..., 1:], place, f.shape[-1]).flip(-1).cummin(-1).values.flip(-1)

        def ranked(chosen: Tensor) -> tuple[Tensor, Tensor]:  # in their query, and how many
            ranks = chosen.to(f.dtype).cumsum(-1)
            before = (ranks - chosen.to(f.dtype)).gather(-1, start)
            return ranks - before, ranks.gather(-1, end) - before

        (rank_p, p), (rank_n, n) = ranked(right), ranked(~right)
        scale = 2 / (p * n).clamp(min=1)
        loss, down, up = f.new_zeros(f.shape[:-1]), torch.zeros_like(f), []
        rows = max(BLOCK // max(f.numel(), 1), 1) if eager() else f.shape[-1]
        for i in range(0, f.shape[-1], rows):  # negatives j, beside all positives k
            at = slice(i, i + rows)
            j, k = rank_n[..., at, None], rank_p.unsqueeze(-2)
            pair = right.unsqueeze(-2) & ~right[..., at, None]
            pair = pair & (query.unsqueeze(-2) == query[..., at, None])
            precision = k / (j + k) / (j + k - 1).clamp(min=1) / p[..., at, None].clamp(min=1)
            cost = scale[..., at, None] * (s[..., at, None] - s.unsqueeze(-2))
            tails = torch.where(pair, precision + cost, 0.0).flip(-1).cumsum(-1).flip(-1)
            best = tails.amax(-1, keepdim=True)
            first = torch.where(pair & (tails == best), k, 0.0).amax(-1, keepdim=True)
            below = pair & (k >= first) & (best > 0)
            count = torch.where(below, scale[..., at, None], 0.0)
            loss = loss + torch.relu(best).sum((-1, -2))
            down = down + count.sum(-2)
            up.append(count.sum(-1))
        slope = torch.zeros_like(f).scatter(-1, order, torch.cat(up, -1) - down)
        return loss, slope

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Sum of the losses of all queries, linear in f on the piece."""
        loss, slope = self._ranked(f.detach(), y)
        return loss + (slope * (f - f.detach())).sum(-1)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The coefficients of the most violated rankings."""
        return g * state[0]
