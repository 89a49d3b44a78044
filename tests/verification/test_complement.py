"""1 - s beside an entropy's point: rounding may end outside of [0, 1], and no further."""

import numpy as np
import pytest
from _references import fails

from verification import checks
from verification.instances.instance import Instance
from verification.kit.loop import run_one
from verification.kit.solver_call import Caller
from verification.problems.problem import lookup
from verification.reference_solvers.solvers import SOLVERS
from verification.verdicts.verdict import Verdict

NAME = "topk_entropy_beta.sdca_update"
CHECK = checks.discover()["complement"]
# s is about e^-13000 here: a sound solver returns 1 - s = 1 + 4 eps
INSTANCE = Instance.of(
    NAME,
    q=np.array([1633.7488, -7178.9671, 6836.8992, -10513.8774, 7619.6092]),
    y=4,
    k_ii=1.0,
    C=100.0,
    k=1,
    costs=None,
    sample_weight=1.5708337,
)


def returning(change):
    """The sound update with another 1 - s."""

    def update(*, return_complement=False, **given):
        x, rest = SOLVERS[NAME](**given, return_complement=True)
        return (x, change(rest)) if return_complement else x

    return Caller(update, lookup(NAME))


@pytest.mark.parametrize(
    "change", [lambda c: c, lambda c: 1.0 + 4 * np.finfo(float).eps], ids=["as it is", "rounded up"]
)
def test_rounding_is_no_failure(change):
    assert run_one("complement", CHECK, returning(change), INSTANCE).verdict is Verdict.PASS


@pytest.mark.parametrize("wrong", [1.001, 0.999, -1.0, float("nan"), float("inf")])
def test_more_than_rounding_is_one(wrong):
    fails(run_one("complement", CHECK, returning(lambda _: wrong), INSTANCE), "1 - s")
