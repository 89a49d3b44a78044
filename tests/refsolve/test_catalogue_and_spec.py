"""Discovery, the declarations as text, and what importing the package costs."""

import subprocess
import sys
import types

import pytest

import refsolve
from refsolve import catalogue, declared, protocols
from refsolve.errors import InvalidParameterError, OracleUncertainError, Status, UnknownProblemError


def test_stems_are_the_files():
    for kind in catalogue.OPERATIONS:
        package = __import__(f"refsolve.{kind}", fromlist=["__file__"])
        files = {name for name in dir(package) if not name.startswith("_")}
        assert files == set(catalogue.stems(kind))
        for stem in files:
            assert getattr(package, stem) is catalogue.load(stem)
    assert len(set(catalogue.stems())) == len(catalogue.stems())


def test_problems_are_stems_times_operations():
    assert refsolve.list_problems() == refsolve.problems()
    assert "topk_simplex_alpha.projection" in refsolve.problems("sets")
    assert "multiclass_erm.dual" in refsolve.problems()
    expected = sum(
        len(catalogue.operations(s)) for k in catalogue.OPERATIONS for s in catalogue.stems(k)
    )
    assert len(refsolve.problems()) == expected


@pytest.mark.parametrize("stem", catalogue.stems())
def test_modules_have_every_member_of_their_protocol(stem):
    module = catalogue.load(stem)
    protocol = protocols.wanted(catalogue.kind(stem), module)
    assert protocols.missing(protocol, module) == []
    if protocol is protocols.Loss:
        assert protocols.missing(protocols.Set, catalogue.load(module.dual_set)) == []
    assert f"_{stem}: protocols.{protocol.__name__} = {stem}" in declared.program().splitlines()


@pytest.mark.parametrize(
    ("protocol", "members"),
    [
        (
            protocols.Projection,
            "SPEC constraints halfspaces support violation repair residual nearest",
        ),
        (protocols.Loss, "SPEC dual_set value conjugate"),
        (protocols.Pieces, "SPEC operations pieces kept"),
        (protocols.Ranking, "SPEC operations value objective constraints"),
        (protocols.Model, "SPEC certificate pose_primal pose_dual"),
        (protocols.Primal, "SPEC certificate pose_primal"),
        (protocols.Function, "SPEC objective"),
    ],
)
def test_what_a_module_lacks_is_named(protocol, members):
    empty = types.ModuleType("refsolve.sets.empty")
    assert protocols.missing(protocol, empty) == members.split()
    with pytest.raises(InvalidParameterError, match=rf"of empty .*no {', '.join(members.split())}"):
        protocols.require(protocol, empty)
    empty.__dict__.update(dict.fromkeys(members.split(), "no function"))
    assert set(members.split()) - set(protocols.missing(protocol, empty)) <= {
        "SPEC", "dual_set", "pieces", "operations", "certificate"
    }  # fmt: skip


def test_only_stems_without_a_twin_are_flagged():
    specs = {stem: catalogue.load(stem).SPEC for stem in catalogue.stems()}
    flagged = {stem: spec.erratum for stem, spec in specs.items() if spec.erratum}
    assert flagged == {"topk_hinge_alpha_printed": "E1", "pointwise_risk": "E10"}
    assert {stem for stem, spec in specs.items() if spec.oracle_only or spec.reason} == set(flagged)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute"):
        _ = refsolve.sets.topk_con


def test_errors_survive_pickling_and_say_what_to_do():
    import pickle

    errors = [
        InvalidParameterError("k", 0, "k >= 1", "raise k"),
        UnknownProblemError("x", ["y"], "stem"),
        OracleUncertainError("simplex.projection", "gap 1"),
    ]
    for error in errors:
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert isinstance(errors[0], ValueError)
    assert isinstance(errors[1], LookupError)
    assert "Fix: raise k." in str(errors[0])
    assert Status.UNCERTAIN.remedy in str(errors[2])


CHEAP = """
import refsolve
refsolve.problems()
refsolve.certificates.projection("simplex", [1.0], [2.0])
refsolve.certificates.prox("smooth_topk_hinge_alpha", [0.1], [0.2])
refsolve.certificates.sdca_update("topk_entropy_alpha", [0.1, -0.1], [0.0, 0.2], 0, 1.0)
refsolve.certificates.function_value("lambert_w_exp", 1.0, 1.0)
refsolve.exact.project("topk_cone", [1.0], k=1)
refsolve.models.multiclass_erm.dual("multiclass_hinge", [0, 1], A=[[0, 0], [0, 0]], X=[[1], [2]], C=1)
import sys
assert not {"cvxpy", "numba", "sklearn", "scipy"} & set(sys.modules)
"""


def test_formulas_do_not_import_cvxpy():
    subprocess.run([sys.executable, "-W", "error", "-c", CHEAP], check=True)
