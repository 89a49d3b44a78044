"""What the docstrings of all losses share, written once: parameters, results, errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from fast._docs import Function, with_sections
from fast.kernels.hinges import BETA
from fast.losses._batch import BOUNDED

_SCORES = (
    "array_like, shape (m,) or (n, m)",
    "Scores of all classes; float64, float32 or integers (computed as float64). Never changed.",
)
_OTHERS = "array_like, shape (d,) or (n, d)"
PARAMETERS = {
    "scores": _SCORES,
    "q": (_SCORES[0], "Scores W'x_i less the example's own part k_ii a_i. Never changed."),
    "y": ("int or array_like of int, shape (n,)", "True classes, 0 to m - 1."),
    "k_ii": ("float or array_like, shape (n,)", "Squared norms ||x_i||^2 >= 0."),
    "C": ("float, default 1.0", "Weight > 0 of a loss against ||W||^2/2, C = 1/(lambda n)."),
    "x": (_OTHERS, "Dual points over the d = m - 1 other classes. Never changed."),
    "v": (_OTHERS, "Points over the d = m - 1 other classes. Never changed."),
    "t": ("float or array_like, shape (n,), default 1.0", "Step > 0."),
    "complement": (
        "float or array_like, shape (n,), optional",
        "1 - <1,x>, where it is known more accurately than as that difference.",
    ),
    "return_complement": ("bool, default False", "Also return 1 - <1,x>, see below."),
    "gamma": ("float, default 1.0", "Smoothing > 0, in units of z; not subnormal."),
    "sample_weight": (
        "float or array_like, shape (n,), optional",
        "Weights w_i >= 0 of the losses; default 1.",
    ),
}
_K = {
    True: "1 <= k <= m - 1: the sum runs over the other classes.",
    False: "At least 1; beyond m - 1 only the factor 1/k changes.",
}
_COSTS = {
    True: (
        "array_like, shape (m,) or (n, m), optional",
        (
            "Margins c_j, 0 at the true class (one vector for several rows is read as 0 there);\n"
            "default {} at the others."
        ),
    ),
    False: (f"{_OTHERS}, optional", "Margins c_j of the other classes; default {}."),
}
RETURNS = {
    "value": (
        "float or ndarray, shape (n,)",
        "w_i times the loss of each row, not averaged, in the dtype of the scores.",
    ),
    "gradient": (
        "ndarray, shape (m,) or (n, m)",
        "w_i x_j at the other classes, -w_i <1,x> at y: rows sum to 0.",
    ),
    "conjugate": (
        "float or ndarray, shape (n,)",
        (
            "+inf outside the domain; 2 (d + 2) units of rounding, relative to the radius and to the\n"
            "cap, are allowed."
        ),
    ),
    "prox": ("ndarray", "As ``v`` in shape and dtype."),
    "sdca_update": (
        "ndarray, shape (m,) or (n, m)",
        "Blocks a_i: -x at the other classes, <1,x> at y. Each row is solved by itself.",
    ),
}
RAISES = (
    "fast.errors.InvalidParameterError",
    "An entry or parameter out of range, or shapes that do not match.",
)


_PAIR = (
    "\nWith ``return_complement`` a pair: this, and 1 - <1,x> (a float, or float64 numbers of shape\n"
    "(n,)) for the {}, accurate also where <1,x> rounds to 1."
)
_POINTS = {
    "gradient": "unweighted gradient x",
    "prox": "x = (v - u)/t",
    "sdca_update": "x of the block -w C x",
}


def documented(variant: int) -> Callable[[Function], Function]:
    """Append the numpydoc sections of an operation, read off its name and signature."""

    def complete(function: Function) -> Function:
        names = inspect.signature(function).parameters
        kind, costs = _COSTS["y" in names]
        texts = {
            **PARAMETERS,
            "k": ("int, default 1", _K[variant in BOUNDED]),
            "costs": (kind, costs.format(1 if variant <= BETA else 0)),
        }
        kind, returns = RETURNS[function.__name__]
        if variant > BETA and function.__name__ == "sdca_update":
            returns = returns.replace("-x at", "-w C x at").replace("<1,x> at", "w C <1,x> at")
        if "return_complement" in names:
            returns += _PAIR.format(_POINTS[function.__name__])
        return with_sections(function, texts, (kind, returns), RAISES)

    return complete
