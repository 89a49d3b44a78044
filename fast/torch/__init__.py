"""The losses on tensors: functions and modules of torch, differentiable, in place of `cross_entropy`.

>>> from fast.torch import TopKHingeLoss, topk_entropy_alpha
>>> loss = TopKHingeLoss(5, gamma=1.0)(scores, y)  # doctest: +SKIP

Functions bear the names of the stems: ``topk_hinge_alpha``, ``topk_hinge_beta``, ``multiclass_hinge``,
``smooth_topk_hinge_alpha``, ``smooth_topk_hinge_beta``, ``squared_topk_hinge``, ``softmax``,
``topk_entropy_alpha``, ``topk_entropy_beta``, ``truncated_topk_entropy``, ``sparsemax``, ``ova_hinge``,
``ova_smooth_hinge``, ``ova_logistic``, ``multilabel_hinge``, ``multilabel_smooth_hinge``,
``multilabel_entropy``, ``average_precision``; modules stand in `fast.torch.modules` and here. `fit_head` trains
a linear head on the device of its rows, to a certified gap.

Classes stand on the last axis, with any leading axes: scores (N, C, d1) of `cross_entropy` are
``scores.movedim(1, -1)`` here. Values, gradients and, where a loss is smooth, second derivatives are those of the
formulas; eager calls go by one `torch.autograd.Function`, on a processor by compiled kernels (the first call compiles
for seconds, later ones find them on disk), on other devices by the operations of torch; compilers and exporters by a
differentiable expression of the same numbers. Half precision, also under autocast, is computed in float32, and losses
stay so; nothing waits for the device. There is no `fast.jax`: the array API has neither a top-k selection nor scatter
nor gradients, so that it would be a second set of formulas. Needs the extra ``torch``:
``pip install 'refsolve[torch]'``.
"""

import importlib
from typing import TYPE_CHECKING, Any

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("losses on tensors need torch: install refsolve[torch]") from error

from fast.torch import losses
from fast.torch.losses import average_precision as average_precision
from fast.torch.losses import multiclass_hinge as multiclass_hinge
from fast.torch.losses import multilabel_entropy as multilabel_entropy
from fast.torch.losses import multilabel_hinge as multilabel_hinge
from fast.torch.losses import multilabel_smooth_hinge as multilabel_smooth_hinge
from fast.torch.losses import ova_hinge as ova_hinge
from fast.torch.losses import ova_logistic as ova_logistic
from fast.torch.losses import ova_smooth_hinge as ova_smooth_hinge
from fast.torch.losses import smooth_topk_hinge_alpha as smooth_topk_hinge_alpha
from fast.torch.losses import smooth_topk_hinge_beta as smooth_topk_hinge_beta
from fast.torch.losses import softmax as softmax
from fast.torch.losses import sparsemax as sparsemax
from fast.torch.losses import squared_topk_hinge as squared_topk_hinge
from fast.torch.losses import topk_entropy_alpha as topk_entropy_alpha
from fast.torch.losses import topk_entropy_beta as topk_entropy_beta
from fast.torch.losses import topk_hinge_alpha as topk_hinge_alpha
from fast.torch.losses import topk_hinge_beta as topk_hinge_beta
from fast.torch.losses import truncated_topk_entropy as truncated_topk_entropy
from fast.torch.modules import AveragePrecisionLoss as AveragePrecisionLoss
from fast.torch.modules import MultilabelLoss as MultilabelLoss
from fast.torch.modules import OneVsAllLoss as OneVsAllLoss
from fast.torch.modules import SoftmaxLoss as SoftmaxLoss
from fast.torch.modules import SparsemaxLoss as SparsemaxLoss
from fast.torch.modules import SquaredTopKHingeLoss as SquaredTopKHingeLoss
from fast.torch.modules import TopKEntropyLoss as TopKEntropyLoss
from fast.torch.modules import TopKHingeLoss as TopKHingeLoss
from fast.torch.modules import TruncatedTopKEntropyLoss as TruncatedTopKEntropyLoss

if TYPE_CHECKING:
    from fast.torch._heads import Head as Head
    from fast.torch._heads import fit_head as fit_head

STEMS = sorted(
    name
    for name, loss in vars(losses).items()
    if getattr(loss, "__module__", "") == losses.__name__ and not name.startswith("_")
)


def __getattr__(name: str) -> Any:
    if name in ("Head", "fit_head"):  # whose certificates need numba, which the losses do without
        return getattr(importlib.import_module("fast.torch._heads"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
