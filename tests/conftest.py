"""Settings of every test: one thread, explicit seeds, and a hypothesis profile without clocks."""

from __future__ import annotations

import os

# Before numpy is imported: two pytest workers with two BLAS threads each would fight for two cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# No deadline: the first example of a kernel compiles it. Derandomised: a red run stays red.
settings.register_profile(
    "refsolve", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("refsolve")


@pytest.fixture
def rng() -> np.random.Generator:
    """A fresh generator with a fixed seed for each test."""
    return np.random.default_rng(20160627)
