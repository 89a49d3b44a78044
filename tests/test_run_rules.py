"""Where the packages run what they have read, or start programs: every such place is known, see docs/security.md."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Calls that can run what they are given, and keywords that make others do so.
CALLS = {"eval", "exec", "Unpickler", "os.system", "os.popen"}
LOADERS = {"pickle", "cloudpickle", "joblib", "marshal", "shelve", "dill"}
KNOWN = {
    ("fast/families/function_api.py", "exec"),  # functions from a template of its own
    ("verification/third_party/__init__.py", "exec"),  # the code that the gallery prints
    ("verification/faulty_solvers/declarations/__init__.py", "exec"),  # our own text, changed
    (
        "verification/selftest/written/__init__.py",
        "exec",
    ),  # ports in a table that the package ships
    (
        "verification/derivations.py",
        "exec",
    ),  # the package's own derivations, and a student's answers
    ("verification/external/serve.py", "pickle.loads"),  # the function that the parent has written
}


def risks(tree: ast.AST) -> Iterator[str]:
    """Names of the calls that can run data."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = getattr(getattr(node.func, "value", None), "id", "")
        if {name, f"{owner}.{name}"} & CALLS:
            yield name
        if owner in LOADERS and name in ("load", "loads"):
            yield f"{owner}.{name}"
        for given in node.keywords:
            on = not (isinstance(given.value, ast.Constant) and given.value.value is False)
            if given.arg in ("shell", "allow_pickle") and on:
                yield f"{given.arg}=True"


def test_every_call_that_can_run_data_is_known() -> None:
    found = {
        (str(file.relative_to(ROOT)), risk)
        for package in ("refsolve", "fast", "verification")
        for file in sorted((ROOT / package).rglob("*.py"))
        for risk in risks(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert found == KNOWN


def test_the_scanner_sees_them() -> None:
    source = """
eval("1"); builtins.exec("1"); os.system("ls"); joblib.load(p); pickle.loads(b)
subprocess.run(words, shell=True); np.load(p, allow_pickle=maybe); np.load(p, allow_pickle=False); json.loads(t)
"""
    expected = ["allow_pickle=True", "eval", "exec", "joblib.load", "pickle.loads", "shell=True"]
    assert sorted(risks(ast.parse(source))) == [*expected, "system"]
