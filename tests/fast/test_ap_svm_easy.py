"""AP-SVM-APPX: which examples are easy, the certificate of problem (10), and infeasible sets."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _problems import quietly, relevant
from _watched import interrupt_call

from fast import APSVM
from fast.errors import InvalidParameterError
from fast.models.binary_svm import HingeOracle

problem = partial(relevant, n=80, shift=2.5)


def fit(X, y, easy_mask=None, **params):
    return quietly(APSVM(**{"C": 10.0, "tol": 1e-4, **params}), X, y, easy_mask=easy_mask)


def test_the_easy_examples_are_the_largest_margins_of_a_binary_svm():
    """M9: by margin y f, of both classes; nested in the fraction."""
    from fast.models import binary_svm

    X, y = problem(2)
    masks = [fit(X, y, easy_fraction=f).easy_mask_ for f in (0.2, 0.5, 1.0)]
    svm = binary_svm.train(X, y, 10.0, bias=True, tol=1e-4)
    margins = np.where(y, 1.0, -1.0) * (X @ svm.w + svm.b)
    clear = np.abs(margins - 1.0) > 1e-12  # rounding decides on the others
    np.testing.assert_array_equal(masks[-1][clear], margins[clear] >= 1.0)
    for fraction, mask in zip((0.2, 0.5), masks, strict=False):
        assert mask.sum() == int(fraction * masks[-1].sum() + 0.5)
        assert margins[mask].min() >= margins[masks[-1] & ~mask].max() - 1e-12
    assert y[masks[1]].any()
    assert not y[masks[1]].all()


def test_a_mask_overrides_the_fraction():
    X, y = problem(3)
    chosen = fit(X, y, easy_fraction=0.5).easy_mask_
    given = fit(X, y, chosen, easy_fraction=0.1)
    np.testing.assert_array_equal(given.easy_mask_, chosen)
    assert given.easy_mask_ is not chosen
    np.testing.assert_array_equal(given.coef_, fit(X, y, easy_fraction=0.5).coef_)


def test_no_easy_example_is_the_plain_problem():
    X, y = problem(4)
    none = fit(X, y, np.zeros(len(y), bool))
    plain = fit(X, y)
    check_certificate(none, X, y)
    check_certificate(none, X, y)
    assert none.dual_objective_ <= plain.primal_objective_
    assert plain.dual_objective_ <= none.primal_objective_
    assert not hasattr(plain, "easy_mask_")


def test_nothing_but_easy_examples_is_the_hard_margin_svm():
    """X = -1, 3 with y = -, +: the widest margin is w = 1/2, b = -1/2, P = 1/8."""
    X, y = np.array([[-1.0], [3.0]]), np.array([False, True])
    model = fit(X, y, np.ones(2, bool), tol=1e-9)
    check_certificate(model, X, y)
    assert model.coef_[0, 0] == pytest.approx(0.5, rel=1e-8)
    assert model.easy_intercept_ == pytest.approx(-0.5, rel=1e-8)
    assert model.primal_objective_ == pytest.approx(0.125, rel=1e-8)


@pytest.mark.parametrize("label", [False, True])
def test_one_class_alone_is_difficult_or_easy(label):
    X, y = problem(5, shift=8.0)
    one = y == label
    for easy in (one, ~one, one & (np.arange(len(y)) % 2 == 0)):
        model = fit(X, y, easy)
        assert model.dual_gap_ <= 1e-4
        check_certificate(model, X, y)


def test_easy_sets_that_cannot_be_separated_are_refused():
    X, y = problem(6, shift=0.5)
    with pytest.raises(InvalidParameterError, match=r"^easy_mask: .*separate.*Fix: take fewer"):
        fit(X, y, np.ones(len(y), bool))


def test_multipliers_as_large_as_the_loss():
    rng = np.random.default_rng(165)
    n, d = int(rng.integers(10, 80)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 3)
    y = rng.random(n) < 0.7
    X = X * 10.0 ** rng.integers(0, 3)
    y[:2] = True, False
    if rng.random() < 0.5:
        X[:, -1] += y * rng.choice([1, 3, 30]) * abs(X).mean()
    model = fit(X, y, C=1e8, easy_fraction=1.0, max_iter=60)
    assert model.easy_mask_.sum() > 1
    assert model.easy_dual_coef_.sum() > 1e6 * np.sum(model.coef_**2)
    assert model.dual_gap_ <= 1e-4
    check_certificate(model, X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_easy_examples_far_from_the_origin_are_separated_all_the_same(sparse):
    X, y = problem(5, shift=0.0)
    y = X[:, 0] > 0.0
    easy = np.abs(X[:, 0]) > 0.3
    shift = 2.0**30 * (np.arange(5) == 0)  # as a date in seconds
    far = X + shift
    model = fit(sp.csr_array(far) if sparse else far, y, easy_mask=easy)
    near = fit(far - shift, y, easy_mask=easy)
    assert model.dual_gap_ <= 1e-4
    margins = np.where(y, 1.0, -1.0) * (far @ model.coef_[0] + model.easy_intercept_)
    assert margins[easy].min() >= 1.0 - 1e-6
    assert model.primal_objective_ == pytest.approx(near.primal_objective_, rel=1e-3)


def test_an_interrupt_of_the_binary_svm_is_passed_on(monkeypatch):
    interrupt_call(monkeypatch, HingeOracle, "__call__", 2)
    X, y = problem(12)
    with pytest.raises(KeyboardInterrupt):
        APSVM(easy_fraction=0.5).fit(X, y)
