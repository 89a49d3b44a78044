"""The losses as modules: parameters are checked when a module is made, and stand in its repr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from fast.torch import _inputs, losses

VARIANTS = ("alpha", "beta")
KINDS = ("hinge", "smooth_hinge", "logistic")
MULTILABEL = ("hinge", "smooth_hinge", "entropy")
#: What is asked of options when a module is made; the rest needs the scores.
CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": _inputs.check_top,
    "gamma": _inputs.check_gamma,
    "reduction": _inputs.check_reduction,
}


class RowwiseLoss(torch.nn.Module):
    """Any loss of this folder as a module: calls the function of an object with what it was made with.

    Without parameters or state: tensors given at the start move with the module, and are not saved with it.

    Parameters
    ----------
    object_name : str
        Name of the function in `fast.torch`.
    **options
        Its keyword arguments.
    """

    def __init__(self, object_name: str, **options: Any) -> None:
        super().__init__()
        self.object_name = object_name
        self.function = losses.function(object_name)
        for name in CHECKS.keys() & options.keys():
            options[name] = CHECKS[name](options[name])
        self.options = {n: v for n, v in options.items() if not isinstance(v, torch.Tensor)}
        self.tensors = tuple(options.keys() - self.options.keys())
        for name in self.tensors:
            self.register_buffer(name, options[name], persistent=False)

    def forward(self, scores: Tensor, y: Tensor, **more: Tensor) -> Tensor:
        """Loss of scores (..., m) and labels y."""
        tensors = {name: getattr(self, name) for name in self.tensors}
        found: Tensor = self.function(scores, y, **self.options, **tensors, **more)
        return found

    def extra_repr(self) -> str:
        """The object and its options."""
        options = [*(f"{n}={v!r}" for n, v in self.options.items()), *self.tensors]
        return ", ".join([self.object_name, *options])


class TopKHingeLoss(RowwiseLoss):
    """Top-k hinge: `topk_hinge_alpha` or `topk_hinge_beta`; smooth for gamma > 0.

    Parameters
    ----------
    k : int
        Largest entries that count.
    variant : {"alpha", "beta"}
        max{0, S_k(z)/k} or S_k(max(z, 0))/k.
    gamma : float
        Smoothing; 0 is the hinge itself.
    **options
        ``reduction``, ``weight``, ``ignore_index``, ``costs``, ``cost_matrix`` of the function.
    """

    def __init__(
        self, k: int = 1, variant: str = "alpha", gamma: float = 0.0, **options: Any
    ) -> None:
        _inputs.one_of("variant", variant, VARIANTS)
        smooth = {} if gamma == 0 else {"gamma": gamma}
        object_name = f"{'smooth_' if smooth else ''}topk_hinge_{variant}"
        super().__init__(object_name, k=k, **smooth, **options)


class SquaredTopKHingeLoss(RowwiseLoss):
    """Half the square of the top-k hinge: `squared_topk_hinge`.

    Parameters
    ----------
    k : int
        Largest entries that count.
    **options
        As for `TopKHingeLoss`.
    """

    def __init__(self, k: int = 1, **options: Any) -> None:
        super().__init__("squared_topk_hinge", k=k, **options)


class TopKEntropyLoss(RowwiseLoss):
    """Top-k entropy: `topk_entropy_alpha` or `topk_entropy_beta`.

    Parameters
    ----------
    k : int
        1/k caps the probabilities of single classes; 1 is softmax.
    variant : {"alpha", "beta"}
        The cap is s/k with s the mass of the other classes, or 1/k.
    **options
        As for `TopKHingeLoss`.
    """

    def __init__(self, k: int = 1, variant: str = "alpha", **options: Any) -> None:
        _inputs.one_of("variant", variant, VARIANTS)
        super().__init__(f"topk_entropy_{variant}", k=k, **options)


class TruncatedTopKEntropyLoss(RowwiseLoss):
    """Softmax over all but the k - 1 largest other classes: `truncated_topk_entropy`.

    Parameters
    ----------
    k : int
        k - 1 classes are left out.
    **options
        As for `TopKHingeLoss`.
    """

    def __init__(self, k: int = 1, **options: Any) -> None:
        super().__init__("truncated_topk_entropy", k=k, **options)


class SoftmaxLoss(RowwiseLoss):
    """Cross-entropy, accurate where it is tiny: `softmax`.

    Parameters
    ----------
    **options
        As for `TopKHingeLoss`, and ``label_smoothing``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("softmax", **options)


class SparsemaxLoss(RowwiseLoss):
    """Sparsemax loss: `sparsemax`.

    Parameters
    ----------
    **options
        As for `TopKHingeLoss`, and ``label_smoothing``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("sparsemax", **options)


class OneVsAllLoss(RowwiseLoss):
    """The sum of m binary losses: `ova_hinge`, `ova_smooth_hinge` or `ova_logistic`.

    Parameters
    ----------
    kind : {"hinge", "smooth_hinge", "logistic"}
        The binary loss.
    gamma : float
        Smoothing of the smooth hinge.
    **options
        As for `TopKHingeLoss`.
    """

    def __init__(self, kind: str = "hinge", gamma: float = 1.0, **options: Any) -> None:
        if _inputs.one_of("kind", kind, KINDS) == "smooth_hinge":
            options["gamma"] = gamma
        super().__init__(f"ova_{kind}", **options)


class MultilabelLoss(RowwiseLoss):
    """Losses of an indicator: `multilabel_hinge`, `multilabel_smooth_hinge` or `multilabel_entropy`.

    Parameters
    ----------
    kind : {"hinge", "smooth_hinge", "entropy"}
        Which of them.
    gamma : float
        Smoothing of the smooth hinge.
    **options
        ``reduction`` and ``costs``; for the entropy ``label_smoothing``.
    """

    def __init__(self, kind: str = "hinge", gamma: float = 1.0, **options: Any) -> None:
        if _inputs.one_of("kind", kind, MULTILABEL) == "smooth_hinge":
            options["gamma"] = gamma
        super().__init__(f"multilabel_{kind}", **options)


class AveragePrecisionLoss(RowwiseLoss):
    """The structured hinge of 1 - AP: `average_precision`; call it with ``groups`` for several queries.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}
        Over queries.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("average_precision", reduction=reduction)


class NDCGLoss(RowwiseLoss):
    """The structured hinge of 1 - NDCG: `ndcg`; call it with ``groups`` for several queries.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}
        Over queries.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("ndcg", reduction=reduction)
