"""Bounds on cone programs: exact arithmetic, cones, ranges, and no claim against a planted optimum."""

import decimal
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from refsolve.cones import curvature as curvatures
from refsolve.cones import enclosure, linear_systems, lower, membership, upper
from refsolve.cones.dyadic import Dyadic, down, product, up
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.errors import InvalidParameterError
from verification.selftest.planted import KINDS, attack, claims, planted

EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.1, -3.0, 2.0**60 + 2.0**10, 1e300, -1.7e308]


def exact(values: Any) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(values, dtype=float).tolist()]


def test_dyadic_numbers_are_the_floats_and_nothing_is_rounded() -> None:
    rng = np.random.default_rng(0)
    values = np.array(
        EXTREMES + list(rng.standard_normal(20) * 10.0 ** rng.integers(-300, 300, 20))
    )
    vector = Dyadic.of(values)
    assert [vector.fraction(i) for i in range(len(vector))] == exact(values)
    other = Dyadic.of(values[::-1].copy())
    for made, wanted in (
        (vector + other, [a + b for a, b in zip(exact(values), exact(values[::-1]), strict=True)]),
        (vector - other, [a - b for a, b in zip(exact(values), exact(values[::-1]), strict=True)]),
        (vector * other, [a * b for a, b in zip(exact(values), exact(values[::-1]), strict=True)]),
    ):
        assert [made.fraction(i) for i in range(len(made))] == wanted
    assert vector.total() == sum(exact(values))
    A = rng.standard_normal((7, len(values))) * (rng.random((7, len(values))) < 0.5)
    for matrix in (A, sp.csc_array(A)):
        got = product(matrix, vector)
        wanted = [
            sum((a * b for a, b in zip(exact(row), exact(values), strict=True)), Fraction())
            for row in A
        ]
        assert [got.fraction(i) for i in range(7)] == wanted


def test_rounding_is_outwards() -> None:
    third, huge = Fraction(1, 3), Fraction(10) ** 400
    assert Fraction(down(third)) < third < Fraction(up(third))
    assert up(third) == np.nextafter(down(third), 1.0)
    assert up(huge) == np.inf
    assert down(huge) == np.finfo(float).max
    assert up(-huge) == -np.finfo(float).max
    assert up(Fraction(1, 10**400)) > 0


@pytest.mark.parametrize("t", [-800.0, -30.5, -1e-9, 0.0, 1e-300, 0.7, 1.0, 5.25, 700.0])
def test_exponentials_are_above_by_less_than_two_units_in_the_last_place(t: float) -> None:
    for factor in (1.0, 0.1, 3e-5, 7e3):
        got = membership.exp_above(Fraction(t), Fraction(factor))
        with decimal.localcontext() as context:
            context.prec = 80
            true = Fraction(decimal.Decimal(t).exp() * decimal.Decimal(factor))
        assert Fraction(got) >= true * (1 - Fraction(1, 10**70))
        assert got <= np.nextafter(np.nextafter(float(true), np.inf), np.inf)


def test_exponentials_that_overflow_are_infinite() -> None:
    assert membership.exp_above(Fraction(10) ** 30, Fraction(1)) == np.inf
    assert membership.exp_above(Fraction(10) ** 30, Fraction(0)) == 0.0
    assert 0 < membership.exp_above(-(Fraction(10) ** 30), Fraction(1)) < 1e-300
    beyond_floats = Fraction(10) ** 309
    assert not membership.in_exponential(Fraction(2000), Fraction(1), beyond_floats)


def three_cones() -> ConeProgram:
    m = 1 + 2 + 4 + 3
    return ConeProgram(
        sp.csc_array((1, 1)), np.zeros(1), sp.csc_array((m, 1)), np.zeros(m), 1, 2, (4,), 1
    )


def in_cone(rng: np.random.Generator) -> np.ndarray:
    """A point of the three cones, often on an edge (the exponential by 60 digits, rounded up)."""
    tail = rng.standard_normal(3) * 10.0 ** rng.integers(-6, 6)
    y, x = abs(rng.standard_normal()), rng.standard_normal() * 3
    z = float(Fraction(decimal.Decimal(x / y).exp()) * Fraction(y)) * (1 + 1e-15) + 5e-324
    head = float(np.linalg.norm(tail)) * (1 + 1e-15)
    return np.array([0.0, *(abs(rng.standard_normal(2))), head, *tail, x, y, z])


