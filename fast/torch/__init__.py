"""The losses on tensors: functions and modules of torch, differentiable, in place of `cross_entropy`.

>>> from fast.torch import TopKHingeLoss, topk_entropy_alpha
>>> loss = TopKHingeLoss(5, gamma=1.0)(scores, y)  # doctest: +SKIP

Each loss of `fast.losses` has a function of its name, for example ``topk_entropy_alpha``, from a file of its own in
`fast.torch.losses`; ``dir(fast.torch)`` lists them. ``RowwiseLoss(NAME, **options)`` is the module of any of them;
families have modules of their own in `fast.torch.modules` and here, for example `TopKHingeLoss`. `fit_head` trains a
linear head on the device of its rows, to a certified gap.

Classes stand on the last axis, with any leading axes: scores (N, C, d1) of `cross_entropy` are
``scores.movedim(1, -1)`` here. Values, gradients and, where a loss is smooth, second derivatives are those of the
formulas; eager calls go by one `torch.autograd.Function`, on a processor by compiled kernels (the first call compiles
for seconds, later ones find them on disk), on other devices by the operations of torch; compilers and exporters by a
differentiable expression of the same numbers. Half precision, also under autocast, is computed in float32, and losses
stay so; nothing waits for the device. There is no `fast.jax`: the array API has neither a top-k selection nor scatter
nor gradients, so that it would be a second set of formulas. Needs the extra ``torch``:
in a clone, ``pip install '.[torch]'``.
"""

import importlib
from typing import TYPE_CHECKING, Any

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("losses on tensors need torch: in a clone of refsolve, pip install '.[torch]'") from error

from fast.torch import losses
from fast.torch.modules import AveragePrecisionLoss as AveragePrecisionLoss
from fast.torch.modules import MultilabelLoss as MultilabelLoss
from fast.torch.modules import NDCGLoss as NDCGLoss
from fast.torch.modules import OneVsAllLoss as OneVsAllLoss
from fast.torch.modules import RowwiseLoss as RowwiseLoss
from fast.torch.modules import SoftmaxLoss as SoftmaxLoss
from fast.torch.modules import SparsemaxLoss as SparsemaxLoss
from fast.torch.modules import SquaredTopKHingeLoss as SquaredTopKHingeLoss
from fast.torch.modules import TopKEntropyLoss as TopKEntropyLoss
from fast.torch.modules import TopKHingeLoss as TopKHingeLoss
from fast.torch.modules import TruncatedTopKEntropyLoss as TruncatedTopKEntropyLoss

if TYPE_CHECKING:
    from fast.torch._heads import Head as Head
    from fast.torch._heads import fit_head as fit_head

__all__ = [
    *losses.names(),
    *(name for name in globals() if name.endswith("Loss")),
    "Head",
    "fit_head",
]


def __getattr__(name: str) -> Any:
    if name in ("Head", "fit_head"):  # whose certificates need numba, which the losses do without
        return getattr(importlib.import_module("fast.torch._heads"), name)
    if name in losses.names():
        return losses.function(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *losses.names()})
