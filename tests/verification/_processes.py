"""Processes that a test has started."""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python(*words, code=0):
    """What Python printed in a process of its own, which has to end with this exit code."""
    command, both = [sys.executable, *words], {"capture_output": True, "text": True}
    done = subprocess.run(command, cwd=ROOT, timeout=600, check=False, **both)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def running(pid):
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def soon(condition, seconds=60.0):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
