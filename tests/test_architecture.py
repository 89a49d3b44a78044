"""Size and shape of the tree: code lines by package, circles of imports, files that a call goes through.

The numbers are upper bounds, to be lowered with the tree and not to be raised without a reason in the commit.
"""

import os
import sys
import threading
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fast
from tests.test_import_rules import PACKAGES, ROOT, circles, code_lines
from verification.cli import app

#: Code lines; today's, rounded up to the next 500.
MOST_LINES = {
    "refsolve": 18_100,
    "fast": 26_800,
    "verification": 50_000,
    "tests": 40_300,
    "docs": 4_000,
}
GENERATED = {"_build", "jupyter_execute"}
#: Modules in circles of imports if those for type checkers count.
MOST_IN_CIRCLES = 0
#: Files of the project in which a function runs.
MOST_FILES = {"fit": 25, "verify": 90, "train": 56}


@pytest.mark.parametrize("package", MOST_LINES)
def test_code_lines(package: str) -> None:
    files = [file for file in (ROOT / package).rglob("*.py") if not GENERATED & set(file.parts)]
    found = sum(code_lines(file.read_text(encoding="utf-8")) for file in files)
    assert 0 < found <= MOST_LINES[package]


def test_code_lines_are_neither_blank_nor_comments_nor_docstrings() -> None:
    source = [
        '"""One',
        "",
        'module."""',
        'x = """',
        "a string",
        '"""',
        "# a comment",
        "",
        "def f():",
        "    'Text.'",
        "    return 1",
    ]
    assert code_lines("\n".join(source)) == 5


def test_circles_of_imports_with_those_for_type_checkers() -> None:
    found = circles(ROOT, PACKAGES, typed=True)
    assert sum(map(len, found)) <= MOST_IN_CIRCLES, [sorted(group) for group in found]


def files_of(call: Callable[[], Any]) -> set[str]:
    """Files of the packages in which a function runs, in any thread; what imports or compiles is done before."""
    call()
    names: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:  # no module and no class
            names.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    roots = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)
    return {name for name in names if name.startswith(roots)}


def command(*words: str) -> None:
    with pytest.raises(SystemExit) as end:
        app([*words])
    assert not end.value.code


def test_files_that_a_call_goes_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    X = np.eye(3)[y] + 0.5 * rng.standard_normal((60, 3))
    table = tmp_path / "table.csv"
    rows = [
        ",".join([*(f"{value:.6f}" for value in x), f"class {label}"])
        for x, label in zip(X, y, strict=True)
    ]
    table.write_text("\n".join(["a,b,c,label", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    calls = {
        "fit": lambda: fast.TopKSVC(k=2, random_state=0).fit(X, y),
        "verify": lambda: command("verify", "--problem", "simplex.projection"),
        "train": lambda: command("train", str(table), "--label", "label", "--force"),
    }
    found = {name: len(files_of(call)) for name, call in calls.items()}
    assert {name: 0 < n <= MOST_FILES[name] for name, n in found.items()} == dict.fromkeys(
        found, True
    ), found
