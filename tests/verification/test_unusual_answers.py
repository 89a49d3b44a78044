"""Right answers in unusual clothes pass; wrong ones that only unusual inputs show do not."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from _references import fails

import fast
from verification import Verdict, verify
from verification.checks import batch, purity, trained, trained_purity
from verification.failures.shrink import _simpler_vectors, complexity
from verification.instances import datasets, families
from verification.instances.instance import literal
from verification.kit import loop as kit
from verification.kit.solver_call import Caller
from verification.models import binary_svm
from verification.models.multiclass_erm import TASK
from verification.problems.problem import lookup

PROBLEM = "simplex.projection"
project = fast.sets.simplex.project


def outcome(check, candidate, instance, **given):
    call = Caller(candidate, lookup(instance.problem), **given)
    return kit.run_one(check.__name__.rpartition(".")[2], check, call, instance)


@pytest.mark.parametrize("kind", [Fraction, Decimal, np.longdouble])
def test_exact_numbers_are_numbers(kind):
    def solve(a, r, rho):
        return [kind(v) for v in project(a, r, rho).tolist()]

    report = verify(solve, PROBLEM, checks=["lengths"], batch=False, shrink=False)
    assert report.ok


def test_an_intercept_may_be_an_array_of_one():
    instance = datasets.draw("binary_svm.primal", "random", 1, 0)[0]

    def fit(shape):
        def solve(X, y, C, bias, tol):
            found = binary_svm.TASK.train(X, y, C, bias, tol)
            return {"w": found["w"], "b": np.full(shape, float(found["b"]))}

        return outcome(trained, solve, instance).verdict

    assert fit((1,)) is Verdict.PASS
    assert fit((2,)) is fit((1, 1)) is Verdict.FAIL


def test_memory_is_not_read_without_strides():
    def reads_on(a, r, rho):
        behind = a if a.base is None or a.flags.c_contiguous else a.base.ravel()[: a.size]
        return project(behind, r, rho)

    def refuses(a, r, rho):
        if not a.flags.c_contiguous:
            raise TypeError("a must be C-contiguous")
        return project(a, r, rho)

    found = [i for i in purity.instances(lookup(PROBLEM), "quick", 0) if i["a"].size > 2]
    verdicts = {outcome(purity, reads_on, i).verdict for i in found}
    assert Verdict.FAIL in verdicts
    assert {outcome(purity, refuses, i).verdict for i in found} == {Verdict.PASS}


def test_what_is_wrong_anyway_is_no_matter_of_strides():
    def inexact(a, r, rho):
        return project(a, r, rho) * (1 + 1e-7 * a.flags.c_contiguous) + 1e-6

    found = purity.instances(lookup(PROBLEM), "quick", 0)
    assert {outcome(purity, inexact, i).verdict for i in found} == {Verdict.PASS}


def long_batch():
    return next(i for i in batch.instances(lookup(PROBLEM), "quick", 0) if i.family == batch.LONG)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x, a: x[0] if x.shape[0] == 1 else x, "batch of 1 row"),
        (lambda x, a: np.vstack([x[:32], 0 * x[32:] - 1]), f"row 32 of a batch of {batch.MANY}"),
        (lambda x, a: x if a.flags.c_contiguous else x - 1, "row 0"),
    ],
)
def test_batches_of_one_of_many_and_by_columns(wrong, said):
    def solve(a, r, rho):
        x = project(a, r, rho)
        return x if a.ndim == 1 else wrong(x, a)

    instance = long_batch()
    fails(outcome(batch, solve, instance, batch=True), said)
    assert outcome(batch, project, instance, batch=True).verdict is Verdict.PASS


def test_code_to_paste_has_the_order_of_the_array():
    by_columns = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    again = eval(literal(by_columns), {"np": np})
    assert again.flags.f_contiguous
    assert again.tolist() == by_columns.tolist()
    assert "order" not in literal(np.ones((2, 2)))


def test_matrices_may_come_by_columns():
    def fit(behind):
        def solve(X, y, C, loss, tol):
            return {"W": TASK.train(y, C, loss, behind(X), tol=tol)["W"]}

        call = Caller(solve, lookup("multiclass_erm.primal"))
        found = datasets.draw(
            "multiclass_erm.primal", "random", 9, 0, largest=9, fixed={"loss": "softmax"}
        )
        instance = next(i for i in found if min(i["X"].shape) > 1)
        return kit.run_one("trained_purity", trained_purity, call, instance)

    def refuses(X):
        if not X.flags.c_contiguous:
            raise TypeError("X must be C-contiguous")
        return X

    assert 'order="F"' in fit(lambda X: X.ravel(order="K").reshape(X.shape)).message
    assert fit(refuses).verdict is Verdict.PASS


def test_zeros_have_either_sign_and_shrink_to_the_plain_one():
    drawn = families.draw(PROBLEM, "adversarial", 400, seed=0)
    found = next(i for i in drawn if (np.signbit(i["a"]) & (i["a"] == 0)).any())
    first = next(iter(_simpler_vectors(found)))
    assert complexity(first) < complexity(found)
    assert not (np.signbit(first["a"]) & (first["a"] == 0)).any()
    assert np.array_equal(first["a"], found["a"])


def test_double_precision_only_is_skipped_and_counted():
    """A refusal in words is no wrong answer; another error, or one of every dtype, is a crash."""

    def doubles(a, r, rho):
        if a.dtype != np.float64:
            raise TypeError(f"expected float64, got {a.dtype}")
        return project(a, r, rho)

    def none(a, r, rho):
        raise TypeError(f"expected float16, got {a.dtype}")

    def fails(a, r, rho):
        if a.dtype != np.float64:
            raise ValueError("math domain error")
        return project(a, r, rho)

    report = verify(doubles, PROBLEM, checks=["single_precision", "certified_gap"])
    assert report.ok, report.summary()
    refused = [r for r in report.results if r.check == "single_precision"]
    assert {r.verdict for r in refused} == {Verdict.SKIPPED}
    assert "takes no float32 (TypeError: expected float64" in refused[0].message
    for wrong in (none, fails):
        found = verify(wrong, PROBLEM, checks=["single_precision"], shrink=False)
        assert found.counts["crash"] == found.checked
    alone = verify(doubles, PROBLEM, checks=["single_precision"], shrink=False)
    assert not alone.ok, "nothing was checked"
