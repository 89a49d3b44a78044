"""Every set of `fast` against the exact solutions and certificates of its declaration."""

import numpy as np
import pytest
from _part import every

from refsolve import catalogue
from refsolve.proofs.rationals import norm, number, vector
from verification import verify
from verification.certificates import truth
from verification.instances import drawing, families
from verification.kit.loop import applicable
from verification.problems.problem import fast_candidate, lookup

PROBLEMS = [f"{object_name}.projection" for object_name in catalogue.object_names("sets")]
CHECKS = [(problem, check) for problem in PROBLEMS for check in applicable(lookup(problem))]


def test_there_are_sets():
    assert len(PROBLEMS) >= 4


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("problem", "check"), CHECKS)
def test_quick_profile(problem, check, seed):
    """Nothing is skipped: batches, all parameters and both precisions are supported."""
    share = 1 if check in ("batch", "distributions") else every(8)  # no two of these are alike
    report = verify(None, problem, seed=seed, checks=[check], every=share).raise_if_failed()
    assert report.results
    assert not [r.message for r in report.results if not r.ok]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_type_in_is_type_out(problem, dtype):
    project = fast_candidate(problem)
    for instance in families.draw(problem, "random", 10, seed=2):
        params = instance.params
        params["a"] = params["a"].astype(dtype)
        assert project(**params).dtype == dtype
        rows = [name for name in ("a", "y") if name in params]  # labels have a row each
        params |= {name: np.stack([params[name]] * 3) for name in rows}
        assert project(**params).dtype == dtype


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("d", [100, 400])
def test_long_vectors(problem, d):
    """Beyond the sizes of the profiles; the exact solution still decides."""
    rng = np.random.default_rng(d)
    project = fast_candidate(problem)
    for k in (1, 5, d // 2, d):
        for rho in (0.0, 0.5):
            a = np.round(rng.normal(size=d), 2)  # many ties
            instance = drawing.complete(lookup(problem), rng, "long", a, k=k, r=2.0, rho=rho)
            right = truth.solution(instance)
            off = norm(vector(project(**instance.params)) - right)
            assert off <= 1e-13 * (1 + number(abs(right).max())), (k, rho)
