"""What surrounds the losses on tensors: reductions, precisions, bad input, modules, compilers."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from _torch import IDS, MODULES, classes, data, graded  # noqa: E402

import fast.torch as ft  # noqa: E402
from fast.errors import InvalidParameterError, InvalidTypeError  # noqa: E402
from fast.losses import average_precision, ndcg  # noqa: E402
from fast.torch import _ranking  # noqa: E402

F = torch.nn.functional
LABELLED = [m for m in MODULES if classes(m)]


def test_without_torch_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['torch'] = None; import fast; assert 'torch' in dir(fast)\n"
        "try: fast.torch\nexcept ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[torch]'" in said.stdout
    code = (
        "import sys, fast, fast.losses; assert 'torch' not in sys.modules; "
        "import fast.torch; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_softmax_is_cross_entropy():
    scores, y = data(ft.SoftmaxLoss(), 20, 7)
    scores, y = scores.view(5, 4, 7), y.view(5, 4)
    y[1, 2], y[3] = -100, 6
    for reduction in ("mean", "sum", "none"):
        for w in (None, torch.linspace(0.0, 2.0, 7, dtype=torch.float64)):
            options = {"reduction": reduction, "label_smoothing": 0.3, "weight": w}
            other = F.cross_entropy(scores.movedim(-1, 1), y, **options)
            assert torch.allclose(ft.softmax(scores, y, **options), other)
    certain = torch.tensor([[40.0, 0.0]], dtype=torch.float64)
    assert F.cross_entropy(certain, torch.tensor([0])).item() == 0.0
    found = ft.softmax(certain, torch.tensor([0])).item()
    assert abs(found / np.log1p(np.exp(-40.0)) - 1) < 4e-16


@pytest.mark.parametrize("module", LABELLED, ids=lambda m: m.extra_repr())
def test_margins_by_class_and_rows_that_are_spoilt(module):
    """Reductions, weights and precisions are asked by tests/verification/test_torch_losses.py."""
    scores, y = data(module)
    matrix = torch.rand(9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    options = {k: v for k, v in module.options.items() if k != "reduction"}
    by_class = module.function(scores, y, cost_matrix=matrix, **options)
    assert torch.equal(by_class, module.function(scores, y, costs=matrix[y], **options))
    one = module.function(scores, y, costs=0.25, **options)
    assert torch.allclose(one, module.function(scores, y, costs=torch.full((9,), 0.25), **options))
    y[2] = -100
    spoilt = scores.clone()
    spoilt[2] = torch.nan
    assert torch.equal(module(spoilt, y), module(scores, y))
    spoilt[1, 4] = torch.nan
    assert module(spoilt, y).isnan()


@pytest.mark.parametrize("module", MODULES, ids=IDS)
def test_modules_are_pickled_without_state_and_round_gradients_to_the_precision(module):
    scores, y = data(module)
    again = pickle.loads(pickle.dumps(module))
    assert torch.equal(again(scores, y), module(scores, y))
    assert module.state_dict() == {}
    assert module.object_name in repr(module)
    for half in (torch.float16, torch.bfloat16):
        found, slope = graded(module, scores.to(half), y)
        right, exact = graded(module, scores.to(half).float(), y)
        assert torch.equal(found, right)
        assert torch.equal(slope, exact.to(half))


@pytest.mark.parametrize(
    ("module", "said"),
    [(ft.TopKHingeLoss(2, "beta"), "topk_hinge_beta, k=2"),
     (ft.TopKHingeLoss(2, gamma=0.5), "smooth_topk_hinge_alpha, k=2, gamma=0.5"),
     (ft.SquaredTopKHingeLoss(2), "squared_topk_hinge, k=2"),
     (ft.TopKEntropyLoss(2, "beta"), "topk_entropy_beta, k=2"),
     (ft.TruncatedTopKEntropyLoss(2), "truncated_topk_entropy, k=2"),
     (ft.SoftmaxLoss(reduction="sum"), "softmax, reduction='sum'"),
     (ft.SparsemaxLoss(), "sparsemax"),
     (ft.OneVsAllLoss("smooth_hinge", 0.5), "ova_smooth_hinge, gamma=0.5"),
     (ft.OneVsAllLoss("logistic", 0.5), "ova_logistic"),
     (ft.MultilabelLoss("smooth_hinge", 0.5), "multilabel_smooth_hinge, gamma=0.5"),
     (ft.AveragePrecisionLoss(), "average_precision, reduction='mean'"),
     (ft.NDCGLoss("sum"), "ndcg, reduction='sum'")],
)  # fmt: skip
def test_modules_of_families_are_those_of_their_losses(module, said):
    assert module.extra_repr() == said


def test_masked_classes_and_empty_batches():
    """Scores of -inf take a class out, as long as k classes are left."""
    scores = torch.tensor([[1.0, 0.5, 0.2, -torch.inf, -torch.inf, 0.4]], dtype=torch.float64)
    y = torch.tensor([1])
    for module in LABELLED:
        if module.object_name.startswith("ova"):  # no loss of its own, below every margin
            assert graded(module, scores, y)[0].isfinite()
            continue
        value, gradient = graded(module, scores, y)
        right, slope = graded(module, scores[:, [0, 1, 2, 5]], y)
        assert torch.allclose(value, right), module
        assert torch.allclose(gradient[:, [0, 1, 2, 5]], slope), module
        assert not gradient[:, 3:5].any()
        assert module(scores[:0], y[:0]).isnan()
        assert module.function(scores[:0], y[:0], reduction="sum", **module.options) == 0


@pytest.mark.parametrize("module", LABELLED, ids=lambda m: m.extra_repr())
def test_nothing_but_ignored_rows_moves_nothing_and_weights_learn(module):
    scores, y = data(module)
    value, gradient = graded(module, scores, y.new_full(y.shape, -100))
    assert value.isnan()  # as that of cross-entropy
    assert not gradient.any()
    options = {k: v for k, v in module.options.items() if k != "reduction"}
    weight = torch.linspace(0.5, 1.0, 9, dtype=torch.float64).requires_grad_()
    module.function(scores, y, weight=weight, **options).backward()
    rows = module.function(scores, y, reduction="none", **options)
    share = weight.detach()[y] / weight.detach()[y].sum()
    right = torch.zeros(9, dtype=torch.float64)
    right.scatter_add_(0, y, (rows - (share * rows).sum()) / weight.detach()[y].sum())
    assert torch.allclose(weight.grad, right)


@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_entropies_of_scores_beside_which_a_logarithm_is_lost(variant):
    f = torch.tensor([[1e8, -7e7, 0.0], [1e8, 1e8, -1e8]])
    loss, y = ft.TopKEntropyLoss(2, variant), torch.tensor([2, 2])
    assert torch.allclose(loss(f, y).double(), loss(f.double(), y), rtol=1e-6)
    slope = graded(loss, f, y)[1]
    assert torch.allclose(slope.double(), graded(loss, f.double(), y)[1])


@pytest.mark.parametrize(
    ("change", "error", "name"),
    [
        ({"scores": torch.zeros(2, 3, dtype=torch.int64)}, InvalidTypeError, "scores"),
        ({"scores": torch.zeros(())}, InvalidParameterError, "scores"),
        ({"scores": torch.zeros(2, 1)}, InvalidParameterError, "scores"),
        ({"y": torch.zeros(2)}, InvalidTypeError, "y"),
        ({"y": torch.zeros(3, dtype=torch.int64)}, InvalidParameterError, "y"),
        ({"y": torch.tensor([0, 3])}, InvalidParameterError, "y"),
        ({"y": torch.tensor([-1, 0])}, InvalidParameterError, "y"),
        ({"k": 3}, InvalidParameterError, "k"),
        ({"k": 1.5}, InvalidTypeError, "k"),
        ({"gamma": 0.0}, InvalidParameterError, "gamma"),
        ({"reduction": "max"}, InvalidParameterError, "reduction"),
        ({"label_smoothing": 0.1}, InvalidParameterError, "label_smoothing"),
        ({"weight": torch.ones(2)}, InvalidParameterError, "weight"),
        ({"costs": torch.ones(2)}, InvalidParameterError, "costs"),
        ({"costs": "1"}, InvalidTypeError, "costs"),
        ({"cost_matrix": torch.ones(3)}, InvalidParameterError, "cost_matrix"),
        ({"costs": 1.0, "cost_matrix": torch.ones(3, 3)}, InvalidParameterError, "cost_matrix"),
    ],
)  # fmt: skip
def test_bad_input_is_named(change, error, name):
    given = {"scores": torch.zeros(2, 3), "y": torch.tensor([0, 1]), "k": 2, **change}
    with pytest.raises(error) as caught:
        ft.smooth_topk_hinge_alpha(**given)
    assert caught.value.argument == name


def test_bad_modules_are_named():
    for make in (
        lambda: ft.TopKHingeLoss(0),
        lambda: ft.TopKHingeLoss(2, "gamma"),
        lambda: ft.TopKHingeLoss(2, gamma=-1.0),
        lambda: ft.OneVsAllLoss("square"),
        lambda: ft.SoftmaxLoss(reduction="max"),
    ):
        with pytest.raises(InvalidParameterError):
            make()


@pytest.mark.parametrize("module", MODULES, ids=IDS)
def test_one_column_of_scores_teaches_nothing_and_is_refused(module):
    """What a network with one output gives: every loss of such rows is constant."""
    labelled = not classes(module)
    y = torch.tensor([0, 1, 0, 1])
    with pytest.raises(InvalidParameterError, match="scores: shape") as caught:
        module(torch.zeros(4, 1), y[:, None] if labelled else 0 * y)
    if module.object_name in ("average_precision", "ndcg"):
        assert "squeeze" in caught.value.fix
        assert graded(module, torch.zeros(4), y)[1].abs().sum() > 0
        assert module(torch.zeros(1), y[:1]) == 0  # a last batch of one


@pytest.mark.parametrize("name", ["average_precision", "ndcg"])
@pytest.mark.parametrize("block", [1, 1000, 1 << 18])
def test_rankings(block, name, monkeypatch):
    """Against inference over all rankings; queries of a vector of scores, in any order, pairs in blocks."""
    monkeypatch.setattr(_ranking, "BLOCK", block)
    ranked, twin = getattr(ft, name), {"ndcg": ndcg, "average_precision": average_precision}[name]
    rng = np.random.default_rng(4)
    total, slope = 0.0, np.zeros(60)
    scores, y = rng.standard_normal(60) * 10 ** rng.uniform(-2, 1, 60), rng.integers(0, 2, 60)
    groups = rng.integers(0, 6, 60) * 5
    y[groups == 10] = 0  # no positive: no loss
    for query in np.unique(groups):
        at = groups == query
        if y[at].any() and not y[at].all():
            found = twin.loss_augmented_inference(scores[at], y[at])
            total += found.value
            slope[at] = found.coefficients
            row, gradient = graded(
                ranked, torch.from_numpy(scores[at]), torch.from_numpy(y[at])
            )
            assert abs(row - found.value) < 1e-12
            assert np.abs(gradient.numpy() - found.coefficients).max() < 1e-14
    f = torch.from_numpy(scores).requires_grad_()
    module = ft.RowwiseLoss(name, reduction="sum")
    loss = module(f, torch.from_numpy(y), groups=torch.from_numpy(groups))
    loss.backward()
    assert abs(loss.item() - total) < 1e-12
    assert np.abs(f.grad.numpy() - slope).max() < 1e-14
    mean = ranked(f, torch.from_numpy(y), groups=torch.from_numpy(groups))
    assert abs(mean.item() - total / len(np.unique(groups))) < 1e-12
    for wrong in (torch.zeros(2, dtype=torch.int64), torch.from_numpy(groups) / 2):
        with pytest.raises(InvalidParameterError, match="groups"):
            ranked(f, torch.from_numpy(y), groups=wrong)
    with pytest.raises(InvalidParameterError, match="reduction"):
        ranked(f, torch.from_numpy(y), groups=torch.from_numpy(groups), reduction="none")


@pytest.mark.parametrize("module", MODULES, ids=IDS)
def test_compiled_and_exported_is_eager(module):
    """Values and gradients: compiled functions have been silently wrong."""
    torch._dynamo.reset()
    scores, y = data(module)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    for f in (scores, 3 * scores.flip(0)):
        value, gradient = graded(module, f, y)
        found, slope = graded(compiled, f, y)
        assert torch.allclose(found, value, rtol=1e-12)
        assert torch.allclose(slope, gradient, atol=1e-12)
    exported = torch.export.export(module, (scores, y)).module()
    assert torch.allclose(exported(-scores, y), module(-scores, y), rtol=1e-12)


def test_losses_are_compiled_one_beside_the_other():
    """More of them than a compiler takes of one function."""
    torch._dynamo.reset()
    for module in LABELLED:
        scores, y = data(module)
        found = torch.compile(module.function, fullgraph=True, backend="eager")(scores, y)
        assert torch.allclose(found, module.function(scores, y))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the compiler's own
def test_compiled_by_inductor_is_eager():
    torch._dynamo.reset()
    module = ft.TopKEntropyLoss(3)
    scores, y = data(module, 8, 40)
    value, gradient = graded(module, scores, y)
    found, slope = graded(torch.compile(module, fullgraph=True), scores, y)
    assert torch.allclose(found, value, rtol=1e-12)
    assert torch.allclose(slope, gradient, atol=1e-12)


@pytest.mark.parametrize("variant", ["alpha", "beta"])
def test_traced_gradients_keep_their_small_entries(variant):
    """Every entry to its own digits, the last of the top among them, by both ways."""
    f = torch.tensor([[30.0, -3.0, 31.0, 0.5, 29.0, -1.0, 2.0, 60.0]], dtype=torch.float64)
    y = torch.tensor([7])
    for k in (1, 3, 7, 8) if variant == "beta" else (1, 3, 7):
        loss = ft.TopKEntropyLoss(k, variant)
        eager = graded(loss, f, y)[1]
        traced = torch.func.grad(lambda f, loss=loss: loss(f, y))(f)
        assert torch.allclose(traced, eager, rtol=1e-12, atol=0.0)


def test_multilabel_losses_of_huge_scores():
    scores = torch.tensor([[-1e40, 3e40, -2e40], [2e40, -1e40, -5e40]], dtype=torch.float64)
    y = torch.tensor([[0, 1, 0], [0, 1, 1]])
    for kind in ("hinge", "smooth_hinge"):
        loss = ft.MultilabelLoss(kind, reduction="none")
        value = loss(scores, y)
        assert value[0] == 0.0
        assert torch.allclose(value[1], torch.tensor(7e40, dtype=torch.float64))
