"""LatentAPSVM: bags of candidates, judged by J and by the certificate of the last convex step."""

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate as check
from _naive_ap_svm import average_precision, queries
from _problems import bags as problem
from _problems import quietly
from sklearn.exceptions import ConvergenceWarning

from fast import APSVM, LatentAPSVM


def fit(bags, y, **params):
    return quietly(LatentAPSVM(**{"C": 5.0, "tol": 1e-4, **params}), bags, y)


# ---- certificates ---------------------------------------------------------------------------


def test_bags_of_one_candidate_are_ap_svm():
    bags, y = problem(3, most=1)
    model = fit(bags, y, tol=1e-6)
    plain = APSVM(C=5.0, tol=1e-6).fit(np.vstack(bags), y)
    assert model.dual_objective_ <= plain.primal_objective_
    assert plain.dual_objective_ <= model.primal_objective_
    assert not model.latent_.any()
    check(model, bags, y)


def test_further_steps_lower_the_objective():
    bags, y = problem(8)
    model = fit(bags, y, C=20.0)
    assert model.n_rounds_ >= 2
    assert model.objectives_[-1] < model.objectives_[1] < model.objectives_[0]
    check(model, bags, y)


def test_it_finds_the_candidate_that_shows_the_object():
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3 == 0
    bags = rng.standard_normal((60, 4, 3))
    shown = rng.integers(0, 4, 60)
    bags[np.flatnonzero(y), shown[y]] += [4.0, 0.0, 0.0]
    model = fit(bags, y)
    check(model, bags, y)
    assert (model.latent_[y] == shown[y]).mean() > 0.9
    assert model.score(bags, y) > 0.95
    assert abs(model.coef_[0, 0]) > 3 * np.abs(model.coef_[0, 1:]).max()


# ---- predictions ----------------------------------------------------------------------------
def test_predictions():
    bags, y = problem(6)
    labels = np.where(y, "yes", "no")
    model = fit(bags, labels)
    w = model.coef_[0]
    s = np.array([(bag @ w).max() for bag in bags])
    np.testing.assert_allclose(model.decision_function(bags), s + model.intercept_, rtol=1e-12)
    np.testing.assert_array_equal(
        model.predict(bags), np.where(model.decision_function(bags) > 0, "yes", "no")
    )
    assert model.score(bags, labels) == average_precision(s, y)
    right = (model.predict(bags) == labels).mean()
    assert right >= max(y.mean(), 1 - y.mean())  # no threshold is better than the best constant
    some = [bags[3], bags[0][:1]]
    assert model.decision_function(some).shape == (2,)


def test_forms_of_bags():
    bags, y = problem(7)
    model = fit(bags, y)
    ragged = np.empty(len(bags), object)
    ragged[:] = bags
    for given in (tuple(bags), ragged, [bag.tolist() for bag in bags], iter_once(bags)):
        np.testing.assert_array_equal(fit(given, y).coef_, model.coef_)
    cube = np.random.default_rng(7).standard_normal((20, 3, 2))
    y = np.arange(20) % 4 == 0
    np.testing.assert_array_equal(fit(cube, y).coef_, fit(list(cube), y).coef_)
    single = fit(cube.astype(np.float32), y, tol=1e-7)
    check(single, cube.astype(np.float32), y)
    whole = np.rint(3 * cube).astype(int)
    check(fit(whole, y), whole, y)


@pytest.mark.parametrize("solver", ["bundle", "cutting_plane"])
def test_sparse_bags_in_queries(solver):
    """The optimum of dense bags, and means over queries, from the attributes alone."""
    bags, y = problem(7, n=48)
    bags = [np.where(np.abs(bag) > 0.5, bag, 0.0) for bag in bags]
    bags[3][:] = 0.0
    groups = np.where(np.arange(48) % 3, "a", "b")
    sparse = [
        sp.csr_matrix(bags[0]),
        sp.coo_array(bags[1]),
        *map(sp.csr_array, bags[2:-1]),
        bags[-1],
    ]
    for data in ({}, {"groups": groups}):
        model = LatentAPSVM(C=5.0, tol=1e-4, solver=solver).fit(sparse, y, **data)
        check(model, sparse, y, **data)
        dense = LatentAPSVM(C=5.0, tol=1e-4, solver=solver).fit(bags, y, **data)
        assert model.objectives_[0] == pytest.approx(dense.objectives_[0], rel=1e-2)
        scores = np.array([(bag @ model.coef_[0]).max() for bag in bags])
        np.testing.assert_allclose(model.decision_function(sparse) - model.intercept_[0], scores)
        np.testing.assert_array_equal(model.predict(bags), model.predict(sparse))
        each = [average_precision(scores[q], y[q]) for q in queries(y, **data)]
        assert model.score(sparse, y, **data) == pytest.approx(np.mean(each))
    assert np.abs(model.coef_ - fit(bags, y, tol=1e-4).coef_).max() > 1e-3  # queries matter
    single = fit([sp.csr_array(bag.astype(np.float32)) for bag in bags], y)
    check(single, [bag.astype(np.float32) for bag in bags], y)


def iter_once(bags):
    """A sequence that is no list."""

    class Lazy:
        def __len__(self):
            return len(bags)

        def __getitem__(self, i):
            return bags[i]

        def __iter__(self):
            return iter(bags)

    return Lazy()


# ---- starts and stops -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_iter": 1, "tol": 1e-9}, r"LatentAPSVM stopped after \d+ iterations.*gap of"),
        ({"max_rounds": 1}, "was stopped after 1 convex steps, before its objective settled"),
    ],
)
def test_a_fit_that_is_cut_short_warns_and_is_certified(params, message):
    bags, y = problem(8)
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = LatentAPSVM(**{"C": 20.0, **params}).fit(bags, y)
    assert caught[0].filename == __file__
    check(model, bags, y)


# ---- habits of an estimator -----------------------------------------------------------------


# ---- bad input ------------------------------------------------------------------------------
BAGS, Y = problem(12, n=8, d=3)
