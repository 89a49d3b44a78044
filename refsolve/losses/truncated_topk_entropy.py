"""Truncated top-k entropy: the softmax loss after the k - 1 largest of the others are dropped.

L(y, f) = min over J, |J| = m - k, of log(1 + sum_{j in J} e^{u_j}), J among the m - 1 others.
"""

from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.generators.entropy import Entropy
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Truncated top-k entropy loss (nonconvex)",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "log(1 + sum_J e^{z_j}), J all but the k - 1 largest",
        "conjugate": "for k >= 2: 0 at x = 0, +inf elsewhere; for k = 1 that of the softmax loss",
        "gradient": "x_j at j != y, -s at y; x_j = e^{z_j - L} on J, 0 elsewhere",
        "prox": "the softmax prox on the m - k smallest entries of v + c; the others stay",
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1, high="d", default=1),),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2016, equation (15) (arXiv v2: (22))",
    notes=(
        "nonconvex for k >= 2: the biconjugate is 0, so there is no dual and no SDCA update",
        "ties: of equal entries the first classes are dropped first; every choice has the same value",
        "the loss and its Moreau envelope grow with every entry, so the smallest J is optimal in both",
        "k = 1 is the softmax loss; costs are 0 by default",
    ),
)

generator = Entropy()
default_cost = 0.0
operations = ("value", "gradient", "conjugate", "prox")
#: The loss is the least of these convex ones, each restricted to the entries that `kept` may keep.
pieces = "softmax"


def kept(z: Array, k: int = 1) -> Any:
    """Mask of the entries that the optimal piece keeps: all but the k - 1 largest, by row."""
    z = np.asarray(z)
    order = np.argsort(-z, axis=-1, kind="stable")  # of equal entries the first stands first
    mask = np.ones(z.shape, bool)
    np.put_along_axis(mask, order[..., : k - 1], False, axis=-1)
    return mask
