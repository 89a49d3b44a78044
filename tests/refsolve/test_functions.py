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

FUNCTIONS = catalogue.object_names("functions")
POINTS = [-1e5, -745.0, -700.0, -36.0, -1.0, 0.0, 0.4, 1.0, 1.1, 3.0, 50.0, 710.0, 1e6, 1e20, 1e100]


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


@pytest.mark.parametrize("t", POINTS)
def test_the_oracle_is_certified_on_all_reals(t):
    found = certified("lambert_w_exp.value", t=t)
    assert found.value == pytest.approx(float(_truth(t)), rel=2e-8, abs=5e-324)


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "1", True, [1.0], 1e200])
def test_bad_arguments_are_named(bad):
    with pytest.raises(InvalidParameterError, match="t = "):
        refsolve.solve("lambert_w_exp.value", t=bad)


def test_every_function_is_listed():
    assert "lambert_w_exp" in FUNCTIONS
    assert set(refsolve.problems("functions")) == {
        f"{object_name}.value" for object_name in FUNCTIONS
    }
    assert refsolve.functions.lambert_w_exp.SPEC.kind == "functions"
