import numpy as np
import pytest

from verification.certificates import truth
from verification.checks import lengths
from verification.problems.problem import lookup


def sizes(problem):
    task = lookup(problem)
    return [i[task.data].size for i in lengths.instances(task, "quick", 0)]


@pytest.mark.parametrize("problem", ["simplex.projection", "topk_hinge_alpha.prox"])
def test_vectors_are_longer_than_buffers(problem):
    found = sizes(problem)
    assert set(found) == {*lengths.SIZES["quick"], *lengths.BLOCKS["quick"]}
    assert min(found) >= 32
    assert max(found) > 1024


def test_every_entry_of_a_full_block_counts():
    """The last one most, and all of them in the sum: without one of them the projection is another."""
    task = lookup("simplex.projection")
    found = lengths.instances(task, "quick", 0)[-len(lengths.BLOCKS["quick"]) :]
    for instance in found:
        a = instance["a"]
        assert a.size in lengths.BLOCKS["quick"]
        assert int(np.argmax(a)) == a.size - 1
        assert (truth.solution(instance) > 0).all()


def test_functions_take_many_numbers_and_models_have_sizes_of_their_own():
    assert max(sizes("lambert_w_exp.value")) > 128
    assert not lengths.applies(lookup("multiclass_erm.primal"))
