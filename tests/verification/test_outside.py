"""A set, a loss, a generator and parameters that nobody here knows, from a folder outside of the packages."""

import re
import shutil
from pathlib import Path

import pytest
from _processes import python

FILES = Path(__file__).parents[1] / "outside"
#: Runs in a process of its own: the objects must not stay behind for the tests that discover.
PROGRAM = """
import numpy as np
import refsolve
from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from refsolve.proofs.loss import Loss
from verification import certificates
from verification.instances import families
from verification.problems.problem import lookup
from verification.verdicts.verdict import Candidate

assert "bag" in catalogue.object_names("sets") and "bent_hinge.prox" in catalogue.problems()
assert refsolve.solve("bag.projection", a=[0.9, 0.4, -0.2, 0.3], r=1).x.max() < 0.4 + 1e-9
try:
    refsolve.solve("bag.projection", a=[0.9], cup=1.0)
except InvalidParameterError as error:
    assert error.argument == "cup" and "cap" in error.expected
else:
    raise AssertionError("an unknown argument was dropped")
assert lookup("bag.projection").arguments == ("a", "r", "cap", "rho")
assert lookup("bent_hinge.prox").arguments == ("v", "t", "cap", "delta", "costs")
loss = Loss("bent_hinge", {"cap": 0.3, "delta": 2.0}, 3)
assert loss.domain.params["cap"] == 0.3 and loss.modulus == 1.0

for problem in ("bag.projection", *(f"bent_hinge.{o}" for o in catalogue.operations("bent_hinge"))):
    caps, wrong = set(), 0
    for family in ("random", "planted", "ties"):
        for instance in families.draw(problem, family, 5, seed=3):
            caps.add(instance["cap"])
            other = instance.with_params(cap=0.05 + instance["cap"] / 2)
            forgot = np.asarray(certificates.expected(other))
            wrong += not certificates.judge(instance, Candidate(forgot)).ok
    assert len(caps) > 3 and wrong > 0, problem

X, y = np.eye(4), np.array([0, 1, 2, 1])
from verification.models import multiclass_erm

given = {**multiclass_erm.TASK.defaults, "loss": "bent_hinge", "X": X, "y": y, "C": 1.0}
asked = {n: v for n, v in given.items() if v is not None and n != "tol"}
found = refsolve.solve("multiclass_erm.primal", **asked)
for name, (factor, ok) in {"right": (1.0, True), "wrong": (1.01, False)}.items():
    model = factor * found.x
    seen = certificates.erm(model, X, y, loss="bent_hinge", C=1.0, dual=found.dual)
    assert (seen.gap <= 1e-6 * seen.primal) is ok, (name, seen)
assert multiclass_erm.TASK.valid(given)
"""

#: Tests that discover objects, of some in the folder.
DISCOVERED = """
import sys
import pytest

class Outside:
    def pytest_sessionstart(self):
        from verification.models import twins
        for kind in sys.argv[2].split():
            twins.package(kind)

given = ["-q", "-p", "no:xdist", "-k", sys.argv[1], *sys.argv[3:]]
sys.exit(pytest.main(given, plugins=[Outside()]))
"""
DECLARED = ["verification/test_families.py"]
DECLARED += [f"refsolve/test_{name}.py" for name in ("exact", "oracle_contract", "multiclass_erm")]
TENSORS = [
    "fast/test_torch_losses.py",
    "fast/test_torch_behaviour.py",
    "verification/test_torch_losses.py",
]
FUNCTIONS = ["losses/test_cross_check.py", "verification/test_checkers.py"]
FOUND = {  # objects, packages of `fast`, files of tests, and how many tests these have of the objects
    "declarations": ("(bag or bent_hinge) and not valid_and_repeat", "", DECLARED, 23),
    "operations and certificate files": ("topk_softmax_margin", "losses", FUNCTIONS, 70),
    "tensors": ("topk_softmax_margin", "losses torch.losses", TENSORS, 11),
}


@pytest.mark.parametrize("part", FOUND)
def test_a_set_and_losses_are_added_without_an_edit(part, monkeypatch):
    """Their files in `refsolve`, `fast` and `fast.torch` are taken in by every test that discovers."""
    names, kinds, files, least = FOUND[part]
    if part == "tensors":
        pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setenv("REFSOLVE_PATH", str(FILES))
    done = python("-c", DISCOVERED, names, kinds, *(str(FILES.parent / file) for file in files))
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) >= least, done.stdout


@pytest.mark.parametrize("how", ["path", "variable"])
def test_objects_from_a_folder_are_verified_in_every_operation(tmp_path, how, monkeypatch):
    shutil.copytree(FILES, tmp_path / "mine")
    start = ""
    if how == "path":
        start = f"from refsolve import catalogue\ncatalogue.add_path({str(tmp_path / 'mine')!r})\n"
    else:
        monkeypatch.setenv("REFSOLVE_PATH", str(tmp_path / "mine"))
    program = PROGRAM if how == "path" else PROGRAM.partition("\nfor problem in")[0]
    python("-c", start + program)


def test_an_installed_package_brings_objects(tmp_path, monkeypatch):
    package = tmp_path / "mine"
    shutil.copytree(FILES, package)
    (package / "__init__.py").write_text("")
    info = tmp_path / "mine-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[refsolve.objects]\nmine = mine\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    program = "from refsolve import catalogue; assert 'bag' in catalogue.object_names('sets')"
    python("-c", program)


def test_a_folder_without_objects_is_refused(tmp_path):
    from refsolve import catalogue
    from refsolve.errors import InvalidParameterError

    with pytest.raises(InvalidParameterError, match="sets, losses"):
        catalogue.add_path(tmp_path)


def test_a_object_that_lacks_a_member_is_a_named_error_at_once(tmp_path):
    shutil.copytree(FILES, tmp_path / "mine")
    file = tmp_path / "mine" / "sets" / "bag.py"
    file.write_text(file.read_text().replace("def residual", "def remainder"))
    program = f"""
from refsolve import catalogue
from refsolve.errors import InvalidParameterError
catalogue.add_path({str(tmp_path / "mine")!r})
try:
    catalogue.load("bag")
except InvalidParameterError as error:
    assert error.argument == "declaration of bag" and "Projection (no residual)" in error.expected
else:
    raise AssertionError("a set without a residual was taken")
"""
    python("-c", program)


def test_a_generator_that_nobody_knows_is_a_named_error(monkeypatch):
    import refsolve
    from refsolve.errors import InvalidParameterError
    from refsolve.generators.quadratic import Quadratic
    from refsolve.losses import multiclass_hinge

    given = {"scores": [0.1, 0.2, 0.3], "y": 0}
    monkeypatch.setattr(multiclass_hinge, "generator", "square", raising=False)
    with pytest.raises(InvalidParameterError, match=r"generator of multiclass_hinge = 'square'"):
        refsolve.solve("multiclass_hinge.gradient", **given)
    monkeypatch.setattr(multiclass_hinge, "generator", Quadratic("curvature"))
    with pytest.raises(InvalidParameterError, match="curvature"):
        refsolve.solve("multiclass_hinge.gradient", **given)
    monkeypatch.setattr(multiclass_hinge, "generator", Quadratic())
    monkeypatch.setattr(multiclass_hinge, "family", "multiclas", raising=False)
    with pytest.raises(InvalidParameterError, match="family of multiclass_hinge"):
        refsolve.solve("multiclass_hinge.gradient", **given)
