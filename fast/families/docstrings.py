"""What the docstrings of all losses share, written once: parameters, results, errors."""

from collections.abc import Mapping

from fast._docs import Entry

ROWS = "array_like, shape (m,) or (n, m)"
MATRIX = "ndarray, shape (m,) or (n, m)"
_OTHERS = "array_like, shape (d,) or (n, d)"
_POINT = "Points over the d = m - 1 other classes. Never changed."
_PER_ROW = "float or array_like, shape (n,)"
PARAMETERS: Mapping[str, Entry] = {
    "scores": (
        ROWS,
        "Scores of all classes; float64, float32 or integers (computed as float64). Never changed.",
    ),
    "q": (ROWS, "Scores W'x_i less the example's own part k_ii a_i. Never changed."),
    "y": ("int or array_like of int, shape (n,)", "True classes, 0 to m - 1."),
    "k_ii": (_PER_ROW, "Squared norms ||x_i||^2 >= 0."),
    "C": ("float, default 1.0", "Weight > 0 of a loss against ||W||^2/2, C = 1/(lambda n)."),
    "x": (_OTHERS, f"Dual p{_POINT[1:]}"),
    "v": (_OTHERS, _POINT),
    "t": (f"{_PER_ROW}, default 1.0", "Step > 0."),
    "complement": (
        f"{_PER_ROW}, optional",
        "1 - <1,x>, where it is known more accurately than as that difference.",
    ),
    "return_complement": ("bool, default False", "Also return 1 - <1,x>, see below."),
    "gamma": ("float, default 1.0", "Smoothing > 0, in units of z; not subnormal."),
    "sample_weight": (f"{_PER_ROW}, optional", "Weights w_i >= 0 of the losses; default 1."),
}
K = {
    True: "1 <= k <= m - 1: the sum runs over the other classes.",
    False: "At least 1; beyond m - 1 only the factor 1/k changes.",
}
COSTS = {
    True: (
        f"{ROWS}, optional",
        (
            "Margins c_j, 0 at the true class (one vector for several rows is read as 0 there);\n"
            "default {} at the others."
        ),
    ),
    False: (f"{_OTHERS}, optional", "Margins c_j of the other classes; default {}."),
}
RETURNS: Mapping[str, Entry] = {
    "value": (
        "float or ndarray, shape (n,)",
        "w_i times the loss of each row, not averaged, in the dtype of the scores.",
    ),
    "gradient": (MATRIX, "w_i x_j at the other classes, -w_i <1,x> at y: rows sum to 0."),
    "conjugate": (
        "float or ndarray, shape (n,)",
        (
            "+inf outside the domain; 2 (d + 2) units of rounding, relative to the radius and to the\n"
            "cap, are allowed."
        ),
    ),
    "prox": ("ndarray", "As ``v`` in shape and dtype."),
    "sdca_update": (
        MATRIX,
        "Blocks a_i: -w C x at the other classes, w C <1,x> at y. Each row is solved by itself.",
    ),
}
RAISES: Entry = (
    "fast.errors.InvalidParameterError",
    "An entry or parameter out of range, or shapes that do not match.",
)
PAIR = (
    "\nWith ``return_complement`` a pair: this, and 1 - <1,x> (a float, or float64 numbers of shape\n"
    "(n,)) for the {}, accurate also where <1,x> rounds to 1."
)
POINTS = {
    "gradient": "unweighted gradient x",
    "prox": "x = (v - u)/t",
    "sdca_update": "x of the block -w C x",
}
TITLES = {
    "value": "",
    "gradient": "$Gradients with respect to the m scores.",
    "conjugate": "Convex conjugate of the loss as a function of $coordinates.",
    "prox": "Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t)$where.",
    "sdca_update": "Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.",
}
