"""The gradient of ``torch.nn.functional.cross_entropy`` by ``torch.autograd``."""

from __future__ import annotations

from verification.adapters import adapt
from verification.strangers.torch_cross_entropy import loss

PROBLEM = "softmax.gradient"
PACKAGES = ("torch",)
FAILS = ()
FOUND = ""


candidate = adapt(loss, PROBLEM, torch="gradient", rows=True)