def test_points_brought_into_the_dual_make_no_negative_product_with_the_cone() -> None:
    program, rng = three_cones(), np.random.default_rng(1)
    for _ in range(400):
        given = rng.standard_normal(10) * 10.0 ** rng.integers(-8, 3, 10)
        z, s = membership.into_dual(program, given), in_cone(rng)
        assert np.all(np.isfinite(z))
        assert np.array_equal(membership.into_dual(program, z), z), "inside is left alone"
        parts = [Fraction(a) * Fraction(b) for a, b in zip(z.tolist(), s.tolist(), strict=True)]
        for rows in (slice(1, 2), slice(2, 3), slice(3, 7), slice(7, 10)):
            size = sum(map(abs, parts[rows]), Fraction())
            assert sum(parts[rows], Fraction()) >= -size / 10**14


def test_room_and_inside_hold_at_the_corners_of_the_box_and_no_further() -> None:
    program, rng = three_cones(), np.random.default_rng(2)
    yes = 0
    for _ in range(300):
        eta = np.abs(rng.standard_normal(10)) * 10.0 ** -float(rng.integers(1, 5))
        z = membership.into_dual(program, rng.standard_normal(10)) + 0.3 * abs(
            program.inwards(dual=True)
        )
        z[7] = -abs(z[7])
        s = in_cone(rng) + program.inwards() * rng.random()
        still = np.zeros(10)
        corners = [rng.choice((-1.0, 1.0), 10) * eta for _ in range(6)]
        if membership.room(program, z, eta):
            yes += 1
            for corner in corners:
                moved = z + corner * (1 - 1e-12)
                change = membership.into_dual(program, moved) - moved
                assert np.abs(change).max() <= 1e-15 * np.abs(moved).max()
        if membership.inside(program, Dyadic.of(s), Dyadic.of(eta)):
            yes += 1
            for corner in corners:
                corner[0] = 0.0
                moved_s = Dyadic.of(s) + Dyadic.of(corner * (1 - 1e-12))
                assert membership.inside(program, moved_s, Dyadic.of(still))
                moved_s.numbers[0] = 0
                assert not membership.violation(program, moved_s).any()
    assert yes > 50


def test_violations_are_distances() -> None:
    program = three_cones()
    s = Dyadic.of(np.array([0.25, -0.5, 1.0, 1.0, 3.0, 0.0, 4.0, 1.0, 1.0, 2.0]))
    got = membership.violation(program, s)
    assert got.tolist()[:7] == [0.25, 0.5, 0.0, 4.0, 0.0, 0.0, 0.0]
    assert 1 - np.log(2) <= got[7] <= np.e - 2 + 1e-15, "x down or z up, whichever is less"
    assert got[7] == pytest.approx(1 - np.log(2), rel=1e-9)
    behind = Dyadic.of(np.array([0, 0, 0, 0, 0, 0, 0, 2.0, -1.0, 3.0]))
    assert membership.violation(program, behind)[7] == 3.0


