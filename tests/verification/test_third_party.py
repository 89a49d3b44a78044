"""Other people's code gives what was recorded about it, and every finding can be pasted and seen."""

import ast
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _part import FULL
from _processes import python

from verification import checks, third_party
from verification.problems.problem import lookup

STRANGERS = third_party.discover()
FEW, FEW_MODELS = (24, 2) if FULL else (12, 2)
# what other packages' own code warns of is not ours to forbid
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture
def few_instances(monkeypatch):
    """The first instances of every check; a finding that needs more is shown by its code."""
    for name, check in checks.discover().items():
        count = FEW_MODELS if name == "trained" else FEW
        monkeypatch.setitem(check.COUNTS, "quick", min(count, check.COUNTS["quick"]))


def installed(name):
    third_party_solver = STRANGERS[name]
    if third_party_solver.missing:
        pytest.skip(third_party_solver.missing)
    return third_party_solver


def test_they_are_found():
    assert len(STRANGERS) >= 60
    assert {lookup(s.problem).kind for s in STRANGERS.values()} == {
        "sets",
        "losses",
        "functions",
        "models",
    }
    here = [s for s in STRANGERS.values() if not s.missing]
    assert len(here) >= 30, "scipy, scikit-learn and cvxpy are always there"


@pytest.mark.parametrize("name", STRANGERS)
def test_finding(name, few_instances):
    third_party_solver = installed(name)
    # a check that is new since the record says something about the check first
    report = third_party.run(third_party_solver, shrink=False, checks=third_party_solver.judged)
    assert report.checked > 0
    assert set(third_party.failing(report)) <= set(third_party_solver.fails), report


@pytest.mark.parametrize("name", [n for n, s in STRANGERS.items() if s.reproduce])
def test_the_printed_code_shows_it(name):
    returned, right = third_party.reproduce(installed(name))
    assert np.shape(returned) == np.shape(right)
    assert not np.allclose(returned, right, rtol=1e-13, atol=0)


def test_failures_are_seen_in_the_kit_too(few_instances):
    """The bounded runs are not so small that everything would pass."""
    for name in ("scipy_softmax", "sklearn_hinge_loss", "sklearn_svc_weighted"):
        third_party_solver = STRANGERS[name]
        report = third_party.run(third_party_solver, shrink=False)
        assert third_party.failing(report), name


@pytest.mark.parametrize("name", STRANGERS)
def test_every_stranger_has_a_record_and_says_what_was_found(name):
    third_party_solver = STRANGERS[name]
    record = third_party.recorded()[name]["quick"]
    assert record["problem"] == third_party_solver.problem
    assert set(record["versions"]) == set(third_party_solver.packages)
    assert record["counts"].get("pass", 0) + record["counts"].get("fail", 0) > 50
    assert third_party_solver.what
    assert third_party_solver.found
    assert (
        bool(third_party_solver.fails)
        == bool(third_party_solver.reproduce)
        == bool(record["counterexample"])
    )
    assert not third_party_solver.defect or third_party_solver.reproduce


@pytest.mark.parametrize(
    "path",
    sorted(Path(third_party.__file__).parent.glob("*[!_].py")),
    ids=lambda path: path.stem,
)
def test_the_foreign_package_is_imported_when_it_is_needed(path):
    allowed = {*sys.stdlib_module_names, "numpy", "verification"}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = (
                [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            )
            assert {m.partition(".")[0] for m in modules} <= allowed


def test_what_is_not_installed_is_skipped_with_a_reason(monkeypatch, tmp_path):
    absent = replace(STRANGERS["scipy_wrightomega"], packages=("scipy", "no-such-distribution"))
    assert absent.missing == "no-such-distribution not installed"
    assert set(absent.versions) == {"scipy"}
    monkeypatch.setattr(third_party, "discover", lambda: {"absent": absent})
    monkeypatch.setattr(third_party, "RECORDED", tmp_path / "recorded.json")
    try:
        assert third_party.record(["absent"]) == {}
        assert third_party.RECORDED.read_text(encoding="utf-8") == "{}\n"
    finally:
        third_party.recorded.cache_clear()


def test_a_record_can_be_made_again(monkeypatch, tmp_path, few_instances):
    path = tmp_path / "recorded.json"
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(third_party, "RECORDED", path)
    third_party.recorded.cache_clear()
    try:
        third_party.record(["scipy_softmax"])
        found = json.loads(path.read_text(encoding="utf-8"))["scipy_softmax"]["quick"]
    finally:
        third_party.recorded.cache_clear()
    assert found["failures"]["saturation"] >= 1
    assert "numpy_functions import scipy_softmax" in found["counterexample"]
    assert set(found["versions"]) == {"scipy"}


def test_the_command_lists_them():
    said = python("-m", "verification.third_party", "nobody", code=2).stderr
    assert "nobody: expected" in said
