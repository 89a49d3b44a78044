"""Every operation of every set and loss on a few instances of each family, judged by the kit.

In short tests, one for a family, as changes of single operators are looked for with; tests/sets and tests/losses
run all checks of the kit.
"""

import numpy as np
import pytest

from refsolve import catalogue
from verification import certificates
from verification.instances import families
from verification.problems.problem import fast_candidate
from verification.verdicts.verdict import Candidate

SETS = [f"{object_name}.projection" for object_name in catalogue.object_names("sets")]
LOSSES = [
    f"{object_name}.{operation}"
    for object_name in catalogue.object_names("losses")
    if not catalogue.load(object_name).SPEC.oracle_only
    for operation in catalogue.operations(object_name)
    if operation != "loss_augmented_inference"
]


def judged(problem, family, count, largest):
    """Every answer is within the rounding-error bound of the exact one."""
    compute = fast_candidate(problem)
    for instance in families.draw(problem, family, count, seed=3, largest=largest):
        answer = Candidate(np.asarray(compute(**instance.params)))
        verdict = certificates.judge(instance, answer)
        assert verdict.ok, (instance, verdict.message)


@pytest.mark.parametrize("family", sorted(families.FAMILIES))
@pytest.mark.parametrize("problem", SETS)
def test_sets(problem, family):
    judged(problem, family, 20, 10)
    judged(problem, family, 6, 160)


@pytest.mark.parametrize("family", sorted(families.FAMILIES))
@pytest.mark.parametrize("problem", LOSSES)
def test_losses(problem, family):
    if problem.startswith(("average_precision", "ndcg")):
        family = sorted(families.RANKINGS)[len(family) % len(families.RANKINGS)]
    judged(problem, family, 8, 10)
