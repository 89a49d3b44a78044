"""The same object stands at the same relative path in every part; an incomplete object fails here."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from refsolve import catalogue
from refsolve.spec import Spec
from verification.app.commands import __path__ as command_path
from verification.problems.objects import Declaration, discover

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("refsolve", "fast", "verification")
OBJECTS = discover()
FUNCTIONS = {"sets": ("project",), "models": ()}  # named otherwise than the operations


def test_objects_of_every_kind_are_found() -> None:
    assert {s.kind for s in OBJECTS} == set(catalogue.OPERATIONS)
    assert {"simplex", "topk_cone", "topk_simplex_alpha", "topk_simplex_beta"} <= {
        s.name for s in OBJECTS
    }
    assert len({s.name for s in OBJECTS}) == len(OBJECTS), "an object's name says which kind it is"


@pytest.mark.parametrize("declared", OBJECTS, ids=lambda s: s.name)
def test_object_is_declared_in_full(declared: Declaration) -> None:
    module = catalogue.load(declared.name)
    assert isinstance(module.SPEC, Spec)
    assert module.SPEC.kind == declared.kind
    assert module.SPEC.title
    assert module.SPEC.formulas
    assert module.SPEC.scaling
    assert module.SPEC.source
    assert module.__doc__


@pytest.mark.parametrize(
    "declared", [s for s in OBJECTS if not s.oracle_only], ids=lambda s: s.name
)
def test_object_has_its_fast_twin(declared: Declaration) -> None:
    module = importlib.import_module(f"fast.{declared.kind}.{declared.name}")
    names = FUNCTIONS.get(declared.kind, catalogue.operations(declared.name))
    missing = [name for name in names if not callable(getattr(module, name, None))]
    assert missing == []


@pytest.mark.parametrize("declared", [s for s in OBJECTS if s.oracle_only], ids=lambda s: s.name)
def test_oracle_only_object_says_why_and_has_no_twin(declared: Declaration) -> None:
    assert not declared.in_fast
    spec = catalogue.load(declared.name).SPEC
    assert spec.erratum or spec.reason


@pytest.mark.parametrize("kind", sorted(catalogue.OPERATIONS))
def test_fast_has_no_object_that_nobody_declared(kind: str) -> None:
    files = {p.stem for p in (ROOT / "fast" / kind).glob("*.py") if not p.stem.startswith("_")}
    assert files <= {s.name for s in OBJECTS if s.kind == kind}


def test_every_loss_has_its_twin_on_tensors_and_every_twin_its_loss() -> None:
    here, there = (ROOT / "fast" / "torch" / "losses", ROOT / "fast" / "losses")
    assert {p.stem for p in here.glob("[!_]*.py")} == {p.stem for p in there.glob("[!_]*.py")}


@pytest.mark.parametrize("kind", sorted(catalogue.OPERATIONS))
def test_every_object_has_its_lesson_and_every_lesson_its_object(kind: str) -> None:
    lessons = {p.stem for p in (ROOT / "docs" / kind).glob("*.md")} - {"index"}
    assert lessons == {s.name for s in OBJECTS if s.kind == kind}


@pytest.mark.parametrize("package", PACKAGES)
def test_files_are_short(package: str) -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in (ROOT / package).rglob("*.py")
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert long == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_is_a_package_and_every_file_says_what_it_is(package: str) -> None:
    for folder in {p.parent for p in (ROOT / package).rglob("*.py")}:
        assert (folder / "__init__.py").is_file(), folder
    silent = [
        str(p.relative_to(ROOT))
        for p in (ROOT / package).rglob("*.py")
        if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_every_command_file_holds_an_app() -> None:
    files = [
        p
        for folder in command_path
        for p in Path(folder).glob("*.py")
        if not p.stem.startswith("_")
    ]
    assert {"list", "show", "verify", "claims", "reproduce", "bench", "train"} <= {
        p.stem for p in files
    }
    for file in files:
        module = importlib.import_module(f"verification.app.commands.{file.stem}")
        assert type(module.app).__name__ == "Typer", file.stem


@pytest.mark.parametrize("place", ["Makefile", ".ci/machines"])
def test_tests_that_run_elsewhere_too_are_there(place: str) -> None:
    named = re.findall(r"[\w/]*test_\w+\.py", (ROOT / place).read_text(encoding="utf-8"))
    assert len(named) > 3
    paths = [ROOT / "tests" / name.removeprefix("tests/") for name in named]
    assert [path for path in paths if not path.is_file()] == []
