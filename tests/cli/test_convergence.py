"""`refsolve reproduce convergence`: what its curves count, what is read off them, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from _commands import data

from fast.families import named
from fast.solvers.passes import Passes
from verification.benchmarks import convergence as study
from verification.benchmarks import convergence_report as report
from verification.benchmarks.convergence import Curve


def curve(loss="softmax", solver="SDCA", gaps=(1.0, 5e-3, 1e-5), seconds=(0.0, 1.0, 3.0), **more):
    given = {"accuracies": (0.0, 80.0, 90.0), "passes": (0, 2, 4)} | more
    return Curve("letter", loss, solver, 1.0, gaps=gaps, seconds=seconds, **given)


def test_what_is_read_off_a_curve():
    one = curve()
    assert [one.first(gap) for gap in (1.0, 1e-2, 1e-3, 1e-6)] == [0, 1, 2, None]
    assert [one.settled(points) for points in (0.5, 10.0, 90.0)] == [2, 1, 0]
    assert curve(accuracies=(9.0, 1.0, 9.2)).settled() == 2
    assert report.curve_of(json.loads(json.dumps(one.to_dict()))) == one
    assert "to 1e-3 in 3 s, to 1e-6 in - s" in report.line(one)


def test_long_curves_are_written_with_what_is_read_off_them():
    n = 2000
    many = curve(
        gaps=tuple(10.0 ** -(at / 400) for at in range(n)), seconds=tuple(0.5 * at for at in range(n)),
        passes=tuple(range(n)), accuracies=tuple(80.0 + (at > 777) for at in range(n)),
    )  # fmt: skip
    few = report.curve_of(many.to_dict())
    assert len(few.gaps) <= study.POINTS + len(study.GAPS) + 3
    assert few.passes[few.settled()] == many.settled() == 778
    for gap in (*study.GAPS, 1e-9):
        assert report.at(few, gap, "passes") == report.at(many, gap, "passes")
    assert few.passes[-1] == n - 1


def test_sentences_are_ratios_of_curves():
    slow = curve("SVM-Multi", passes=(0, 2, 40))
    smooth = curve("smooth SVM-Multi", seconds=(0.0, 0.5, 1.5))
    fista = curve("softmax", "FISTA", gaps=(1.0, 5e-3, 1e-3), seconds=(0.0, 3.0, 6.0))
    (found,) = report.sentences([slow, smooth, curve(), fista])
    told = ("10", "3", ">2", "-", "2", "40 / 4 / 4", "+0.00 / +0.00 / +0.00")
    assert tuple(found.figures.values()) == told
    assert list(report.sentences([curve()])[0].figures.values())[:4] == ["-"] * 4
    assert not report.made([slow]).ok
    assert report.made([slow, curve(solver="ours")]).ok
    assert not report.made([curve(solver="ours", gaps=(1.0, 1.0, 2e-4))]).ok


@pytest.mark.parametrize(("loss", "solver"), [("SVM-Multi", "SDCA"), ("softmax", "FISTA")])
def test_passes_are_those_that_were_made(loss, solver, monkeypatch):
    given = study.DATA["digits"](True)
    few = given._replace(X=given.X[:200], y=given.y[:200])
    made, inner = [], Passes.total
    monkeypatch.setattr(
        Passes, "total", lambda self, f, *a, **k: made.append(f.__name__) or inner(self, f, *a, **k)
    )
    found = study.run("digits", few, loss, solver, 0.1, passes=30)
    whole = [name for name in made if name != "power"]
    assert found.passes[-1] == (len(whole) if solver == "FISTA" else len(found.gaps) - 1)
    assert found.passes[:2] == (0, 1)
    assert 30 <= found.passes[-1] <= 32
    assert np.all(np.diff(found.seconds) >= 0.0)
    assert np.all(np.diff(found.gaps) <= 0.0)
    object_name, parameters = study.LOSSES[loss]
    assert named(object_name, **parameters).smooth == ("FISTA" in study.offered(loss))
    assert len(study.run("digits", few, loss, solver, 0.1, seconds=0.0).gaps) == 2


def test_parts_of_the_data_share_nothing():
    for name, make in study.DATA.items():
        part = make(True)
        assert len(part.X) == len(part.y)
        assert len(part.X_val) == len(part.y_val)
        assert set(part.y_val) <= set(part.y), name
        seen = {row.tobytes() for row in part.X}
        shared = sum(row.tobytes() in seen for row in part.X_val)
        assert shared <= (0.05 * len(part.X_val) if name == "letter" else 0)  # it repeats rows


def test_the_command_streams_and_draws(tmp_path: Path):
    words = ("reproduce", "convergence", "--dataset", "digits", "--quick")
    found = data(*words, "--output", tmp_path)
    assert found["ok"] is True
    rows = [json.loads(row) for row in (tmp_path / "convergence.jsonl").read_text().splitlines()]
    assert rows == found["curves"]
    assert len(rows) == 8
    assert {row["C"] for row in rows} <= set(study.CS)
    assert [Path(file).stat().st_size > 1000 for file in found["pictures"]] == [True] * 3
    best = {row["loss"]: row["gaps"][-1] for row in rows if row["solver"] == "ours"}
    assert set(best) == set(study.LOSSES)
    assert max(best.values()) <= study.TOL
