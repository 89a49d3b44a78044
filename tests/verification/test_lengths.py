import numpy as np
import pytest

from verification.checks import lengths
from verification.problems import lookup


def sizes(problem):
    task = lookup(problem)
    return [i[task.data].size for i in lengths.instances(task, "quick", 0)]


@pytest.mark.parametrize("problem", ["simplex.projection", "topk_hinge_alpha.prox"])
def test_vectors_are_longer_than_buffers(problem):
    found = sizes(problem)
    assert set(found) == set(lengths.SIZES["quick"])
    assert min(found) > 32
    assert max(found) > 128


@pytest.mark.parametrize("problem", ["topk_simplex_beta.projection", "topk_entropy_beta.gradient"])
def test_k_exceeds_the_length_where_it_may(problem):
    task = lookup(problem)
    found = lengths.instances(task, "quick", 0)
    beyond = [i for i in found if i["k"] > i[task.data].size - task.others]
    assert len(beyond) == len(found) / 2


def test_k_stays_within_the_length_elsewhere():
    task = lookup("topk_hinge_alpha.value")
    assert all(i["k"] < i["scores"].size for i in lengths.instances(task, "quick", 0))


def test_rankings_have_both_kinds():
    task = lookup("average_precision.value")
    for instance in lengths.instances(task, "quick", 0):
        assert set(np.unique(instance["y"])) == {0, 1}


def test_it_is_a_function_of_the_seed():
    task = lookup("softmax.value")
    assert lengths.instances(task, "quick", 3) == lengths.instances(task, "quick", 3)
    assert lengths.instances(task, "quick", 3) != lengths.instances(task, "quick", 4)


def test_functions_and_models_have_no_length():
    assert not lengths.applies(lookup("lambert_w_exp.value"))
    assert not lengths.applies(lookup("multiclass_erm.primal"))
