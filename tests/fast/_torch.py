"""Every loss on tensors as a module, and data for it; needs torch and numpy alone."""

import numpy as np
import torch

import fast.torch as ft

MODULES = [
    *(ft.TopKHingeLoss(3, v, g) for v in ("alpha", "beta") for g in (0.0, 0.7)),
    ft.SquaredTopKHingeLoss(3),
    *(ft.TopKEntropyLoss(3, v) for v in ("alpha", "beta")),
    ft.TruncatedTopKEntropyLoss(3),
    ft.SoftmaxLoss(),
    ft.SparsemaxLoss(),
    *(ft.OneVsAllLoss(kind) for kind in ("hinge", "smooth_hinge", "logistic")),
    *(ft.MultilabelLoss(kind) for kind in ("hinge", "smooth_hinge", "entropy")),
    ft.AveragePrecisionLoss(),
]
IDS = [m.extra_repr() for m in MODULES]


def data(module, n=6, m=9, seed=0, spread=(0.0, 0.0)):
    """Scores, and classes or an indicator with both kinds of labels in each row."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, m)) * 10.0 ** rng.uniform(*spread, size=(n, 1))
    if not module.stem.startswith(("multilabel", "average")):
        return torch.from_numpy(scores), torch.from_numpy(rng.integers(0, m, n))
    y = rng.integers(0, 2, (n, m))
    y[:, 0], y[:, 1] = 0, 1
    return torch.from_numpy(scores), torch.from_numpy(y)


def graded(loss, scores, y):
    """The loss and its gradient."""
    f = scores.clone().requires_grad_()
    value = loss(f, y)
    value.backward()
    return value.detach(), f.grad
