"""``torchmetrics.functional.classification.multiclass_hinge_loss``, Crammer and Singer's."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "multiclass_hinge.value"
PACKAGES = ("torchmetrics", "torch")
BATCH = False
FOUND = """Scores outside of [0, 1] are taken for logits and sent through a softmax first, after which no hinge can
exceed 2: the metric of an SVM's scores is not its hinge loss, and jumps where the largest score passes 1.
Documented, in a sentence about "preds"; scikit-learn's function of the same name, whose definition it
cites, does not do so."""
REPRODUCE = """
import torch
from torchmetrics.functional.classification import multiclass_hinge_loss

# class 1 is right, and 3 behind
returned = multiclass_hinge_loss(torch.tensor([[3.0, 0.0]]), torch.tensor([1]), num_classes=2).item()
right = 4.0
"""


def loss(scores: Any, y: Any) -> Any:
    """The mean over one row."""
    from torchmetrics.functional.classification import multiclass_hinge_loss

    return multiclass_hinge_loss(scores, y, num_classes=scores.shape[-1])[None]


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
