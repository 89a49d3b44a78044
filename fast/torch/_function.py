"""How a loss of rows meets autograd: one function for all, which computes derivatives by formula.

A loss gives three things, and may give a fourth. `RowLoss.exact` is a differentiable expression, in which only *which*
classes count is detached: torch derives from it every derivative that exists, and compilers and exporters see nothing
else. `RowLoss.solve` and `RowLoss.gradient` are the fast way in eager mode: values with a few numbers per row, from
which the gradient is written at once into one array. ``kernel(m)``, if there is one, names the loop of
`fast.kernels.scores` that writes both on a processor, and its numbers. Second derivatives, forward mode and the
transforms of `torch.func` go by the expression.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from fast.torch._processor import solved


class RowLoss(Protocol):
    """A loss of each row of scores f (..., m), with labels y."""

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f as often as the loss is."""

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses (...), and tensors that `gradient` needs."""

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Gradients (..., m), times g (..., 1)."""


def reduce(losses: Tensor, reduction: str, weights: Tensor | None) -> Tensor:
    """Losses times weights, as asked; rows of weight 0 do not count, whatever their loss."""
    if weights is not None:
        losses = (losses * weights).masked_fill(weights == 0, 0.0)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.mean() if weights is None else losses.sum() / weights.sum()


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, f: Tensor, y: Tensor, weights: Tensor | None, loss: RowLoss, reduction: str
    ) -> Tensor:
        found = solved(loss, f, y, ctx.needs_input_grad[0])
        losses, *state = loss.solve(f, y) if found is None else found
        ctx.loss, ctx.reduction, ctx.written = loss, reduction, found is not None
        ctx.save_for_backward(f, y, weights, *state)
        ctx.save_for_forward(f, y, weights)
        return reduce(losses, reduction, weights)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        f, y, weights, *state = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody differentiates this
            found = torch.func.vjp(lambda f: _expression(ctx, f, y, weights), f)[1](g)[0]
            return found, None, None, None, None
        if ctx.reduction == "mean":
            g = g / (f.shape[:-1].numel() if weights is None else weights.sum())
        if weights is not None:  # a mean over no weight at all is nan, and flat
            g = (g * weights).masked_fill(weights == 0, 0.0)
        if ctx.written:
            return state[0] * (g.unsqueeze(-1) if g.ndim else g), None, None, None, None
        g = g.expand(f.shape[:-1]).unsqueeze(-1)
        return ctx.loss.gradient(g, f, y, *state), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, t: Tensor, *_: Any) -> Tensor:
        f, y, weights = ctx.saved_tensors[:3]
        value, pull = torch.func.vjp(lambda f: _expression(ctx, f, y, weights), f)
        axes = tuple(range(value.ndim, f.ndim))
        return (pull(torch.ones_like(value))[0] * t).sum(axes)


def _expression(ctx: Any, f: Tensor, y: Tensor, weights: Tensor | None) -> Tensor:
    return reduce(ctx.loss.exact(f, y), ctx.reduction, weights)


# Functions that take part in function transforms by themselves cost a third of a short call.
_transformed = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)  # fake tensors, tracers


def eager() -> bool:
    """Whether tensors are numbers here, which nobody traces."""
    return not (
        torch.compiler.is_compiling() or _transformed() or _modes() or torch._C._is_tracing()
    )


def rows(
    loss: RowLoss, f: Tensor, y: Tensor, reduction: str = "none", weights: Tensor | None = None
) -> Tensor:
    """Losses of rows times weights, reduced; compilers, exporters and transforms see the expression."""
    # weights that are learned, only the expression differentiates
    if not eager() or (weights is not None and weights.requires_grad):
        return reduce(loss.exact(f, y), reduction, weights)
    values: Tensor = _Rows.apply(f, y, weights, loss, reduction)
    return values


def quadratic(values: Tensor, f: Tensor, gradient: Tensor) -> Tensor:
    """A piecewise quadratic loss from its values and its gradient, differentiable on the piece.

    L(f') = L(f) + <G, f'-f> + <f'-f, G' - G>/2 exactly: rounding enters no derivative by way of the value.
    """
    there = gradient.detach()
    step = torch.where(there != 0, f - f.detach(), 0.0)
    return values.detach() + (step * (there + 0.5 * (gradient - there))).sum(-1)
