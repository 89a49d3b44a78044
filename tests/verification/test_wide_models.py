import numpy as np
import pytest

from verification import faulty_solvers
from verification.checks import trained
from verification.instances import datasets
from verification.kit.loop import verify
from verification.problems.problem import lookup

WRONG = {
    "erm_mask_of_64_classes": trained.MANY,
    "erm_two_warps_of_features": "wide",
    "svm_two_warps_of_features": "wide",
}


@pytest.mark.parametrize("name", WRONG)
def test_only_what_is_wider_than_two_warps_kills(name):
    wrong = faulty_solvers.discover()[name]
    found = verify(wrong.candidate, wrong.problem, fixed=wrong.fixed, shrink=False)
    assert {r.family for r in found.failures} == {WRONG[name]}


@pytest.mark.parametrize(
    "problem", ["svm_2k.primal", "multiclass_erm.dual", "latent_ap_svm.primal"]
)
def test_wide_data_are_those_of_the_model(problem):
    found = list(datasets.wide(lookup(problem), 4, 3, 16))
    assert len(found) == 4
    assert all(datasets.valid(i) and i["X"].shape[1] in datasets.COLUMNS for i in found)
    assert [i["y"].tolist() for i in found] == [
        i["y"].tolist() for i in datasets.wide(lookup(problem), 4, 3, 16)
    ]


def test_every_one_of_many_classes_has_an_example():
    found = [
        i
        for i in trained.instances(lookup("multiclass_erm.primal"), "quick", 0)
        if i.family == trained.MANY
    ]
    assert len(found) == trained.WIDE["quick"]
    for instance in found:
        y = instance["y"]
        m = y.shape[1] if y.ndim == 2 else len(np.unique(y))
        assert m > 64
