"""ECOS: certified like any other, cross-checked on exponential cones, and not missed where it is not."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest

import refsolve
from refsolve import oracle
from refsolve.errors import InvalidParameterError, OracleUncertainError, Status

ENTROPIES = [("softmax", {}), ("topk_entropy_alpha", {"k": 2}), ("topk_entropy_beta", {"k": 2})]


@pytest.mark.parametrize("size", [1.0, 1e2, 1e4])
@pytest.mark.parametrize(("object_name", "given"), ENTROPIES)
def test_on_exponential_cones_it_agrees_with_clarabel(object_name, given, size):
    rng = np.random.default_rng(41)
    for _ in range(3):
        v, scores = size * rng.standard_normal((2, 6))
        for operation, asked in (
            ("prox", {"v": v, "t": 0.7}),
            ("value", {"scores": scores, "y": 1}),
        ):
            found = {
                name: refsolve.solve(f"{object_name}.{operation}", solver=name, **asked, **given)
                for name in ("CLARABEL", "ECOS")
            }
            assert {answer.status for answer in found.values()} == {Status.CERTIFIED}
            assert [answer.solver for answer in found.values()] == list(found)
            one, other = found["CLARABEL"], found["ECOS"]
            apart = one.certificate.distance + other.certificate.distance
            if operation != "value":
                assert np.linalg.norm(one.x - other.x) <= apart + 1e-12 * size
            else:
                slack = one.certificate.gap + other.certificate.gap + 1e-12 * size
                assert abs(one.value - other.value) <= slack


def test_by_default_it_is_asked_on_other_cones_and_not_on_quadratic_programs(monkeypatch):
    monkeypatch.setattr(oracle, "SOLVERS", {"ECOS": oracle.SOLVERS["ECOS"]})
    v = np.array([0.3, -0.2, 1.0])
    assert refsolve.solve("softmax.prox", v=v, t=1.0).solver == "ECOS"
    with pytest.raises(OracleUncertainError, match="no solver returned a point"):
        refsolve.solve("simplex.projection", a=v)
    asked = refsolve.solve("simplex.projection", a=v, solver="ecos")
    assert (asked.solver, asked.status) == ("ECOS", Status.CERTIFIED)


def test_a_solver_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(cp, "installed_solvers", lambda: ["CLARABEL"])
    with pytest.raises(InvalidParameterError, match=r"'ECOS'.*installed.*pip install ecos"):
        refsolve.solve("simplex.projection", a=[1.0, 2.0], solver="ECOS")
    assert refsolve.solve("simplex.projection", a=[1.0, 2.0]).status is Status.CERTIFIED


def test_everything_else_works_without_it():
    code = """
import sys
sys.modules["ecos"] = None
import refsolve
answer = refsolve.solve("softmax.prox", v=[0.3, -0.2, 1.0], t=1.0)
assert (answer.solver, answer.status) == ("CLARABEL", "certified")
try:
    refsolve.solve("softmax.prox", v=[0.3, -0.2, 1.0], t=1.0, solver="ECOS")
except refsolve.errors.InvalidParameterError as error:
    assert "pip install ecos" in str(error)
else:
    raise AssertionError("ECOS answered")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
