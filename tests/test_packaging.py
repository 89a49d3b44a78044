"""What a user installs: every module, the data, the licence, and the command."""

import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("refsolve", "fast", "verification")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of the files in a wheel built from this checkout."""
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return zipfile.ZipFile(built).namelist()


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
    # conda compiles for every Python: a marker for wheels is pip's alone
    pip = [each.partition(";")[0] for each in project["dependencies"]]
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
