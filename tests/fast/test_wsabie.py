"""Wsabie: the same steps as in plain Python, the best epoch kept, and nothing certified."""

import _problems
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fast import WsabieClassifier
from fast.solvers import warp


def warp_loss(W, X, y):
    """By loops over examples and classes."""
    total = 0.0
    for x, own in zip(X, y, strict=True):
        f = W @ x
        lacks = [1 + f[v] - f[own] for v in range(len(W)) if v != own and f[v] > f[own] - 1]
        total += sum(1 / j for j in range(1, len(lacks) + 1)) * sum(lacks) / max(len(lacks), 1)
    return total / len(y)


def bounded(w, bound):
    length = np.sqrt(sum(v * v for v in w))
    return w * (bound / length) if length > bound else w


def naive(X, y, m, rank, epochs, rate, bound, seed):
    """Every W on the way, the classes drawn by a generator of its own."""
    rng = np.random.RandomState(seed)
    state, (n, d) = int(rng.randint(1, 2147483647)), X.shape
    unit = np.sqrt(np.mean([x @ x for x in X]))
    U = np.zeros((m, rank or d))
    V = None if rank is None else rng.standard_normal((rank, d)) / (np.sqrt(rank) * unit)
    for epoch in range(epochs):
        step = rate * (1 - epoch / epochs)
        for i in rng.permutation(n):
            x, own, q = X[i], y[i], 0
            h = x if V is None else V @ x
            for tried in range(1, m):
                state = state * 48271 % 2147483647
                v = state % (m - 1)
                v += v >= own
                if U[v] @ h > U[own] @ h - 1:
                    found, q = v, tried
                    break
            if not q:
                continue
            weight = sum(1 / j for j in range(1, (m - 1) // q + 1)) * step
            g = U[own] - U[found]
            if V is None:
                weight, limit = weight / unit**2, bound / unit
            else:
                weight, limit = weight / max(1, g @ g, h @ h), bound
                for c in range(rank):
                    start = np.sqrt(d / rank) / unit
                    V[c] = bounded(V[c] + weight / unit**2 * g[c] * x, bound * start)
            U[own] = bounded(U[own] + weight * h, limit)
            U[found] = bounded(U[found] - weight * h, limit)
        yield U.copy() if V is None else U @ V


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("bound", [None, 0.7])
@pytest.mark.parametrize("rank", [None, 2])
def test_the_steps_are_those_of_plain_python(form, bound, rank):
    X, labels = _problems.classes(3, n=60, m=5, d=4)
    X = np.float32(X * (np.random.default_rng(0).random(X.shape) < 0.7)).astype(float)
    y = np.array(list("vwxyz"))[labels]
    model = WsabieClassifier(rank, epochs=4, learning_rate=0.3, max_norm=bound, random_state=8)
    model.fit(form(X), y)
    seen = list(naive(X, labels, 5, rank, 4, 0.3, bound or np.inf, 8))
    losses = [warp_loss(W, X, labels) for W in seen]
    np.testing.assert_allclose(model.history_["loss"], losses, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, seen[int(np.argmin(losses))], rtol=1e-8, atol=1e-12)
    assert model.loss_ == min(model.history_["loss"]) < warp_loss(0 * model.coef_, X, labels)
    if rank is not None:
        np.testing.assert_allclose(model.class_embedding_ @ model.feature_embedding_, model.coef_)
    f = model.decision_function(form(X))
    np.testing.assert_allclose(f, X @ model.coef_.T)
    np.testing.assert_array_equal(model.predict(form(X)), model.classes_[f.argmax(axis=1)])


def test_the_same_seed_gives_the_same_bits_at_every_scale():
    X, y = _problems.classes(4, n=80, m=4, d=3)
    model = WsabieClassifier(random_state=2).fit(X, y)
    again = clone(model).fit(1024.0 * X, y)
    np.testing.assert_array_equal(1024.0 * again.coef_, model.coef_)
    assert (clone(model).set_params(random_state=3).fit(X, y).coef_ != model.coef_).any()
    # and nothing is certified
    assert not [name for name in vars(model) if "dual" in name or "gap" in name]


@pytest.mark.parametrize("rank", [None, 3])
def test_an_interrupt_keeps_the_best_epoch(monkeypatch, rank, capsys):
    X, y = _problems.classes(5, n=80, m=4, d=3)
    model = WsabieClassifier(rank, epochs=9, random_state=1, verbose=1).fit(X, y)
    whole = capsys.readouterr().out.splitlines()
    losses, inner = iter([3.0, 1.0, 2.0]), warp.loss
    seen = []

    def loss(X, y, W, harmonic):
        seen.append((W.copy(), inner(X, y, W, harmonic)))
        try:
            return next(losses)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(warp, "loss", loss)
    with pytest.warns(ConvergenceWarning, match="after 3 of 9 epochs; the best model is kept"):
        model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, seen[1][0])
    assert (model.loss_, model.n_iter_, model.history_["epoch"].tolist()) == (1.0, 3, [1, 2, 3])
    assert [line.split(":")[0] for line in whole] == [f"epoch {e}" for e in range(1, 10)]
    assert whole[0] == f"epoch 1: loss {seen[0][1]:.6g}"
    losses = iter(())
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(X, y)
