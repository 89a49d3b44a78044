"""The most violated ranking of average precision on tensors: all pairs of a negative and a positive at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


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
        same = (label // 2).unsqueeze(-1) == (label // 2).unsqueeze(-2)
        right = (label % 2 == 1).unsqueeze(-2) & same  # [j, k]: k a positive of j's query
        wrong = (label % 2 == 0).unsqueeze(-2) & same
        p, n = (a.sum(-1).to(f.dtype) for a in (right, wrong))
        upper = torch.ones_like(same).tril()
        rank_p, rank_n = ((a & upper).sum(-1).to(f.dtype) for a in (right, wrong))
        pair = right & (label % 2 == 0).unsqueeze(-1)
        j, k = rank_n.unsqueeze(-1), rank_p.unsqueeze(-2)
        precision = k / (j + k) / (j + k - 1).clamp(min=1) / p.clamp(min=1).unsqueeze(-1)
        scale = (2 / (p * n).clamp(min=1)).unsqueeze(-1)
        h = torch.where(pair, precision + scale * (s.unsqueeze(-1) - s.unsqueeze(-2)), 0.0)
        tails = h.flip(-1).cumsum(-1).flip(-1)
        best = tails.amax(-1, keepdim=True)
        first = torch.where(pair & (tails == best), k, 0.0).amax(-1, keepdim=True)
        below = pair & (k >= first) & (best > 0)
        count = torch.where(below, scale, 0.0)
        slope = torch.zeros_like(f).scatter(-1, order, count.sum(-1) - count.sum(-2))
        return torch.relu(best).sum((-1, -2)), slope

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Sum of the losses of all queries, linear in f on the piece."""
        loss, slope = self._ranked(f.detach(), y)
        return loss + (slope * (f - f.detach())).sum(-1)

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """The coefficients of the most violated rankings."""
        return g * state[0]
