from dataclasses import replace

import pytest

from verification import faulty_solvers
from verification.selftest import errata
from verification.selftest.errata import ERRATA, Erratum


def test_every_erratum_that_is_a_computation_has_a_mutant():
    assert errata.problems() == []


def test_a_missing_mutant_a_stale_excuse_and_an_unknown_key_are_found(monkeypatch):
    before = errata.problems()
    added = {"nobody/nothing": Erratum("a paper", "1 + 1 = 3", "2")}
    key = "lapin_2016/regulariser"
    monkeypatch.setitem(errata.ERRATA, key, replace(ERRATA[key], excuse="too hard"))
    monkeypatch.setitem(errata.ERRATA, *added.popitem())
    library = faulty_solvers.discover()
    wrong = replace(library["ignores_rho"], errata=("lapin_2015/lemma_6",))
    monkeypatch.setattr(faulty_solvers, "discover", lambda: library | {"ignores_rho": wrong})
    assert [row for row in errata.problems() if row not in before] == [
        f"{key}: has an excuse, and a mutant: erm_regularised_twice",
        "nobody/nothing: no mutant, and no reason why there is none",
        "ignores_rho: unknown lapin_2015/lemma_6",
    ]


@pytest.mark.parametrize("key", ERRATA)
def test_rows_are_complete(key):
    erratum = ERRATA[key]
    assert "/" in key
    assert all((erratum.where, erratum.printed, erratum.right))
