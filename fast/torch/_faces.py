"""What the functions of all losses share: their last steps, and the sections of their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar

import torch
from torch import Tensor

from fast._docs import Entry, with_sections
from fast.torch import _inputs
from fast.torch._function import RowLoss, eager, reduce, rows

PARAMETERS: dict[str, Entry] = {
    "scores": (
        "Tensor, shape (..., m)",
        (
            "Scores of all classes, the classes on the last axis: ``scores.movedim(1, -1)`` for the\n"
            "(N, C, d1, ...) of `torch.nn.functional.cross_entropy`. float64 and float32 as they are;\n"
            "float16 and bfloat16 are computed, and their losses returned, in float32. -inf takes a\n"
            "class out, as long as k others are left."
        ),
    ),
    "y": ("Tensor of int, shape (...)", "True classes, 0 to m - 1, or ``ignore_index``."),
    "k": ("int, default 1", "1 <= k <= m - 1: the sum runs over the other classes."),
    "gamma": ("float, default 1.0", "Smoothing > 0, in units of the scores."),
    "reduction": (
        "{'mean', 'sum', 'none'}",
        "'mean' divides by the sum of the weights of the rows that are not ignored.",
    ),
    "weight": ("Tensor, shape (m,), optional", "Weights of the rows, by their true class."),
    "ignore_index": ("int, default -100", "Rows with this label have loss and gradient 0."),
    "label_smoothing": (
        "float, default 0.0",
        (
            "The loss is averaged over labels: 1 - e for the true one, and e/m for each. Only where the\n"
            "loss is linear in the target (softmax, sparsemax, multilabel entropy). Each label has its weight."
        ),
    ),
    "costs": (
        "float or Tensor, shape (m,) or (..., m), optional",
        "Margins c_j that are added to the scores of the other classes; default {cost}.",
    ),
    "cost_matrix": ("Tensor, shape (m, m), optional", "Margins by true class: row y holds c."),
}
LABELLED: dict[str, Entry] = {
    "y": (
        "Tensor, shape (..., m)",
        "Indicator: 1 (or True) for the right labels, 0 for the others.",
    ),
    "reduction": ("{'mean', 'sum', 'none'}", "Over rows."),
    "costs": (
        "float or Tensor, shape (m,) or (..., m), optional",
        "Margins c_j, added to z_j; default {cost}.",
    ),
}
RETURNS: Entry = (
    "Tensor",
    (
        "A number, or losses of shape (...) for 'none'; in the dtype of the scores, at least float32.\n"
        "Scores that are nan give nan, never 0."
    ),
)
RAISES: Entry = (
    "fast.errors.InvalidParameterError",
    (
        "A dtype, shape or parameter that does not fit; on the CPU also a class that does not exist (on a\n"
        "GPU that is the device's assertion: nothing here waits for it)."
    ),
)
Function = TypeVar("Function", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What every loss of rows with one true class takes beside its own parameters."""

    reduction: str
    weight: Tensor | None
    ignore_index: int
    label_smoothing: float
    costs: float | Tensor | None
    cost_matrix: Tensor | None


@dataclass(frozen=True)
class Rules:
    """A loss of rows, its default margin, whether k <= m - 1, it is linear in the target, scores have signs."""

    loss: Callable[..., RowLoss]
    cost: float = 0.0
    bounded: bool = True
    linear: bool = False
    signed: bool = False


def documented(
    cost: str = "0", returns: Entry = RETURNS, **own: Entry
) -> Callable[[Function], Function]:
    """Spell out the shared options in the signature, and append the sections on what all losses share."""
    about = {**PARAMETERS, **own}
    kind, text = about["costs"]
    about["costs"] = kind, text.replace("{cost}", cost)

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        given = list(signature.parameters.values())
        if given[-1].kind is inspect.Parameter.VAR_KEYWORD:
            shared = inspect.signature(multiclass).parameters
            given[-1:] = [shared[name] for name in Options.__annotations__]
            vars(function)["__signature__"] = signature.replace(parameters=given)
        return with_sections(function, about, returns, RAISES)

    return decorate


def multiclass(
    name: str,
    rules: Rules,
    scores: Tensor,
    y: Tensor,
    parameters: dict[str, Any],
    /,
    *,
    reduction: str = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    costs: float | Tensor | None = None,
    cost_matrix: Tensor | None = None,
) -> Tensor:
    """Losses of rows with one true class each, weighted and reduced."""
    f = _inputs.check_scores(scores)
    _inputs.check_reduction(reduction)
    classes = _inputs.check_labels(y, f)
    if label_smoothing and not rules.linear:
        _inputs.refuse_smoothing(label_smoothing, name)
    if "k" in parameters:
        parameters["k"] = _inputs.check_top(parameters["k"], f.shape[-1] - 1, rules.bounded)
    ignored = classes == ignore_index
    # a processor need not wait for the answer
    some = bool(label_smoothing) or not (f.is_cpu and eager()) or bool(ignored.any())
    if some:
        classes = classes.masked_fill(ignored, 0)
    given, margin = _inputs.with_costs(f, classes, rules.cost, costs, cost_matrix, rules.signed)
    weights = None
    if weight is not None:
        weights = _inputs.class_weights(weight, f)[classes].masked_fill(ignored, 0.0)
    elif some:
        weights = (~ignored).to(f.dtype)
    loss = rules.loss(margin=margin, **parameters)
    if not label_smoothing or weights is None:
        return _inputs.refused(rows, loss, given, classes, reduction, weights)
    part = _inputs.check_number("label_smoothing", label_smoothing, 1.0)
    if costs is not None or cost_matrix is not None:
        _inputs.refuse_smoothing(label_smoothing, f"{name} with margins")
    losses = _inputs.refused(rows, loss, given, classes)
    own = losses + f.gather(-1, classes.unsqueeze(-1)).squeeze(-1)  # less f_j: the loss of label j
    each = f.new_ones(f.shape[-1]) if weight is None else _inputs.class_weights(weight, f)
    smooth = own * each.mean() - (f @ each) / f.shape[-1]
    losses = torch.lerp(losses * weights, smooth, part).masked_fill(ignored, 0.0)
    total = reduce(losses, "none" if reduction == "none" else "sum", None)
    return total / weights.sum() if reduction == "mean" else total


def label_margins(costs: float | Tensor | None) -> tuple[float, float]:
    """Margins on N and on P that are the same for all classes."""
    if costs is None:
        return 1.0, 0.0
    return (0.0, 0.0) if isinstance(costs, torch.Tensor) else (float(costs), float(costs))


def multilabel(
    loss: RowLoss,
    f: Tensor,
    y: Tensor,
    reduction: str,
    costs: float | Tensor | None,
    signed: bool = True,
) -> Tensor:
    """Losses of rows with an indicator of right labels, reduced."""
    _inputs.check_reduction(reduction)
    if isinstance(costs, torch.Tensor):
        found = _inputs.check_costs(costs, f)
        f = torch.where(y, f - found, f + found) if signed else f + found
    return rows(loss, f, y, reduction)
