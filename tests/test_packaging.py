"""What a user installs: every module, the data, the licence, and the command."""

import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("refsolve", "fast", "verification")


DISTRIBUTIONS = {"refsolve": ".", "refsolve-fast": "packaging/fast"}


def built(place: Path, folder: Path) -> Path:
    from hatchling.builders.wheel import WheelBuilder

    (path,) = WheelBuilder(str(place)).build(directory=str(folder), versions=["standard"])
    return Path(path)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels built from this checkout."""
    folder = tmp_path_factory.mktemp("wheels")
    return {name: built(ROOT / place, folder) for name, place in DISTRIBUTIONS.items()}


@pytest.fixture(scope="module")
def wheel(wheels: dict[str, Path]) -> list[str]:
    """Names of the files in the wheel of the whole."""
    return zipfile.ZipFile(wheels["refsolve"]).namelist()


def project(place: str) -> dict[str, Any]:
    text = (ROOT / place / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def test_a_clean_copy_elsewhere_gives_the_same_bytes(wheels: dict[str, Path], tmp_path) -> None:
    """Other folder, other times, other rights of the files, and nothing that was compiled here."""
    clean = tmp_path / "clean"
    for name in (*PACKAGES, "packaging", "docs/course/derivations"):
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, clean / name, ignore=skip, copy_function=shutil.copyfile)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, clean / name)
    for path in clean.rglob("*.py"):
        path.chmod(0o600)
    for name, place in DISTRIBUTIONS.items():
        again = built(clean / place, tmp_path)
        assert again.name == wheels[name].name
        one, other = (hashlib.sha256(p.read_bytes()).hexdigest() for p in (wheels[name], again))
        assert one == other, name


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_holds_its_bill_of_materials(wheels: dict[str, Path], name: str) -> None:
    with zipfile.ZipFile(wheels[name]) as wheel:
        folder = f"{name.replace('-', '_')}-{project('.')['version']}.dist-info"
        bill = json.loads(wheel.read(f"{folder}/sboms/{name}.cdx.json"))
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == project(".")["version"]
    licences = bill["metadata"]["component"]["licenses"]
    assert licences == [{"expression": project(".")["license"]}]
    own, *needed = [c["name"] for c in bill["components"]]
    assert "fast/data/letter.npz" in own
    asked = [re.split(r"[<>=; ]", each)[0] for each in project(DISTRIBUTIONS[name])["dependencies"]]
    assert sorted(needed) == sorted(asked)


def test_the_slim_distribution_is_fast_alone_as_the_whole_has_it(wheels, wheel: list[str]) -> None:
    slim, whole = project("packaging/fast"), project(".")
    for key in ("version", "license", "requires-python", "authors"):
        assert slim[key] == whole[key], key
    assert set(slim["dependencies"]) < set(whole["dependencies"])
    assert (ROOT / "packaging/fast/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    names = zipfile.ZipFile(wheels["refsolve-fast"]).namelist()
    held = [n for n in names if ".dist-info/" not in n]
    assert sorted(held) == sorted(n for n in wheel if n.startswith("fast/"))


def test_the_whole_refuses_the_slim_distribution_beside_it(monkeypatch) -> None:
    """pip would overwrite one `fast` by the other, and remove it with either."""
    import refsolve

    refsolve.refuse_two_copies()
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1.0")
    with pytest.raises(ImportError, match="pip uninstall refsolve-fast refsolve"):
        refsolve.refuse_two_copies()


def test_wheel_holds_every_module_and_the_data(wheel: list[str]) -> None:
    paths = [p for package in PACKAGES for p in (ROOT / package).rglob("*")]
    needed = {str(p.relative_to(ROOT)) for p in paths if p.suffix in {".json", ".py", ".toml"}}
    assert needed <= set(wheel)
    assert "fast/data/letter.npz" in wheel
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(wheel)


def test_wheel_holds_nothing_else(wheel: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert [n for n in wheel if "__pycache__" in n or n.endswith((".nbi", ".nbc"))] == []
    assert any(n.endswith("licenses/LICENSE") for n in wheel)


def test_the_command_is_installed() -> None:
    """Holds in an environment where the package is installed, as `make test` makes it."""
    found = [e for e in entry_points(group="console_scripts") if e.name == "refsolve"]
    if not found:
        pytest.skip("the package is on the path, not installed")
    assert found[0].value == "verification.cli:app"
    assert callable(found[0].load())


def test_recipe_and_citation_say_what_pyproject_says() -> None:
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    run = [each.replace(" ", "") for each in recipe["requirements"]["run"]]
    # what pip needs on some Pythons only, and has as an extra on the others, conda only bounds
    pip = [each for each in project["dependencies"] if ";" not in each]
    some = [each.partition(";")[0] for each in project["dependencies"] if ";" in each]
    bounded = [each.replace(" ", "") for each in recipe["requirements"]["run_constraints"]]
    assert bounded == some == project["optional-dependencies"]["ecos"]
    assert sorted(run) == sorted([f"python{project['requires-python']}", *pip])
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {recipe["package"]["version"], citation["version"]} == {project["version"]}
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {place}" for name, place in project["scripts"].items()
    ]
    assert {recipe["about"]["license"], citation["license"]} == {project["license"]}


def test_every_module_of_fast_can_be_imported_without_the_extras() -> None:
    code = """
import importlib, pkgutil, sys
for name in ("dask", "distributed", "pyarrow", "skl2onnx", "onnxruntime", "matplotlib"):
    sys.modules[name] = None
class NoTorch:  # scipy asks sys.modules for torch
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoTorch())
import fast
from fast._numba import _modules
known = set(_modules("fast"))  # what warmup goes through
for module in pkgutil.walk_packages(fast.__path__, "fast."):
    if not module.name.startswith("fast.torch"):
        importlib.import_module(module.name)
        assert module.name in known
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
