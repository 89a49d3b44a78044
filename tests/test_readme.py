"""The README is short, its blocks run in order as printed, and every file and command it names exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from verification.cli import command_names

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python|text)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
NUMBER = r"-?\d+(?:\.\d*)?(?:e[-+]?\d+)?"


def _said(output: str, promised: str) -> bool:
    """Whether each promised line is in the output, certificates aside, which vary in their last digits."""
    lines = [re.sub(rf"gap {NUMBER}", "gap", line).strip() for line in output.splitlines()]
    wanted = [re.sub(rf"gap {NUMBER}", "gap", line).strip() for line in promised.splitlines()]
    return set(wanted) <= set(lines)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 124
    assert [line.split("  ")[0] for line in BLOCKS[0][1].splitlines() if line[0] != " "] == [
        "make verify", "make test", 'pip install ".[plot,parquet]"'
    ]  # fmt: skip


@pytest.mark.slow
def test_every_block_runs_in_order_and_prints_what_the_text_says(tmp_path: Path) -> None:
    here = Path(sys.executable).parent
    paths = {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    output, ran = "", 0
    for language, text in BLOCKS[1:]:
        if language == "text":
            assert _said(output, text), output
            continue
        command = ["bash", "-c", text] if language == "sh" else [sys.executable, "-c", text]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | paths,
            text=True,
            capture_output=True,
            timeout=600,
        )
        output, ran = done.stdout, ran + 1
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert ran == 5


def test_commands_shown_exist() -> None:
    shown = set(re.findall(r"refsolve ([a-z]+)(?= )", README))
    assert {"verify", "explain", "train", "claims", "show"} <= shown <= set(command_names())


def test_make_targets_shown_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, flags=re.MULTILINE))
    assert {"verify", "test", "docs"} <= set(re.findall(r"(?:`|^)make ([a-z]+)", README, re.MULTILINE)) <= targets


def test_files_shown_exist() -> None:
    files = re.findall(r"docs/[\w/]+\.(?:svg|md)", README)
    assert len(files) >= 12
    assert [f for f in files if not (ROOT / f).is_file()] == []
