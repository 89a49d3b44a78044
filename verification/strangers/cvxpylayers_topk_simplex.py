"""The same projection as a layer of ``cvxpylayers``, with its default solver."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from verification.strangers.cvxpy_topk_simplex import layer

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpylayers", "torch")
BATCH = False
CHECKS = ("certified_gap", "ties")
FAILS = ("certified_gap", "ties")
FOUND = ""


@functools.cache
def torch_layer(d: int, k: int) -> Any:
    """The layer of a size."""
    from cvxpylayers.torch import CvxpyLayer

    problem, x, parameters = layer(d, k)
    return CvxpyLayer(problem, parameters=list(parameters), variables=[x])


def candidate(a: Any, k: int = 1, r: float = 1.0, rho: float = 0.0) -> Any:
    """One vector, in double precision."""
    import torch

    given = [torch.tensor(v, dtype=torch.float64) for v in (a, r, np.sqrt(rho))]
    (x,) = torch_layer(len(a), k)(*given)
    return x.numpy()
