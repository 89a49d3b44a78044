"""W(e^t): shapes, types and bad input; tests/functions has its values."""

import numpy as np
import pytest

from fast import errors
from fast.functions import lambert_w_exp


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
    with pytest.raises(errors.InvalidParameterError, match=r"t\[1\] = nan"):
        lambert_w_exp.value([1e305, np.nan])
