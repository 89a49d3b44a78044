"""Replay files: nothing lost, nothing else needed, clear words about files that are none."""

import dataclasses
import json
import resource

import numpy as np
import pytest

from fast.sets import simplex
from verification import (
    InvalidArgumentError,
    Report,
    Verdict,
    certificates,
    checks,
    faulty_solvers,
    verify,
)
from verification.failures import answers, replay
from verification.failures.explain import describe, document
from verification.instances import datasets
from verification.kit import fixing
from verification.kit import loop as kit
from verification.kit.solver_call import Caller, CandidateTimeoutError
from verification.problems.problem import lookup
from verification.reference_solvers import projections
from verification.verdicts.verdict import Candidate

MUTANT = "verification.faulty_solvers.projections:ignores_rho"
#: One mutant per kind of problem and of check: a set, numbers that are infinite, a batch, state, rankings.
MUTANTS = {
    "ignores_rho": "certified_gap",
    "softmax_without_shift": "saturation",
    "batch_takes_first_radius": "batch",
    "reuses_buffer": "purity",
    "ap_ranks_fall": "ties",
    "m_dimensional_sum": "ties",
    "multilabel_sides_swapped": "ties",
    "truncated_drops_k": "ties",
    "ap_value_without_the_offset": "ties",
    "complement_is_the_sum": "complement",
}


def stored_mutant(name, folder):
    mutant = faulty_solvers.discover()[name]
    report = verify(mutant.candidate, mutant.problem, checks=[MUTANTS[name]])
    return report, replay.save(report, folder / "failure.json")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return stored_mutant("ignores_rho", tmp_path_factory.mktemp("replay"))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_file_holds_the_failure_to_the_last_bit(name, tmp_path):
    report, path = stored_mutant(name, tmp_path)
    found = replay.load(path)
    result = report.counterexample_result
    assert found.instance == result.instance
    assert answers.equal(found.returned, result.answer)
    assert found.terms == result.terms
    assert (found.verdict, found.message) == (result.verdict, result.message)
    assert (found.profile, found.seed, found.code) == ("quick", 0, report.counterexample)
    assert found.environment["numpy"] == np.__version__
    again = replay.load(found.write(tmp_path / "again.json"))
    assert again.to_dict() == found.to_dict()
    now = found.run(trust=True)
    assert now.verdict is Verdict.FAIL
    assert answers.equal(now.answer, found.returned)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_counterexample_is_small_and_its_code_shows_the_wrong_answer(name, tmp_path):
    report, path = stored_mutant(name, tmp_path)
    printed, found = [], replay.load(path)
    assert found.instance[lookup(report.problem).data].size <= 4
    exec(report.counterexample, {"print": printed.append})
    if name == "reuses_buffer":
        assert False in printed
        return
    first = printed[0]
    shown = first[-1] if isinstance(first, tuple) and found.returned.counts is not None else first
    shown = shown[0] if isinstance(shown, tuple) else shown
    np.testing.assert_array_equal(np.asarray(shown, dtype=float), found.returned.x)
    for word in ("returned", "right"):
        assert f"# {word} " in report.counterexample


@pytest.mark.parametrize("name", ["ignores_rho", "softmax_without_shift", "ap_ranks_fall"])
def test_the_right_answer_has_a_certificate_of_its_own(name, tmp_path):
    _, path = stored_mutant(name, tmp_path)
    found = replay.load(path)
    assert found.right is not None
    assert not answers.equal(found.right, found.returned)
    assert found.right_terms
    assert all(value <= allowed for value, allowed in found.right_terms.values())


def test_the_right_answer_to_a_batch_is_that_of_all_rows(tmp_path):
    report, path = stored_mutant("batch_takes_first_radius", tmp_path)
    found = replay.load(path)
    assert found.rows[0] == found.instance
    assert found.right.x.shape == found.returned.x.shape == (len(found.rows), 1)
    for row, x in zip(found.rows, found.right.x, strict=True):
        assert certificates.judge(row, Candidate(x)).ok
        assert f"{x.tolist()}" in report.counterexample
    wrong, answer, which = answers.asked(found.instance, found.rows, found.returned)
    assert found.message.startswith(f"{which}: ")
    assert not certificates.judge(wrong, answer).ok
    assert all(name.startswith("row ") for name in found.right_terms)
    shown = document(found)
    assert any(f"This is {which}" in getattr(block, "note", "") for block in shown.blocks)
    assert dict(shown.data["certified_again"])["against the solution"]["verdict"] == "fail"
    assert f"{float(wrong['r'])!r}" in str(shown.blocks)
    page = report.to_html()
    assert which in page
    assert answers.readable(found.right) in page


