"""What every loss on tensors asks of its arguments, and how losses of rows become one number.

All checks read shapes, dtypes and Python numbers: none waits for a device. Entries are not read. A label out of
range is found by the gather that uses it (a named error on the CPU, the device's assertion on a GPU).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fast._validation import check_k, divisor, number
from fast.errors import InvalidParameterError, InvalidTypeError

REDUCTIONS = ("mean", "sum", "none")
_HALF = (torch.float16, torch.bfloat16)


def check_scores(scores: Any, least: int = 2) -> Tensor:
    """Floating scores with at least two classes on the last axis; half precision becomes float32."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = scores.dtype if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise InvalidTypeError(
            "scores", f"{kind}", "a tensor of a floating dtype", "pass scores.float()"
        )
    if scores.ndim == 0 or scores.shape[-1] < least:
        raise InvalidParameterError(
            "scores",
            f"shape {tuple(scores.shape)}",
            f"at least {least} on the last axis",
            "classes stand last: move them, scores.movedim(1, -1) for (N, C, d1, ...)",
        )
    return scores.float() if scores.dtype in _HALF else scores


def check_labels(y: Any, scores: Tensor) -> Tensor:
    """Class numbers, one for each row of scores."""
    rows = scores.shape[:-1]
    if not isinstance(y, torch.Tensor) or y.is_floating_point() or y.dtype == torch.bool:
        kind = y.dtype if isinstance(y, torch.Tensor) else type(y).__name__
        raise InvalidTypeError("y", f"{kind}", "a tensor of class numbers", "pass y.long()")
    if y.shape != rows:
        raise InvalidParameterError(
            "y",
            f"shape {tuple(y.shape)}",
            f"shape {tuple(rows)}, one class number for each row of scores",
            "classes stand last: scores.movedim(1, -1) for scores (N, C, d1, ...)",
        )
    return y if y.dtype == torch.int64 else y.long()


def check_indicator(y: Any, scores: Tensor) -> Tensor:
    """Booleans of the scores' shape: True for the right labels."""
    if not isinstance(y, torch.Tensor):
        raise InvalidTypeError("y", type(y).__name__, "a tensor of 0 and 1", "pass a tensor")
    if y.shape != scores.shape:
        raise InvalidParameterError(
            "y",
            f"shape {tuple(y.shape)}",
            f"shape {tuple(scores.shape)}: 0 or 1 for every score",
            "pass y as indicator",
        )
    return y > 0


def check_number(name: str, value: Any, high: float | None = None) -> float:
    """A number >= 0, at most ``high``."""
    found = value if type(value) is float and 0.0 <= value < float("inf") else number(name, value)
    if high is not None and found > high:
        raise InvalidParameterError(
            name, f"{found}", f"a number in 0..{high:g}", f"choose {name} in that range"
        )
    return found


def check_gamma(gamma: Any, name: str = "gamma") -> float:
    """A smoothing > 0, or another parameter > 0."""
    if type(gamma) is float and 1e-300 < gamma < 1e300:
        return gamma
    return divisor(name, gamma, ", or use the hinge itself" if name == "gamma" else "")


def check_top(k: Any, others: int = 0, bounded: bool = False, name: str = "k") -> int:
    """1 <= k, and k <= the number of other classes where the sum needs so many."""
    if type(k) is int and 1 <= k <= others:
        return k
    if bounded:
        return check_k(k, others, f" (the number of other classes, {others})", name)
    return check_k(k, name=name)


