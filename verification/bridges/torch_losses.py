"""Losses on torch tensors, asked as training asks: reductions, class weights, ignored rows, layouts, precisions.

The kit's problems are about single rows. A *form* lays such rows out as one way of calling
``loss(scores, y, *, k, gamma, costs, reduction, weight, ignore_index, label_smoothing)`` does, class axis
last, and reads the row's value, or its gradient by autograd, back from what comes; so that a wrong mean, a
confused axis or a label of the ignored rows is refuted by the same certificates as a wrong formula.
``candidate(fast.torch.softmax, "softmax.gradient", "mean")`` is what `verification.verify` takes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from verification.errors import InvalidArgumentError
from verification.kit.signatures import in_order
from verification.kit.solver_call import NotApplicableError
from verification.problems.problem import lookup

if TYPE_CHECKING:
    from torch import Tensor

Loss: TypeAlias = "Callable[..., Tensor]"
IGNORED = -100
SMOOTHING = 0.25
#: Rows, and entries, beyond which a form that needs a copy per row or entry is not asked.
MANY = 64
#: What is promised where a form computes, or reads its answer, less exactly than the scores are given: four
#: units in the last place of the short formats; a difference of losses of which it keeps a thousandth, in float32.
ACCURACY = {"bfloat16": 2.0**-6, "float16": 2.0**-9, "smoothed": 1e-3}
#: How far apart scores, costs and 0 may be before e to that power leaves a short format, or its answer does, and
#: the least that they may be.
WIDE = {"bfloat16": (40.0, 1e-30), "float16": (4.0, 1e-3)}


class _Torch:
    """The module ``torch``, imported when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("torch"), name)


torch: Any = _Torch()


