"""Every function of `fast` against its definition, in multiple precision."""

import pytest
from _part import every

from refsolve import catalogue
from verification import verify
from verification.problems.problem import fast_candidate

PROBLEMS = [f"{object_name}.value" for object_name in catalogue.object_names("functions")]


def test_there_are_functions():
    assert PROBLEMS


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_quick_profile(problem, seed):
    assert fast_candidate(problem) is not None
    report = verify(None, problem, seed=seed, every=every(2)).raise_if_failed()
    assert report.counts["pass"] == len(report.results) >= 100 // every(2)
