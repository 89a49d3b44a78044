"""``pytorch_metric_learning.losses.NTXentLoss`` of one pair among negatives: the softmax loss."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "softmax.value"
PACKAGES = ("pytorch-metric-learning", "torch")
BATCH = False
DEFECT = "``NTXentLoss`` of one positive and one negative pair is 0, and no loss exceeds 708, where its gradient is 0."
FOUND = """Two things. One positive and one negative pair give a loss of 0, whatever the similarities: losses of pairs
return zero if no list of the tuple has more than one entry. And -log(p + tiny) ends at 708 (87 in single
precision), with a gradient of 0, where the loss is as large as the lead: at the default temperature of .07
and similarities of cosines the lead is at most 29, at .01 it is 200. Neither is documented. Beside that the
relative accuracy of small losses is lost, as with `torch_cross_entropy`."""
REPRODUCE = """
import numpy as np
import torch
from pytorch_metric_learning.losses import NTXentLoss

# an anchor, its positive and one negative, all at right angles
index = torch.tensor
pairs = index([0]), index([1]), index([0]), index([2])
loss = NTXentLoss(temperature=1.0)(torch.eye(3), torch.tensor([0, 0, 1]), pairs)
returned, right = loss.item(), np.log(2.0)
"""


def loss(scores: Any, y: Any) -> Any:
    """Similarities to one anchor are the scores; the pair is that of the truth. Temperature 1."""
    import torch
    from pytorch_metric_learning.distances import DotProductSimilarity
    from pytorch_metric_learning.losses import NTXentLoss

    anchor, others = torch.ones((1, 1), dtype=scores.dtype), scores.reshape(-1, 1)
    index, truth = torch.arange(len(others)), int(y[0])
    wrong = index[index != truth]
    zeros = torch.zeros_like
    pairs = (zeros(index[:1]), index[truth : truth + 1], zeros(wrong), wrong)
    measure = NTXentLoss(temperature=1.0, distance=DotProductSimilarity(normalize_embeddings=False))
    labels = torch.zeros(1, dtype=torch.long)
    return measure(anchor, labels, pairs, others, torch.zeros(len(others), dtype=torch.long))[None]


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