@pytest.mark.parametrize("hangs", [False, True])
def test_a_batch_without_an_answer_is_stored_whole(hangs, tmp_path):
    def refuses(a, r=1.0, rho=0.0):
        if np.ndim(r) and hangs:
            raise CandidateTimeoutError("no answer")
        if np.ndim(r):
            raise ValueError("one radius")
        return simplex.project(a, r=r, rho=rho)

    report = verify(refuses, "simplex.projection", checks=["batch"], batch=True)
    found = replay.load(replay.save(report, tmp_path / "failure.json"))
    assert found.verdict == ("timeout" if hangs else "crash")
    assert found.right.x.sum(axis=-1).tolist() == [row["r"] for row in found.rows]
    assert "no answer" in str(document(found).blocks)
    assert f"# right    {found.right.x.tolist()}" in found.code


def test_another_candidate_can_be_run(stored):
    _, path = stored
    found = replay.load(path)
    assert found.run(MUTANT).verdict is Verdict.FAIL
    assert found.run(projections.alpha).verdict is Verdict.PASS


def test_a_file_of_schema_1_still_runs_and_is_explained(stored, tmp_path):
    _, path = stored
    data = json.loads(path.read_text(encoding="utf-8"))
    keep = ("check", "candidate", "verdict", "message", "code", "environment", "instance")
    old = {"schema": 1, **{name: data[name] for name in keep}}
    before = tmp_path / "old.json"
    before.write_text(json.dumps(old), encoding="utf-8")
    found = replay.load(before)
    assert found.returned is None
    assert found.run(trust=True).verdict is Verdict.FAIL
    assert document(found).data["exceeded"] == ""
    assert found.shrink(0.5, trust=True).terms  # written in this version's words


ARRAY = {"dtype": "<f8", "shape": [2], "entries": ["0x1p0", "0x1p0"]}
SPOILT = {
    "instance": [
        {},
        {"a": 1},
        {"a": ARRAY, "r": "x"},
        {"a": ARRAY, "r": {"float": "0x1p9999"}},
        {"a": ARRAY, "z": 1},
        {"a": {**ARRAY, "dtype": "<O8"}},
        {"a": {**ARRAY, "dtype": "(99999,99999)f8"}},
        {"a": {**ARRAY, "dtype": "<f3"}},
        {"a": {**ARRAY, "dtype": "<f4", "entries": ["0x1p500", "0x1p0"]}},
        {"a": {**ARRAY, "shape": [2**62, 0]}},
        {"a": {**ARRAY, "shape": [-1, -2]}},
        {"a": {**ARRAY, "shape": [1, 2]}},
        {"a": {**ARRAY, "dtype": "<i8", "entries": [2**70, 0]}},
        {"a": {**ARRAY, "entries": [1, 2]}},
        {"a": {**ARRAY, "entries": ["nan", "inf"]}},
    ],
    "check": [None, 3],
    "terms": [3, [3], [{"name": "a", "value": "0x1p9999", "tolerance": None}]],
    "returned": [3, {"x": [1]}, {"parts": 3}, {"parts": {"parts": "a"}}, {"x": {"parts": {}}}],
    "program": ["ls", [1]],
    "seed": ["1", True],
    "settings": [[], {"checks": 3}, {"timeout": "x"}, {"timeout": -1}, {"fixed": {"k": [1]}}],
    "rows": [3, [3]],
    "environment": [[]],
}


@pytest.mark.parametrize("part", SPOILT)
def test_a_spoilt_part_is_named(stored, tmp_path, part):
    good = json.loads(stored[1].read_text(encoding="utf-8"))
    found = SPOILT[part]
    if part == "instance":
        found = [{**good[part], "params": each} for each in found] + [{}, None]
    path = tmp_path / "spoilt.json"
    for value in found:
        path.write_text(json.dumps({**good, part: value}), encoding="utf-8")
        with pytest.raises(InvalidArgumentError, match=rf"spoilt\.json.* spoilt: {part}: "):
            replay.load(path)
    del good[part]
    path.write_text(json.dumps(good), encoding="utf-8")
    if part != "rows":
        with pytest.raises(InvalidArgumentError, match=f"{part}: it is missing"):
            replay.load(path)


def test_what_is_no_replay_file_is_refused(stored, tmp_path):
    path = tmp_path / "other.json"
    good = json.loads(stored[1].read_text(encoding="utf-8"))
    spoilt = [
        "",
        "[]",
        "{}",
        json.dumps({"schema": 99}),
        json.dumps({"schema": 2}),
        json.dumps({**good, "instance": {**good["instance"], "problem": "simplex.nothing"}}),
        json.dumps({**good, "verdict": "perhaps"}),
        json.dumps({**good, "terms": [{"name": "gap"}]}),
    ]
    for text in spoilt:
        path.write_text(text, encoding="utf-8")
        with pytest.raises((InvalidArgumentError, KeyError), match=r"other\.json|not known"):
            replay.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidArgumentError, match="no text"):
        replay.load(path)
    with pytest.raises(InvalidArgumentError, match="No such file"):
        replay.load(tmp_path / "missing.json")
    with pytest.raises(InvalidArgumentError, match="expected one with a failure"):
        replay.save(verify(projections.alpha, checks=["purity"]), path)
    for name in (
        "no.such.module",
        "verification.failures.replay:nothing",
        "verification.failures.replay:SCHEMA",
    ):
        with pytest.raises(InvalidArgumentError):
            replay.load_callable(name)


