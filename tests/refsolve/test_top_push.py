"""TopPush as declared: its programs, its certificate at any points, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse
from _draw import certified

from refsolve.models import top_push


def _data(seed, n=14, d=3, shift=2.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < n // 3
    return rng.normal(size=(n, d)) + shift * y[:, None], y.astype(int)


def _objective(w, X, y, C):
    s = X @ w
    over = [max(0.0, 1 + max(s[y == 0]) - v) for v in s[y == 1]]
    return w @ w / 2 + C * sum(v * v for v in over)


@pytest.mark.parametrize("C", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("shift", [0.0, 2.0, 8.0])
def test_both_programs_are_certified_and_agree(C, shift):
    X, y = _data(int(10 * shift), shift=shift)
    given = {"X": X, "y": y, "C": C}
    primal, dual = (certified(f"top_push.{side}", **given) for side in ("primal", "dual"))
    assert primal.value == pytest.approx(dual.value, rel=1e-6)
    assert primal.value == pytest.approx(_objective(primal.x, X, y, C), rel=1e-10)
    assert dual.x[y == 1].sum() == pytest.approx(dual.x[y == 0].sum())
    rng = np.random.default_rng(1)
    for _ in range(20):  # nothing near is better
        assert _objective(primal.x + 0.1 * rng.normal(size=3), X, y, C) >= primal.value * (1 - 1e-9)


def test_the_certificate_of_any_points_is_what_lies_between_them():
    rng = np.random.default_rng(2)
    for _ in range(20):
        X, y = _data(int(rng.integers(1000)))
        w, a, C = rng.normal(size=3), rng.normal(size=14), 10.0 ** rng.uniform(-2, 2)
        proof = top_push.certificate(scipy.sparse.csr_array(X), y, C=C, w=w, multipliers=a)
        inside = proof.multipliers
        assert inside.min() >= 0
        assert inside[y == 1].sum() == pytest.approx(inside[y == 0].sum(), rel=1e-14)
        assert proof.violation == pytest.approx(
            max(-a.min(), abs(a[y == 1].sum() - a[y == 0].sum())), rel=1e-12
        )
        P, D = _objective(w, X, y, C), top_push.dual(X, y, multipliers=inside, C=C)
        assert (proof.primal, proof.dual) == pytest.approx((P, D), rel=1e-12)
        assert proof.gap * (1 + 1e-12) >= P - D
        assert proof.gap == pytest.approx(P - D, rel=1e-10)
        assert min(proof.residuals.min(), proof.drift) >= 0
        alone = top_push.certificate(X, y, C=C, multipliers=a)
        assert alone.drift == 0
        assert alone.dual == pytest.approx(proof.dual, rel=1e-12)


def test_multipliers_outside_of_the_domain_bound_nothing():
    X, y = _data(3)
    inside = np.where(y, 2.0 / y.sum(), 2.0 / (1 - y).sum())
    assert np.isfinite(top_push.dual(X, y, multipliers=inside, C=1.0))
    for off in (np.where(y, 1.01, 1.0) * inside, inside - 0.5 * (np.arange(14) == 2)):
        assert top_push.dual(X, y, multipliers=off, C=1.0) == -np.inf
