"""Every loss on tensors as a module, and data for it; needs torch and numpy alone."""

import inspect

import numpy as np
import torch

import fast.torch as ft
from fast.torch import losses as tensors

PARAMETERS = {"k": 3, "gamma": 0.7}


def module(object_name):
    """The module of a loss, at some parameters."""
    names = inspect.signature(getattr(ft, object_name)).parameters
    return ft.RowwiseLoss(object_name, **{n: v for n, v in PARAMETERS.items() if n in names})


def classes(module):
    """Whether its ground truth is a class number for each row."""
    return "weight" in inspect.signature(module.function).parameters


MODULES = [module(object_name) for object_name in tensors.names()]
IDS = [m.extra_repr() for m in MODULES]


def data(module, n=6, m=9, seed=0, spread=(0.0, 0.0)):
    """Scores, and classes or an indicator with both kinds of labels in each row."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, m)) * 10.0 ** rng.uniform(*spread, size=(n, 1))
    if classes(module):
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
