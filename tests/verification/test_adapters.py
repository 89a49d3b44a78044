"""Adapters: people keep their own signature, scaling and layout; what is wrong is said at once."""

import inspect

import numpy as np
import pytest
from scipy.special import wrightomega

from fast.losses import ova_hinge, softmax, topk_hinge_alpha
from fast.sets import bipartite_simplex, simplex, topk_simplex_alpha
from verification import (
    CandidateSignatureError,
    InvalidArgumentError,
    UnknownProblemError,
    adapt,
    checks,
    verify,
)
from verification.adapters import CONVENTIONS
from verification.adapters._steps import each
from verification.adapters.truth import insert

FEW = ("ground_truth", "ties")
SIMPLEX, PROX, UPDATE = "simplex.projection", "softmax.prox", "softmax.sdca_update"


@pytest.fixture(autouse=True)
def _few_instances(monkeypatch):
    """A wrong conversion shows in nearly every instance."""
    for check in checks.discover().values():
        monkeypatch.setitem(check.COUNTS, "quick", max(6, check.COUNTS["quick"] // 8))


# -- functions as people have them: their order, names, scaling, layout


def other_order(radius, vector):
    return simplex.project(vector, radius)


def other_names(v, s, eps):
    return simplex.project(v, s + 0 * eps)


def late(eps, v, r):
    return simplex.project(v, r)


def strict(v, r, /):
    return simplex.project(v, r)


def loose(v, **rest):
    return simplex.project(v, rest["s"])


def update_with_lambda(q, y, k_ii, lam, n, costs=None, sample_weight=None):
    """An update in units of 1/n: blocks a_i/(C n)."""
    return softmax.sdca_update(q, y, k_ii, 1 / (lam * n), costs, sample_weight) * lam


def prox_of_all(v, y, t, costs=None):
    """Prox in m entries, that of the truth 0."""
    rest = None if costs is None else np.delete(costs, y)
    return np.insert(softmax.prox(np.delete(v, y), t, rest), y, 0.0)


def conjugate_of_all(x, y, costs=None):
    """Conjugate as a function of the m scores: +inf unless the entries sum to 0."""
    slack = 8 * len(x) * np.finfo(x.dtype).eps * np.abs(x).sum()
    rest = None if costs is None else np.delete(costs, y)
    return softmax.conjugate(np.delete(x, y), rest) if abs(x.sum()) <= slack else np.inf


def gradient_of_others(scores, y, costs=None, sample_weight=None):
    return np.delete(softmax.gradient(scores, y, costs, sample_weight), y)


def hinge_from_one(scores, y, k):
    return topk_hinge_alpha.value(scores, np.asarray(y) - 1, k)


def of_two_kinds(a, y, r):
    assert set(y.tolist()) <= {-1, 1}
    return bipartite_simplex.project(a, (y + 1) // 2, r)


def only_batches(a, k, r):
    assert a.ndim == 2
    assert r.shape == (len(a),)
    return [topk_simplex_alpha.project(row, k, s).tolist() for row, s in zip(a, r, strict=True)]


def values_of_rows(scores, y, costs=None, sample_weight=None):
    assert scores.ndim == 2
    assert y.shape == (len(scores),)
    return ova_hinge.value(scores, y, costs, sample_weight)


def single_only(a, r):
    if a.dtype != np.float32:
        raise TypeError("float32 only")
    return np.asarray(simplex.project(a.astype(float), r), dtype=np.float32)


def half_precision(a, r):
    return np.asarray(simplex.project(a.astype(np.float16).astype(float), r), np.float32)


def in_place(a, r):
    a[:] = simplex.project(a, r)


def into_out(a, r, out):
    out[:] = simplex.project(a, r)


def everything(lam, labels, norms, margins, out):
    """Order, batches, labels from one, lambda for C, in units of C, into an argument."""
    for i in range(len(margins)):
        C = 1 / lam
        out[i] = softmax.sdca_update(margins[i], labels[i] - 1, norms[i], C) / C


LAMBDA = {"rename": {"lam": "C"}, "constants": {"n": 7}}
#: What passes with these options: problem, function, options, and checks.
PASSES = {
    "positional order": (SIMPLEX, other_order, {"order": ("r", "a")}, FEW),
    "names and constants": (SIMPLEX, other_names, {"rename": {"s": "r"}, "constants": {"eps": 1e-9}}, FEW),
    "a constant before the data": (SIMPLEX, late, {"constants": {"eps": 0}}, FEW),
    "a ufunc": ("lambert_w_exp.value", wrightomega, {}, FEW),
    "own names": (
        SIMPLEX, other_names, {"problem": None, "rename": {"v": "a", "s": "r"}, "constants": {"eps": 0}}, FEW,
    ),
    "keywords of any name": (SIMPLEX, loose, {"rename": {"v": "a", "s": "r"}}, FEW),
    "lambda for C, blocks in other units": (
        UPDATE, update_with_lambda,
        LAMBDA | {"scale": {"C": lambda C: 1 / (7 * C)}, "answer": lambda x, C: 7 * C * x}, FEW,
    ),
    **{
        f"truth of 0 at {at}": (PROX, prox_of_all, {"truth": "zero", "truth_at": at}, FEW)
        for at in (0, 1, -1)
    },
    "truth in balance": (
        "softmax.conjugate", conjugate_of_all, {"truth": "balance", "truth_at": 1}, ("conjugate", "ties"),
    ),
    "truth absent": ("softmax.gradient", gradient_of_others, {"truth": "absent"}, FEW),
    "labels from one": ("topk_hinge_alpha.value", hinge_from_one, {"labels": 1}, ("ties",)),
    "labels of two kinds": ("bipartite_simplex.projection", of_two_kinds, {"labels": (-1, 1)}, FEW),
    "batches that return lists": (
        "topk_simplex_alpha.projection", only_batches, {"rows": ("r",)}, ("ground_truth", "batch"),
    ),
    "batches of losses": ("ova_hinge.value", values_of_rows, {"rows": True}, ("ties", "batch")),
    "single precision": (SIMPLEX, single_only, {"dtype": "float32"}, ("ground_truth", "scales")),
    "overwrites an argument": (SIMPLEX, in_place, {"overwrites": "a"}, ("purity", "ties")),
    "writes into out": (SIMPLEX, into_out, {"out": "out"}, FEW),
    "everything at once": (
        UPDATE, everything,
        {"order": ("C", "y", "k_ii", "q"), "out": "out", "rows": True, "labels": 1,
         "scale": {"C": "1/C"}, "answer": lambda x, C: C * x}, FEW,
    ),
}  # fmt: skip
#: What fails, and a word of why.
FAILS = {
    "positional order": (SIMPLEX, other_order, {"order": ("a", "r")}, FEW, ""),
    "lambda as if it were C": (UPDATE, update_with_lambda, LAMBDA, FEW, ""),
    "a truth that is not 0": (
        "softmax.conjugate", conjugate_of_all, {"truth": "zero", "truth_at": 1}, ("conjugate",), "",
    ),
    "labels from one": ("topk_hinge_alpha.value", hinge_from_one, {}, ("ties",), ""),
    "a mean over the rows": (SIMPLEX, lambda a: a.mean(), {"rows": True}, ("ties",), "average or sum over the rows"),
    "single precision, unsaid": (SIMPLEX, single_only, {}, ("ground_truth",), "float32 only"),
    "single precision is no excuse for worse": (SIMPLEX, half_precision, {"dtype": np.float32}, ("ground_truth",), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_what_is_adapted_passes(name):
    problem, function, options, only = PASSES[name]
    adapted = adapt(function, **{"problem": problem, **options})
    report = verify(adapted, problem, checks=only, shrink=False, every=3)
    assert report.ok, report
    if "dtype" in options:
        assert all(r.instance.has_dtype("float32") for r in report.results if r.verdict == "pass")


@pytest.mark.parametrize("name", FAILS)
def test_what_is_adapted_wrongly_fails(name):
    problem, function, options, only, said = FAILS[name]
    report = verify(adapt(function, problem, **options), problem, checks=only, shrink=False)
    assert report.failures, report
    assert said in report.failures[0].message


def test_the_signature_is_the_problems_and_arguments_may_be_lists():
    mine = adapt(other_names, SIMPLEX, rename={"s": "r"}, constants={"eps": 1e-9})
    assert list(inspect.signature(mine).parameters) == ["a", "r"]
    assert mine([3.0, 1.0]).tolist() == [1.0, 0.0]  # the default of r, and a list
    mine = adapt(strict, SIMPLEX, order=("a", "r"))
    assert mine(a=np.array([2.0, 0.0]), r=3.0).tolist() == [2.5, 0.5]
    assert adapt(strict, SIMPLEX)(np.array([2.0, 0.0]), 3.0).tolist() == [2.5, 0.5]
    assert "y" not in inspect.signature(adapt(prox_of_all, PROX, truth="zero")).parameters
    with pytest.raises(CandidateSignatureError, match=r"give order=\(\.\.\.\)"):
        adapt(wrightomega, "lambert_w_exp.value", rename={"x": "t"})
    given = np.array([3.0, 1.0])
    assert adapt(in_place, SIMPLEX, overwrites="a")(a=given, r=1.0).tolist() == [1.0, 0.0]
    assert given.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", 3.0),
        ("C n", 12.0),
        ("2 C", 6.0),
        ("2 C n", 24.0),
        ("1/C", 1 / 3),
        ("1/(2 C)", 1 / 6),
        ("1/(C n)", 1 / 12),
        ("1/(2*C*n)", 1 / 24),
    ],
)
def test_conventions(name, value):
    given = adapt(lambda X, C: C, scale={"C": name})
    assert given(X=np.zeros((4, 2)), C=3.0) == pytest.approx(value, rel=1e-15)


def test_every_convention_is_a_multiple_of_the_same_objective():
    norm, losses, C, n = 0.7, 1.9, 3.0, 4
    for text, f in CONVENTIONS.values():
        names = {"C": C, "n": n}
        c = f(**{k: names[k] for k in inspect.signature(f).parameters})
        left, right = text.partition(",")[0].split(" + ")
        value = {"1/2": 0.5, "": 1.0, "lambda/2": c / 2, "lambda": c}[left.split("||")[0].strip()]
        factor = {"C": c, "(c/n)": c / n, "c": c, "": 1.0, "(1/n)": 1 / n}
        loss = factor[right.replace("sum L", "").strip()]
        ratio = (value * norm + loss * losses) / (norm / 2 + C * losses)
        assert ratio == pytest.approx(value / 0.5, rel=1e-14), text


def test_answers_by_part():
    def train(X, y, C):
        return {"W": X[:2] * C, "A": y + 0.0}

    mine = adapt(train, answer={"W": lambda W, C: W / C})
    found = mine(X=np.eye(3), y=np.arange(3), C=4.0)
    assert np.array_equal(found["W"], np.eye(3)[:2])
    assert found["A"].tolist() == [0, 1, 2]


def test_entry_of_the_truth_in_rows():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert insert(rows, 1, "balance").tolist() == [[1.0, -3.0, 2.0], [3.0, -7.0, 4.0]]

    def values(scores, y):
        return np.stack([gradient_of_others(s, t) for s, t in zip(scores, y, strict=True)])

    mine = adapt(values, "softmax.gradient", truth="absent")
    found = mine(scores=np.zeros((2, 3)), y=np.array([0, 2]))
    assert found == pytest.approx(np.array([[-2, 1, 1], [1, 1, -2]]) / 3)


def test_transposed_matrices():
    def train(X, y):
        assert X.shape == (2, 3)
        return {"W": X, "b": 0.0}

    mine = adapt(train, transpose=("X", "W"))
    assert mine(X=np.arange(6.0).reshape(3, 2), y=None)["W"].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_precision_holds_in_a_process_of_its_own():
    def project(a, r):
        assert a.dtype == np.float32
        return np.asarray(simplex.project(a, np.float32(r)))

    mine = adapt(project, SIMPLEX, dtype="float32")
    assert verify(mine, SIMPLEX, checks=FEW, shrink=False, isolate=True).ok


def test_what_single_precision_cannot_hold_is_not_posed():
    from verification.adapters.precision import canonicalized
    from verification.instances.instance import Instance

    def given(a, r):
        return canonicalized(Instance.of(SIMPLEX, a=np.array(a), r=r), np.float32)

    assert given([1.0, 0.1], 0.5)["a"].tolist() == [1.0, float(np.float32(0.1))]
    for a, r in (([1.0], 1e-50), ([1e-60, 0.0], 1.0), ([1e60, 0.0], 1.0)):
        assert given(a, r) is None
    assert given([0.0, 0.0], 0.0)["r"] == 0.0


# -- names, decorators, errors ----------------------------------------------------------------------

named = adapt(other_order, "simplex.projection", order=("r", "a"))


@adapt(problem="simplex.projection", order=("r", "a"))
def decorated(radius, vector):
    """Has a docstring."""
    return simplex.project(vector, radius)


def test_the_name_is_that_of_the_variable(monkeypatch):
    import sys

    # pytest's importlib mode files this module under a name of its own
    monkeypatch.setitem(sys.modules, named.__module__, sys.modules[other_order.__module__])
    assert named.__qualname__ == "named"
    assert decorated.__qualname__ == "decorated"
    assert decorated.__doc__ == "Has a docstring."
    assert verify(named, "simplex.projection", checks=["ties"]).candidate.endswith(".named")
    nameless = adapt(other_order, "simplex.projection", order=("r", "a"))
    assert nameless.__qualname__ == "adapt(other_order)"
    assert not hasattr(nameless, "no_such_thing")
    assert repr(nameless) == "<adapted other_order(a, r=1.0)>"


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"problem": "simplex.projections"}, UnknownProblemError, "simplex.projection"),
        ({"order": ("r", "x")}, InvalidArgumentError, "'x' not known; expected some of a, r"),
        ({"rename": {"vector": "v"}}, InvalidArgumentError, "rename: 'v' not known"),
        ({"rename": {"vec": "a"}}, CandidateSignatureError, "no parameter 'vec'; it has"),
        ({"constants": {"eps": 1}}, CandidateSignatureError, "no parameter 'eps'"),
        ({"out": "out"}, CandidateSignatureError, "no parameter 'out'"),
        ({"out": "out", "overwrites": "a"}, InvalidArgumentError, "give one of them"),
        ({}, CandidateSignatureError, "requires 'vector'|takes no"),
        ({"scale": {"r": "1/r"}}, InvalidArgumentError, "expected a function or one of"),
        ({"truth": "zero"}, InvalidArgumentError, "no entry of a ground truth"),
        ({"labels": (1, 2, 3)}, InvalidArgumentError, "expected the number of the first class"),
        ({"dtype": "int64"}, InvalidArgumentError, "a type of floats"),
        ({"dtype": "float33"}, InvalidArgumentError, "expected e.g. 'float32'"),
        ({"torch": "grad"}, InvalidArgumentError, "expected True or 'gradient'"),
        ({"problem": None, "rows": True}, InvalidArgumentError, "say which, e.g."),
        ({"problem": "multiclass_erm.primal", "rows": True}, InvalidArgumentError, "whole data"),
    ],
)
def test_errors_come_at_once(options, error, match):
    with pytest.raises(error, match=match):
        adapt(other_order, **{"problem": "simplex.projection", **options})


def test_errors_about_the_truth():
    with pytest.raises(InvalidArgumentError, match="expected one of zero, balance, absent"):
        adapt(prox_of_all, "softmax.prox", truth="one")
    with pytest.raises(InvalidArgumentError, match="hold no ground truth already"):
        adapt(prox_of_all, "softmax.prox", truth="absent")
    with pytest.raises(CandidateSignatureError, match="expected a callable"):
        adapt(3, "softmax.prox")


def test_a_formula_that_asks_for_what_there_is_not():
    mine = adapt(other_order, "simplex.projection", order=("r", "a"), scale={"r": lambda z: z})
    with pytest.raises(CandidateSignatureError, match="asks for z; there are"):
        mine(a=np.ones(2), r=1.0)


def test_parts_of_an_answer_keep_their_form():
    assert each((1, 2), lambda name, v: (name, v), ("w", "b")) == (("w", 1), ("b", 2))
    assert each({"w": 1, "n": None}, lambda name, v: (name, v)) == {"w": ("w", 1), "n": None}
    assert each(3, lambda name, v: (name, v), ("w",)) == ("w", 3)
