"""Every problem of a set or a loss: the oracle's answer is certified, and covers the exact solution."""

from functools import partial

import numpy as np
import pytest
from _draw import ENTROPIES, certified

import refsolve
from refsolve import catalogue, oracle
from refsolve.errors import Status
from refsolve.models import pointwise_risk
from verification import certificates
from verification.instances import families

PROBLEMS = [p for kind in ("sets", "losses") for p in catalogue.problems(kind)]
FAMILIES = {"random": 2, "ties": 2, "planted": 2, "scales": 2}


def asked(instance):
    """What the oracle takes of an instance: arguments that are None have their defaults."""
    return {name: value for name, value in instance.params.items() if value is not None}


def covers(instance, found):
    """The certificate says how far the answer is at most from the exact one."""
    right = certificates.expected(instance)
    if right is None:  # of a loss as it is misprinted
        return
    right = np.asarray(right)
    size = 1 + np.abs(right).max(initial=0)
    if right.ndim == 0 or not np.isfinite(right).all():
        assert (
            found.value == right or abs(found.value - right) <= found.certificate.gap + 1e-14 * size
        )
    elif np.isfinite(found.certificate.distance):
        assert np.linalg.norm(found.x - right) <= found.certificate.distance + 1e-14 * size


@pytest.mark.parametrize("problem", PROBLEMS)
def test_answers_are_certified_and_cover_the_exact_ones(problem):
    for family, count in FAMILIES.items():
        for instance in families.draw(problem, family, count, seed=1, largest=6):
            found = refsolve.solve(problem, **asked(instance))
            covers(instance, found)
            # entropies of margins up to 1e6 times a curvature as large may be left open
            left_open = family == "scales" and catalogue.split(problem)[0] in ENTROPIES
            assert found.status is Status.CERTIFIED or left_open, instance


@pytest.mark.parametrize("solver", oracle.SOLVERS)
@pytest.mark.parametrize("problem", catalogue.problems("sets"))
def test_each_solver_reaches_the_same_projection(problem, solver):
    (instance,) = families.draw(problem, "random", 1, seed=2, largest=8)
    found = certified(problem, solver=solver.lower(), **asked(instance))
    assert found.solver == solver
    covers(instance, found)


SCORES = np.array([0.3, 0.1, -0.2, 0.25])
COSTS = np.array([0.5, 0.0, 1.0, 2.0])
CALLS = {
    **{
        f"{problem}, {solver}": (partial(refsolve.solve, problem, solver=solver), given)
        for solver in oracle.SOLVERS
        for problem, given in (
            ("topk_simplex_alpha.projection", {"a": SCORES, "k": 1, "r": 5.0}),
            (
                "smooth_topk_hinge_beta.value",
                {"scores": SCORES, "y": 1, "costs": COSTS, "k": 2},
            ),
        )
    },
    "certificate": (
        partial(pointwise_risk.certificate, "softmax", behind=(1, 0)),
        {"p": np.array([2.0, 1.0, 1.0]), "g": np.array([0.0, 1.0, 0.0])},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_inputs_stay_as_they_are(name):
    """They are read-only; as compiled code may write all the same, they are compared too."""
    call, given = CALLS[name]
    copies = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    for value in copies.values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    call(**copies)
    for argument, value in given.items():
        np.testing.assert_array_equal(copies[argument], value)
