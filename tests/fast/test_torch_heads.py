"""Linear heads on tensors, judged by the certificates of `fast` on the processor; skipped without torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import fast  # noqa: E402
from fast.errors import InvalidParameterError, InvalidTypeError  # noqa: E402
from fast.torch import _heads, fit_head, topk_entropy_alpha  # noqa: E402

SMOOTH = {
    "softmax": {},
    "topk_entropy_alpha": {"k": 3},
    "topk_entropy_beta": {"k": 3},
    "smooth_topk_hinge_alpha": {"k": 3, "gamma": 0.5},
    "smooth_topk_hinge_beta": {"k": 3, "gamma": 0.5},
    "ova_logistic": {},
    "ova_smooth_hinge": {"gamma": 0.5},
}


@pytest.fixture(scope="module")
def data():
    X, y = fast.datasets.make_deep_features(300, 7, 12, separation=0.4, random_state=1)
    return X.astype(np.float64), y


def head_of(X, y, **options):
    kind = options.pop("dtype", torch.float64)
    return fit_head(torch.tensor(X, dtype=kind), torch.tensor(y), **options)


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_gap_is_what_audit_bounds(loss, data):
    head = head_of(*data, loss=loss, C=3.0, tol=1e-7, **SMOOTH[loss])
    bound = fast.audit(head.weight.numpy(), *data, loss=loss, C=3.0, **SMOOTH[loss])
    assert head.converged
    assert 0.0 <= head.gap <= 1e-7
    # audit adds in another order, and rounds outwards
    assert bound.primal == pytest.approx(head.primal, rel=1e-12)
    assert head.gap * head.primal <= bound.gap + 1e-12 * head.primal
    assert bound.gap <= 1e-7 * head.primal + 1e-12 * head.primal


def test_sparsemax_stops_at_the_optimum(data):
    """No other certificate of `fast` knows it: P at W less P of any other point is at most the gap."""
    head = head_of(*data, loss="sparsemax", C=3.0, tol=1e-8)
    X, y = data

    def primal(W):
        return 0.5 * (W**2).sum() + 3.0 * fast.losses.sparsemax.value(X @ W.T, y).sum()

    W = head.weight.numpy()
    assert primal(W) == pytest.approx(head.primal, rel=1e-13)
    for seed in range(20):
        other = W + np.random.default_rng(seed).normal(scale=1e-3, size=W.shape)
        assert primal(other) >= head.dual


def test_single_precision_goes_on_in_double(data):
    head = head_of(*data, C=100.0, tol=1e-10, dtype=torch.float32)
    assert head.converged
    assert head.weight.dtype == torch.float64
    X, y = data[0].astype(np.float32).astype(float), data[1]
    assert fast.audit(head.weight.numpy(), X, y, loss="softmax", C=100.0).gap <= 2e-10 * head.primal


def test_blocks_and_diagonal_change_nothing_but_the_way(data, monkeypatch):
    whole = head_of(*data, C=3.0, tol=1e-9)
    monkeypatch.setitem(_heads.SCORES, "cpu", 40)
    monkeypatch.setattr(_heads, "WIDEST", 3)
    parts = head_of(*data, C=3.0, tol=1e-9)
    assert parts.converged
    # both within sqrt(2 gap) of the one optimum
    away = np.sqrt(2e-9 * whole.primal)
    assert float((whole.weight - parts.weight).norm()) <= 2 * away


def test_weights_count_as_rows(data):
    X, y = data
    w = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = head_of(X, y, sample_weight=torch.tensor(w), C=3.0, tol=1e-9)
    repeated = head_of(np.repeat(X, w, 0), np.repeat(y, w), C=3.0, tol=1e-9)
    assert weighted.dual <= repeated.primal
    assert repeated.dual <= weighted.primal
    assert weighted.primal == pytest.approx(repeated.primal, rel=2e-9)


def test_a_layer_scores_as_the_weights(data):
    head = head_of(*data, C=0.1, classes=9)
    X = torch.tensor(data[0])
    assert head.weight.shape == (9, 12)
    assert torch.allclose(head.module()(X.float()), (X @ head.weight.T).float(), atol=1e-6)


def test_rows_may_be_inferred(data):
    with torch.inference_mode():
        X, y = (torch.tensor(a) for a in data)
        inside = fit_head(X, y)
    assert torch.equal(fit_head(X, y).weight, inside.weight)
    assert torch.equal(fit_head(X.clone(), y.clone()).weight, inside.weight)


def test_too_few_passes_are_no_convergence(data):
    head = head_of(*data, C=100.0, tol=1e-10, max_iter=3)
    assert not head.converged
    assert head.gap > 1e-10
    assert head.n_iter == 3


def test_lbfgs_of_torch_reaches_the_certified_optimum(data):
    """A linear layer, our loss, torch's own optimiser: audit bounds what is left."""
    X, y = (torch.tensor(a) for a in data)
    layer = torch.nn.Linear(12, 7, bias=False).double()
    steps = torch.optim.LBFGS(
        layer.parameters(), max_iter=300, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def risk():
        steps.zero_grad()
        loss = 3.0 * topk_entropy_alpha(layer(X), y, k=3, reduction="sum")
        loss = loss + 0.5 * layer.weight.square().sum()
        loss.backward()
        return loss

    torch.nn.init.zeros_(layer.weight)
    steps.step(risk)
    W = layer.weight.detach().numpy()
    result = fast.audit(W, *data, loss="topk_entropy_alpha", k=3, C=3.0)
    assert result.gap <= 1e-9 * result.primal


BAD = {
    "loss": ("topk_hinge_alpha", "truncated_topk_entropy", "multilabel_entropy", 3),
    "C": (0.0, float("nan")),
    "tol": (-1.0,),
    "sample_weight": (torch.ones(3), -torch.ones(300)),
    "classes": (2,),
    "X": (
        torch.zeros(300, 12, dtype=torch.int64),
        torch.full((300, 12), float("nan")),
        torch.full((300, 12), 1e30),
        torch.ones(300, 12).to_sparse(),
        np.zeros(3),
    ),
    "y": (torch.zeros(3, dtype=torch.int64), torch.zeros(300)),
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in BAD.items() for v in vs])
def test_bad_input(name, value, data):
    given = {"X": torch.tensor(data[0]), "y": torch.tensor(data[1]), name: value}
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=r"^(y|" + name + r")\b"):
        fit_head(given.pop("X"), given.pop("y"), **given)
