import json
import os
from pathlib import Path

import numpy as np
import pytest

from verification import models
from verification.checks import trained
from verification.errors import InvalidArgumentError
from verification.kit.solver_call import Caller
from verification.problems.problem import COMPILING, fast_candidate, lookup, names
from verification.reference_solvers import solvers
from verification.reference_solvers.projections import alpha
from verification.selftest import right, soak

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDS = {"soak.json": ("sets", "losses", "functions"), "soak_models.json": ("models",)}
#: To look elsewhere, set SOAK_SEED to another one.
SEED = int(os.environ.get("SOAK_SEED", "20261121"))
#: A trainer of each way to be judged: both sides, either side alone, an algorithm of its own, the oracle.
TRAINERS = [
    ("fast", "svm_plus_squared_hinge.primal"),
    ("one side", "ap_svm.dual"),
    ("one side", "multiclass_erm.primal"),
    ("sound", "svm_plus_hinge.dual"),
    ("oracle", "pointwise_risk.dual"),
]
PROJECTIONS = ("simplex.projection", "topk_simplex_alpha.projection", "topk_cone.projection")


@pytest.mark.parametrize(
    ("solver", "problem"),
    [
        ("fast", PROJECTIONS[SEED % 3]),
        ("sound", "topk_simplex_beta.projection"),
        ("fast", "smooth_topk_hinge_alpha.sdca_update"),
        ("fast", "average_precision.loss_augmented_inference"),
        ("fast", "softmax.prox"),
    ],
)
def test_right_solvers_are_not_called_wrong(solver, problem):
    count = 900 if lookup(problem).generator.rational else 300
    line = soak.run_chunk(soak.Chunk(solver, problem, SEED, count))
    assert sum(line["counts"].values()) == count
    assert line["counts"]["pass"] >= 0.9 * count
    assert not line["alarms"], (SEED, line["alarms"])
    assert line["worst_ratio"] <= 1


@pytest.mark.parametrize(("solver", "problem"), TRAINERS)
def test_right_trainers_are_not_called_wrong(solver, problem, monkeypatch):
    families = models.load(lookup(problem).object_name).families
    monkeypatch.setitem(trained.COUNTS, "soak", 1)  # of each family
    line = soak.run_chunk(soak.Chunk(solver, problem, SEED, len(families)))
    assert sum(line["counts"].values()) == len(families)
    assert line["counts"]["pass"] >= len(families) - 2  # `fast` does not take costs
    assert not line["alarms"], (SEED, line["alarms"])
    assert set(line["checks"]) == {"trained"}


@pytest.mark.parametrize("solver", ["fast", "one side"])
def test_a_trainer_may_compile_for_another_loss_late(solver):
    problem = "multiclass_erm.primal"
    call = Caller(right.solver(solver, problem) or fast_candidate(problem), lookup(problem))
    call.called = True
    assert call._allowed() == call.timeout + COMPILING


def test_one_side_is_judged_alone():
    train = right.solver("one side", "svm.dual")
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    assert set(train(X=X, y=y, C=1.0)) == {"alpha"}


def test_chunks_share_the_instances_out():
    wanted = soak.chunks(100_000, 7)
    assert 100_000 <= sum(c.count for c in wanted) < 101_000
    assert len(set(wanted)) == len(wanted)
    per, used = {}, set()
    for c in wanted:
        assert c.count <= soak.CHUNK
        per.setdefault((c.solver, c.problem), []).append(c.seed)
        model = lookup(c.problem).model
        if model is not None:  # both sides of a model have the same instances for the same seed
            key = (c.solver, lookup(c.problem).object_name, c.seed)
            assert key not in used
            used.add(key)
    assert {problem for _, problem in per} == set(names())
    # a chunk repeats small batches with consecutive seeds, and never reaches the next chunk's
    for seeds in per.values():
        assert seeds == [seeds[0] + soak.SEEDS * i for i in range(len(seeds))]
        assert 7 <= seeds[0] < 7 + soak.SEEDS
    with pytest.raises(InvalidArgumentError, match="no_such"):
        soak.chunks(100, 0, ("no_such.projection",))


def test_problems_may_have_wildcards():
    wanted = soak.chunks(100, 0, ("svm_plus*", "simplex.*"))
    assert {lookup(c.problem).object_name for c in wanted} == {
        "simplex",
        "svm_plus_hinge",
        "svm_plus_squared_hinge",
    }
    assert {c.solver for c in wanted} == {"fast", "sound", "one side", "promised"}


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    path, problems = tmp_path / "soak.jsonl", ("box.projection",)  # of one solver
    monkeypatch.setattr(soak, "CHUNK", 30)
    first = soak.soak(60, 3, path, problems=problems)
    assert [line["seed"] for line in first] == [3, 3 + soak.SEEDS]
    lines = path.read_text().splitlines()
    assert len(lines) == 3  # one about the run
    path.write_text("".join(line + "\n" for line in lines[:-1]))

    calls, run_chunk = [], soak.run_chunk
    monkeypatch.setattr(soak, "run_chunk", lambda chunk: calls.append(chunk) or run_chunk(chunk))
    second = soak.soak(60, 3, path, problems=problems)
    assert [chunk.seed for chunk in calls] == [3 + soak.SEEDS]
    assert [line["counts"] for line in second] == [{"pass": 30}] * 2
    soak.soak(60, 3, path, problems=problems)
    assert len(calls) == 1


def test_an_alarm_is_kept_with_its_instance_and_fails_the_run(tmp_path, monkeypatch):
    problem = "topk_simplex_alpha.projection"

    def wrong(a, k, r=1.0, rho=0.0):
        return alpha(a, k, r, rho) + (1e-3 if len(a) == 3 else 0.0)

    monkeypatch.setitem(solvers.SOLVERS, problem, wrong)
    line = soak.run_chunk(soak.Chunk("sound", problem, 0, 80))
    assert line["counts"]["fail"] > 0
    assert 0 < len(line["alarms"]) <= soak.ALARMS
    assert all(alarm["instance"]["problem"] == problem for alarm in line["alarms"])

    path = tmp_path / "soak.jsonl"
    path.write_text(json.dumps({"commit": "abc"}) + "\n" + json.dumps(line) + "\n")
    found = soak.record(path, [line])
    assert found["commits"] == ["abc"]
    assert found["instances"] == 80 == sum(found["counts"].values())
    assert found["kinds"] == {"sets": {"instances": 80, "counts": line["counts"]}}
    assert soak.document(found).ok is False
    good = {**line, "alarms": [], "counts": {"pass": 80}}
    assert soak.document(soak.record(path, [good])).ok is True
    assert soak.document(soak.record(path, [])).ok is False


@pytest.mark.parametrize(("name", "kinds"), RECORDS.items())
def test_the_records_in_the_docs_have_no_alarm(name, kinds):
    record = json.loads((DOCS / name).read_text())
    assert {row["problem"] for row in record["rows"]} == set(names(*kinds))
    assert sum(row["instances"] for row in record["rows"]) == record["instances"]
    assert sum(record["counts"].values()) == record["instances"]
    assert not set(record["counts"]) & {"fail", "crash", "timeout"}
    assert not any(row["alarms"] for row in record["rows"])
    assert 0 < max(row["worst_ratio"] for row in record["rows"]) <= 1
    assert np.isfinite(record["seconds"])
