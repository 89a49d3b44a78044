"""The peer is charged for true suboptimality: our objective is right, and the search finds a setting."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from verification.benchmarks import peers
from verification.benchmarks.standing import fitted


def naive_objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """P by two loops, straight from the definition."""
    total = 0.0
    for x, own in zip(X, y, strict=True):
        margins = [1 + W[j] @ x - W[own] @ x for j in range(len(W)) if j != own]
        total += max(0.0, *margins)
    return 0.5 * sum(w @ w for w in W) + C * total


def naive_softmax_objective(W: np.ndarray, X: np.ndarray, y: np.ndarray, C: float) -> float:
    """P with the probability of the true class, straight from the definition."""
    total = 0.0
    for x, own in zip(X, y, strict=True):
        powers = [np.exp(w @ x) for w in W]
        total -= np.log(powers[own] / sum(powers))
    return 0.5 * sum(w @ w for w in W) + C * total


NAIVE = {peers.CRAMMER_SINGER: naive_objective, peers.LOGISTIC: naive_softmax_objective}


@pytest.fixture(params=NAIVE, ids=["crammer_singer", "logistic"])
def trainer(request: pytest.FixtureRequest) -> peers.Trainer:
    return request.param


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(60, 4, centers=3, cluster_std=4.0, random_state=0)
    return X / 10.0, y


def test_objective_is_the_definition(
    rng: np.random.Generator, problem: tuple[np.ndarray, np.ndarray], trainer: peers.Trainer
) -> None:
    X, y = problem
    for C in (0.01, 1.0, 30.0):
        W = rng.standard_normal((3, 4))
        assert trainer.objective(W, X, y, C) == pytest.approx(NAIVE[trainer](W, X, y, C), rel=1e-12)


def test_softmax_objective_does_not_overflow(problem: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = problem
    W = 1e4 * np.eye(3, 4)
    assert np.isfinite(peers.LOGISTIC.objective(W, X, y, 1.0))


def test_the_peer_minimises_this_objective(
    rng: np.random.Generator, problem: tuple[np.ndarray, np.ndarray], trainer: peers.Trainer
) -> None:
    """The peer's result cannot be improved by any step along random directions: its C is ours."""
    X, y = problem
    W = trainer.fit(X, y, 1.0, 1e-8).coef_
    best = trainer.objective(W, X, y, 1.0)
    for step, _ in itertools.product((1e-1, 1e-2, 1e-3), range(50)):
        moved = W + step * rng.standard_normal(W.shape)
        assert trainer.objective(moved, X, y, 1.0) >= best * (1 - 1e-6)


@pytest.mark.parametrize("target", [1e-2, 1e-4])
def test_match_attains_the_target_and_not_by_the_tightest_setting(
    problem: tuple[np.ndarray, np.ndarray], target: float, trainer: peers.Trainer
) -> None:
    X, y = problem
    lower = trainer.objective(trainer.fit(X, y, 1.0, 1e-9).coef_, X, y, 1.0) * (1 - 1e-9)
    found = peers.match(X, y, 1.0, lower, target, trainer)
    assert found.reached
    assert found.suboptimality <= target
    again = peers.suboptimality(trainer.fit(X, y, 1.0, found.tol).coef_, X, y, 1.0, lower, trainer)
    assert again == found.suboptimality
    assert found.tol > 1e-8


def test_match_says_when_the_target_is_out_of_reach(problem: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = problem
    impossible = 0.5 * peers.CRAMMER_SINGER.objective(np.zeros((3, 4)), X, y, 1.0)
    found = peers.match(X, y, 1.0, -impossible, 1e-6)
    assert not found.reached
    assert found.suboptimality > 1e-6


TWO = {
    **{("two-class logistic", name): peer for name, peer in peers.TWO_LOGISTIC.items()},
    **{("two-class hinge", name): peer for name, peer in peers.TWO_HINGE.items()},
    ("hinge", "liblinear"): peers.TWO_MULTICLASS,
}


@pytest.mark.parametrize(("loss", "name"), TWO)
def test_peers_of_two_classes_reach_what_ours_certifies(
    loss: str, name: str, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = problem[0], (problem[1] > 0).astype(np.int64)
    trainer = TWO[loss, name]
    lower = fitted(loss, X, y, 0.3, 1e-9).dual_objective_
    try:
        W = trainer.fit(X, y, 0.3, 1e-7).coef_
    except ImportError:
        pytest.skip(f"{name} is not installed")
    assert -1e-8 <= peers.suboptimality(W, X, y, 0.3, lower, trainer) <= 1e-4


def test_objective_of_kernel_svms(
    rng: np.random.Generator, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = problem[0], (problem[1] > 0).astype(np.int64)
    b = rng.standard_normal(len(y) + 1)
    K = np.exp(-np.square(X[:, None] - X[None]).sum(axis=2) / (4 * X.var()))
    hinges = [max(0.0, 1 - (2 * c - 1) * (f + b[-1])) for c, f in zip(y, K @ b[:-1], strict=True)]
    assert peers.kernel_objective(b, X, y, 2.0) == pytest.approx(
        b[:-1] @ K @ b[:-1] / 2 + 2 * sum(hinges), rel=1e-12
    )
    lower = fitted("RBF SVM", X, y, 2.0, 1e-9).dual_objective_[0]
    trainer = peers.RBF["LIBSVM"]
    found = peers.suboptimality(trainer.fit(X, y, 2.0, 1e-6).coef_, X, y, 2.0, lower, trainer)
    assert -1e-8 <= found <= 1e-5
