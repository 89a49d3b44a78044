"""W(e^t): the oracle, the certificate's bounds, and the ends of the reals."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from _draw import certified
from scipy.special import wrightomega

import refsolve
from refsolve import catalogue, certificates
from refsolve.errors import InvalidParameterError
from refsolve.exact import decimals

FUNCTIONS = catalogue.object_names("functions")
POINTS = [-1e5, -745.0, -700.0, -36.0, -1.0, 0.0, 0.4, 1.0, 1.1, 3.0, 50.0, 710.0, 1e6, 1e20, 1e100]
INFO, QUANTUM = np.finfo(float), Decimal("5e-324")
#: Both ends of the floats, of e^t and of its normal numbers, where 1 + t is t, and the oracle's switch at 1.
ENDS = [
    float(v) for end in (INFO.max, INFO.tiny, 5e-324, 1e150, 1e18, 1e16, 40.0) for v in (end, -end)
]
ENDS += [-0.0, np.e, math.log(INFO.tiny), -745.1, -745.2, -744.0, 709.8, 1e-9, -1e-9]
ENDS += [float(np.nextafter(1.0, side)) for side in (0, 2)]


def _truth(t):
    """W(e^t) in forty digits, by bisection of w + log w = t."""
    with localcontext() as context:
        context.prec, context.Emin = 40, -(10**8)
        t = Decimal(t)
        low, high = (t.exp() / 4, t.exp()) if t < 1 else (t / 3, t)
        for _ in range(160):
            middle = (low + high) / 2
            low, high = (middle, high) if middle + middle.ln() < t else (low, middle)
        return low


def drawn():
    """Numbers of every size and sign, and around 0."""
    rng = np.random.default_rng(361)
    sizes = 10.0 ** np.concatenate([rng.uniform(-300, 308, 60), rng.uniform(-3, 3, 120)])
    return [float(v) for v in rng.choice([-1.0, 1.0], sizes.size) * sizes]


@pytest.mark.parametrize("t", POINTS)
def test_the_oracle_is_certified_on_all_reals(t):
    found = certified("lambert_w_exp.value", t=t)
    assert found.value == pytest.approx(float(_truth(t)), rel=1e-15, abs=5e-324)


@pytest.mark.parametrize("points", [ENDS, drawn()], ids=["ends", "drawn"])
def test_the_oracle_has_twelve_digits_and_says_so_for_every_float(points):
    for t in points:
        found = certified("lambert_w_exp.value", t=t)
        with decimals.digits(t):
            w = decimals.lambert_w_exp(decimals.decimal_of(t))
            off = abs(decimals.decimal_of(found.value) - w)
            # below the normal floats the digits go one by one
            assert off <= w * Decimal("1e-12") + QUANTUM, t
            assert off <= decimals.decimal_of(found.certificate.distance) + QUANTUM, t
        assert found.certificate.relative_gap <= 1e-12, t


def test_the_last_steps_are_not_the_solvers():
    for t in (-30.0, 0.3, 1.0, 2.0, 1e5):
        rough = 1 + 1e-5  # of a solver that stopped early
        exact = refsolve.solve("lambert_w_exp.value", t=t).value
        scale = t - math.log(t) if t > 1 else math.exp(t)
        found = refsolve.functions.lambert_w_exp.refine(rough * exact / scale, t)
        assert found == pytest.approx(exact, rel=1e-15)
        # a wrong number stays wrong, and the certificate says so
        assert certificates.function_value("lambert_w_exp", 1.01 * exact, t).relative_gap > 1e-3


def test_the_peer_has_four_digits_less_than_the_certificate():
    rng = np.random.default_rng(81)
    for t in rng.uniform(-40, 40, size=200):
        assert certificates.function_value("lambert_w_exp", wrightomega(t), t).relative_gap <= 4e-15


def test_wrong_numbers_have_no_certificate():
    for bad in (np.nan, np.inf, -1.0, "w", None, [1.0]):
        assert certificates.function_value("lambert_w_exp", bad, 0.0).gap == np.inf
    # lambertw(exp(t)) overflows from t = 710 on; 0 is right only where float64 ends
    assert certificates.function_value("lambert_w_exp", 0.0, 1.0).gap == np.inf
    assert certificates.function_value("lambert_w_exp", 0.0, -1e3).gap == 0
    assert certificates.function_value("lambert_w_exp", math.exp(-50), -40.0).relative_gap > 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "1", True, [1.0], 10**400])
def test_bad_arguments_are_named(bad):
    with pytest.raises(InvalidParameterError, match="t = "):
        refsolve.solve("lambert_w_exp.value", t=bad)


def test_every_function_is_listed():
    assert "lambert_w_exp" in FUNCTIONS
    assert set(refsolve.problems("functions")) == {
        f"{object_name}.value" for object_name in FUNCTIONS
    }
    assert refsolve.functions.lambert_w_exp.SPEC.kind == "functions"
