"""What the functions of all losses share: their last steps, and the sections of their docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

import torch
from torch import Tensor

from fast._docs import Entry, with_sections
from fast.torch import _inputs
from fast.torch._function import eager, reduce, rows

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
ANY_TOP: Entry = ("int, default 1", "At least 1; beyond m - 1 only the factor 1/k changes.")
ALL_MARGINS: Entry = (
    PARAMETERS["costs"][0],
    "Margins c_j of all classes; default {cost}.",
)
Function = TypeVar("Function", bound=Callable[..., Any])


def documented(
    cost: str = "0", returns: Entry = RETURNS, **own: Entry
) -> Callable[[Function], Function]:
    """Append the sections on what all losses share; ``own`` entries are those of one loss."""
    about = {**PARAMETERS, **own}
    kind, text = about["costs"]
    about["costs"] = kind, text.replace("{cost}", cost)
    return lambda function: with_sections(function, about, returns, RAISES)


def row_loss(
    file: str,
    text: str | None,
    loss: Any,
    *,
    bounded: bool = True,
    linear: bool = False,
    signed: bool = False,
    about: Mapping[str, Entry] = MappingProxyType({}),
    **fixed: Any,
) -> Callable[..., Tensor]:
    """The function of a loss of rows with one true class each.

    Parameters
    ----------
    file, text : str
        ``__name__`` and ``__doc__`` of the loss's file: its name, and its formula.
    loss : class
        A `fast.torch._function.RowLoss`, a frozen dataclass: its numbers are parameters of the loss, whole ones
        >= 1 and others > 0, but for ``margin``, the default of the costs.
    bounded, linear, signed : bool
        Whether k is at most m - 1, the loss is linear in the target, margins are those of `OneVsAll`.
    about : mapping
        Types and texts of parameters other than k and gamma.
    **fixed
        Attributes of the class that are no parameters of this loss.
    """
    name = file.rpartition(".")[2]
    numbers = {f.name: f.default for f in fields(loss) if type(f.default) in (int, float)}
    cost = fixed.get("margin", numbers.pop("margin", 0.0))
    own = {n: v for n, v in numbers.items() if n not in fixed}

    def function(
        scores: Tensor,
        y: Tensor,
        *,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
        costs: float | Tensor | None = None,
        cost_matrix: Tensor | None = None,
        **given: Any,
    ) -> Tensor:
        f = _inputs.check_scores(scores)
        _inputs.check_reduction(reduction)
        classes = _inputs.check_labels(y, f)
        if label_smoothing and not linear:
            _inputs.refuse_smoothing(label_smoothing, name)
        parameters = fixed | _checked(name, own, given, f.shape[-1] - 1, bounded)
        ignored = classes == ignore_index
        # a processor need not wait for the answer
        some = bool(label_smoothing) or not (f.is_cpu and eager()) or bool(ignored.any())
        if some:
            classes = classes.masked_fill(ignored, 0)
        z, parameters["margin"] = _inputs.with_costs(f, classes, cost, costs, cost_matrix, signed)
        weights = None
        if weight is not None:
            weights = _inputs.class_weights(weight, f)[classes].masked_fill(ignored, 0.0)
        elif some:
            weights = (~ignored).to(f.dtype)
        made = loss(**parameters)
        if not label_smoothing or weights is None:
            return _inputs.refused(rows, made, z, classes, reduction, weights)
        part = _inputs.check_number("label_smoothing", label_smoothing, 1.0)
        if costs is not None or cost_matrix is not None:
            _inputs.refuse_smoothing(label_smoothing, f"{name} with margins")
        losses = _inputs.refused(rows, made, z, classes)
        own_less = losses + f.gather(-1, classes.unsqueeze(-1)).squeeze(-1)  # less f_j: of label j
        each = f.new_ones(f.shape[-1]) if weight is None else _inputs.class_weights(weight, f)
        smooth = own_less * each.mean() - (f @ each) / f.shape[-1]
        losses = torch.lerp(losses * weights, smooth, part).masked_fill(ignored, 0.0)
        total = reduce(losses, "none" if reduction == "none" else "sum", None)
        return total / weights.sum() if reduction == "mean" else total

    vars(function)["linear"] = linear
    where = ({} if bounded else {"k": ANY_TOP}) | ({"costs": ALL_MARGINS} if signed else {})
    return _finished(function, file, text, own, f"{cost:g}", {**where, **about})


def label_loss(
    file: str, text: str | None, loss: Any, cost: str, **fixed: Any
) -> Callable[..., Tensor]:
    """The function of a loss of rows with an indicator of right labels: ``margins`` of a class are its costs.

    Everything else is as in `row_loss`; ``cost`` is what the docstring says of the default costs.
    """
    name = file.rpartition(".")[2]
    numbers = {f.name: f.default for f in fields(loss)}
    signed = numbers.pop("margins", None) is not None
    own = {n: v for n, v in numbers.items() if n not in fixed}

    def function(
        scores: Tensor,
        y: Tensor,
        *,
        reduction: str = "mean",
        costs: float | Tensor | None = None,
        **given: Any,
    ) -> Tensor:
        f = _inputs.check_scores(scores)
        right = _inputs.check_indicator(y, f)
        _inputs.check_reduction(reduction)
        parameters = fixed | _checked(name, own, given)
        if signed:
            parameters["margins"] = label_margins(costs)
        if isinstance(costs, torch.Tensor):
            found = _inputs.check_costs(costs, f)
            f = torch.where(right, f - found, f + found) if signed else f + found
        return rows(loss(**parameters), f, right, reduction)

    return _finished(function, file, text, own, cost, LABELLED)


def _checked(
    name: str, own: dict[str, Any], given: dict[str, Any], others: int = 0, bounded: bool = True
) -> dict[str, Any]:
    """Parameters, of which others do not exist."""
    found: dict[str, Any] = {}
    for n, default in own.items():
        value = given.pop(n, default)
        if n == "label_smoothing":
            found[n] = _inputs.check_number(n, value, 1.0)
        elif n == "beta":
            found[n] = _inputs.check_weights(value, others)
        elif isinstance(default, int):
            found[n] = _inputs.check_top(value, others, bounded, n)
        else:
            found[n] = _inputs.check_gamma(value, n)
    if given:
        known = ", ".join(own) or "only what all losses share"
        raise TypeError(f"{name}() has no parameter {', '.join(given)}; it has {known}")
    return found


def _finished(
    function: Any,
    file: str,
    text: str | None,
    own: Mapping[str, Any],
    cost: str,
    about: Mapping[str, Entry],
) -> Callable[..., Tensor]:
    """With its name, its own parameters in the signature, and its docstring."""
    scores, y, *shared, _ = inspect.signature(function).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    first = [inspect.Parameter(n, keyword, default=v, annotation=type(v)) for n, v in own.items()]
    signature = inspect.signature(function).replace(parameters=[scores, y, *first, *shared])
    vars(function)["__signature__"] = signature
    name = file.rpartition(".")[2]
    function.__module__, function.__qualname__, function.__name__ = file, name, name
    # code of its own: compilers count how often they compile one
    function.__code__ = function.__code__.replace(co_name=name)
    function.__doc__ = text
    made: Callable[..., Tensor] = documented(cost, **about)(function)
    return made


def label_margins(costs: float | Tensor | None) -> tuple[float, float]:
    """Margins on N and on P that are the same for all classes."""
    if costs is None:
        return 1.0, 0.0
    return (0.0, 0.0) if isinstance(costs, torch.Tensor) else (float(costs), float(costs))
