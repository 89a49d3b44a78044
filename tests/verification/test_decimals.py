"""The 60-digit arithmetic: against identities, and against floats where these are accurate."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from refsolve.exact import decimals as d


@pytest.mark.parametrize("t", [-1e6, -745.5, -600.0, -3.0, 0.0, 1.0, 4.25, 800.0, 1e18, 1e300])
def test_lambert_satisfies_its_equation(t):
    with d.digits(t):
        at = Decimal(t)
        w = d.lambert_w_exp(at)
        assert abs(w + w.ln() - at) <= Decimal("1e-57") * (1 + w)


@pytest.mark.parametrize("alpha", ["0", "1e-300", "0.5", "1e10"])
@pytest.mark.parametrize("w", ["-900", "0.1", "5e3"])
def test_entropic_root(alpha, w):
    with d.digits(1e10):
        alpha, w = Decimal(alpha), Decimal(w)
        x = d.entropic(w, alpha)
        assert x > 0
        assert abs(alpha * x + x.ln() - w) <= Decimal("1e-50") * (1 + alpha * x)


@pytest.mark.parametrize("x", ["1e-4000", "1e-30", "-1e-6", "1e-5", "0.3", "1e20"])
def test_log1p_is_relatively_right(x):
    with d.digits(base=120):
        x = Decimal(x)
        found = d.log1p(x)
        # log(1 + x) = x - x^2/2 + ..., and exp undoes it where 1 + x keeps digits
        assert abs(found - x) <= x * x
        if abs(x) > Decimal("1e-50"):
            assert abs(found.exp() - 1 - x) <= Decimal("1e-110") * (1 + abs(x))


@pytest.mark.parametrize("z", [-900.0, -40.0, -1.0, 0.0, 2.0, 50.0, 1e5])
def test_softplus_and_logistic(z):
    with d.digits(z):
        z = Decimal(z)
        p, q = d.logistic(z)
        assert (q, p) == d.logistic(-z)
        assert abs(p + q - 1) < Decimal("1e-58")
        assert abs((p / q).ln() - z) < Decimal("1e-53") * (1 + abs(z))
        assert abs(d.softplus(z) + q.ln()) < Decimal("1e-53") * (1 + abs(z))
        assert d.softplus(z) >= max(z, Decimal(0))


def test_divergence_and_entropy():
    with d.digits():
        assert d.divergence(Decimal(0), Decimal("0.25")) == Decimal("0.25")
        assert d.divergence(Decimal("0.25"), Decimal("0.25")) == 0
        assert d.divergence(Decimal("0.3"), Decimal("0.2")) > 0
        assert d.entropy(Decimal(0)) == 0
        assert float(d.entropy(Decimal("0.5"))) == pytest.approx(0.5 * math.log(0.5), rel=1e-15)


@pytest.mark.parametrize("start", [-50, 0, 3, 900])
@pytest.mark.parametrize("increasing", [True, False])
def test_root_of_a_monotone_function(start, increasing):
    sign = 1 if increasing else -1

    def equation(number):  # root log 2
        one = number(1)
        return lambda x: (sign * (one - 2 * d.exp(-x)), sign * 2 * d.exp(-x))

    with d.digits():
        found = sum(d.root(equation, Decimal(start), increasing))
        assert abs(found - Decimal(2).ln()) < Decimal("1e-57")


def test_a_root_where_floats_overflow_is_found():
    def equation(number):  # root log 2
        return lambda x: (
            d.exp(x + number(1000)) - 2 * d.exp(number(1000)),
            d.exp(x + number(1000)),
        )

    with d.digits(), pytest.raises(OverflowError):
        equation(float)(0.0)
    with d.digits():
        assert abs(sum(d.root(equation, Decimal(0), True)) - Decimal(2).ln()) < Decimal("1e-55")


def test_a_function_without_root_is_refused():
    with d.digits(), pytest.raises(ArithmeticError):
        d.root(lambda number: lambda x: (number(1), number(0)), Decimal(0))


def test_fractions_come_and_go():
    with d.digits():
        assert d.rational(d.decimal_of(Fraction(1, 8))) == Fraction(1, 8)
        assert abs(d.rational(d.decimal_of(Fraction(1, 3))) - Fraction(1, 3)) < Fraction(1, 10**59)
        assert d.rational(Decimal("1e-5000")) == 0


def test_digits_leave_room_for_large_numbers():
    with d.digits(Fraction(10**12)) as context:
        assert context.prec >= 72
        assert Decimal("1e12") + Decimal("1e-58") != Decimal("1e12")
