"""The walls: `fast` knows neither cvxpy nor `refsolve`, `refsolve` knows neither numba nor `fast`."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = {
    "fast": {"cvxpy", "refsolve", "verification", "clarabel", "osqp", "scs", "ecos"},
    "refsolve": {"numba", "fast", "verification", "sklearn"},
}


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of all imports, also those within functions and by import_module("...")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield str(node.module).partition(".")[0]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value.partition(".")[0]


def test_the_scanner_sees_every_way_to_import() -> None:
    source = """
import a.b
from c.d import e
from . import sibling
def f():
    import g as h
    importlib.import_module("i.j")
    __import__("k")
"""
    assert sorted(imported(ast.parse(source))) == ["a", "c", "g", "i", "k"]


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_no_file_imports_across_the_wall(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert len(files) > 10
    crossings = {
        str(file.relative_to(ROOT)): sorted(found)
        for file in files
        if (
            found := FORBIDDEN[package] & set(imported(ast.parse(file.read_text(encoding="utf-8"))))
        )
    }
    assert crossings == {}


@pytest.mark.parametrize(
    ("package", "absent"),
    [("fast", ("cvxpy", "refsolve")), ("refsolve", ("numba", "fast", "cvxpy"))],
)
def test_nothing_comes_in_at_run_time_either(package: str, absent: tuple[str, ...]) -> None:
    """Importing the package pulls in nothing from the other side; cvxpy waits for the first solve."""
    code = f"import sys, {package}; print([n for n in {absent!r} if n in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
