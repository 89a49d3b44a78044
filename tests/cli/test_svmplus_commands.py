"""`refsolve bench svmplus` and `refsolve reproduce svmplus` from end to end, on little data."""

import dataclasses
from pathlib import Path

import pytest
from _commands import data, run

from verification.app import rows
from verification.benchmarks import records, svmplus_digits, svmplus_paper, svmplus_training
from verification.benchmarks.timing import race


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes, cut down; no workers."""
    monkeypatch.setattr(svmplus_training, "LIBSVM_SIZES", (60,))
    monkeypatch.setattr(svmplus_training, "CLARABEL_SIZE", 80)
    monkeypatch.setattr(svmplus_training, "LINEAR_SVC_SIZE", 100)
    monkeypatch.setattr(svmplus_training, "KERNEL_SIZE", 40)
    monkeypatch.setattr(svmplus_training, "SHAPES", ((24, 4),))
    for module in (svmplus_training, svmplus_paper):
        monkeypatch.setattr(module, "WIDTHS", (20, 15))
    monkeypatch.setattr(
        rows, "finished", lambda jobs: ((name, job()) for name, job in jobs.items())
    )
    for name, method in svmplus_digits.METHODS.items():
        short = dataclasses.replace(method, grid=method.grid[1:2])
        monkeypatch.setitem(svmplus_digits.METHODS, name, short)


@pytest.mark.usefixtures("small")
def test_bench_svmplus_measures_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = data("bench", "svmplus", "--repeats", "1")
    assert found["ok"] is None
    assert len(found["training"]) == 7
    assert all(t["gap"] <= svmplus_training.GAP for t in found["training"])
    slow = lambda *runs: race(*runs)._replace(ratio=0.0)  # noqa: E731
    monkeypatch.setattr(records, "race", slow)
    words = ["bench", "svmplus", "--no-linear", "--no-classes", "--strict", "--repeats", "1"]
    assert [t["reached"] for t in data(*words, code=1)["training"]] == 2 * [False]


@pytest.mark.usefixtures("small")
def test_reproduce_svmplus_prints_ratios_and_accuracies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        "reproduce", "svmplus", "--splits", "2", "--method", "SVM2+", "--method", "SVM",
        "--output", tmp_path / "new",
    )  # fmt: skip
    found = data(*words)
    assert found["ok"] is True
    for module, name in ((svmplus_digits, "run_split"), (svmplus_paper, "measure")):
        monkeypatch.setattr(module, name, pytest.fail)
    assert data(*words, "--resume") == found
    assert [s["shape"] for s in found["ratios"]] == ["n = 24, 4 classes"]
    assert {name: len(values) for name, values in found["digits"]["accuracies"].items()} == {
        "SVM": 2,
        "SVM2+": 2,
    }


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (("reproduce", "svmplus", "--method", "SVM3+"), "SVM3+"),
        (("reproduce", "svmplus", "--splits", "0", "--no-speed"), "splits"),
        (("bench", "svmplus", "--no-linear", "--no-kernel", "--no-classes"), "nothing"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused_at_once(words: tuple[str, ...], match: str) -> None:
    result = run(*words, code=2)
    assert match in result.output + str(result.exception)
