"""The tools of the calibration claims against naive twins: risks, guesses, logarithms, entropies."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

import refsolve
from verification.paper_statements import _entropies, _logs, _rational, _topk, risk
from verification.paper_statements.lapin_2016 import proposition_1, proposition_8

F = Fraction


def probabilities(rng, m):
    return risk.draw_probabilities(rng, m)


# ------------------------------------------------------------------------------------------ risks


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("pieces", [risk.hinge_alpha_pieces, risk.hinge_beta_pieces])
def test_least_risks_agree_with_scipy(seed, pieces):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    k, p = int(rng.integers(1, m)), probabilities(rng, m)
    loss = [pieces(m, k, y) for y in range(m)]
    found = risk.minimisers(p, loss)
    assert risk.risk(p, loss, found.g) == found.least
    rows = [
        ([*map(float, slope), *(-float(y == c) for c in range(m))], -float(offset))
        for y in range(m)
        for slope, offset in loss[y]
    ]
    twin = linprog(
        [0.0] * m + [float(v) for v in p],
        A_ub=[row for row, _ in rows],
        b_ub=[b for _, b in rows],
        bounds=[(None, None)] * (2 * m),
    )
    assert float(found.least) == pytest.approx(twin.fun, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("pieces", [risk.hinge_alpha_pieces, risk.hinge_beta_pieces])
def test_pieces_are_the_losses(seed, pieces):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    k, y = int(rng.integers(1, m)), int(rng.integers(m))
    g = _rational.draw_vector(rng, m, spread=3)
    naive = _topk.hinge_alpha if pieces is risk.hinge_alpha_pieces else _topk.hinge_beta
    assert risk.value(pieces(m, k, y), g) == naive(_topk.margins(g, y), k)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_the_printed_loss_are_the_sum_over_all_classes(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    k, y = int(rng.integers(1, m)), int(rng.integers(m))
    g = _rational.draw_vector(rng, m, spread=3)
    everyone = [v - g[y] + (j != y) for j, v in enumerate(g)]
    assert risk.value(risk.hinge_printed_pieces(m, k, y), g) == _topk.hinge_alpha(everyone, k)


def test_one_vs_all_pieces_are_the_sum_of_hinges():
    rng = np.random.default_rng(0)
    for _ in range(50):
        g = _rational.draw_vector(rng, 3, spread=2)
        naive = max(F(0), 1 - g[1]) + max(F(0), 1 + g[0]) + max(F(0), 1 + g[2])
        assert risk.value(proposition_1.pieces(3, 1), g) == naive


@pytest.mark.parametrize("seed", range(12))
def test_what_holds_for_all_minimisers_holds_for_those_on_a_grid(seed):
    """Integer score differences contain all vertices of the minimisers here."""
    rng = np.random.default_rng(seed)
    p, k = risk.draw_probabilities(rng, 3, 2, largest=6), 2
    pieces = risk.hinge_beta_pieces if seed % 2 else risk.hinge_alpha_pieces
    loss = [pieces(3, k, y) for y in range(3)]
    found = risk.minimisers(p, loss)
    grid = [[F(a), F(b), F(0)] for a, b in product(range(-4, 5), repeat=2)]
    best = [g for g in grid if risk.risk(p, loss, g) == found.least]
    assert best
    for i, j in combinations(range(3), 2):
        assert found.largest(risk.gap(3, i, j)) == max(g[i] - g[j] for g in best)
    assert risk.constant_only(found) == all(len(set(g)) == 1 for g in best)
    assert (risk.wrong_pair(found, p, k) is None) == all(risk.optimal(g, p, k) for g in best)
    if risk.all_err(found, p, k):
        assert not any(risk.optimal(g, p, k) for g in best)


def test_the_best_lead_is_attained_and_cut_off():
    p = [F(5, 10), F(3, 10), F(2, 10)]  # alpha, k = m - 1: minimisers are (1, 1, -1) + constants
    found = risk.minimisers(p, [risk.hinge_alpha_pieces(3, 2, y) for y in range(3)])
    assert found.largest(risk.gap(3, 0, 2)) == 2
    assert found.best_lead([risk.gap(3, 0, 2), risk.gap(3, 1, 2)]) == 1
    assert found.best_lead([risk.gap(3, 0, 1)]) == 0
    assert found.best_lead([risk.gap(3, 2, 0)]) == -2


def test_a_class_without_probability_may_score_anything_below():
    loss = [risk.hinge_alpha_pieces(3, 1, y) for y in range(3)]
    found = risk.minimisers([F(3, 4), F(1, 4), F(0)], loss)
    assert found.least == F(1, 2)
    assert found.largest(risk.gap(3, 0, 2)) is None
    assert found.largest(risk.gap(3, 2, 0)) == -1


def test_tied_probabilities_have_no_unique_guesses():
    found = risk.minimisers([F(1, 2), F(1, 2)], [risk.hinge_alpha_pieces(2, 1, y) for y in (0, 1)])
    with pytest.raises(ValueError, match="not unique"):
        risk.wrong_pair(found, [F(1, 2), F(1, 2)], 1)


@pytest.mark.parametrize("seed", range(30))
def test_guesses_are_those_that_some_breaking_of_ties_gives(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    k = int(rng.integers(1, m))
    g = [F(int(v)) for v in rng.integers(0, 3, size=m)]
    naive = set()
    for order in product(range(m), repeat=m):  # any priority among tied classes
        ranked = sorted(range(m), key=lambda y: (-g[y], order[y], y))
        naive.add(tuple(sorted(ranked[:k])))
    assert set(risk.guesses(g, k)) == naive


def test_partitions_by_hand():
    assert risk.partitions(6, 3) == [(4, 1, 1), (3, 2, 1), (2, 2, 2)]
    assert risk.partitions(2, 3) == []


@pytest.mark.parametrize("seed", range(20))
def test_smooth_beta_is_the_envelope_of_its_hinge(seed):
    """min over q of hinge(z - q) + ||q||^2/(2 gamma), from above at random q, attained at gamma x."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    k, gamma = int(rng.integers(1, d + 1)), F(int(rng.integers(1, 9)), 2)
    z = _rational.draw_vector(rng, d, spread=3)
    value = risk.smooth_hinge_beta(z, k, gamma)

    def envelope(q):
        moved = [a - b for a, b in zip(z, q, strict=True)]
        return _topk.hinge_beta(moved, k) + _rational.square(q) / (2 * gamma)

    assert all(value <= envelope(_rational.draw_vector(rng, d, spread=2)) for _ in range(20))
    x = refsolve.exact.project("topk_simplex_beta", [v / gamma for v in z], k=k, r=F(1)).x
    assert envelope([gamma * v for v in x]) == value


