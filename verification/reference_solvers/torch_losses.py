"""Sound losses on torch tensors, slow and by autograd, that the wrong ones are made from.

All take (..., m) scores and (...) labels, and what a row's loss asks; `reduced` makes of it what training asks.
"""

from collections.abc import Callable
from typing import Any

from verification.bridges.torch_losses import IGNORED, torch


def others(f: Any, y: Any, costs: Any, default: float) -> Any:
    """f_j - f_y + c_j over the other classes; their gradient at y is minus their sum."""
    own = y[..., None]
    index = torch.arange(f.shape[-1] - 1, device=f.device)
    index = index + (index >= own)
    c = default if costs is None else torch.take_along_dim(costs, index, -1)
    return torch.take_along_dim(f, index, -1) - torch.take_along_dim(f, own, -1) + c


def softmax(f: Any, y: Any, costs: Any = None) -> Any:
    """log(1 + sum e^u)."""
    v = torch.logsumexp(others(f, y, costs, 0.0), -1)
    # softplus of torch is v itself beyond a threshold
    return torch.logaddexp(v, torch.zeros_like(v))


def hinge_alpha(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """max{0, mean of the k largest margins}."""
    return torch.relu(others(f, y, costs, 1.0).topk(k).values.sum(-1) / k)


def hinge_beta(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """Mean of the positive parts of the k largest margins."""
    return torch.relu(others(f, y, costs, 1.0).topk(k).values).sum(-1) / k


def smooth_beta(
    f: Any, y: Any, k: int = 1, gamma: float = 1.0, costs: Any = None, steps: int = 120
) -> Any:
    """<z, x> - gamma/2 ||x||^2 at the projection x of z/gamma on {0 <= x <= 1/k, sum <= 1}, by bisection."""
    z = others(f, y, costs, 1.0)
    a = (z.detach() / gamma).double()
    low, high = torch.zeros_like(a[..., 0]), torch.relu(a.amax(-1))
    for _ in range(steps):
        t = (low + high) / 2
        above = (a - t[..., None]).clamp(0, 1 / k).sum(-1) > 1
        low, high = torch.where(above, t, low), torch.where(above, high, t)
    x = (a - high[..., None]).clamp(0, 1 / k).to(f.dtype)
    return (z * x).sum(-1) - gamma / 2 * (x * x).sum(-1)


def truncated(f: Any, y: Any, k: int = 1, costs: Any = None) -> Any:
    """The softmax loss without the k - 1 largest of the others."""
    v = torch.logsumexp(others(f, y, costs, 0.0).sort(-1).values[..., : f.shape[-1] - k], -1)
    return torch.logaddexp(v, torch.zeros_like(v))


def reduced(
    row: Callable[..., Any],
    f: Any,
    y: Any,
    *,
    reduction: str = "none",
    weight: Any = None,
    ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
    **given: Any,
) -> Any:
    """The losses of rows with class weights, ignored rows and smoothed labels, reduced as torch does."""
    kept = y != ignore_index
    labels = torch.where(kept, y, 0)
    w = kept.to(f.dtype) if weight is None else torch.where(kept, weight[labels], 0.0)
    values = row(f, labels, **given)
    if label_smoothing:
        m = f.shape[-1]
        every = torch.stack([row(f, torch.full_like(y, j), **given) for j in range(m)], -1)
        values = (1 - label_smoothing) * values + label_smoothing * every.mean(-1)
    values = torch.where(kept, values, 0.0) * w
    if reduction == "none":
        return values
    return values.sum() if reduction == "sum" else values.sum() / w.sum()


def whole(row: Callable[..., Any]) -> Callable[..., Any]:
    """A row's loss with everything that training asks."""

    def loss(f: Any, y: Any, **given: Any) -> Any:
        return reduced(row, f, y, **given)

    return loss


#: What is sound, by object.
SOUND = {
    "softmax": softmax,
    "topk_hinge_alpha": hinge_alpha,
    "topk_hinge_beta": hinge_beta,
    "smooth_topk_hinge_beta": smooth_beta,
    "truncated_topk_entropy": truncated,
}
