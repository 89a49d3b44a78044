import re

import numpy as np
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
    "complement_by_subtraction": "complement",
    "complement_is_the_sum": "complement",
    "ap_reuses_counts": "purity",
    "ap_one_method_is_wrong": "methods",
}


def test_there_are_enough_of_them():
    assert len(MUTANTS) >= 56
    assert len({m.problem for m in MUTANTS.values()}) >= 24


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
        "complement_is_the_sum",
        "softmax_without_shift",
        "ap_one_method_is_wrong",
    ):
        report = mutants.run(MUTANTS[name])
        killers |= {r.check for r in report.failures}
    assert killers == set(checks())


@pytest.mark.parametrize(
    "name",
    [
        "batch_takes_first_radius",
        "sorts_in_place",
        "m_dimensional_sum",
        "multilabel_sides_swapped",
        "truncated_drops_k",
        "ap_value_without_the_offset",
    ],
)
def test_counterexamples_run_and_show_the_failure(name, capsys):
    report = mutants.run(MUTANTS[name])
    exec(report.counterexample, {})
    out = capsys.readouterr().out
    if name == "sorts_in_place":
        first, second, changed = (_numbers(line) for line in out.splitlines())
        given = next(x for x in report.counterexample.splitlines() if x.startswith("a = "))
        assert changed == sorted(changed) != _numbers(given)
        assert second[: len(first)] == first
    else:
        returned, right = (np.ravel(eval(_comment(report, w))) for w in ("returned", "right"))
        assert not np.array_equal(returned, right)
        assert _numbers(out) == pytest.approx(returned.tolist(), abs=1e-7)


def test_a_wrong_complement_is_shown_beside_the_right_one(capsys):
    report = mutants.run(MUTANTS["complement_is_the_sum"])
    exec(report.counterexample, {})
    shown = eval(capsys.readouterr().out, {"array": np.array, "np": np})
    returned, right = (eval(_comment(report, word)) for word in ("returned", "right"))
    assert shown[1] == returned[1] != right[1]
    assert returned[0] == pytest.approx(right[0])


def _numbers(text):
    return [float(v) for v in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.split("#")[0])]


def _comment(report, word):
    lines = report.counterexample.splitlines()
    return next(line.split(word, 1)[1] for line in lines if line.startswith(f"# {word}"))