def test_a_failure_that_is_gone_is_not_shrunk(stored):
    with pytest.raises(InvalidArgumentError, match="the failure is gone"):
        replay.load(stored[1]).shrink(1.0, projections.alpha)


def test_shrinking_goes_on(tmp_path):
    report = verify(
        lambda a, k, r, rho: projections.alpha(a, k, r, 0.0),
        "topk_simplex_alpha.projection",
        checks=["ground_truth"],
        shrink=False,
    )
    path = replay.save(report, tmp_path / "large.json")
    found = replay.load(path)
    smaller = found.shrink(2.0, MUTANT)
    assert smaller.instance["a"].size == 1 < found.instance["a"].size
    assert "np.array([1.0])" in smaller.code
    assert smaller.verdict == "fail"


def test_answers_of_every_form_survive():
    every = [
        Candidate(np.array([1.0, -0.0, np.nan, np.inf, 5e-324])),
        Candidate(np.float32(0.1), dual=np.array([1, 2])),
        Candidate(np.zeros((0,)), complement=1e-300),
        Candidate(np.ones((2, 2)), parts={"W": np.ones((2, 2)), "A": np.array([[0.1]])}),
        Candidate(np.array(1.5), value=0.25, counts=np.array([1, 0])),
    ]
    for answer in every:
        data = json.loads(json.dumps(answers.to_dict(answer), allow_nan=False))
        assert answers.equal(answers.from_dict(data), answer)
    assert answers.from_dict(None) is None
    odd = answers.from_dict(answers.to_dict(Candidate(np.array([1.0]), dual="nonsense")))
    assert odd.dual == "'nonsense'"


def test_the_term_that_decides_is_named_with_both_numbers():
    terms = {"a": (1.0, 2.0), "b": (3.0, 1.0), "c": (9.0, None), "d": (50.0, 1.0)}
    assert describe(terms) == "b is 3, allowed is 1, 3 times as much"
    assert describe({"b": (3.0, 0.0)}) == "b is 3, allowed is 0"
    assert describe({"b": (float("nan"), 1.0)}).startswith("b is nan")
    assert describe({"a": (1.0, 2.0)}) == ""


def test_an_explanation_needs_no_solver(stored, tmp_path):
    data = json.loads(stored[1].read_text(encoding="utf-8"))
    data["candidate"] = "a_module.that_is_gone"
    path = tmp_path / "orphan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    said = document(replay.load(path)).data
    assert "Fenchel-Young gap is 1" in said["exceeded"]
    assert {each["verdict"] for each in said["certified_again"].values()} == {"fail"}
    assert (said["returned_values"], said["right_values"]) == ("[1.0]", "[0.5]")
    with pytest.raises(InvalidArgumentError, match="importable"):
        replay.load(path).run(trust=True)


def zeros(X, y, C, k, tol):
    return np.zeros((int(y.max()) + 1, X.shape[1]))


def test_a_trained_model_that_fails(tmp_path):
    fixed = {"loss": "topk_hinge_alpha"}
    problem = fixing.fix(lookup("multiclass_erm.primal"), fixed)
    (instance,) = datasets.draw(problem.name, "random", 1, 0, largest=6, fixed=fixed)
    result = kit.run_one("trained", checks.discover()["trained"], Caller(zeros, problem), instance)
    settings = {"fixed": fixed, "timeout": 5.0}
    report = Report(problem.name, "quick", 0, (result,), candidate="m.zeros", settings=settings)
    found = replay.load(replay.save(report, tmp_path / "model.json"))
    assert found.settings["fixed"] == fixed
    assert found.run(zeros).verdict is Verdict.FAIL
    value, allowed = found.terms["duality gap"]
    assert value > allowed
    parts = [value for value, tolerance in found.terms.values() if tolerance is None]
    assert np.isclose(sum(parts), value)
    value, allowed = found.right_terms["duality gap"]
    assert value <= allowed
    assert "W[" in str(document(found).blocks)


def test_elsewhere_the_solver_is_missed_and_the_way_out_named(stored):
    """A file travels, its solver may not."""
    file = replay.load(stored[1])
    for elsewhere in (
        dataclasses.replace(file, candidate="not_on_this_machine.project"),
        dataclasses.replace(file, program=("./not_on_this_machine",)),
    ):
        with pytest.raises(InvalidArgumentError, match=r"--solver or --exec.*explain"):
            elsewhere.run(trust=True)


def test_a_full_disk_keeps_the_failure(stored, tmp_path):
    path = tmp_path / "failure.json"
    path.write_bytes(stored[1].read_bytes())
    found = replay.load(path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(InvalidArgumentError, match="what was there is kept"):
            found.write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == stored[1].read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["failure.json"]