def _rows(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """One vector or a batch, as it comes."""
    return loss(f, y, costs=costs)


def _square(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """The last of as many rows as classes, the others 0: a batch of shape (1, m, m) that is not contiguous."""
    count = max(len(f), f.shape[-1] if f.shape[-1] <= MANY else 3)

    def wide(a: Tensor) -> Tensor:
        rest = torch.zeros((count - len(a), *a.shape[1:]), dtype=a.dtype)
        a = torch.cat([rest, a])
        return (a.T.contiguous().T if a.ndim > 1 else a)[None]

    return loss(wide(f), wide(y), costs=None if costs is None else wide(costs))[0, count - len(f) :]


def _each(ask: Callable[..., Any]) -> Callable[..., Any]:
    """A form that is asked one row at a time."""

    def form(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
        if len(f) > MANY:
            raise NotApplicableError("a call per row")
        margins = [None] * len(f) if costs is None else costs
        return torch.stack([ask(loss, *row) for row in zip(f, y, margins, strict=True)])

    return form


def _reduced(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None, reduction: str) -> Tensor:
    """A row, another that is ignored, and the first again, with class weights where there are classes."""
    f, costs = (None if a is None else torch.stack([a, a.flip(0), a]) for a in (f, costs))
    if y.ndim:  # several labels: no row is ignored, and every class counts as the others
        found = loss(f, torch.stack([y, y.flip(0), y]), costs=costs, reduction=reduction)
        return found if reduction == "mean" else found / 3.0
    weight = 1.0 + torch.arange(f.shape[-1], dtype=f.dtype) / f.shape[-1]
    labels = torch.stack([y, torch.full_like(y, IGNORED), y])
    found = loss(f, labels, costs=costs, reduction=reduction, weight=weight, ignore_index=IGNORED)
    return found if reduction == "mean" else found / (2.0 * weight[y])


def _mean(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """The mean over two equal rows and an ignored one: weighted by the class, divided by those weights."""
    return _reduced(loss, f, y, costs, "mean")


def _sum(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """The sum over the same rows."""
    return _reduced(loss, f, y, costs, "sum")


def _smoothed(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """The smoothed label's loss, less the shares of the other labels: (1 - e) L_y + e mean_c L_c."""
    m = f.shape[-1]
    if m > MANY:
        raise NotApplicableError("a call per class")
    smooth = loss(f, y, costs=costs, label_smoothing=SMOOTHING)
    rows = f.expand(m, m)
    labels = torch.arange(m)
    one = loss(rows, labels, costs=None if costs is None else costs.expand(m, m))
    others = one[labels != y].sum() * (SMOOTHING / m)
    if smooth - others < others / 1000:
        raise NotApplicableError("a difference that keeps no digits")
    return (smooth - others) / (1.0 - SMOOTHING + SMOOTHING / m)


def _later(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """A second forward pass comes before the first one's backward pass."""
    first = loss(f, y, costs=costs)
    loss(f.detach().flip(-1), y, costs=costs)
    return first


def _vmap(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """The rows by ``torch.vmap``."""
    if costs is None:
        return torch.vmap(lambda a, b: loss(a, b))(f, y)
    return torch.vmap(lambda a, b, c: loss(a, b, costs=c))(f, y, costs)


def _autocast(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
    """Scores of full precision where torch would compute in bfloat16."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return loss(f, y, costs=costs)


def _short(name: str) -> Callable[..., Any]:
    def form(loss: Loss, f: Tensor, y: Tensor, costs: Tensor | None) -> Tensor:
        kind = getattr(torch, name)
        short = f.to(kind)
        seen = f.detach() if costs is None else torch.cat([f.detach(), costs, f.detach() + costs])
        least = seen.abs()[seen != 0].amin() if bool(seen.any()) else 1.0
        wide, small = WIDE[name]
        spread = seen.amax().clamp(min=0.0) - seen.amin().clamp(max=0.0)  # signed losses: from 0
        if not (spread <= wide and seen.abs().amax() <= 1e3 and least >= small):
            raise NotApplicableError(f"beyond the range of {name}")
        found = loss(short, y, costs=None if costs is None else costs.to(kind))
        return found.to(f.dtype)

    form.__doc__ = f"Scores in {name}; the answer is exact to what `ACCURACY` promises."
    return form


FORMS: dict[str, Callable[..., Any]] = {
    "rows": _rows,
    "square": _square,
    "mean": _each(_mean),
    "sum": _each(_sum),
    "smoothed": _each(_smoothed),
    "later": _later,
    "vmap": _vmap,
    "autocast": _autocast,
    "bfloat16": _short("bfloat16"),
    "float16": _short("float16"),
}


def forms(operation: str) -> list[str]:
    """The forms of an operation: a difference of losses loses the small entries of gradients."""
    return [name for name in FORMS if operation == "value" or name != "smoothed"]


def candidate(
    loss: Callable[..., Any], problem: str, form: str = "rows", compiled: bool = False
) -> Callable[..., Any]:
    """A loss on tensors under the arguments of a problem ``NAME.value`` or ``NAME.gradient``.

    Parameters
    ----------
    loss : callable
        ``loss(scores, y, *, reduction, costs, ...)``, of which a form passes what it asks.
    problem : str
    form : str
        How it is asked, one of `FORMS`.
    compiled : bool
        The loss goes through ``torch.compile(fullgraph=True)`` first.

    Raises
    ------
    ValueError
        When called: the loss changed its scores.
    """
    task = lookup(problem)
    if form not in forms(task.operation):
        raise InvalidArgumentError(
            f"form={form!r}: expected one of {', '.join(forms(task.operation))}, for {problem}"
        )
    ask, alone = FORMS[form], form in ("rows", "later", "autocast", "bfloat16", "float16")

    def answer(
        scores: object, y: object, costs: object = None, sample_weight: object = None, **given: Any
    ) -> Any:
        run = torch.compile(loss, fullgraph=True, dynamic=True) if compiled else loss

        def asked(scores: object, y: object, **more: Any) -> Any:
            kept = {name: value for name, value in more.items() if value is not None}
            return run(scores, y, **{"reduction": "none", **given, **kept})

        if form in WIDE and not 1e-2 <= given.get("gamma", 1.0) <= 1e2:
            raise NotApplicableError(f"beyond the range of {form}")
        f = torch.tensor(np.asarray(scores))
        f = f if f.is_floating_point() else f.double()
        kept = f.clone()
        single = f.ndim == 1
        labels = torch.tensor(np.asarray(y))
        prices = None if costs is None else torch.tensor(np.asarray(costs), dtype=f.dtype)
        if prices is not None:
            prices = prices.expand(f.shape)
        weight: Any = (
            1.0
            if sample_weight is None
            else torch.tensor(np.asarray(sample_weight, f.numpy().dtype))
        )
        leaf = f.requires_grad_(task.operation == "gradient")
        if single and not alone:
            f, labels, prices = (None if a is None else a[None] for a in (f, labels, prices))
        values = ask(asked, f, labels, prices)
        values = values[0] if single and not alone else values
        if not leaf.requires_grad:
            values = values * weight
        elif form in WIDE:  # weights have no part in its range
            (values,) = torch.autograd.grad(values.sum(), leaf)
            values = values * (weight if single or sample_weight is None else weight[..., None])
        else:
            (values,) = torch.autograd.grad((values * weight).sum(), leaf)
        if not torch.equal(leaf, kept) and not bool(leaf.isnan().any()):
            raise ValueError("the loss changed its scores")
        return values.detach().numpy()

    answer.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        in_order(task.arguments, task.defaults)
    )
    answer.__doc__ = loss.__doc__
    return answer
