"""Discovery, the declarations as text, and what importing the package costs."""

import subprocess
import sys
import types

import pytest

import refsolve
from refsolve import catalogue, declared, protocols
from refsolve.errors import InvalidParameterError, OracleUncertainError, Status, UnknownProblemError


def test_objects_are_the_files():
    for kind in catalogue.OPERATIONS:
        package = __import__(f"refsolve.{kind}", fromlist=["__file__"])
        files = {name for name in dir(package) if not name.startswith("_")}
        assert files == set(catalogue.object_names(kind))
        for object_name in files:
            assert getattr(package, object_name) is catalogue.load(object_name)
    assert len(set(catalogue.object_names())) == len(catalogue.object_names())


def test_problems_are_objects_times_operations():
    assert refsolve.list_problems() == refsolve.problems()
    assert "topk_simplex_alpha.projection" in refsolve.problems("sets")
    assert "multiclass_erm.dual" in refsolve.problems()
    expected = sum(
        len(catalogue.operations(s))
        for k in catalogue.OPERATIONS
        for s in catalogue.object_names(k)
    )
    assert len(refsolve.problems()) == expected


@pytest.mark.parametrize("object_name", catalogue.object_names())
def test_modules_have_every_member_of_their_protocol(object_name):
    module = catalogue.load(object_name)
    protocol = protocols.wanted(catalogue.kind(object_name), module)
    assert protocols.missing(protocol, module) == []
    if protocol is protocols.Loss:
        assert protocols.missing(protocols.Set, catalogue.load(module.dual_set)) == []
    assert (
        f"_{object_name}: protocols.{protocol.__name__} = {object_name}"
        in declared.program().splitlines()
    )


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
        (protocols.Model, "SPEC certificate canonicalize_primal canonicalize_dual"),
        (protocols.Primal, "SPEC certificate canonicalize_primal"),
        (protocols.Function, "SPEC objective refine"),
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


def test_only_objects_without_a_twin_are_flagged():
    specs = {
        object_name: catalogue.load(object_name).SPEC for object_name in catalogue.object_names()
    }
    flagged = {object_name: spec.erratum for object_name, spec in specs.items() if spec.erratum}
    assert flagged == {"topk_hinge_alpha_printed": "E1", "pointwise_risk": "E10"}
    assert {
        object_name for object_name, spec in specs.items() if spec.oracle_only or spec.reason
    } == set(flagged)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute"):
        _ = refsolve.sets.topk_con


def test_errors_survive_pickling_and_say_what_to_do():
    import pickle

    errors = [
        InvalidParameterError("k", 0, "k >= 1", "raise k"),
        UnknownProblemError("x", ["y"], "object_name"),
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
