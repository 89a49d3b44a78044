"""Every reader against files that are spoilt at random, guided by the lines that they reach."""

import contextlib
import json
from pathlib import Path

import _fuzz
import pytest

from verification.errors import DataFileError


@pytest.mark.parametrize("name", _fuzz.READERS)
def test_spoilt_files_are_read_or_refused_by_our_own_error(name: str, tmp_path: Path) -> None:
    first = tmp_path / f"first{_fuzz.READERS[name].suffix}"
    first.write_bytes(_fuzz.READERS[name].seeds()[0])
    with contextlib.suppress(*_fuzz.OWN):
        _fuzz.READERS[name].read(first)  # what is imported and compiled is no file's time
    executions = 12 if name == "mat" else 250  # of which each is a process
    found = _fuzz.fuzz(_fuzz.READERS[name], executions, 1, tmp_path)
    assert found.errors == {}
    assert found.read >= len(_fuzz.READERS[name].seeds()) - (name == "csv")
    assert found.refused > executions / 5
    assert found.kept > len(_fuzz.READERS[name].seeds())


def test_a_raw_error_a_hang_and_a_believed_size_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(path: Path) -> None:
        first = path.read_bytes()[:1]
        if first == b"2":
            int("x")
        if first == b"3":
            raise DataFileError("more than the memory of this machine")
        if first == b"1":
            while True:
                pass

    monkeypatch.setattr(_fuzz, "SECONDS", 1)
    reader = _fuzz.Reader("careless", ".csv", careless, lambda: [b"1", b"2", b"3", b"4"])
    said = " ".join(_fuzz.fuzz(reader, 4, 0, tmp_path).errors)
    assert "ValueError at test_fuzz.py" in said
    assert "AssertionError at _fuzz.py" in said  # nothing in a second
    assert "a size was believed" in said


def test_the_long_run_is_recorded() -> None:
    """At least a million files over all readers, and no raw error."""
    path = Path(__file__).parents[2] / "docs" / "fuzz.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert set(record["readers"]) == set(_fuzz.READERS)
    assert record["executions"] == sum(r["executions"] for r in record["readers"].values())
    assert record["executions"] >= 10**6
    assert all(r["errors"] == [] for r in record["readers"].values())
