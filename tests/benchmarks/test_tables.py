"""The benchmark of tables: what it writes, that its peer runs on it, and that a command that fails is no figure."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from verification.benchmarks import tables


def test_the_peer_learns_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "small.csv"
    tables.write(file, 300)
    frame = pd.read_csv(file)
    assert frame.shape == (300, tables.FEATURES + 1)
    assert 0.3 < (frame["y"] == "yes").mean() < 0.7
    peer = [sys.executable, "-c", tables._PEER, str(file)]
    done = subprocess.run(peer, capture_output=True, text=True, check=True)
    known, held = map(float, done.stdout.split())
    assert known > 0.85  # of the 240 rows it has learnt from
    assert held > 0.6


def test_a_command_that_fails_is_no_figure() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        tables.used([sys.executable, "-c", "raise SystemExit(3)"])
    seconds, peak = tables.used([sys.executable, "-c", "bytearray(10**8)"])
    assert seconds > 0.0
    assert peak > 1e8
