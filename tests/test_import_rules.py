"""The walls between the packages; and within them: no circle of imports, no private name of another room."""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = {
    "fast": {"cvxpy", "refsolve", "verification", "clarabel", "osqp", "scs", "ecos"},
    "refsolve": {"numba", "fast", "verification", "sklearn"},
}
PACKAGES = ("refsolve", "fast", "verification")


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


def modules(root: Path, packages: Iterable[str]) -> dict[str, Path]:
    """Every module by its dotted name; a package is its ``__init__.py``."""
    files = [f for package in packages for f in sorted((root / package).rglob("*.py"))]
    names = (".".join(f.relative_to(root).with_suffix("").parts) for f in files)
    return {n.removesuffix(".__init__"): f for n, f in zip(names, files, strict=True)}


def closure(root: Path, package: str) -> set[str]:
    """The modules of a package with all that they import, of ours."""
    found = modules(root, ("refsolve", "fast", "verification"))
    seen: set[str] = set()
    todo = [name for name in found if name.startswith(package)]
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            taken = (
                n if n in found else n.rpartition(".")[0] for n in named(module, found[module])
            )
            todo += [name for name in taken if name in found]
    return seen


def imports(node: ast.AST, typed: bool = False) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports, also in functions, where they would hide circles; for type checkers if ``typed``."""
    for child in ast.iter_child_nodes(node):
        if not typed and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from (i for other in child.orelse for i in imports(other))
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        else:
            yield from imports(child, typed)


def named(module: str, file: Path, typed: bool = False) -> Iterator[str]:
    """Dotted names that a module imports, absolute, down to what is taken from a module."""
    here = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    for node in imports(ast.parse(file.read_text(encoding="utf-8")), typed):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            continue
        base = here[: len(here) - node.level + 1] if node.level else []
        base = [*base, *(node.module or "").split(".")] if node.module else base
        yield from (".".join([*base, alias.name]) for alias in node.names)


def circles(root: Path, packages: Iterable[str], typed: bool = False) -> set[frozenset[str]]:
    """Groups of modules each of which imports all others, directly or not."""
    found = modules(root, packages)
    place = {name: i for i, name in enumerate(found)}
    edges = {
        (place[module], place[target])
        for module, file in found.items()
        for name in named(module, file, typed)
        for target in (name if name in found else name.rpartition(".")[0],)
        if target in found and target != module
    }
    rows, columns = np.array(sorted(edges)).T
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(found), len(found)))
    labels = connected_components(graph, connection="strong")[1]
    groups = (np.flatnonzero(labels == label) for label in np.flatnonzero(np.bincount(labels) > 1))
    names = list(found)
    return {frozenset(names[i] for i in group) for group in groups}


def private(root: Path, packages: Iterable[str]) -> set[str]:
    """Imports of a name with an underscore from outside of the folder that it is private to."""
    private_imports = set()
    for module, file in modules(root, packages).items():
        here = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
        for name in named(module, file):
            parts = name.split(".")
            hidden = [i for i, p in enumerate(parts) if p[0] == "_" and not p.startswith("__")]
            if parts[0] in packages and hidden and here[: hidden[0]] != parts[: hidden[0]]:
                private_imports.add(f"{module} <- {name}")
    return private_imports


def test_the_house_is_read_as_python_reads_it(tmp_path: Path) -> None:
    sources = {
        "p/__init__.py": "",
        "p/a.py": "from p import b",
        "p/b.py": "def f():\n    from .room import c",
        "p/room/__init__.py": "from p.room._own import x",
        "p/room/_own.py": "if TYPE_CHECKING:\n    from p import room",
        "p/room/c.py": "import p.a\nfrom .._shared import y",
        "p/d.py": "from p.room._own import x\nfrom p.room.c import _z\nfrom p import a",
        "p/_shared.py": "from __future__ import annotations",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert circles(tmp_path, ["p"]) == {frozenset({"p.a", "p.b", "p.room.c"})}
    assert frozenset({"p.room", "p.room._own"}) in circles(tmp_path, ["p"], typed=True)
    assert private(tmp_path, ["p"]) == {"p.d <- p.room._own.x", "p.d <- p.room.c._z"}


def test_no_circle_of_imports() -> None:
    """What imports each other, also within functions, is one module that has not been told so."""
    assert [sorted(group) for group in circles(ROOT, PACKAGES)] == []


def test_no_private_name_of_another_room() -> None:
    assert private(ROOT, PACKAGES) == set()


def code_lines(source: str) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    lines = [line.strip() for line in source.split("\n")]
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_the_trusted_core_is_small_and_needs_no_solver() -> None:
    found = modules(ROOT, ("refsolve", "fast", "verification"))
    core = closure(ROOT, "refsolve.proofs")
    lines = {m: code_lines(found[m].read_text(encoding="utf-8")) for m in core}
    assert all(module.startswith("refsolve") for module in core)
    assert sum(lines.values()) <= 2800, sorted(lines.items(), key=lambda item: -item[1])
    taken = {name.split(".")[0] for module in core for name in named(module, found[module])}
    assert not taken & {"cvxpy", "numba", "scipy", "sklearn", "clarabel", "fast", "verification"}
    assert "refsolve._lazy" not in core
