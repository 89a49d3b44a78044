"""Losses on tensors against their numba twins: values, gradients, and what autograd makes of them."""

import importlib
import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import fast.torch as ft  # noqa: E402
from fast.errors import InvalidParameterError  # noqa: E402
from fast.kernels import scores as kernels  # noqa: E402
from fast.torch import _processor  # noqa: E402
from fast.torch import losses as tensors  # noqa: E402

# torch's own formulas for forward mode are compiled by what torch says not to use
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
ROWS = [object_name for object_name in tensors.names() if object_name not in ("average_precision", "ndcg")]
EPS = {torch.float64: 2.0**-52, torch.float32: 2.0**-23}


def arguments(object_name, rng, m):
    """Parameters in their range, also k beyond the other classes where that is allowed."""
    names = inspect.signature(getattr(ft, object_name)).parameters
    found = {}
    if "k" in names:
        found["k"] = int(rng.integers(1, m + 2 if "beta" in object_name else m))
    if "gamma" in names:
        found["gamma"] = float(10 ** rng.uniform(-2, 1))
    if "beta" in names:
        found["beta"] = -np.sort(-rng.exponential(size=m - 1))
    return found


def labels(object_name, rng, n, m):
    if "weight" in inspect.signature(getattr(ft, object_name)).parameters:  # of classes
        return torch.from_numpy(rng.integers(0, m, n))
    y = rng.integers(0, 2, (n, m))
    y[y.sum(1) == 0, 0] = 1
    return torch.from_numpy(y)


def graded(object_name, scores, y, **options):
    f = scores.clone().requires_grad_()
    losses = getattr(ft, object_name)(f, y, reduction="none", **options)
    losses.double().sum().backward()
    return losses.detach(), f.grad


def compared(object_name, scores, y, costs=None, **options):
    """Values and gradients beside those of the kernels at the same scores in float64."""
    twin = importlib.import_module(f"fast.losses.{object_name}")
    given = None if costs is None else torch.from_numpy(costs)
    values, gradients = graded(object_name, scores, y, costs=given, **options)
    wide = scores.double().numpy()
    right = twin.value(wide, y.numpy(), costs=costs, **options)
    slope = twin.gradient(wide, y.numpy(), costs=costs, **options)
    assert values.dtype == gradients.dtype == scores.dtype
    # the terms of a loss are scores, margins and their quotients by gamma; gradients have the
    # Lipschitz constant 1/gamma, or are exact but for the probabilities
    size = 1 + np.abs(wide).max() + (0 if costs is None else np.abs(costs).max())
    unit = 32 * scores.shape[-1] * EPS[scores.dtype] * size / min(options.get("gamma", 1.0), 1.0)
    np.testing.assert_allclose(values.numpy(), right, atol=unit * size, rtol=0)
    np.testing.assert_allclose(gradients.numpy(), slope, atol=unit * (1 + right.max()), rtol=0)


@pytest.mark.parametrize("object_name", ROWS)
@pytest.mark.parametrize("found", [kernels, None], ids=["kernels", "torch"])
def test_long_rows(object_name, found, monkeypatch):
    """Also where many classes have a share, in few of the rows or in all of them; and no row in its own memory."""
    monkeypatch.setattr(_processor, "_kernels", lambda: found)
    rng = np.random.default_rng(11)
    scales = np.array([1.0, 0.01, 1.0, 1e-4, 30.0])[:, np.newaxis]
    for gamma in (1.0, 30.0):
        names = inspect.signature(getattr(ft, object_name)).parameters
        options = {n: v for n, v in {"k": 5, "gamma": gamma}.items() if n in names}
        scores = torch.from_numpy(rng.standard_normal((5, 600)) * scales)[:, ::2]
        compared(object_name, scores, labels(object_name, rng, 5, 300), **options)


