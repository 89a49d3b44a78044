"""The oracle's projections: against exact arithmetic, across solvers, scales and structures."""

import numpy as np
import pytest
from _draw import SETS, biased, certified, set_params

import refsolve
from refsolve import oracle
from refsolve.errors import OracleUncertainError, Status


def test_one_compiled_problem_serves_all_values_of_a_structure():
    rng = np.random.default_rng(23)
    oracle._cache.clear()
    for _ in range(3):
        for r, rho in ((1.0, 0.0), (2.0, 3.0)):
            refsolve.solve(
                "topk_simplex_beta.projection",
                solver="CLARABEL",
                a=rng.normal(size=6),
                k=2,
                r=r,
                rho=rho,
            )
    assert len(oracle._cache) == 1
    refsolve.solve("topk_simplex_beta.projection", solver="CLARABEL", a=np.ones(6), k=3)
    assert len(oracle._cache) == 2


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(oracle, "CACHE_SIZE", 2)
    for d in (2, 3, 4, 5):
        refsolve.solve("simplex.projection", a=np.ones(d))
    assert len(oracle._cache) <= 2


def test_a_solver_that_gives_up_makes_the_answer_uncertain(monkeypatch):
    monkeypatch.setattr(oracle, "SOLVERS", {"SCS": {"max_iters": 1}})
    oracle._cache.clear()
    a = np.random.default_rng(24).normal(size=30)
    result = refsolve.solve("topk_simplex_alpha.projection", a=a, k=3, rho=1.0)
    assert result.status is Status.UNCERTAIN
    assert "refsolve.exact" in result.remedy
    with pytest.raises(OracleUncertainError, match="Remedy"):
        result.raise_if_uncertain()


def test_no_answer_at_all_is_an_error(monkeypatch):
    monkeypatch.setattr(oracle, "ask", lambda *args: None)
    with pytest.raises(OracleUncertainError, match="no solver returned a point"):
        refsolve.solve("simplex.projection", a=[1.0, 2.0])


def test_nothing_is_printed(capfd):
    # the gradient is strictly inside the domain: OSQP remarks that there is nothing to polish
    given = {"scores": [0.0, 0.1, 0.05], "y": 0, "costs": [0.0, 0.1, 0.1], "k": 1}
    for solver in oracle.SOLVERS:
        refsolve.solve("smooth_topk_hinge_beta.gradient", solver=solver, **given)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("magnitude", [1e-310, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("object_name", SETS)
def test_extreme_magnitudes(object_name, magnitude):
    params = set_params(object_name, 2, 1.0, 3) | biased(object_name, 0.1)
    a = np.array([1.0, 0.5, -1.0]) * magnitude
    result = certified(f"{object_name}.projection", a=a, **params)
    assert np.isfinite(result.x).all()
