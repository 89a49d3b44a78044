"""What the docstrings of the one-vs-all and multilabel losses share."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from fast._docs import Function, with_sections
from fast.kernels.signed import BIPARTITE, ENTROPY
from fast.losses._docs import PARAMETERS, RAISES, RETURNS
from fast.losses._signed_batch import is_multilabel

_ROWS = "array_like, shape (m,) or (n, m)"
_POINT = (_ROWS, "Points in the coordinates z, over all m classes. Never changed.")
_LABELS = {
    BIPARTITE: (
        "Indicator: 1 for the right labels P, 0 for N. Where one of them is empty, the loss is 0."
    ),
    ENTROPY: "Indicator: 1 for the right labels P, at least one per row; 0 for the others.",
}
_DEFAULT_COSTS = {BIPARTITE: "1 on N and 0 on P", ENTROPY: "0"}


def documented(variant: int, cost: str = "1") -> Callable[[Function], Function]:
    """Append the numpydoc sections of an operation, read off its name and signature."""

    def complete(function: Function) -> Function:
        texts = {**PARAMETERS, "x": _POINT, "v": _POINT}
        text = f"Margins c_j, added to z_j; default {_DEFAULT_COSTS.get(variant, cost)}."
        texts["costs"] = (f"{_ROWS}, optional", text)
        returns = dict(RETURNS)
        returns["conjugate"] = (RETURNS["conjugate"][0], _CONJUGATE)
        if is_multilabel(variant):
            name = next(iter(inspect.signature(function).parameters))
            texts["y"] = (f"array_like of 0 and 1, as ``{name}`` in shape", _LABELS[variant])
        gradient, update = "w_i x_j on N, -w_i x_j on P", "-w_i C x_j on N, w_i C x_j on P"
        if variant == ENTROPY:
            gradient, update = "w_i (p - t)", "-w_i C (p - t)"
        elif not is_multilabel(variant):
            gradient, update = (
                "w_i x_j at j != y, -w_i x_y at y",
                "-w_i C x_j at j != y, w_i C x_y at y",
            )
        returns["gradient"] = (_MATRIX, f"{gradient}.")
        returns["sdca_update"] = (_MATRIX, f"Blocks a_i: {update}. Each row is solved by itself.")
        return with_sections(function, texts, returns[function.__name__], RAISES)

    return complete


_MATRIX = "ndarray, shape (m,) or (n, m)"
_CONJUGATE = "+inf outside the domain; 2 (m + 2) units of rounding of the radius 1 are allowed."