@pytest.mark.parametrize(
    "object_name", ["topk_hinge_beta", "smooth_topk_hinge_alpha", "topk_entropy_beta"]
)
def test_threads_change_no_bit(object_name, monkeypatch):
    scores, y = torch.randn(41, 150, generator=torch.Generator().manual_seed(3)), torch.arange(41)
    one = graded(object_name, scores, y, k=4)
    monkeypatch.setattr(_processor, "TASK", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert all(map(torch.equal, one, graded(object_name, scores, y, k=4)))
    with pytest.raises(InvalidParameterError, match="out of bounds"):
        graded(object_name, scores, y + 110, k=4)


@pytest.mark.parametrize(
    "object_name", ["smooth_topk_hinge_alpha", "sparsemax", "topk_entropy_alpha"]
)
def test_scores_that_are_not_finite(object_name):
    """Infinite losses are so, nan stays nan, and what is traced sees no kernel."""
    scores = torch.zeros(4, 150)
    scores[0, 7], scores[1, 7], scores[2, 9] = torch.nan, torch.inf, -torch.inf
    loss = getattr(ft, object_name)(scores, torch.tensor([1, 1, 9, 1]), reduction="none")
    assert loss[0].isnan()
    assert loss[1].isinf()
    assert loss[2].isinf()
    assert loss[3].isfinite()
    y = torch.tensor([1, 2, 3, 4])
    traced = make_fx(lambda f, y: getattr(ft, object_name)(f, y))(scores, y)
    other = torch.randn(4, 150, generator=torch.Generator().manual_seed(4))
    assert torch.allclose(traced(other, y), getattr(ft, object_name)(other, y))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    "object_name", ["smooth_topk_hinge_alpha", "smooth_topk_hinge_beta", "sparsemax"]
)
def test_steps_that_are_counted_beforehand_suffice(object_name, dtype):
    """On rows that Newton's method likes least: distances below the k-th that grow geometrically."""
    growth = torch.tensor([1.2, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0], dtype=dtype)[:, None, None]
    scale = torch.tensor([1e-3, 0.1, 1.0, 10.0], dtype=dtype)[:, None]
    scores = -scale * growth ** torch.arange(-40.0, 1.0, dtype=dtype)
    top = torch.tensor([0.0, 0.0, 0.0], dtype=dtype).expand(7, 4, 3)
    scores = torch.cat((top, scores, 3 * scores[..., -1:]), -1).flatten(0, 1)
    scores = torch.cat(
        (scores, torch.randn(20, 45, dtype=dtype, generator=torch.Generator().manual_seed(1)) ** 9)
    )
    y = torch.full(scores.shape[:1], 44)
    options = {} if object_name == "sparsemax" else {"k": 3, "gamma": 1.0}

    def loss(f, y):
        return getattr(ft, object_name)(f, y, reduction="sum", **options)

    at_need = torch.func.grad(loss)  # transforms go the traced way
    values, gradients = graded(object_name, scores, y, **options)
    assert torch.allclose(at_need(scores, y), gradients, atol=64 * EPS[dtype])
    assert torch.allclose(torch.func.vmap(loss)(scores, y), values, rtol=64 * EPS[dtype])


@pytest.mark.parametrize("object_name", ROWS)
def test_derivatives_by_differences(object_name):
    """gradcheck backwards and forwards, and of the gradient where the loss is smooth."""
    rng = np.random.default_rng(5)
    m = 6
    options = {**arguments(object_name, rng, m), "reduction": "none"}
    if "gamma" in options:
        options["gamma"] = 1.5
    scores = torch.from_numpy(rng.standard_normal((4, m))).requires_grad_()
    y = labels(object_name, rng, 4, m)

    def loss(f):
        return getattr(ft, object_name)(f, y, **options)

    assert torch.autograd.gradcheck(loss, (scores,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(loss, (scores,), check_fwd_over_rev=False)


@pytest.mark.parametrize("object_name", ROWS)
def test_function_transforms(object_name):
    """vmap over rows, per-row gradients and Hessians are those of the batch."""
    rng = np.random.default_rng(7)
    n, m = 3, 5
    options = {**arguments(object_name, rng, m), "reduction": "sum"}
    scores, y = torch.from_numpy(rng.standard_normal((n, m))), labels(object_name, rng, n, m)

    def loss(f, y):
        return getattr(ft, object_name)(f, y, **options)

    values, gradients = graded(
        object_name, scores, y, **arguments(object_name, np.random.default_rng(7), m)
    )
    assert torch.allclose(torch.func.vmap(loss)(scores, y), values)
    assert torch.allclose(torch.func.vmap(torch.func.grad(loss))(scores, y), gradients)
    each = torch.func.vmap(torch.func.hessian(loss))(scores, y)
    whole = torch.autograd.functional.hessian(lambda f: loss(f, y), scores)
    assert torch.allclose(each, torch.stack([whole[i, :, i] for i in range(n)]))
    assert torch.allclose(
        each, torch.func.vmap(torch.func.jacrev(torch.func.grad(loss)))(scores, y)
    )
