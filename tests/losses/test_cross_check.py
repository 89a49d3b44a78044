"""Every loss of `fast` against the exact values, duals and updates of its declaration."""

import numpy as np
import pytest
from _part import every
from _references import passes_every_check

from refsolve import catalogue
from refsolve.proofs.loss import generator_of
from verification import verify
from verification.instances import families
from verification.kit.loop import applicable
from verification.problems.problem import fast_candidate, lookup
from verification.reference_solvers import solvers

OBJECTS = [s for s in catalogue.object_names("losses") if not catalogue.load(s).SPEC.oracle_only]
PROBLEMS = [
    f"{object_name}.{operation}"
    for object_name in OBJECTS
    for operation in catalogue.operations(object_name)
]
SOUND = {
    name: solver
    for name, solver in solvers.SOLVERS.items()
    if lookup(name).kind == "losses" and not name.endswith((".value", ".loss_augmented_inference"))
}

#: Of the kit's instances one in so many; `refsolve verify --all` takes them all.
SHARE = 8
#: No two instances of these are alike: they take all of them.
WHOLE = ("batch", "products")


def test_there_are_losses():
    assert len(OBJECTS) >= 15


CHECKS = [(problem, check) for problem in PROBLEMS for check in applicable(lookup(problem))]


@pytest.mark.parametrize(("problem", "check"), CHECKS)
def test_quick_profile(problem, check):
    """Nothing is skipped: batches, costs, weights and both precisions are supported."""
    assert fast_candidate(problem) is not None
    share = 1 if check in WHOLE else every(SHARE)
    report = verify(None, problem, checks=[check], every=share).raise_if_failed()
    assert report.results
    assert not [r.message for r in report.results if not r.ok]


@pytest.mark.parametrize("problem", SOUND)
def test_sound_algorithms_pass(problem):
    """The other kinds are in tests/verification; these share the exact solutions of the test above."""
    passes_every_check(SOUND[problem], problem, SHARE)


@pytest.mark.parametrize(
    "object_name", [s for s in OBJECTS if "sdca_update" in catalogue.operations(s)]
)
def test_the_update_with_no_step_is_the_gradient(object_name):
    """Both name a maximiser of the same dual function where the Gram entry vanishes."""
    module = catalogue.load(object_name)
    curved = generator_of(module).smooth
    update, gradient = (
        fast_candidate(f"{object_name}.sdca_update"),
        fast_candidate(f"{object_name}.gradient"),
    )
    for instance in families.draw(f"{object_name}.gradient", "random", 30, seed=9):
        params = instance.params
        scores, y = params.pop("scores"), params.pop("y")
        if params["sample_weight"] is None:
            params.pop("sample_weight")
        if not curved:  # the update is then defined for zero rows only
            scores = np.zeros_like(scores)
        block = update(scores, y, 0.0, C=1.0, **params)
        np.testing.assert_allclose(-gradient(scores, y, **params), block, rtol=1e-12, atol=1e-12)
