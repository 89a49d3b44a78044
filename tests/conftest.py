"""Settings of every test: one thread, explicit seeds, and a hypothesis profile without clocks."""

import gc
import os
from collections.abc import Iterator

# Before numpy is imported: two pytest workers with two BLAS threads each would fight for two cores.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# What colours, widens or extends the output that tests read: of the terminal, of a CI service, or
# of the user. pytest itself has made up its mind about them by then.
_OF_THE_PLACE = (
    "FORCE_COLOR", "PY_COLORS", "NO_COLOR", "GITHUB_ACTIONS", "COLUMNS", "LINES", "TERMINAL_WIDTH",
    "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TYPER_USE_RICH", "MPLBACKEND", "PYTEST_ADDOPTS",
)  # fmt: skip

# No deadline: the first example of a kernel compiles it. Derandomised: a red run stays red.
settings.register_profile(
    "refsolve", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("refsolve")


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Give every test the same surroundings."""
    gc.set_threshold(20_000, 10, 10)  # numba, cvxpy and fractions make many objects and few circles
    for name in _OF_THE_PLACE:
        os.environ.pop(name, None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Seed what estimators without a ``random_state`` draw from, before fixtures of any scope fit one."""
    np.random.seed(20160627)  # noqa: NPY002 - this is the generator they draw from


@pytest.fixture(scope="session", autouse=True)
def _patience() -> Iterator[None]:
    """Give candidates minutes where no test sets a limit: on a busy machine, compiling takes them."""
    from verification.kit import solver_call

    allowed = solver_call.Caller._allowed

    def patient(call: solver_call.Caller) -> float:
        limited = call.timeout != solver_call.TIMEOUT or hasattr(call.function, "allowance")
        return allowed(call) + (0.0 if limited else 600.0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver_call.Caller, "_allowed", patient)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """A fresh generator with a fixed seed for each test."""
    return np.random.default_rng(20160627)


@pytest.fixture(scope="session", autouse=True)
def _bounded_shapes() -> Iterator[None]:
    """Shapes of some hundred entries, two products; test_shapes.py and a record have all of them."""
    from verification.checks import products, shapes

    with pytest.MonkeyPatch.context() as patch:
        for name, bound in (
            ("ROWS", (1, 5)),
            ("LENGTHS", (2, 5)),
            ("VECTORS", (5, 8)),
            ("SWEPT", 32),
        ):
            for profile in ("quick", "thorough"):
                patch.setitem(getattr(shapes, name), profile, bound)
        for profile in ("quick", "thorough"):
            patch.setitem(products.SIZES, profile, ((46_341, 46_341), (4, 65_600)))
        patch.setattr(shapes, "DIVISIBLE", ())
        patch.setattr(shapes, "FULL", ())
        patch.setattr(shapes, "IN_ALL", 20.0)  # a busy machine leaves none out
        yield
