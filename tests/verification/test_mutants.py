import pytest

from verification import mutants
from verification.checks import discover as checks

MUTANTS = mutants.discover()

# What each of these checks must catch is caught by no other reasoning: the defect leaves every
# single answer in double precision right.
ONLY_BY = {
    "sorts_in_place": "purity",
    "reuses_buffer": "purity",
    "batch_takes_first_radius": "batch",
}


def test_there_are_enough_of_them():
    assert len(MUTANTS) >= 20
    assert len({m.problem for m in MUTANTS.values()}) >= 8


@pytest.mark.parametrize("name", MUTANTS)
def test_killed_in_the_quick_profile(name):
    report = mutants.run(MUTANTS[name])
    assert not report.ok
    assert report.counterexample
    assert report.counterexample_result.verdict.is_bad
    assert report.counterexample_result.instance[_data(report)].size <= 4
    if name in ONLY_BY:
        assert {r.check for r in report.failures} == {ONLY_BY[name]}


def _data(report):
    from verification.problems import lookup

    return lookup(report.problem).data


def test_kill_matrix(monkeypatch):
    chosen = {n: MUTANTS[n] for n in ("ignores_rho", "reuses_buffer", "conjugate_without_domain")}
    monkeypatch.setattr(mutants, "discover", lambda: chosen)
    matrix = mutants.kill_matrix()
    assert set(matrix) == set(chosen)
    assert all(sum(row.values()) > 0 for row in matrix.values())
    assert matrix["reuses_buffer"]["ground_truth"] == 0
    assert matrix["conjugate_without_domain"]["conjugate"] > 0


def test_every_check_kills_something():
    """A check that catches no mutant has not been shown to be able to fail."""
    killers = set()
    for name in (
        "active_below_zero",
        "ground_truth_in_the_sum",
        "conjugate_without_domain",
        "k_off_by_one",
        "reuses_buffer",
        "batch_takes_first_radius",
    ):
        report = mutants.run(MUTANTS[name])
        killers |= {r.check for r in report.failures}
    assert killers == set(checks())
