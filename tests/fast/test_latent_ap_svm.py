"""LatentAPSVM: bags of candidates, judged by J and by the certificate of the last convex step."""

import hypothesis
import numpy as np
import pytest
import scipy.sparse as sp
from _naive_ap_svm import average_precision, queries
from _naive_ap_svm import check_latent as check
from _problems import bags as problem
from _problems import quietly
from _watched import interrupt_everywhere
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from fast import APSVM, LatentAPSVM
from fast.errors import InvalidParameterError, InvalidTypeError


def fit(bags, y, **params):
    return quietly(LatentAPSVM(**{"C": 5.0, "tol": 1e-4, **params}), bags, y)


# ---- certificates ---------------------------------------------------------------------------
@pytest.mark.parametrize("solver", ["bundle", "cutting_plane"])
@pytest.mark.parametrize("C", [0.1, 5.0, 100.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_fit_claims_follows_from_its_attributes(C, solver, seed):
    bags, y = problem(seed)
    model = fit(bags, y, C=C, solver=solver)
    assert model.dual_gap_ <= 1e-4
    assert model.n_rounds_ == model.history_["round"][-1] <= 50
    check(model, bags, y)


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


def test_queries_of_bags_that_are_refused():
    for groups, said in (
        (np.arange(8), "without a"),
        (Y[:-1] * 1, r"shape \(7,\)"),
        (Y * 1, "without a"),
    ):
        with pytest.raises(InvalidParameterError, match=said) as caught:
            LatentAPSVM().fit(BAGS, Y, groups=groups)
        assert caught.value.argument == "groups"


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


def test_inputs_are_never_mutated():
    bags, y = problem(8)
    before = [bag.copy() for bag in bags]
    for bag in (*bags, y):
        bag.flags.writeable = False
    model = fit(bags, y)
    model.score(bags, y)
    for bag, old in zip(bags, before, strict=True):
        np.testing.assert_array_equal(bag, old)


# ---- starts and stops -----------------------------------------------------------------------
def test_warm_starts():
    bags, y = problem(9)
    model = LatentAPSVM(C=5.0, tol=1e-4, warm_start=True).fit(bags, y)
    end = model.objectives_[-1]
    model.fit(bags, y)
    assert model.objectives_[0] == pytest.approx(end, rel=1e-12)
    check(model, bags, y)
    model.set_params(C=8.0).fit(bags, y)
    check(model, bags, y)
    wider = [np.hstack([bag, bag]) for bag in bags]
    check(model.fit(wider, y), wider, y)


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


def test_an_interrupt_anywhere_keeps_a_certified_model_or_is_passed_on(monkeypatch):
    bags, y = problem(8, n=20)
    passed, kept = interrupt_everywhere(monkeypatch, LatentAPSVM(C=20.0), bags, y)
    for each in kept:
        check(each, bags, y)
    assert passed == list(range(1, len(passed) + 1))  # while a start was looked for
    assert len(kept) > (len(kept) + len(passed)) // 4


# ---- habits of an estimator -----------------------------------------------------------------
def test_selection_by_cross_validation():
    bags, y = problem(11, n=60)
    scores = cross_val_score(LatentAPSVM(C=5.0), bags, y, cv=3)
    assert ((scores > 0.0) & (scores <= 1.0)).all()
    search = GridSearchCV(LatentAPSVM(), {"C": [0.1, 5.0]}, cv=3).fit(bags, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


# ---- bad input ------------------------------------------------------------------------------
BAGS, Y = problem(12, n=8, d=3)
NAN = np.where(np.arange(6).reshape(2, 3) == 4, np.nan, 1.0)


def replaced(i, bag):
    return [*BAGS[:i], bag, *BAGS[i + 1 :]]


@pytest.mark.parametrize(
    ("bags", "labels", "message"),
    [
        (replaced(2, np.zeros((0, 3))), Y, r"^X\[2\]: an empty bag.*Fix: drop"),
        (replaced(2, []), Y, r"^X\[2\]: an empty bag"),
        (replaced(5, np.zeros((2, 4))), Y, r"^X: bag 5 has 4 features, bag 0 3.*Fix: "),
        (replaced(5, np.zeros((2, 0))), Y, r"^X\[5\]: shape \(2, 0\)"),
        (replaced(5, np.zeros(3)), Y, r"^X\[5\]: shape \(3,\).*a matrix"),
        (replaced(5, 1.0), Y, r"^X\[5\]: shape \(\)"),
        (replaced(5, [[1.0, 2.0, 3.0], [1.0]]), Y, r"^X\[5\]: not a rectangular array"),
        (replaced(4, NAN), Y, r"^X\[4\]: X\[4\]\[1, 1\] = nan"),
        (replaced(4, NAN * np.inf), Y, r"^X\[4\]: .*inf"),
        (replaced(4, np.full((1, 3), 1e80)), Y, r"^X\[4\]: .*= 1e\+80.*at most 1e\+70"),
        (replaced(4, [["a"] * 3]), Y, r"^X\[4\]: list with dtype"),
        (replaced(4, "abc"), Y, r"^X\[4\]: str with dtype"),
        (replaced(4, np.ones((2, 3), complex)), Y, r"^X\[4\]: .*dtype complex"),
        (replaced(4, sp.csr_array(NAN)), Y, r"^X\[4\]: X\[4\]\[1, 1\] = nan"),
        (replaced(4, sp.csr_array((0, 3))), Y, r"^X\[4\]: an empty bag"),
        (replaced(4, sp.csr_array((2, 4))), Y, r"^X: bag 4 has 4 features, bag 0 3.*Fix: "),
        (replaced(4, sp.coo_array(np.ones(3))), Y, r"^X\[4\]: shape \(3,\)"),
        (replaced(4, sp.csr_array(np.ones((2, 3), complex))), Y, r"^X\[4\]: .*dtype complex"),
        (np.ones((8, 3)), Y, r"^X: one matrix.*or use APSVM"),
        (sp.csr_array(np.ones((8, 3))), Y, r"^X: csr_array.*one matrix per bag"),
        ("bags", Y, r"^X: str"),
        ((bag for bag in BAGS), Y, r"^X: generator.*list with one matrix per bag"),
        (np.array(1.0), Y, r"^X: ndarray"),
        (dict(enumerate(BAGS)), Y, r"^X: dict"),
        (None, Y, r"^X: NoneType"),
        ([], Y[:0], r"^X: no bags"),
        (BAGS, Y[:-1], r"^y: 7 labels for 8 bags"),
        (BAGS, None, r"^y: None"),
        (BAGS, np.zeros(8), r"^y: one class"),
        (BAGS, np.arange(8) % 3, r"^y: 3 classes.*Only binary"),
        (BAGS, np.where(Y, np.nan, 1.0), "^y: nan in row 0"),
        (BAGS, np.column_stack([Y, Y]), "1d array"),
    ],
)
def test_data(bags, labels, message):
    model = LatentAPSVM()
    with pytest.raises(ValueError, match=message):
        model.fit(bags, labels)
    assert not hasattr(model, "coef_")


def test_a_table_is_not_bags():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidParameterError, match=r"^X: one matrix"):
        LatentAPSVM().fit(pd.DataFrame(np.ones((8, 3))), Y)


def test_other_bags_than_those_of_the_fit():
    model = fit(BAGS, Y)
    with pytest.raises(InvalidParameterError, match=r"^X: bag 0 has 2 features, the fit 3"):
        model.predict([np.ones((1, 2))])
    with pytest.raises(InvalidParameterError, match=r"^X\[1\]: an empty bag"):
        model.predict([np.ones((1, 3)), np.ones((0, 3))])
    with pytest.raises(InvalidTypeError, match=r"^X: int"):
        model.predict(3)


@st.composite
def sound_bags(draw):
    """Bags of two features, as many labels, and some of both classes."""
    numbers = st.sampled_from([0.0, 1.0, -2.0, 0.5, 3.0])
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    bags = [draw(hnp.arrays(np.float64, (size, 2), elements=numbers)) for size in sizes]
    labels = st.lists(st.integers(0, 1), min_size=len(sizes) - 2, max_size=len(sizes) - 2)
    return bags, [0, 1, *draw(labels)]


@settings(max_examples=60)
@hypothesis.given(problem=sound_bags(), C=st.sampled_from([0.1, 10.0, 1e4]))
def test_small_problems_with_ties(problem, C):
    bags, y = problem
    model = fit(bags, y, C=C, max_iter=50, max_rounds=3)
    check(model, bags, y, 1e-7)
    assert model.predict(bags).shape == (len(bags),)


@settings(max_examples=100)
@hypothesis.given(
    problem=sound_bags(),
    spoilt=st.sampled_from([np.nan, np.inf, -1e80, None, "a"]),
    where=st.integers(0, 2),
)
def test_one_bad_entry_is_named(problem, spoilt, where):
    bags, y = problem
    i = where % len(bags)
    bags[i] = bags[i].astype(object if spoilt is None or spoilt == "a" else float)
    bags[i][-1, 1] = spoilt
    with pytest.raises(InvalidParameterError, match=rf"^X\[{i}\]: .*Fix: "):
        LatentAPSVM().fit(bags, y)
