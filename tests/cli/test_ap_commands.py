"""`refsolve bench ap` and `refsolve reproduce ap` from end to end, on little data."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from _commands import data, refused, run

from verification.app import rows
from verification.benchmarks import ap_exactness, ap_inference, ap_shapes, ap_training


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark's sizes, cut down."""
    monkeypatch.setattr(ap_inference, "SHAPE", (5, 40))
    monkeypatch.setattr(ap_inference, "LONG", (5, 400))
    monkeypatch.setattr(ap_inference, "TICK", 1e-5)
    monkeypatch.setattr(ap_shapes, "PS", (1, 4))
    monkeypatch.setattr(ap_shapes, "NS", (1, 50))
    size = {"n": 200, "d": 4, "share": 0.1, "separation": 1.5}
    monkeypatch.setattr(ap_training, "SIZE", size)
    monkeypatch.setattr(ap_training, "MAX_CALLS", 30)
    monkeypatch.setattr(ap_exactness, "COUNTS", {"brute force": 5, "greedy": 5, "rational": 5})


@pytest.mark.usefixtures("small")
def test_bench_ap_measures_everything() -> None:
    found = data("bench", "ap", "--repeats", "1")
    assert found["ok"] is None
    methods = set(ap_inference.METHODS)
    for against, whom in (("greedy", methods), ("numpy.sort", methods - {"greedy"})):
        measured = [r["method"] for r in found["inference"] if r["against"] == against]
        assert sorted(measured) == sorted([*whom] * 2)
    assert len(found["grid"]) == 6 * 2 * 2
    assert [r["trainer"] for r in found["training"]].count("APSVM") == 2
    assert {r["against"] for r in found["exactness"]} == set(ap_exactness.COUNTS)


@pytest.mark.usefixtures("small")
def test_bench_ap_measures_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("bench", "ap", "--no-inference", "--no-grid", "--no-exactness", "--C", "10")
    found = data(*words, "--repeats", "1")
    assert [found[k] for k in ("inference", "grid", "exactness")] == [[], [], []]
    assert "nothing to measure" in refused(*words[:5], "--no-training")
    assert {r["C"] for r in found["training"] if r["trainer"] == "APSVM"} == {10.0}
    monkeypatch.setattr(ap_training, "LIMITS", {10.0: 0})
    assert data(*words, "--repeats", "1", "--strict", code=1)["all_reached"] is False


def test_reproduce_ap_ranks_the_classes_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finished(jobs: rows.Jobs) -> Iterator[tuple[str, object]]:
        for at, (name, job) in enumerate(jobs.items()):
            yield name, job()
            if at == 0 and len(jobs) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(rows, "finished", finished)
    words = (
        "reproduce", "ap", "--classes", "0,8", "--tol", "1e-2", "--lowest", "1", "--highest", "1",
        "--method", "AP-SVM", "--method", "binary SVM", "--output", tmp_path,
    )  # fmt: skip
    assert "1 of 2 rows are known, and kept" in run(*words, code=1).stderr
    assert "lowest <= highest" in refused(*words, "--lowest", "2", "--resume")
    assert "Cs was" in refused(*words, "--highest", "2", "--resume")
    found = data(*words, "--resume")
    assert found["ok"] is True
    assert [c["name"] for c in found["classes"]] == ["0", "8"]
    assert [list(c["chosen"]) for c in found["classes"]] == 2 * [["binary SVM", "AP-SVM"]]
    timed = found["inference"][1]["methods"]
    assert [m["method"] for m in timed] == ["binary SVM", *ap_inference.METHODS]
    assert {Path(p).name for p in found["pictures"]} == {"ap_ranks.png", "ap_ranks.svg"}
