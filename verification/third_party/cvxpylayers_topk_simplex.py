"""The same projection as a layer of ``cvxpylayers``, with its default solver."""

import functools
from typing import Any

import numpy as np

from verification.third_party.cvxpy_topk_simplex import layer

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpylayers", "torch")
BATCH = False
CHECKS = ("certified_gap", "ties")
FOUND = """With the default solver (SCS by way of diffcp, tolerance about 1e-4) no answer is right to
rounding and half are within 1e-6; entries of 1e-3 come out 11 % off, entries of 1e-7 have no digit
right, and those of 1e4 and more end in an error, or in answers that are negative or off by half. As
promised by the solver; a layer that is trained through deserves ``solver_args`` with smaller
tolerances, or Clarabel, and inputs of size 1."""
REPRODUCE = """
import cvxpy as cp
import numpy as np
import torch
from cvxpylayers.torch import CvxpyLayer

x, a = cp.Variable(2), cp.Parameter(2)
s, k = cp.sum(x), 2
problem = cp.Problem(cp.Minimize(cp.sum_squares(x - a) / 2), [x >= 0, s <= 1, x <= s / k])
layer = CvxpyLayer(problem, parameters=[a], variables=[x])
(answer,) = layer(torch.tensor([1e-3, 5e-4], dtype=torch.float64))
returned = answer.numpy()
right = np.array([7.5e-4, 7.5e-4])
"""


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
