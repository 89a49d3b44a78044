"""The gradient of ``torch.nn.functional.cross_entropy`` by ``torch.autograd``."""

from verification.adapters import adapt
from verification.third_party.torch_cross_entropy import loss

PROBLEM = "softmax.gradient"
PACKAGES = ("torch",)
FOUND = """As `scipy_softmax`: the entry at the truth is p_y - 1, which cancels where p_y is close
to 1, so that the entries do not sum to 0 to the relative accuracy of their sizes. The other
entries are right to rounding."""
REPRODUCE = """
import numpy as np
import torch

scores = torch.tensor([[8.0, 0.0]], dtype=torch.float64, requires_grad=True)
torch.nn.functional.cross_entropy(scores, torch.tensor([0])).backward()
returned = scores.grad[0].numpy()
p = np.exp(-8.0) / (1 + np.exp(-8.0))
right = np.array([-p, p])
"""


candidate = adapt(loss, PROBLEM, torch="gradient", rows=True)
