"""Eager losses on a processor: values and gradients by one pass of a compiled kernel over the rows.

`torch.topk` alone takes longer than all of `cross_entropy`. Where numba is missing, k is large or tensors are not
plain, the operations of torch do it.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fast._threads import all_true

TASK = 1 << 18  # scores per thread below which none is started


@cache
def _kernels() -> ModuleType | None:
    try:
        return importlib.import_module("fast.kernels.scores")
    except ImportError:  # a copy of these files where torch is and numba is not
        return None


def solved(loss: Any, f: Tensor, y: Tensor, graded: bool) -> tuple[Tensor, Tensor] | None:
    """Losses and, if ``graded``, their gradients; None where tensors are left to torch."""
    if type(f) not in (Tensor, torch.nn.Parameter) or not f.is_cpu:
        return None
    m, kernels = f.shape[-1], _kernels()
    if kernels is None or not hasattr(loss, "kernel") or (kernel := loss.kernel(m)) is None:
        return None
    (name, *numbers), width = kernel, kernels.LANES
    rows, labels = (
        f.detach().reshape(-1, m).contiguous().numpy(),
        y.reshape(-1).contiguous().numpy(),
    )
    losses, x = f.new_empty(f.shape[:-1]), f.new_empty(f.shape if graded else (1, m))
    values, slopes = losses.view(-1).numpy(), x.view(-1, m).numpy()

    def work(part: slice) -> bool:
        space = np.empty((3, m)), np.empty(width, rows.dtype), np.empty((3, m + 1), np.int64)
        out = values[part], slopes[part] if graded else np.empty_like(rows[:1])
        given = rows[part]
        done: int = getattr(kernels, name)(given, labels[part], *numbers, *out, *space)
        if done < len(given):
            raise IndexError(f"index {labels[part][done]} is out of bounds for {m} classes")
        return True

    n, threads = len(rows), min(torch.get_num_threads(), f.numel() // TASK)
    if threads < 2:
        work(slice(0, n))
    else:
        step = -(-n // (2 * threads))
        all_true(work, [slice(i, i + step) for i in range(0, n, step)], threads)
    return losses, x
