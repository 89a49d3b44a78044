"""The exact SVM+ of the claims against naive twins and the oracle; the paper's numbers complete."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.svm import SVC

import refsolve
from verification.paper_statements import _svm, claims, try_claim
from verification.paper_statements._rational import solve
from verification.paper_statements.xu_2016 import (
    algorithm_1,
    collapse,
    equation_2,
    equation_3,
    equation_5_floats,
    free_slack,
    tables,
    uniqueness,
)

SEEDS = range(6)


def floats(values):
    return np.array(values, dtype=float)


def draw(seed, **given):
    return _svm.Plus(**_svm.draw_plus(np.random.default_rng(seed), **given))


def row(number):
    return next(claim for _, claim in claims("xu_2016") if claim.number == number)


# ------------------------------------------------------------------------------------- the paper


def test_every_numbered_statement_of_the_paper_is_tried():
    numbers = [claim.number for _, claim in claims("xu_2016")]
    joined = " ".join(numbers)
    assert {int(v) for v in re.findall(r"\((\d+)\)", joined)} == set(range(1, 15))
    for name in ("Proposition 1", "Algorithm 1", *(f"Table {i}" for i in range(1, 5))):
        assert any(number.startswith(name) for number in numbers), name
    for footnote in ("Footnote 1", "Footnote 2"):
        assert footnote in joined


@pytest.mark.parametrize(
    ("erratum", "refuted", "true"),
    [
        ("X1", "Equation (3), xi >= 0 as printed", "Equation (3), when xi >= 0 is harmless"),
        ("X2", "Section 3, n variables by the square", "Equation (2) with b = 0"),
        ("X3", "Footnote 1 as printed", "Footnote 1, dual"),
        ("X4", "Problem (3), falling back to an SVM", "Problems (1) and (3), collapse"),
        ("X5", "Algorithm 1, step 3 as printed", "Algorithm 1, an inactive box"),
        ("X6", "Equation (5), any kernel", "Equation (5)"),
        ("X7", None, "Equation (14), b"),
        ("X8", "Equation (4), any kernel", "Problem (3), one class"),
        ("X8", "Problem (3), weights near 0", "Equation (5), weighted"),
        ("X9", None, "Table 4, what it compares"),
    ],
)
def test_every_erratum_has_its_claims(erratum, refuted, true):
    assert row(true).expected in {"verified", "repaired"}
    if refuted is not None:
        assert row(refuted).expected == "refuted"


@pytest.mark.parametrize(
    ("number", "facts"),
    [
        (
            "Equation (3), xi >= 0 as printed",
            {"without": "219/467", "kept": "68/145", "xi": ["-1/467", "59/467"]},
        ),
        ("Footnote 1 as printed", {"ray": ["1/2", "1/2"]}),
        ("Problem (3), falling back to an SVM", {"w": [0], "svm": ["1/3"]}),
        ("Algorithm 1, step 3 as printed", {"w": ["22/13"], "boxed_w": [1]}),
        ("Equation (5), any kernel", {"ray": ["1/4", "1/2", "1/4"]}),
        ("Equation (4), any kernel", {"curvature": "-6/5"}),
        ("Problem (3), weights near 0", {"with_": "3/2", "without": "3/8"}),
    ],
)
def test_the_published_counterexamples(number, facts):
    found = try_claim(row(number), paper="xu_2016", instances=1)
    shown = found.to_dict()["counterexample"]
    assert {name: shown[name] for name in facts} == facts


def test_the_counterexample_of_the_dropped_constraint_in_decimals():
    kept, xi = equation_3.with_nonneg(_svm.Plus(**equation_3.TWO))
    assert round(float(kept), 8) == 0.46896552
    assert min(xi) == 0
    without = _svm.Plus(**equation_3.TWO).solved
    assert round(float(without.value), 8) == 0.46895075
    assert np.round(floats(without.xi), 5).tolist() == [-0.00214, 0.12634]


def test_the_hinge_collapses_on_the_same_samples():
    p = _svm.Plus(**row("Problem (3), falling back to an SVM").witnesses[0])
    found = equation_2.dual_of_hinge(p)
    assert (found.value, found.mult[1]) == (4, 1)
    assert p.w(found.alpha) == [0]


def test_the_printed_formula_loses_every_digit():
    claim = row("Equation (5), in double precision")
    for witness in claim.witnesses:
        zt = _svm.augmented(np.array(witness["z"]))
        c, lam = witness["c"], witness["lam"]
        exact = floats(_svm.deformed(zt @ zt.T, c, lam))
        bad = equation_5_floats.printed_in_floats(floats(zt), float(c), float(lam))
        assert np.abs(bad - exact).max() > 1e-2 * np.abs(exact).max()


# -------------------------------------------------------------------------------------- matrices


@pytest.mark.parametrize("seed", SEEDS)
def test_matrices_against_numpy(seed):
    p = draw(seed, least=3)
    a, c, lam = np.column_stack([floats(p.z), np.ones(len(p.y))]), float(p.c), float(p.lam)
    assert np.array_equal(floats(p.zt), a)
    assert np.array_equal(floats(p.kt), a @ a.T)
    y = floats(p.y)
    assert np.array_equal(floats(_svm.signed(p.kt, p.y)), (a @ a.T) * np.outer(y, y))
    weights = np.array([Fraction(i + 1, 2) for i in range(len(y))])
    right = a @ np.linalg.solve(lam * np.eye(a.shape[1]) + c * (a.T * floats(weights)) @ a, a.T)
    np.testing.assert_allclose(floats(replace(p, weights=weights).q), right, atol=1e-13)
    factored = equation_5_floats.factored_in_floats(a, c, lam)
    np.testing.assert_allclose(factored, floats(p.q), atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_and_square_root(seed):
    p = draw(seed, least=3)
    unit = _svm.identity(len(p.y))
    a = p.lam * unit + p.c * p.kt
    assert np.array_equal(_svm.inverse(a) @ a, unit)
    low, diagonal = algorithm_1.square_root(a)
    assert np.array_equal(low * diagonal @ low.T, a)
    assert np.array_equal(low, np.tril(low))
    assert all(low.diagonal() == 1)
    with pytest.raises(ArithmeticError, match="singular"):
        _svm.inverse(np.array([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]]))


@pytest.mark.parametrize("seed", SEEDS)
def test_semidefinite_against_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(40):
        n = int(rng.integers(1, 5))
        rows = np.array(_svm.draw_rows(rng, n, int(rng.integers(1, n + 1))))
        shift = Fraction(int(rng.integers(-2, 3)))
        a = rows @ rows.T + shift * _svm.identity(n)
        expected = bool(np.linalg.eigvalsh(floats(a)).min() > -1e-9)
        assert _svm.semidefinite(a) == expected
        seen.add(expected)
    assert seen == {True, False}
    assert not _svm.semidefinite(np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(5)]]))


def test_systems_of_fractions_and_of_zero_pivots():
    a = [[Fraction(v) for v in line] for line in ([0, "1/3", 2], ["2/7", 0, 0], [1, 1, "-5/2"])]
    x = [Fraction(1, 2), Fraction(-3), Fraction(4, 5)]
    assert solve(a, list(np.array(a) @ x)) == x
    assert solve([[Fraction(0)]], [Fraction(1)]) is None
    assert solve([], []) == []


# --------------------------------------------------------------------------------------- programs


@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_against_libsvm(seed):
    p = draw(seed, most=5, least=3)
    h, y = floats(p.h), floats(p.y)
    box = float(p.c * len(y) + p.lam) / 2
    machine = SVC(kernel="precomputed", C=box, tol=1e-10)
    machine.fit(h * np.outer(y, y), y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    value = alpha @ h @ alpha / 2 - alpha.sum()
    found = _svm.svm_dual(p.h, p.y)
    assert float(found.value) == pytest.approx(value, rel=1e-6)
    assert float(found.mult[0]) == pytest.approx(machine.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hinge_svm_against_libsvm(seed):
    given = free_slack._draw_hinge(np.random.default_rng(seed))
    del given["delta"]
    p = _svm.Plus(**given)
    x, y, c = floats(p.x), floats(p.y), float(p.c)
    machine = SVC(kernel="linear", C=c, tol=1e-10).fit(x, y)
    found = free_slack.hinge_svm(p)
    w = floats(p.w(found.a[: len(y)]))
    np.testing.assert_allclose(w, machine.coef_[0], atol=1e-5)
    loss = np.maximum(0, 1 - y * (x @ w + float(found.mult[0]))).sum()
    value = w @ w / 2 + c * loss
    assert value == pytest.approx(-float(found.value), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_kkt_points_are_all_vertices(seed):
    """The set of solutions {a >= 0, a'y = 0, Ha = Ha*, 1'a = 1'a*} has exactly these vertices."""
    p = _svm.Plus(**uniqueness._draw_twins(np.random.default_rng(seed)))
    n = len(p.y)
    points = p.solutions()
    assert len({point.value for point in points}) == 1
    system = floats([*p.h, p.y, [1] * n])
    right = system @ floats(points[0].a)
    vertices = set()
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            part = system[:, list(support)]
            if np.linalg.matrix_rank(part) == size:
                a = np.linalg.lstsq(part, right, rcond=None)[0]
                if np.abs(part @ a - right).max() < 1e-9 and a.min() > 1e-9:
                    whole = np.zeros(n)
                    whole[list(support)] = a
                    vertices.add(tuple(np.round(whole, 9)))
    assert {tuple(np.round(floats(point.a), 9)) for point in points} == vertices
    assert len(vertices) > 1


def test_without_a_solution_there_is_a_ray():
    zero, y = _svm.full(Fraction(0), 2, 2), np.array([1, -1], dtype=object)
    assert _svm.minimum(zero, _svm.full(Fraction(1), 2), y[None], zero[0, :1]) is None
    assert all(_svm.ray(zero, y) == Fraction(1, 2))
    assert _svm.ray(_svm.identity(2), y) is None
    assert _svm.ray(zero, abs(y)) is None
    with pytest.raises(ArithmeticError, match="no KKT point"):
        _svm.svm_dual(zero, y)


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_feasible(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        y = _svm.draw_labels(rng, int(rng.integers(2, 6)))
        assert set(y) == {-1, 1}
        alpha = _svm.draw_balanced(rng, y)
        assert min(alpha) >= 0 < sum(alpha)
        assert sum(a * t for a, t in zip(alpha, y, strict=True)) == 0


# ------------------------------------------------------------------------------------- the oracle


def asked(p):
    arrays = {"X": floats(p.x), "Z": floats(p.z), "y": floats(p.y)}
    return {**arrays, "C": float(p.c), "lam": float(p.lam)}


@pytest.mark.parametrize("seed", range(3))
def test_exact_values_against_the_oracle(seed):
    p = draw(seed, most=3, least=3)
    hinge = {both: equation_2.dual_of_hinge(p, both=both).value for both in (True, False)}
    delta = collapse.with_free_slack(p, Fraction(1, 2))
    for stem, flags, value in (
        ("svm_plus_hinge", {}, hinge[True]),
        ("svm_plus_hinge", {"nonneg_slack": False}, hinge[False]),
        ("svm_plus_squared_hinge", {}, p.solved.value),
        ("svm_plus_squared_hinge", {"nonneg_slack": True}, equation_3.with_nonneg(p)[0]),
        ("svm_plus_squared_hinge", {"free_slack": 0.5}, -delta.value),
    ):
        found = refsolve.solve(f"{stem}.primal", **asked(p), **flags)
        assert found.value == pytest.approx(float(value), rel=1e-6), (stem, flags)


# ------------------------------------------------------------------------------------- the tables


def test_rounding_of_printed_numbers():
    assert tables.rounded("867.6") == (Fraction("867.55"), Fraction("867.65"))
    assert tables.rounded("17") == (Fraction("16.5"), Fraction("17.5"))
    low, high = tables.quotients("SVM1+", "SVM2+")[0]
    assert low < Fraction("867.6") / Fraction("7.847") < high
    assert float(high - low) < 0.03
