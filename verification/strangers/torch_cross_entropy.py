"""``torch.nn.functional.cross_entropy`` as the softmax loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.adapters import adapt

PROBLEM = "softmax.value"
PACKAGES = ("torch",)
FAILS = ()
FOUND = ""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    import torch

    return torch.nn.functional.cross_entropy(scores, y, reduction="none")


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
