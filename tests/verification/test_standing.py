"""The standing benchmark: everybody to the same accuracy, timeouts as such, resumed, compared."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from verification.benchmarks import peers, standing, standing_report
from verification.benchmarks.standing import Run
from verification.errors import InvalidArgumentError

TINY = ("tiny", "hinge", 1.0)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.eye(3)[y] + rng.standard_normal((90, 3))
    monkeypatch.setitem(standing.DATA, "tiny", lambda: (X, y))


def test_everybody_reaches_the_same_accuracy_and_a_record_is_continued(tmp_path: Any) -> None:
    path, said = tmp_path / "record.jsonl", []
    runs = standing_report.collect(path, [TINY], 600.0, said.append, lambda: None)
    expected = {
        (at, name) for at in (1e-3, 1e-6) for name in ("auto", "active", "interior", "liblinear")
    }
    assert {(run.accuracy, run.solver) for run in runs} == expected
    assert said == runs == standing_report.read(path)
    for run in runs:
        assert run.seconds is not None
        assert 0.0 < run.seconds < 600.0
        assert run.suboptimality is not None
        assert -1e-8 <= run.suboptimality <= run.accuracy
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:-2]) + "\n")  # as if it had been interrupted
    again: list[Run] = []
    standing_report.collect(path, [TINY], 600.0, again.append, lambda: None)
    assert [run[:5] for run in again] == [run[:5] for run in runs[-2:]]


def test_a_fit_that_does_not_end_is_a_timeout_and_one_that_fails_says_why() -> None:
    def sleepless() -> tuple[float, float]:
        start = time.monotonic()
        while time.monotonic() < start + 60.0:
            pass
        return 0.0, 0.0

    def broken() -> tuple[float, float]:
        raise ArithmeticError("no such luck")

    assert standing._limited(sleepless, -2.9) == (None, None, "timeout")
    assert standing._limited(broken, 5.0) == (None, None, "ArithmeticError: no such luck")


def test_a_peer_that_never_gets_there_has_no_time() -> None:
    X, y, _ = standing.prepared("tiny")
    lazy = peers.Trainer(
        lambda X, y, C, tol: peers.logistic(max_iter=1).fit(X, y, C, 1.0), peers.LOGISTIC.objective
    )
    wanted = [Run("tiny", "softmax", 1.0, at, "lazy", None, None) for at in (1e-3, 1e-6)]
    for run in standing._matched(wanted, lazy, X, y, 0.0, 600.0):
        assert run.seconds is None
        assert run.suboptimality is not None
        assert run.suboptimality > run.accuracy


def _run(solver: str, seconds: float | None, data: str = "digits") -> Run:
    return Run(data, "softmax", 1.0, 1e-3, solver, seconds, 1e-4)


def test_standings_compare_auto_with_the_best_of_all() -> None:
    runs = [_run("auto", 2.0), _run("newton", 1.0), _run("saga", 4.0), _run("cyanure", None)]
    (cell,) = standing_report.standings(runs)
    assert (cell.behind, cell.ahead, cell.peers) == (2.0, 2.0, 2)
    (lost,) = standing_report.standings([_run("auto", None), _run("saga", 4.0)])
    assert lost.behind == math.inf
    assert lost.ahead is None
    assert dict(standing_report.document(runs).data) == {
        "cells": 1, "certified": 1, "held": 0, "slower": 0,
    }  # fmt: skip
    assert standing_report.profile(runs, "softmax")["saga"] == [4.0]
    assert standing_report.profile(runs, "softmax")["cyanure"] == [math.inf]


def test_what_got_slower_is_told_apart_from_a_slower_machine() -> None:
    names = ("a", "b", "c", "d")
    before = [_run("auto", 1.0, name) for name in names]
    now = [_run("auto", 3.0, name) for name in names[:3]]
    assert standing_report.regressions(now, before) == []
    ((run, ratio),) = standing_report.regressions([*now, _run("auto", 9.0, "d")], before)
    assert (run.data, ratio) == ("d", 3.0)
    ((run, ratio),) = standing_report.regressions([*now, _run("auto", None, "d")], before)
    assert (run.data, ratio) == ("d", math.inf)


def test_a_file_that_is_no_record_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InvalidArgumentError, match="expected a record"):
        standing_report.read(path)


def test_a_solver_that_is_not_for_the_problem_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((200, 100)), np.arange(200) % 100  # 10 000 weights
    monkeypatch.setitem(standing.DATA, "wide", lambda: wide)
    names = standing.AUTO, "active", "interior", "liblinear"
    known: set[tuple] = {("wide", "hinge", 1.0, at, s) for at in (1e-3, 1e-6) for s in names}
    known.remove(("wide", "hinge", 1.0, 1e-3, "interior"))
    (run,) = standing.measure("wide", "hinge", 1.0, 600.0, known)
    assert run.seconds is None
    assert "100 x 100 weights" in run.why
    assert standing_report.standings([run._replace(solver="auto")]) == []
    other = run._replace(solver="liblinear", seconds=1.0, why="")
    assert standing_report.profile([run, other], "hinge") == {"liblinear": [1.0]}


@pytest.mark.parametrize("name", ["multilabel hinge", "TopPush", "SVM2+"])
def test_other_kinds_of_data_are_for_their_losses_alone(name: str) -> None:
    own = standing.LOSSES[name]
    data = next(data for data, kind in standing.KINDS.items() if kind == own.kind)
    X, y, options = standing.prepared(data)
    some = {key: value[:100] for key, value in options.items()}
    seconds, gap = standing._ours(own, standing.AUTO, X[:100], y[:100], some, 1.0, 1e-3)
    assert seconds > 0.0
    assert gap <= 1e-3
    assert list(standing.measure("tiny", name, 1.0, 1.0, set())) == []


LOST = {  # what the page says of them
    ("heavy tails", "softmax"): 2.3,
    ("images", "softmax"): 3.2,
    ("digits", "softmax"): 2.2,
}


def test_the_record_holds_what_its_page_promises() -> None:
    """What "auto" trains is certified where anybody is, and rarely takes more than 1.5 times the best of all."""
    record = Path(standing_report.__file__).parents[2] / "docs" / "records" / "standing.jsonl"
    cells = standing_report.standings(standing_report.read(record))
    assert not [c.auto for c in cells if c.auto.seconds is None and (c.ours or c.peer)]
    ended = [c for c in cells if c.auto.seconds is not None]  # elsewhere nobody ended
    assert len(ended) >= 238
    assert {c.auto.data for c in cells} >= {"heavy tails", "one-hot", "clusters", "images", "text"}
    assert {c.auto.C for c in cells} == set(standing.CS)
    assert {c.auto.loss for c in cells} == set(standing.LOSSES)
    scaled = {"digits, scales 1e-4 to 1e4", "clusters, 1e4 away"}
    assert {c.auto.data for c in cells} >= set(standing.KINDS) | scaled
    behind = [c.behind for c in ended]
    assert sum(b <= standing_report.NEVER_MORE for b in behind) >= 0.9 * len(behind)
    for cell in ended:
        assert cell.behind <= LOST.get(cell.auto[:2], 2.1), cell.auto
