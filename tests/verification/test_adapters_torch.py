"""Torch tensors through the adapters; skipped where torch is not installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from verification import adapt, checks, verify  # noqa: E402


@pytest.fixture(autouse=True)
def _few_instances(monkeypatch):
    for check in checks.discover().values():
        monkeypatch.setitem(check.COUNTS, "quick", max(6, check.COUNTS["quick"] // 8))


def project(a, r):
    """Projection onto the simplex, differentiable, rows of tensors."""
    assert isinstance(a, torch.Tensor)
    u = torch.sort(a, dim=-1, descending=True).values
    sums = torch.cumsum(u, -1) - r
    count = torch.arange(1, a.shape[-1] + 1, dtype=a.dtype)
    last = (u * count > sums).sum(-1, keepdim=True)
    t = sums.gather(-1, (last - 1).clamp(min=0)) / last
    return torch.clamp(a - t, min=0)


def loss(scores, y):
    u = scores - scores[y]
    return torch.clamp(u + 1, min=0)[torch.arange(len(u)) != y].max()


def test_tensors_in_and_out():
    mine = adapt(project, "simplex.projection", torch=True)
    found = mine(a=np.array([3.0, 1.0]), r=2.0)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [2.0, 0.0]
    report = verify(
        mine, "simplex.projection", checks=["certified_gap", "ties", "single_precision", "purity"]
    )
    assert report.ok, report


def test_the_dtype_is_kept():
    mine = adapt(lambda a: a, "simplex.projection", torch=True)
    assert mine(a=np.ones(2, dtype=np.float32)).dtype == np.float32
    assert mine(a=np.ones(2)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_integers_are_floats_for_torch(dtype):
    mine = adapt(lambda a: a / 3, "simplex.projection", torch=True)
    found = mine(a=np.array([1, 2], dtype=dtype))
    assert found.dtype == np.float64
    assert found.tolist() == [1 / 3, 2 / 3]


def test_gradients_by_autograd():
    name = "multiclass_hinge.gradient"
    mine = adapt(loss, name, torch="gradient")
    assert mine(scores=np.array([1.0, 0.5, 0.0]), y=0).tolist() == [-1.0, 1.0, 0.0]
    report = verify(mine, name, checks=["fenchel_young", "subgradient", "certified_gap"])
    assert report.ok, report


def test_a_gradient_of_the_wrong_loss():
    mine = adapt(
        lambda scores, y: 2 * loss(scores, y), "multiclass_hinge.gradient", torch="gradient"
    )
    assert verify(mine, "multiclass_hinge.gradient", checks=["certified_gap"]).failures


def test_no_graph_no_gradient():
    mine = adapt(lambda scores, y: scores.detach().sum(), "softmax.gradient", torch="gradient")
    with pytest.raises(TypeError, match="not a tensor that depends on scores"):
        mine(scores=np.ones(2), y=0)


def test_the_input_is_a_copy():
    def overwrite(a, r):
        return a.zero_() + r

    given = np.ones(2)
    adapt(overwrite, "simplex.projection", torch=True)(a=given, r=1.0)
    assert given.tolist() == [1.0, 1.0]


def test_batches_and_lists_of_tensors():
    def rows(a, r):
        return [project(row, r) for row in a]

    mine = adapt(rows, "simplex.projection", torch=True, rows=True)
    assert mine(a=np.array([2.0, 0.0]), r=1.0).tolist() == [1.0, 0.0]
    assert mine(a=np.array([[2.0, 0.0], [0.0, 0.0]]), r=1.0).tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_in_place_on_tensors():
    def write(a, r, out):
        out.copy_(project(a, r))

    def overwrite(a, r):
        a.copy_(project(a.clone(), r))

    for options in ({"out": "out"}, {"overwrites": "a"}):
        f = write if "out" in options else overwrite
        mine = adapt(f, "simplex.projection", torch=True, **options)
        assert mine(a=np.array([2.0, 0.0]), r=1.0).tolist() == [1.0, 0.0]
