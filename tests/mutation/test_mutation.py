"""The runner of mutants still finds its places, puts them in, and kills those that tests know."""

import json
import subprocess
import sys
from pathlib import Path

from tests.mutation.operators import ROOT, files, mutants, sample
from tests.mutation.record import KILLED, SURVIVED, written


def test_every_file_of_the_rooms_has_its_share() -> None:
    drawn, rooms = sample(60, 0, "fast/sets")
    assert len(drawn) == 60
    assert drawn == sample(60, 0, "fast/sets")[0]
    assert drawn != sample(60, 1, "fast/sets")[0]
    assert set(rooms) == {"sets"}
    large = [f for f in files() if f.startswith("fast/sets/") and len(mutants(f)) > 20]
    assert {m.file for m in drawn} >= set(large)


def test_known_mutants_of_a_projection_are_killed(tmp_path: Path) -> None:
    file = "fast/sets/capped_simplex.py"
    command = [
        sys.executable, "-m", "tests.mutation", "--mutants", "8", "--only", file, "--kind", "interpreted",
        "--tests", "tests/fast/test_judged.py", "tests/fast/test_sets_batch.py",
        "--output", str(tmp_path / "record.json"),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (tmp_path / "record.json").exists(), done.stderr
    record = json.loads((tmp_path / "record.json").read_text())
    counts = record["rooms"]["sets"]
    assert counts[KILLED] > 3, record
    assert counts.get(SURVIVED, 0) == len(record["survivors"])


def test_a_verdict_stays_with_its_mutant(tmp_path: Path) -> None:
    mutant = vars(mutants("fast/sets/box.py")[0])
    outcome = {"mutant": mutant, "status": SURVIVED, "test": "", "tried": 3}
    about = {"command": "", "seconds": 0, "again": False}
    path = tmp_path / "record.json"
    assert written([outcome], {"sets": 1}, path, **about) == 1
    record = json.loads(path.read_text())
    record["survivors"][0]["verdict"] = "equal"
    path.write_text(json.dumps(record))
    assert written([outcome], {"sets": 1}, path, **about) == 0
    killed = outcome | {"status": KILLED, "test": "test_box"}
    assert written([killed], {"sets": 1}, path, **(about | {"again": True})) == 0
    assert json.loads(path.read_text())["survivors"][0]["killed_since"] == "test_box"
    record["survivors"][0]["verdict"] = ""
    path.write_text(json.dumps(record))
    assert written([outcome], {"sets": 1}, path, **(about | {"again": True})) == 1
    assert json.loads(path.read_text())["survivors"][0]["killed_since"] == ""
