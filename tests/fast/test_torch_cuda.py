"""The losses on a graphics card: the numbers of the processor, nothing waits for the device, compiled alike.

Where there is one: ``python -m pytest --noconftest tests/fast/test_torch_cuda.py`` needs torch and numpy alone.
"""

import contextlib

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

from _torch import IDS, MODULES, data, graded  # noqa: E402

modules = pytest.mark.parametrize("module", MODULES, ids=IDS)


def batch(module):
    return data(module, 257, 101, seed=5, spread=(-2, 2))


@contextlib.contextmanager
def nothing_waits():
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


@modules
@pytest.mark.parametrize("ties", [False, True])
def test_the_card_computes_what_the_processor_computes(module, ties):
    scores, y = batch(module)
    scores = torch.round(scores) if ties else scores
    value, grad = graded(module, scores, y)
    on_card = scores.cuda(), y.cuda()
    graded(module, *on_card)  # what is made once, is made
    with nothing_waits():
        found, slope = graded(module, *on_card)
    size = 1 + float(scores.abs().max())  # sums of 101 scores of this size
    assert abs(float(found) - float(value)) <= 1e-13 * size
    if not ties:  # tied scores have several subgradients: which one is chosen may differ
        torch.testing.assert_close(slope.cpu(), grad, rtol=0, atol=1e-13 * size)


@modules
def test_single_precision(module):
    scores, y = batch(module)
    value, grad = graded(module, scores.float().double(), y)
    on_card = scores.float().cuda(), y.cuda()
    with nothing_waits():
        found, slope = graded(module, *on_card)
    assert found.dtype == torch.float32
    assert abs(float(found) - float(value)) <= 3e-6 * (1 + float(scores.abs().max()))
    assert float((slope.cpu().double() - grad).abs().sum()) <= 1e-4 * (1 + float(grad.abs().sum()))


@modules
def test_autocast_computes_in_float32(module):
    scores, y = batch(module)
    half = scores.bfloat16().cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        found = module(half, y.cuda())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, module(half.float(), y.cuda()), rtol=1e-6, atol=1e-6)


@modules
def test_compiled_like_eager(module):
    scores, y = (v.cuda() for v in data(module, n=64, m=65))
    torch._dynamo.reset()
    compiled = torch.compile(module, fullgraph=True)
    for dtype, room in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        f = scores.to(dtype)
        (value, grad), (found, slope) = graded(module, f, y), graded(compiled, f, y)
        size = 1 + float(scores.abs().max())
        assert abs(float(found) - float(value)) <= room * size
        torch.testing.assert_close(slope, grad, rtol=0, atol=room * size)
