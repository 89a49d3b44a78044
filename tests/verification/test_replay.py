import json
import subprocess
import sys
from pathlib import Path

import pytest

from verification import InvalidArgumentError, Verdict, mutants, replay, verify
from verification.mutants import _sound

ROOT = Path(__file__).resolve().parents[2]
MUTANT = "verification.mutants.ignores_rho:candidate"


@pytest.fixture
def stored(tmp_path):
    report = mutants.run(mutants.discover()["ignores_rho"])
    return report, replay.save(report, tmp_path / "failure.json")


def test_replay_repeats_the_failure(stored):
    report, path = stored
    found = replay.load(path)
    assert found.instance == report.counterexample_result.instance
    assert found.run().verdict is Verdict.FAIL
    assert found.run(MUTANT).verdict is Verdict.FAIL
    assert found.run(_sound.alpha).verdict is Verdict.PASS
    assert found.code == report.counterexample


def test_counterexample_is_code_that_runs(stored, capsys):
    report, _ = stored
    exec(report.counterexample, {})
    assert capsys.readouterr().out.strip() == "[1.]"


def test_command_line(stored):
    _, path = stored
    command = [sys.executable, "-m", "verification.replay", str(path)]
    failing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert failing.returncode == 1
    assert "now: fail" in failing.stdout
    sound = [*command, "verification.mutants._sound:alpha"]
    assert subprocess.run(sound, cwd=ROOT, capture_output=True, check=False).returncode == 0
    assert replay.main([]) == 2


def test_what_is_no_replay_file_is_refused(tmp_path):
    path = tmp_path / "other.json"
    for text in ("", "[]", "{}", json.dumps({"schema": 99})):
        path.write_text(text)
        with pytest.raises(InvalidArgumentError):
            replay.load(path)
    with pytest.raises(InvalidArgumentError):
        replay.save(verify(_sound.alpha, checks=["purity"]), path)
    for name in ("no.such.module", "verification.replay:nothing", "verification.replay:SCHEMA"):
        with pytest.raises(InvalidArgumentError):
            replay.load_callable(name)
