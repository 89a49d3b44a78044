"""Torch tensors in and out, and gradients by torch's own differentiation.

Torch is imported when the first instance is solved, so that nothing here depends on it.
"""

from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step, as_floats, each, needed
from verification.errors import InvalidArgumentError
from verification.problems.problem import Problem

GRADIENT = "gradient"


class Tensors(Step):
    """Arrays become tensors of the same dtype (copies), tensors in the answer become arrays.

    A problem's main array is of floats for torch, whose integers divide to single precision.

    Parameters
    ----------
    problem : Problem or None
    mode : True or "gradient"
        With "gradient" the function is a loss; the answer is the gradient of (the sum of) its
        values with respect to the problem's main array, from ``torch.autograd``.
    device : str
        Where the tensors live, e.g. "cuda".
    """

    def __init__(self, problem: Problem | None, mode: bool | str = True, device: str = "cpu"):
        if mode is not True and mode != GRADIENT:
            raise InvalidArgumentError(f"torch={mode!r}: expected True or {GRADIENT!r}")
        self.main = needed(problem, "torch='gradient'").data if mode == GRADIENT else None
        self.data = "" if problem is None else problem.data
        self.device = device
        self._leaf: Any = None

    def before(self, given: Given) -> Given:
        """Copy arrays into tensors; the main one asks for a gradient where that is wanted."""
        import torch

        data: Any = given.get(self.data)
        if isinstance(data, np.ndarray):
            given = {**given, self.data: as_floats(data)}
        changed = {
            name: torch.tensor(v, device=self.device) if isinstance(v, np.ndarray) else v
            for name, v in given.items()
        }
        if self.main is not None:
            self._leaf = changed[self.main].requires_grad_(True)
        return changed

    def after(self, answer: Any, given: Given) -> Any:
        """Arrays of the tensors' dtype."""
        import torch

        if self.main is not None:
            leaf, self._leaf = self._leaf, None
            if not isinstance(answer, torch.Tensor) or not answer.requires_grad:
                raise TypeError(
                    f"returned {answer!r:.80}: not a tensor that depends on {self.main} by torch's "
                    "operations, so there is no gradient"
                )
            (answer,) = torch.autograd.grad(answer.sum(), leaf)

        def change(name: str, part: Any) -> Any:
            if isinstance(part, torch.Tensor):
                return part.detach().cpu().numpy()
            if isinstance(part, list) and any(isinstance(p, torch.Tensor) for p in part):
                return np.stack([change(name, p) for p in part])
            return part

        return each(answer, change)