# -------------------------------------------------------------------------------------- logarithms


@pytest.mark.parametrize("seed", range(40))
def test_signs_agree_with_floats(seed):
    rng = np.random.default_rng(seed)
    number, value = _logs.Log(), 0.0
    for _ in range(int(rng.integers(1, 5))):
        c, r = F(int(rng.integers(-9, 10)), 7), F(int(rng.integers(1, 20)), int(rng.integers(1, 9)))
        number, value = number + c * _logs.log(r), value + float(c) * math.log(r)
    if seed % 2:
        q = F(int(rng.integers(-9, 10)), 5)
        number, value = number - q, value - float(q)
    assert float(number.decimal()) == pytest.approx(value, abs=1e-12)
    if abs(value) > 1e-9:
        assert number.sign() == (1 if value > 0 else -1)
        assert (number > 0, number < 0) == (value > 0, value < 0)


def test_equal_numbers_written_differently():
    assert 2 * _logs.log(6) == _logs.log(4) + _logs.log(9)
    assert (_logs.log(8) - 3 * _logs.log(2)).sign() == 0
    assert _logs.log(2) + 1 != _logs.log(2)
    assert (_logs.log(8) - 3 * _logs.log(2) + F(1, 10**50)).sign() == 1
    assert _logs.log(2) * 0 == 0
    with pytest.raises(TypeError):
        hash(_logs.log(2))


def test_a_sign_that_the_digits_do_not_decide_raises():
    with_logs = _logs.log(2)
    digits = F(str(with_logs.decimal()))
    with pytest.raises(ArithmeticError, match="not decided"):
        (with_logs - digits).sign()


def test_the_binary_term_is_the_softmax_conjugate():
    x = [F(1, 2), F(0), F(1, 4)]
    expected = 0.5 * math.log(0.5) + 0.5 * math.log(0.25)
    assert float(_logs.binary(x).decimal()) == pytest.approx(expected)


# --------------------------------------------------------------------------------------- entropies


@pytest.mark.parametrize("seed", range(25))
def test_entropies_agree_with_the_oracle(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    k, y = int(rng.integers(1, m)), int(rng.integers(m))
    w = [F(int(v), 4) for v in rng.integers(1, 60, size=m)]
    ratios = _entropies.ratios(w, y)
    scores = np.log([float(v) for v in w])
    for stem, value in [
        ("topk_entropy_alpha", _entropies.entropy_alpha(ratios, k)),
        ("topk_entropy_beta", _entropies.entropy_beta(ratios, k)),
    ]:
        proof = refsolve.certificates.loss_value(stem, float(value), scores, y, k=k)
        assert proof.gap <= 1e-13 * max(1, proof.scale)


@pytest.mark.parametrize("seed", range(40))
def test_planted_points_are_gradients(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    k = int(rng.integers(1, d + 1))
    for stem, plant in [
        ("topk_entropy_alpha", proposition_8.plant_alpha),
        ("topk_entropy_beta", proposition_8.plant_beta),
    ]:
        found = plant(rng, d, k)
        scores = np.array([0.0, *(math.log(v) for v in found.w)])
        x = [float(v) for v in found.x]
        g = np.array([-sum(x), *x])
        proof = refsolve.certificates.gradient(stem, g, scores, 0, k=k)
        assert proof.gap <= 1e-14
        assert proof.violation <= 1e-15
