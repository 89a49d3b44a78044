"""Adapters: people keep their own signature, scaling and layout; what is wrong is said at once."""

import inspect

import numpy as np
import pytest

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


@pytest.fixture(autouse=True)
def _few_instances(monkeypatch):
    """A wrong conversion shows in nearly every instance."""
    for check in checks.discover().values():
        monkeypatch.setitem(check.COUNTS, "quick", max(6, check.COUNTS["quick"] // 8))


def passes(adapted, problem, only=FEW, **options):
    report = verify(adapted, problem, checks=only, shrink=False, **options)
    assert report.ok, report
    return report


def fails(adapted, problem, only=FEW, **options):
    report = verify(adapted, problem, checks=only, shrink=False, **options)
    assert report.failures, report
    return report


# -- order, names, constants ----------------------------------------------------------------------


def other_order(radius, vector):
    return simplex.project(vector, radius)


def other_names(v, s, eps):
    return simplex.project(v, s + 0 * eps)


def test_positional_order():
    passes(adapt(other_order, "simplex.projection", order=("r", "a")), "simplex.projection")
    fails(adapt(other_order, "simplex.projection", order=("a", "r")), "simplex.projection")


def test_other_names_and_constants():
    mine = adapt(other_names, "simplex.projection", rename={"s": "r"}, constants={"eps": 1e-9})
    assert list(inspect.signature(mine).parameters) == ["a", "r"]
    assert mine([3.0, 1.0]).tolist() == [1.0, 0.0]  # the default of r, and a list
    passes(mine, "simplex.projection")


def test_a_constant_may_come_before_the_data():
    def late(eps, v, r):
        return simplex.project(v, r)

    passes(adapt(late, "simplex.projection", constants={"eps": 0}), "simplex.projection")


def test_positional_only_parameters():
    def strict(v, r, /):
        return simplex.project(v, r)

    mine = adapt(strict, "simplex.projection", order=("a", "r"))
    assert mine(a=np.array([2.0, 0.0]), r=3.0).tolist() == [2.5, 0.5]
    assert adapt(strict, "simplex.projection")(np.array([2.0, 0.0]), 3.0).tolist() == [2.5, 0.5]


def test_ufuncs_and_builtins_do_not_say_what_they_take():
    from scipy.special import wrightomega

    passes(adapt(wrightomega, "lambert_w_exp.value"), "lambert_w_exp.value")
    with pytest.raises(CandidateSignatureError, match=r"give order=\(\.\.\.\)"):
        adapt(wrightomega, "lambert_w_exp.value", rename={"x": "t"})


def test_without_a_problem_the_functions_own_names_are_kept():
    mine = adapt(other_names, rename={"v": "a", "s": "r"}, constants={"eps": 0})
    assert list(inspect.signature(mine).parameters) == ["a", "r"]
    passes(mine, "simplex.projection")


def test_keyword_arguments_of_any_name():
    def loose(v, **rest):
        return simplex.project(v, rest["s"])

    passes(adapt(loose, "simplex.projection", rename={"v": "a", "s": "r"}), "simplex.projection")


# -- scaling ---------------------------------------------------------------------------------------


def update_with_lambda(q, y, k_ii, lam, n, costs=None, sample_weight=None):
    """An update in units of 1/n: blocks a_i/(C n)."""
    C = 1 / (lam * n)
    return softmax.sdca_update(q, y, k_ii, C, costs, sample_weight) * lam


def test_lambda_for_c_and_blocks_in_other_units():
    mine = adapt(
        update_with_lambda,
        "softmax.sdca_update",
        rename={"lam": "C"},
        constants={"n": 7},
        scale={"C": lambda C: 1 / (7 * C)},
        answer=lambda x, C: 7 * C * x,
    )
    passes(mine, "softmax.sdca_update")
    forgot = adapt(
        update_with_lambda, "softmax.sdca_update", rename={"lam": "C"}, constants={"n": 7}
    )
    fails(forgot, "softmax.sdca_update")


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


# -- the entry of the ground truth ------------------------------------------------------------------


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


@pytest.mark.parametrize("at", [0, 1, -1])
def test_vectors_with_an_entry_for_the_truth(at):
    mine = adapt(prox_of_all, "softmax.prox", truth="zero", truth_at=at)
    assert "y" not in inspect.signature(mine).parameters
    passes(mine, "softmax.prox")


def test_the_truth_balances_the_others():
    mine = adapt(conjugate_of_all, "softmax.conjugate", truth="balance", truth_at=1)
    passes(mine, "softmax.conjugate", only=("conjugate", "ties"))
    wrong = adapt(conjugate_of_all, "softmax.conjugate", truth="zero", truth_at=1)
    fails(wrong, "softmax.conjugate", only=("conjugate",))


def test_gradients_without_the_truth():
    passes(adapt(gradient_of_others, "softmax.gradient", truth="absent"), "softmax.gradient")
    single = adapt(gradient_of_others, "softmax.gradient", truth="absent")
    found = single(scores=np.array([0.0, 0.0, 0.0]), y=1)
    assert found == pytest.approx([1 / 3, -2 / 3, 1 / 3])


def test_entry_of_the_truth_in_rows():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert insert(rows, 1, "balance").tolist() == [[1.0, -3.0, 2.0], [3.0, -7.0, 4.0]]

    def values(scores, y):
        return np.stack([gradient_of_others(s, t) for s, t in zip(scores, y, strict=True)])

    mine = adapt(values, "softmax.gradient", truth="absent")
    found = mine(scores=np.zeros((2, 3)), y=np.array([0, 2]))
    assert found == pytest.approx(np.array([[-2, 1, 1], [1, 1, -2]]) / 3)


# -- labels, layouts, batches -----------------------------------------------------------------------


def test_labels_from_one():
    def hinge(scores, y, k):
        return topk_hinge_alpha.value(scores, np.asarray(y) - 1, k)

    passes(adapt(hinge, "topk_hinge_alpha.value", labels=1), "topk_hinge_alpha.value", ("ties",))
    fails(adapt(hinge, "topk_hinge_alpha.value"), "topk_hinge_alpha.value", ("ties",))


def test_labels_of_two_kinds():
    def project(a, y, r):
        assert set(y.tolist()) <= {-1, 1}
        return bipartite_simplex.project(a, (y + 1) // 2, r)

    mine = adapt(project, "bipartite_simplex.projection", labels=(-1, 1))
    passes(mine, "bipartite_simplex.projection")


def test_transposed_matrices():
    def train(X, y):
        assert X.shape == (2, 3)
        return {"W": X, "b": 0.0}

    mine = adapt(train, transpose=("X", "W"))
    assert mine(X=np.arange(6.0).reshape(3, 2), y=None)["W"].tolist() == [[0, 1], [2, 3], [4, 5]]


def only_batches(a, k, r):
    assert a.ndim == 2
    assert r.shape == (len(a),)
    return [topk_simplex_alpha.project(row, k, s).tolist() for row, s in zip(a, r, strict=True)]


def test_functions_of_batches_that_return_lists():
    name = "topk_simplex_alpha.projection"
    passes(adapt(only_batches, name, rows=("r",)), name, only=("ground_truth", "batch"))


def test_batches_of_losses():
    def values(scores, y, costs=None, sample_weight=None):
        assert scores.ndim == 2
        assert y.shape == (len(scores),)
        return ova_hinge.value(scores, y, costs, sample_weight)

    passes(adapt(values, "ova_hinge.value", rows=True), "ova_hinge.value", ("ties", "batch"))


def test_a_mean_over_the_rows_is_recognised():
    mine = adapt(lambda a: a.mean(), "simplex.projection", rows=True)
    report = fails(mine, "simplex.projection", only=("ties",))
    assert "average or sum over the rows" in report.failures[0].message


# -- precision, places of the answer ------------------------------------------------------------------


def test_single_precision_only():
    def project(a, r):
        if a.dtype != np.float32:
            raise TypeError("float32 only")
        return np.asarray(simplex.project(a.astype(float), r), dtype=np.float32)

    name = "simplex.projection"
    fails(project, name, only=("ground_truth",))
    report = passes(adapt(project, name, dtype="float32"), name, only=("ground_truth", "scales"))
    assert all(r.instance.has_dtype("float32") for r in report.results if r.verdict == "pass")


def test_precision_holds_in_a_process_of_its_own():
    def project(a, r):
        assert a.dtype == np.float32
        return np.asarray(simplex.project(a, np.float32(r)))

    mine = adapt(project, "simplex.projection", dtype="float32")
    passes(mine, "simplex.projection", isolate=True)


def test_what_single_precision_cannot_hold_is_not_posed():
    from verification.adapters.precision import posed
    from verification.instances.instance import Instance

    def given(a, r):
        return Instance.of("simplex.projection", a=np.array(a), r=r)

    assert posed(given([1.0, 0.1], 0.5), np.float32)["a"].tolist() == [1.0, float(np.float32(0.1))]
    assert posed(given([1.0], 1e-50), np.float32) is None
    assert posed(given([1e-60, 0.0], 1.0), np.float32) is None
    assert posed(given([1e60, 0.0], 1.0), np.float32) is None
    assert posed(given([0.0, 0.0], 0.0), np.float32)["r"] == 0.0


def test_single_precision_is_no_excuse_for_worse():
    def project(a, r):
        return np.asarray(simplex.project(a.astype(np.float16).astype(float), r), np.float32)

    name = "simplex.projection"
    fails(adapt(project, name, dtype=np.float32), name, only=("ground_truth",))


def in_place(a, r):
    a[:] = simplex.project(a, r)


def into_out(a, r, out):
    out[:] = simplex.project(a, r)


def test_functions_that_overwrite_an_argument_or_write_into_out():
    name = "simplex.projection"
    mine = adapt(in_place, name, overwrites="a")
    given = np.array([3.0, 1.0])
    assert mine(a=given, r=1.0).tolist() == [1.0, 0.0]
    assert given.tolist() == [3.0, 1.0]
    passes(mine, name, only=("purity", "ties"))
    passes(adapt(into_out, name, out="out"), name)


def test_everything_at_once():
    """Order, batches, labels from one, lambda for C, in units of C, into an argument."""

    def update(lam, labels, norms, margins, out):
        for i in range(len(margins)):
            C = 1 / lam
            out[i] = softmax.sdca_update(margins[i], labels[i] - 1, norms[i], C) / C

    mine = adapt(
        update,
        "softmax.sdca_update",
        order=("C", "y", "k_ii", "q"),
        out="out",
        rows=True,
        labels=1,
        scale={"C": "1/C"},
        answer=lambda x, C: C * x,
    )
    passes(mine, "softmax.sdca_update")


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
