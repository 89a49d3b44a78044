"""``refsolve soak``: right solvers, resumable, with a summary."""

import errno
import json
import os
from functools import partial

import _commands

from verification.selftest import soak

run = partial(_commands.run, "soak", "--jobs", "1")


def test_a_small_soak_is_recorded_and_not_repeated(tmp_path):
    file, summary = tmp_path / "soak.jsonl", tmp_path / "soak.json"
    words = [
        "--total",
        "60",
        "--problem",
        "simplex.projection",
        "--file",
        file,
        "--summary",
        summary,
    ]
    assert "no right solver was called wrong" in run(*words).output
    record = json.loads(summary.read_text())
    assert record["counts"] == {"pass": 60}
    solvers = [("fast", "simplex.projection"), ("promised", "simplex.projection")]
    assert [(row["solver"], row["problem"]) for row in record["rows"]] == solvers
    lines = file.read_text()
    run(*words)
    assert file.read_text() == lines


def test_an_alarm_ends_with_exit_code_1(tmp_path, monkeypatch):
    wrong = {"counts": {"fail": 60}, "worst_ratio": None, "seconds": 0.1}
    alarm = {"check": "ties", "family": "ties", "message": "off by 1"}
    monkeypatch.setattr(soak, "run_chunk", lambda c: {**vars(c), **wrong, "alarms": [alarm]})
    done = run(
        "--total", "60", "--problem", "box.projection", "--file", tmp_path / "a.jsonl", code=1
    )
    assert "FALSE ALARM" in done.output
    assert "off by 1" in done.output


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path):
    run("--file", tmp_path / "no" / "a.jsonl", code=2)
    run("--total", "9", "--problem", "no.such", "--file", tmp_path / "a.jsonl", code=2)


def test_a_full_disk_is_said_with_the_name_of_the_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("verification.report.lines.os.fsync", full)
    said = run("--total", "60", "--problem", "box.projection", "--file", tmp_path / "a", code=2)
    assert "/a cannot be written (No space left on device)" in " ".join(said.output.split())
