"""Losses on tensors against their numba twins: values, gradients, and what autograd makes of them."""

import importlib
import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import fast.torch as ft  # noqa: E402

# torch's own formulas for forward mode are compiled by what torch says not to use
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
ROWS = [stem for stem in ft.STEMS if stem != "average_precision"]
EPS = {torch.float64: 2.0**-52, torch.float32: 2.0**-23}


def arguments(stem, rng, m):
    """Parameters in their range, also k beyond the other classes where that is allowed."""
    names = inspect.signature(getattr(ft, stem)).parameters
    found = {}
    if "k" in names:
        found["k"] = int(rng.integers(1, m + 2 if "beta" in stem else m))
    if "gamma" in names:
        found["gamma"] = float(10 ** rng.uniform(-2, 1))
    return found


def labels(stem, rng, n, m):
    if not stem.startswith("multilabel"):
        return torch.from_numpy(rng.integers(0, m, n))
    y = rng.integers(0, 2, (n, m))
    y[y.sum(1) == 0, 0] = 1
    return torch.from_numpy(y)


def graded(stem, scores, y, **options):
    f = scores.clone().requires_grad_()
    losses = getattr(ft, stem)(f, y, reduction="none", **options)
    losses.double().sum().backward()
    return losses.detach(), f.grad


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("stem", ROWS)
def test_values_and_gradients_are_those_of_the_kernels(stem, dtype):
    twin = importlib.import_module(f"fast.losses.{stem}")
    rng = np.random.default_rng(sum(map(ord, stem)))
    for trial in range(25):
        n, m = 4, int(rng.integers(2, 9))
        options = arguments(stem, rng, m)
        scores = torch.from_numpy(rng.standard_normal((n, m)) * 10 ** rng.uniform(-2, 1.5)).to(
            dtype
        )
        y = labels(stem, rng, n, m)
        costs = rng.standard_normal(m) if trial % 3 == 0 else None
        given = None if costs is None else torch.from_numpy(costs)
        values, gradients = graded(stem, scores, y, costs=given, **options)
        wide = scores.double().numpy()
        right = twin.value(wide, y.numpy(), costs=costs, **options)
        slope = twin.gradient(wide, y.numpy(), costs=costs, **options)
        assert values.dtype == gradients.dtype == dtype
        # the terms of a loss are scores, margins and their quotients by gamma; gradients have the
        # Lipschitz constant 1/gamma, or are exact but for the probabilities
        size = 1 + np.abs(wide).max() + (0 if costs is None else np.abs(costs).max())
        unit = 32 * m * EPS[dtype] * size / min(options.get("gamma", 1.0), 1.0)
        np.testing.assert_allclose(values.numpy(), right, atol=unit * size, rtol=0)
        np.testing.assert_allclose(gradients.numpy(), slope, atol=unit * (1 + right.max()), rtol=0)


@pytest.mark.parametrize("stem", ROWS)
def test_derivatives_by_differences(stem):
    """gradcheck backwards and forwards, and of the gradient where the loss is smooth."""
    rng = np.random.default_rng(5)
    m = 6
    options = {**arguments(stem, rng, m), "reduction": "none"}
    if "gamma" in options:
        options["gamma"] = 1.5
    scores = torch.from_numpy(rng.standard_normal((4, m))).requires_grad_()
    y = labels(stem, rng, 4, m)

    def loss(f):
        return getattr(ft, stem)(f, y, **options)

    assert torch.autograd.gradcheck(loss, (scores,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(loss, (scores,), check_fwd_over_rev=False)


@pytest.mark.parametrize("stem", ROWS)
def test_function_transforms(stem):
    """vmap over rows, per-row gradients and Hessians are those of the batch."""
    rng = np.random.default_rng(7)
    n, m = 3, 5
    options = {**arguments(stem, rng, m), "reduction": "sum"}
    scores, y = torch.from_numpy(rng.standard_normal((n, m))), labels(stem, rng, n, m)

    def loss(f, y):
        return getattr(ft, stem)(f, y, **options)

    values, gradients = graded(stem, scores, y, **arguments(stem, np.random.default_rng(7), m))
    assert torch.allclose(torch.func.vmap(loss)(scores, y), values)
    assert torch.allclose(torch.func.vmap(torch.func.grad(loss))(scores, y), gradients)
    each = torch.func.vmap(torch.func.hessian(loss))(scores, y)
    whole = torch.autograd.functional.hessian(lambda f: loss(f, y), scores)
    assert torch.allclose(each, torch.stack([whole[i, :, i] for i in range(n)]))
    assert torch.allclose(
        each, torch.func.vmap(torch.func.jacrev(torch.func.grad(loss)))(scores, y)
    )
