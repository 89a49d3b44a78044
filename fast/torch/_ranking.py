"""The most violated ranking of AP or NDCG on tensors: the pairs of a negative and a positive, in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fast.errors import InvalidParameterError
from fast.torch._function import eager, rows
from fast.torch._inputs import check_indicator, check_reduction, check_scores
from fast.torch._row_functions import LABELLED, PARAMETERS

BLOCK = 1 << 18  # pairs at a time in eager calls; traced ones hold all
QUERIES: Any = {
    "scores": (
        "Tensor, shape (..., n)",
        f"One query per row. {PARAMETERS['scores'][1].split('. ')[-1]}",
    ),
    "y": ("Tensor, shape (..., n)", "1 (or True) for positives; 0 or -1 for negatives."),
    "groups": (
        "Tensor of int, shape (n,), optional",
        "Numbers of the queries, in any order, for a vector of scores of several queries.",
    ),
    "reduction": LABELLED["reduction"],
    "returns": ("Tensor", "A number, or losses of shape (...) for 'none'; the mean is over queries."),
}


@dataclass(frozen=True)
class Rankings:
    """max over rankings of Delta + <s, Psi(R) - Psi(R*)>; the last axis holds queries, y = 2 query + label.

    A negative j stands above the positives from rank opt_j on, where sum_{k >= i} h_k(j) is largest,
    h_k(j) = g_k(j) - 2 (s_k - s_j)/(P N); ranks count from the top, in each query. Delta is 1 - AP, g_k(j) =
    k/((j+k)(j+k-1))/P, or with ``discounted`` 1 - NDCG, g_k(j) = (d(j+k-1) - d(j+k))/Z, d(r) = 1/log2(1 + r).
    """

    discounted: bool = False

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Sum of the losses of all queries, and the subgradient."""
        return self._ranked(f, y)

    def _ranked(self, f: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
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
        if self.discounted:  # Z without the factor log 2
            norm = (1 / (place + 2).to(f.dtype).log()).cumsum(-1)
            norm = norm.gather(-1, (p.long() - 1).clamp(min=0))
        else:
            norm = p.clamp(min=1)
        loss, down, up = f.new_zeros(f.shape[:-1]), torch.zeros_like(f), []
        rows = max(BLOCK // max(f.numel(), 1), 1) if eager() else f.shape[-1]
        for i in range(0, f.shape[-1], rows):  # negatives j, beside all positives k
            at = slice(i, i + rows)
            j, k = rank_n[..., at, None], rank_p.unsqueeze(-2)
            pair = right.unsqueeze(-2) & ~right[..., at, None]
            pair = pair & (query.unsqueeze(-2) == query[..., at, None])
            if self.discounted:
                m = (j + k).clamp(min=2)
                gain = (1 / m).log1p() / m.log() / (m + 1).log() / norm[..., at, None]
            else:
                gain = k / (j + k) / (j + k - 1).clamp(min=1) / norm[..., at, None]
            cost = scale[..., at, None] * (s[..., at, None] - s.unsqueeze(-2))
            tails = torch.where(pair, gain + cost, 0.0).flip(-1).cumsum(-1).flip(-1)
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


def query_losses(
    rankings: Rankings, scores: Tensor, y: Tensor, groups: Tensor | None, reduction: str
) -> Tensor:
    """The losses of checked queries, reduced."""
    f = check_scores(scores, 1)
    if (
        f.ndim > 1 and f.shape[-1] == 1
    ):  # a vector may be the last batch, rows are all of one length
        raise InvalidParameterError(
            "scores",
            f"shape {tuple(f.shape)}, queries of one sample each, whose loss is 0 whatever they are",
            "the samples of a query on the last axis",
            "pass scores.squeeze(-1) and y.squeeze(-1) for one query, and groups for several",
        )
    check_reduction(reduction)
    right = check_indicator(y, f).long()
    if groups is None:
        return rows(rankings, f, right, reduction)
    whole = isinstance(groups, torch.Tensor) and not groups.is_floating_point()
    if not whole or groups.shape != f.shape or f.ndim != 1:
        raise InvalidParameterError(
            "groups",
            f"shape {tuple(getattr(groups, 'shape', ()))} beside scores {tuple(f.shape)}"
            + ("" if whole else ", not integers"),
            "vectors: a query's whole number for each score",
            "pass rows of scores without groups where all queries have one length",
        )
    if reduction == "none":
        raise InvalidParameterError(
            "reduction",
            "'none' with groups",
            "'mean' or 'sum': how many queries there are, only the data say",
            "pass the queries one by one",
        )
    total = rows(rankings, f, 2 * groups.long() + right)
    if reduction == "sum":
        return total
    ordered = groups.sort().values
    return total / ((ordered[1:] != ordered[:-1]).sum() + 1)