def test_ranges_follow_from_rows_cones_and_the_level() -> None:
    # x >= 1, x + y <= 3, ||(y, z)|| <= 2, z e^(u/z) <= 1 through u, z
    A = -np.array([[1, 0, 0, 0], [-1, -1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0],
                   [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], dtype=float)  # fmt: skip
    b = np.array([-1.0, 3.0, 2.0, 0, 0, 0, 0, 1.0])
    q = np.array([0.0, 0.0, 0.0, -1.0])
    program = ConeProgram(sp.csc_array((4, 4)), q, sp.csc_array(A), b, 0, 2, (3,), 1)
    ranges = Ranges(program)
    ranges.narrow()
    assert ranges.lo[:3] == pytest.approx([1.0, -2.0, 0.0])
    assert ranges.hi == pytest.approx([5.0, 2.0, 2.0, 1.0])
    assert ranges.lo[3] == -np.inf
    ranges.narrow(level=4.0, curvature=np.zeros(4))
    assert ranges.lo[3] == pytest.approx(-4.0)
    assert not ranges.empty
    ranges.narrow(level=-2.0, curvature=np.zeros(4))
    assert ranges.empty, "-u <= -2 and u <= 1"


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimal_pair_is_certified(kind: str) -> None:
    rng = np.random.default_rng(3)
    tight = 0
    for _ in range(20):
        case = planted(rng, kind)
        box = Ranges(case.program, (case.x - 5 * case.unit, case.x + 5 * case.unit))
        form = curvatures.curvature(case.program.P)
        bound = lower.lower_bound(case.program, case.z, case.x, box.lo, box.hi, form)
        assert bound.value is not None
        # 0 but where the form lacks convexity by rounding
        tight += 0 <= case.optimum - bound.value <= 1e-9 * (1 + abs(case.optimum))
    assert tight == 20


def test_no_claim_contradicts_a_planted_optimum() -> None:
    told = attack(300, seed=4)
    assert set(told["false"].values()) == {0}
    assert told["claims"]["lower"] > 75
    assert told["claims"]["upper"] > 10
    assert told["within 1e-6"] > 60


def _wrong_end(
    r: Any, w: Any, eta: Any, lo: Any, hi: Any, *rest: Any, right: Any = lower._least
) -> Any:
    return right(r, w, eta, hi, lo, *rest)


def _steep(P: Any) -> np.ndarray | None:
    form = curvatures.curvature(P)
    return None if form is None else 4 * form


def _not_moved(self: linear_systems.System, rho: enclosure.Enclosed) -> Any:
    return np.zeros(len(self.D))


def _where_it_is(self: upper.Completion, x: Any, rows: Any, lenient: bool) -> upper.Point:
    return upper.Point(x, np.zeros(len(x)))


WRONG: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "multipliers left outside": (lower, "into_dual", lambda program, z: np.array(z)),
    "no room asked for": (lower, "room", lambda program, z, eta: True),
    "the wrong end of a range": (lower, "_least", _wrong_end),
    "equations not solved": (linear_systems.System, "reach", _not_moved),
    "cones not looked at": (upper, "outside", lambda program, x, eta, met=None: 0 * program.b),
    "sums without their rounding": (
        enclosure, "UNIT", -0.1,
    ),
    "equations ignored": (upper.Completion, "_on_equations", _where_it_is),
    "rows with the sign lost": (
        Ranges, "_divide",
        lambda self, end, upper, right=Ranges._divide: right(self, end, upper=not upper),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_bounds_are_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*WRONG[name])
    rng, found = np.random.default_rng(5), False
    for i in range(800):
        case = planted(rng, KINDS[i % len(KINDS)])
        found = any(wrong for _, wrong, _ in claims(case, rng))
        if found:
            break
    assert found


def test_a_steeper_curvature_is_found_out() -> None:
    rng, wrong = np.random.default_rng(6), 0
    for _ in range(200):
        case = planted(rng, "qp")
        form = _steep(case.program.P)
        if form is not None:
            far = case.x + np.linalg.eigh(case.program.P.toarray())[1][:, 0]
            free = np.full(len(far), np.inf)
            bound = lower.lower_bound(case.program, case.z, far, -free, free, form)
            wrong += bound.value is not None and bound.value > case.optimum
    assert wrong


def test_curvature_is_a_bound_and_refuses_what_is_not_convex() -> None:
    rng = np.random.default_rng(7)
    for size in (2, 5, 30):
        R = rng.standard_normal((size + 3, size))
        form = curvatures.curvature(sp.csc_array(R.T @ R))
        assert form is not None
        assert form.min() > 0
        assert np.linalg.eigvalsh(R.T @ R - np.diag(form))[0] > 0
        thin = R[:1].T @ R[:1]
        flat = curvatures.curvature(thin)
        assert flat is not None
        assert -1e-9 < flat.max() < 0, "floats of a singular matrix: what may lack is charged for"
    assert curvatures.curvature(np.diag([1.0, -1e-9])) is None
    assert curvatures.curvature(np.array([[0.0, 1.0], [1.0, 0.0]])) is None
    assert np.array_equal(curvatures.curvature(np.diag([0.0, 2.0])), [0.0, 2.0])  # type: ignore[arg-type]


def test_solutions_of_equations_are_proven_to_exist_nearby() -> None:
    rng = np.random.default_rng(8)
    for p, m in ((3, 3), (4, 9), (20, 30), (400, 500)):
        dense = rng.integers(-9, 10, (p, m)) * (rng.random((p, m)) < min(1.0, 30 / p)) * 1.0
        weights = 10.0 ** (rng.uniform(-3, 3, m) / (1 + p // 100))
        system = linear_systems.System(sp.csr_array(dense), weights)
        scaled = system.S[:, None] * dense * system.D
        assert 0 < system.least <= np.linalg.eigvalsh(scaled @ scaled.T)[0]
        target = rng.standard_normal(p)
        y = system.step(target)
        assert np.abs(dense @ y - target).max() < 1e-6
        least = np.linalg.lstsq(dense * system.D, target, rcond=None)[0] * system.D
        assert np.all(np.abs(least) <= system.reach(enclosure.exact(target)) * (1 + 1e-9))
    same = sp.csr_array(np.array([[3.0, 5, 7], [3.0, 5, 7]]))
    with pytest.raises(linear_systems.Unproven, match="dependent"):
        linear_systems.System(same, np.ones(3))
    with pytest.raises(linear_systems.Unproven, match="no unknown"):
        linear_systems.System(same, np.zeros(3))


@pytest.mark.parametrize("dense", [True, False])
def test_least_eigenvalues_are_bounds(dense: bool) -> None:
    rng = np.random.default_rng(12)
    for size in (3, 40, 700):
        for shift in (1.0, 1e-3, 1e-9, -1e-6):
            R = sp.random_array((size, size), density=min(1, 3 / size), rng=rng).toarray()
            matrix = R @ R.T
            matrix += (shift - np.linalg.eigvalsh(matrix)[0]) * np.eye(size)
            least = np.linalg.eigvalsh(matrix)[0]
            found = linear_systems.least_eigenvalue(matrix if dense else sp.csc_array(matrix))
            assert found <= max(least, 0.0) + 1e-12
            assert found > 0.05 * least or shift < 1e-6
            assert linear_systems.least_eigenvalue(matrix, error=1.01 * abs(least)) <= 0


def test_sums_and_products_are_enclosed() -> None:
    rng = np.random.default_rng(13)
    for _ in range(200):
        m, n = rng.integers(1, 9, 2)
        A = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-12, 12, (m, n))
        x = rng.standard_normal(n) * 10.0 ** rng.integers(-12, 12, n)
        A[rng.random((m, n)) < 0.3] = 0
        wanted = [product(A, Dyadic.of(x)).fraction(i) for i in range(m)]
        got = enclosure.times(A, x)
        for value, low, high in zip(wanted, got.below(), got.above(), strict=True):
            assert Fraction(low) <= value <= Fraction(high)
        total, off = enclosure.dot(A[0], x)
        assert abs(total - wanted[0]) <= off
        size = Fraction(enclosure.norm(x))
        assert size * size >= sum((Fraction(v) ** 2 for v in x.tolist()), Fraction())


def test_exponentials_are_enclosed() -> None:
    rng = np.random.default_rng(14)
    given = np.concatenate((rng.standard_normal(3000) * 10.0 ** rng.integers(-9, 3, 3000),
                            [0.0, 1.0, -1.0, 700.0, -700.0, 20000.0, -20000.0]))  # fmt: skip
    given = given[np.abs(given) < 21000]
    below, above = enclosure.exponential(enclosure.exact(given))
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**8, -(10**8)
        for t, low, high in zip(given.tolist(), below, above, strict=True):
            true = decimal.Decimal(t).exp()
            assert _decimal(low) <= true <= _decimal(high)
            if 1e-280 < true < 1e300:
                assert _decimal(high) - _decimal(low) <= true * decimal.Decimal("1e-12")
    moved = enclosure.Enclosed(np.array([1.0]), np.array([1e-3]))
    low, high = (float(side[0]) for side in enclosure.exponential(moved))
    assert low <= np.exp(0.999) < np.exp(1.001) <= high


def _decimal(value: Any) -> decimal.Decimal:
    high = float(value)
    if not np.isfinite(high):
        return decimal.Decimal("Infinity") if value == np.inf else _huge(value)
    return decimal.Decimal(high) + decimal.Decimal(float(value - np.longdouble(high)))


def _huge(value: Any) -> decimal.Decimal:
    """Long floats beyond the range of floats."""
    mantissa, exponent = np.frexp(value)
    return _decimal(mantissa) * decimal.Decimal(2) ** int(exponent)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros(3)}, "A"),
        ({"b": np.array([1.0, np.nan])}, "finite"),
        ({"nonneg": 3}, "as many rows"),
        ({"P": sp.csc_array(np.array([[1.0, 2.0], [0.0, 1.0]]))}, "symmetric"),
    ],
)
def test_programs_that_make_no_sense_are_refused(change: dict[str, Any], words: str) -> None:
    good = {"P": sp.csc_array(np.eye(2)), "q": np.zeros(2), "A": sp.csc_array(np.eye(2)),
            "b": np.ones(2), "nonneg": 2}  # fmt: skip
    ConeProgram(**good)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match=words):
        ConeProgram(**(good | change))  # type: ignore[arg-type]
