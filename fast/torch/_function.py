"""How a loss of rows meets autograd: one function for all, which computes derivatives by formula.

A loss gives three things. `RowLoss.exact` is a differentiable expression, in which only *which* classes count is
detached: torch derives from it every derivative that exists, and compilers and exporters see nothing else.
`RowLoss.solve` and `RowLoss.gradient` are the fast way in eager mode: values with a few numbers per row, from which
the gradient is written at once into one array. Second derivatives, forward mode and nested transforms go by the
expression.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor


class RowLoss(Protocol):
    """A loss of each row of scores f (..., m), with labels y."""

    def exact(self, f: Tensor, y: Tensor) -> Tensor:
        """Losses (...), differentiable in f as often as the loss is."""

    def solve(self, f: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Losses (...), and tensors that `gradient` needs, with the same leading axes."""

    def gradient(self, g: Tensor, f: Tensor, y: Tensor, *state: Tensor) -> Tensor:
        """Gradients (..., m), times g (..., 1)."""


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(f: Tensor, y: Tensor, loss: RowLoss) -> tuple[Tensor, ...]:
        return loss.solve(f, y)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        f, y, ctx.loss = inputs
        ctx.others = (None,) * (len(output) - 1)
        ctx.mark_non_differentiable(*output[1:])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(f, y, *output[1:])
        ctx.save_for_forward(f, y)

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, *_: Any) -> tuple[Tensor | None, None, None]:
        if g is None:
            return None, None, None
        f, y, *state = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody differentiates this
            return torch.func.vjp(lambda f: ctx.loss.exact(f, y), f)[1](g)[0], None, None
        return ctx.loss.gradient(g.unsqueeze(-1), f, y, *state), None, None

    @staticmethod
    def jvp(ctx: Any, t: Tensor | None, *_: Any) -> tuple[Tensor | None, ...]:
        f, y = ctx.saved_tensors[:2]
        if t is None:
            return None, *ctx.others
        value, pull = torch.func.vjp(lambda f: ctx.loss.exact(f, y), f)
        return (pull(torch.ones_like(value))[0] * t).sum(-1), *ctx.others

    @staticmethod
    def vmap(
        info: Any, dims: tuple[int | None, ...], f: Tensor, y: Tensor, loss: RowLoss
    ) -> tuple[Any, Any]:
        size = info.batch_size
        f, y = (
            a.expand(size, *a.shape) if d is None else a.movedim(d, 0)
            for a, d in ((f, dims[0]), (y, dims[1]))
        )
        out = _Rows.apply(f, y, loss)
        return out, (0,) * len(out)


def rows(loss: RowLoss, f: Tensor, y: Tensor) -> Tensor:
    """Losses of rows; compilers and exporters trace the expression."""
    if torch.compiler.is_compiling():
        return loss.exact(f, y)
    values: Tensor = _Rows.apply(f, y, loss)[0]
    return values


def quadratic(values: Tensor, f: Tensor, gradient: Tensor) -> Tensor:
    """A piecewise quadratic loss from its values and its gradient, differentiable on the piece.

    L(f') = L(f) + <G, f'-f> + <f'-f, G' - G>/2 exactly: rounding enters no derivative by way of the value.
    """
    there = gradient.detach()
    step = torch.where(there != 0, f - f.detach(), 0.0)
    return values.detach() + (step * (there + 0.5 * (gradient - there))).sum(-1)