def check_weights(beta: Any, others: int) -> float | Tensor:
    """A number >= 0, or a tensor of falling weights, (others,), of which a device's entries are not read."""
    if isinstance(beta, (int, float)) and not isinstance(beta, bool):
        return check_number("beta", beta)
    given = isinstance(beta, torch.Tensor)
    try:
        weights = beta if given else torch.tensor(beta, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidTypeError(
            "beta", type(beta).__name__, "a number or a tensor", "pass a tensor of weights"
        ) from None
    if weights.shape != (others,):
        raise InvalidParameterError(
            "beta",
            f"shape {tuple(weights.shape)}",
            f"one number, or shape ({others},)",
            "pass a weight for each other class",
        )
    if not given and not bool((weights >= torch.cat((weights[1:], weights.new_zeros(1)))).all()):
        raise InvalidParameterError(
            "beta", f"{beta}", "beta_1 >= beta_2 >= ... >= 0", "sort the weights"
        )
    return weights


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """One of some words."""
    if value not in allowed:
        raise InvalidParameterError(
            name, f"{value!r}", f"one of {', '.join(allowed)}", "choose one of them"
        )
    return str(value)


def check_reduction(reduction: Any) -> str:
    """One of three words."""
    return one_of("reduction", reduction, REDUCTIONS)


def refuse_smoothing(label_smoothing: float, loss: str) -> None:
    """Raise where smoothed labels have no meaning."""
    if label_smoothing != 0.0:
        raise InvalidParameterError(
            "label_smoothing",
            f"{label_smoothing} for {loss}",
            "0: only softmax, sparsemax and multilabel_entropy are linear in the target",
            "leave it out, or use one of those",
        )


def check_costs(costs: Any, scores: Tensor) -> float | Tensor:
    """One number, or a tensor of shape (m,) or the scores' shape, of the scores' dtype."""
    if isinstance(costs, (int, float)) and not isinstance(costs, bool):
        return float(costs)
    if not isinstance(costs, torch.Tensor):
        raise InvalidTypeError(
            "costs", type(costs).__name__, "a number or a tensor", "pass a tensor of margins"
        )
    if costs.shape not in (scores.shape, scores.shape[-1:]):
        raise InvalidParameterError(
            "costs",
            f"shape {tuple(costs.shape)}",
            f"shape {tuple(scores.shape[-1:])} or {tuple(scores.shape)}",
            "margins by true class, (m, m), are cost_matrix",
        )
    return costs.to(scores.dtype)


def with_costs(
    scores: Tensor, y: Tensor, default: float, costs: Any, cost_matrix: Any, signed: bool = False
) -> tuple[Tensor, float]:
    """Scores with margins added at the other classes, and the margin that is still to be added.

    The own margin is 0, or subtracted from a signed score: z_y = c_y - f_y.
    """
    m = scores.shape[-1]
    if cost_matrix is not None:
        if costs is not None:
            raise InvalidParameterError(
                "cost_matrix", "given beside costs", "one of the two", "leave one out"
            )
        if not isinstance(cost_matrix, torch.Tensor) or cost_matrix.shape != (m, m):
            raise InvalidParameterError(
                "cost_matrix",
                f"{getattr(cost_matrix, 'shape', cost_matrix)}",
                f"a tensor of shape ({m}, {m}): margins by true class",
                "pass margins of rows as costs",
            )
        costs = cost_matrix.to(scores.dtype)[y]
    if costs is None:
        return scores, default
    found = check_costs(costs, scores)
    if isinstance(found, float):
        return scores, found
    own = y.unsqueeze(-1) == torch.arange(m, device=scores.device)
    return scores + torch.where(own, -found if signed else 0.0, found), 0.0


def class_weights(weight: Any, scores: Tensor) -> Tensor:
    """Weights of the classes, (m,)."""
    m = scores.shape[-1]
    if not isinstance(weight, torch.Tensor) or weight.shape != (m,):
        raise InvalidParameterError(
            "weight",
            f"{getattr(weight, 'shape', weight)}",
            f"a tensor of shape ({m},)",
            "pass one weight for each class",
        )
    return weight.to(scores.dtype)


def refused(run: Callable[..., Tensor], loss: Any, f: Tensor, y: Tensor, *more: Any) -> Tensor:
    """Losses; a class that does not exist, which the CPU's gather finds, becomes a named error."""
    if torch.compiler.is_compiling():
        return run(loss, f, y, *more)
    try:
        return run(loss, f, y, *more)
    except (IndexError, RuntimeError) as error:
        if "out of bounds" not in str(error):
            raise
        raise InvalidParameterError(
            "y",
            str(error).partition("\n")[0],
            f"class numbers in 0..{f.shape[-1] - 1}, or ignore_index",
            "recode y, or pass all scores",
        ) from None
