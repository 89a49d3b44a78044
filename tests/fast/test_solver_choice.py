"""Races between solvers: what is left to another one, and that every setting ends certified."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from fast import OneVsAllClassifier, TopKSVC, datasets
from fast.families.hinges import Hinge
from fast.models.multiclass_erm import train
from fast.solvers.active_set import Race

DATA = {
    "heavy tails": datasets.make_heavy_tails(900, 4, 5, random_state=1),
    "one-hot": datasets.make_one_hot(400, 3, 24, random_state=1),
    "clusters": datasets.make_clusters(300, 5, 15, random_state=1),
}


def test_a_race_is_lost_when_the_rest_takes_longer_than_the_rival():
    falls = [(1.0, 10.0**-q) for q in range(1, 9)]
    assert not any(Race().lost_at(*each, 1e-9) for each in falls)
    for rival, tol, lost in ((4.0, 1e-8, True), (4.0, 1e-3, False), (12.0, 1e-8, False)):
        race = Race(rival)
        found = [race.lost_at(*each, tol) for each in falls if each[1] > tol]
        assert not any(found[:3])  # three forecasts have to say so
        assert any(found[3:4]) == any(found) == lost
    race = Race(1000.0)
    assert not any(race.lost_at(1.0, 0.5, 1e-9) for _ in range(50))  # little was spent
    race = Race(4.0)
    gaps = 0.5, 0.5, 0.5, 1e-8, 0.9e-8  # two doubts
    assert not any(race.lost_at(1.0, gap, 1e-9) for gap in gaps)
    race = Race(1000.0)
    assert any(race.lost_at(100.0, 0.5, 1e-9) for _ in range(9))
    race.begin()
    assert race.way == [(race.work, 1.0)]
    race = Race(10.0)
    race.work = 3.0
    assert not race.lost_with(0.0)
    race.further = 4.0  # as often the work so far
    assert race.lost_with(0.0)


def test_small_problems_go_to_rounding_without_crawling():
    X, y = DATA["heavy tails"]
    found = train(X, y, 1e6, 4, Hinge.named("alpha", 1, 0.0), tol=1e-3)
    assert found.solver == "interior"
    assert found.gap <= 1e-12
    assert found.n_iter <= 40  # a hundred rounds of class lists
    rng = np.random.default_rng(0)  # also where the lists lose when they are past tol
    y = rng.integers(0, 3, 200)
    X = np.eye(3)[y][:, :2] + rng.standard_normal((200, 2))
    for C in 4.0 ** np.arange(-4, 6):
        assert train(X, y, C, 3, Hinge.named("alpha", 1, 0.0), tol=1e-3).gap <= 1e-11, C


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [1e-3, 10.0, 1e6])
def test_no_weight_of_the_risk_ends_uncertified(name, C):
    X, y = DATA[name]
    for variant, k, gamma in (("alpha", 1, 0.0), ("beta", 2, 0.0), ("alpha", 2, 1e-3)):
        model = TopKSVC(k=k, variant=variant, gamma=gamma, C=C, tol=1e-6, random_state=0)
        assert model.fit(X, y).dual_gap_ <= 1e-6


def test_what_class_lists_leave_keeps_its_certificate():
    X, y = DATA["one-hot"]
    seen = []
    loss = Hinge.named("alpha", 1, 0.0)
    found = train(
        sp.csr_array(X), y, 100.0, 3, loss, tol=1e-6, report=lambda s: seen.append(s.dual)
    )
    assert found.solver == "interior"
    assert found.gap <= 1e-6
    assert (np.diff(seen) >= -1e-12 * abs(seen[-1])).all()


def test_capped_masses_make_the_rival_of_class_lists_slow():
    X, y = datasets.make_heavy_tails(6000, 7, 9, random_state=2)
    model = TopKSVC(k=5, C=3.0, random_state=0).fit(X, y)  # the other takes 1.4 times as long
    assert model.solver_ == "active"
    assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize("name", DATA)
def test_newton_hands_over_where_its_steps_stall(name):
    X, y = DATA[name]
    model = TopKSVC(gamma=1e-3, C=10.0, tol=1e-6, solver="newton", random_state=0).fit(X, y)
    assert model.dual_gap_ <= 1e-6


def test_what_class_lists_take_over_they_do_not_leave():
    X, y = datasets.make_clusters(900, 11, 10, random_state=0)
    rbf = {"kernel": "rbf", "kernel_params": {"gamma": 0.1}}
    model = TopKSVC(k=2, gamma=1e-3, C=100.0, tol=1e-6, random_state=0, **rbf).fit(X, y)
    assert model.solver_ == "active"  # which lost against Newton, who stalls
    assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize(("C", "solver"), [(1.0, "newton"), (1e4, "newton")])
def test_one_vs_all_logistic_models_of_any_weight_take_few_iterations(C, solver):
    """Quasi-Newton steps ended at a gap of 2.6e-3 after 1000 of them for C = 1e4."""
    X, y = load_digits(return_X_y=True)
    model = OneVsAllClassifier(loss="logistic", C=C).fit(X / 16.0, y)
    assert model.solver_ == solver
    assert model.dual_gap_ <= 1e-3
    assert model.n_iter_ <= 40
