"""W(e^t) and the elementary functions under it, against high precision."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from fast import _elementary, errors
from fast._numba import kernel
from fast.functions import lambert_w_exp

getcontext().prec = 50


def relative_error(got, wanted):
    return float(abs(Decimal(float(got)) - wanted) / wanted)


@kernel(cache=False)
def loop(which, x, a, out):
    for i in range(x.shape[0]):
        if which == 0:
            out[i] = _elementary.exp(x[i])
        elif which == 1:
            out[i] = _elementary.log(x[i])
        else:
            out[i] = lambert_w_exp.root(x[i], a, np.log(a))


def run(which, x, a=1.0):
    out = np.empty(len(x))
    loop(which, np.asarray(x, dtype=float), a, out)
    return out


def test_shapes_dtypes_and_purity(rng):
    t = rng.standard_normal((3, 4)).astype(np.float32)
    t.flags.writeable = False
    w = lambert_w_exp.value(t)
    assert w.dtype == np.float32
    assert w.shape == (3, 4)
    np.testing.assert_array_equal(w, lambert_w_exp.value(t.astype(float)).astype(np.float32))
    np.testing.assert_array_equal(lambert_w_exp.value(t[:, ::2]), w[:, ::2])
    one = lambert_w_exp.value(1)
    assert np.ndim(one) == 0
    assert one == 1.0
    assert lambert_w_exp.scalar(1.0) == 1.0
    assert lambert_w_exp.value(np.float32(-500)) == 0.0


@pytest.mark.parametrize("t", [[0.0, np.nan], np.inf, [[-np.inf]], "1", [1j], np.zeros((1, 1, 1))])
def test_bad_input(t):
    with pytest.raises(errors.InvalidParameterError, match=r"^t: "):
        lambert_w_exp.value(t)


def test_the_entry_named_is_the_bad_one():
    with pytest.raises(errors.InvalidParameterError, match=r"t\[1\] = nan"):
        lambert_w_exp.value([1e305, np.nan])


@pytest.mark.parametrize("a", [1e-17, 1e-5, 0.3, 7.0, 1e5, 1e10, 1e100])
def test_root_of_a_x_plus_log_x(a, rng):
    """x = w/a with w + log w = z + log a, which is accurate also where z + log a is rounded."""
    z = np.concatenate([rng.uniform(-700, 10, 50), rng.normal(size=50) - np.log(a)])
    z = np.concatenate([z, a * rng.uniform(0, 2, 20), [-700 - np.log(a)]])
    for z_i, x in zip(z, run(2, z, a), strict=True):
        if x < 1e-290:
            continue
        # One Newton step from x itself: for an error e it is -e up to e^2.
        x, big_a = Decimal(float(x)), Decimal(a)
        residual = Decimal(float(z_i)) - big_a * x - x.ln()
        assert abs(residual / (1 + big_a * x)) <= 6e-16


def test_exp_and_log(rng):
    x = rng.uniform(-708, 709, 500)
    for x_i, e in zip(x, run(0, x), strict=True):
        assert relative_error(e, Decimal(float(x_i)).exp()) <= 2.2e-16
    x = np.exp(np.concatenate([rng.uniform(-700, 700, 300), rng.uniform(-0.5, 0.5, 200)]))
    for x_i, y in zip(x, run(1, x), strict=True):
        assert relative_error(y, Decimal(float(x_i)).ln()) <= 2.6e-16
    np.testing.assert_array_equal(run(0, [0.0, -0.0, -800.0, -1e300]), [1, 1, 0, 0])
    assert np.isfinite(run(0, [1e300])).all()
    assert run(1, [1.0])[0] == 0.0
