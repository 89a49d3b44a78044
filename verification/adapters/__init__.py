"""Adapters: verify a function that has a signature, a scaling or a data layout of its own.

``verify(adapt(f, problem=..., ...), problem=...)``: `adapt` takes all conversions as options, in any
combination. Each is a small `Step` in a file of its own: `scaling` (C and lambda), `truth` (vectors
with the ground truth's entry), `layout` (labels, transposed matrices, batches only), `precision`
(float32 only), `tensors` (torch), and `estimators` makes a trainer of a scikit-learn estimator.
"""

from verification.adapters._adapted import Adapted
from verification.adapters._steps import Step
from verification.adapters.estimators import trained
from verification.adapters.options import adapt
from verification.adapters.scaling import CONVENTIONS

__all__ = ["CONVENTIONS", "Adapted", "Step", "adapt", "trained"]
