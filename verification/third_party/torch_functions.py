"""Losses and projections on torch tensors: of torch itself, TorchMetrics, entmax and others."""

from typing import Any

from verification.third_party._making import adapted


@adapted(torch=True)
def entmax_bisect(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from entmax import sparsemax_bisect

    return sparsemax_bisect(a, dim=-1)


@adapted(torch=True, rows=True)
def entmax_budget(a: Any, r: Any) -> Any:
    """Rows of a tensor; budgets are "> 1"."""
    from entmax import budget_bisect

    if not 1 < float(r) <= a.shape[-1]:
        raise NotImplementedError("a budget above 1")
    return budget_bisect(a, budget=float(r), dim=-1)


@adapted(torch=True)
def entmax_sparsemax(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from entmax import sparsemax

    return sparsemax(a, dim=-1)


@adapted(torch=True, rows=True)
def entmax_sparsemax_loss(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    from entmax import sparsemax_loss

    return sparsemax_loss(scores, y)


@adapted(torch=True, rows=True)
def pml_ntxent(scores: Any, y: Any) -> Any:
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


@adapted(torch=True, rows=True)
def sparsemax_module(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from sparsemax import Sparsemax

    return Sparsemax(dim=-1)(a)


@adapted(torch=True, rows=True)
def torch_binary_cross_entropy(scores: Any, y: Any) -> Any:
    """The loss of each row; labels are 0 and 1."""
    import torch

    label = torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype)
    each = torch.nn.functional.binary_cross_entropy_with_logits(scores, label, reduction="none")
    return each.sum(-1)


@adapted(torch=True, rows=True)
def torch_binary_soft_margin(scores: Any, y: Any) -> Any:
    """The loss of each row; labels are 1 and -1."""
    import torch

    sign = 2 * torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype) - 1
    return torch.nn.functional.soft_margin_loss(scores, sign, reduction="none").sum(-1)


@adapted(torch=True, rows=True)
def torch_cross_entropy(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    import torch

    return torch.nn.functional.cross_entropy(scores, y, reduction="none")


@adapted(torch=True, rows=True)
def torch_cross_entropy_labels(scores: Any, y: Any) -> Any:
    """The loss of each row; every right label has the same share."""
    import torch

    share = y.to(scores.dtype) / y.sum(-1, keepdim=True)
    return torch.nn.functional.cross_entropy(scores, share, reduction="none")


@adapted(torch=True, rows=True)
def torch_multi_margin(scores: Any, y: Any, k: int) -> Any:
    """The loss of each row; it has no other k."""
    import torch

    m = scores.shape[-1]
    if k != m - 1:
        raise NotImplementedError("all other classes count")
    return torch.nn.functional.multi_margin_loss(scores, y, reduction="none") * m / (m - 1)


@adapted(torch=True, rows=True, answer=lambda value, m: m * value)
def torch_soft_margin(scores: Any, y: Any) -> Any:
    """The loss of each row; the classes are wanted as rows of 0 and 1."""
    import torch

    target = torch.nn.functional.one_hot(y, scores.shape[-1]).to(scores.dtype)
    return torch.nn.functional.multilabel_soft_margin_loss(scores, target, reduction="none")


@adapted(torch=True, rows=True)
def torchmetrics_hinge(scores: Any, y: Any) -> Any:
    """The mean over one row."""
    from torchmetrics.functional.classification import multiclass_hinge_loss

    return multiclass_hinge_loss(scores, y, num_classes=scores.shape[-1])[None]


@adapted(torch="gradient", rows=True)
def torch_autograd(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    import torch

    return torch.nn.functional.cross_entropy(scores, y, reduction="none")
