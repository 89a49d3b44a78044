"""Answers that no sound solver returns: none passes, and none stops the kit."""

import numpy as np
import pytest
from _references import fails, judged

from verification import Verdict, checks, models, verify
from verification.checks import batch
from verification.failures.shrink import shrink
from verification.instances import datasets
from verification.kit import loop as kit
from verification.kit.solver_call import Caller
from verification.problems.problem import lookup
from verification.reference_solvers import projections
from verification.verdicts import verify_model
from verification.verdicts.verdict import Judgement, Result


def first(object_name, family=None):
    """An instance, and what a certified witness returns."""
    family = family or next(iter(models.load(object_name).families))
    instance = datasets.draw(f"{object_name}.primal", family, 1, 1, largest=10)[0]
    known = verify_model.witness(instance)
    return instance, {n: np.asarray(v) for n, v in {**known.primal, **known.dual}.items()}


@pytest.mark.parametrize("size", [1e160, -1e300])
@pytest.mark.parametrize("object_name", models.object_names())
def test_an_infinite_gap_is_not_within_tol_of_itself(object_name, size):
    instance, right = first(object_name)
    part = models.load(object_name).parts["primal"][0]
    assert judged(instance, right).verdict is Verdict.PASS
    found = judged(instance, right | {part: np.full_like(right[part], size)})
    assert found.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE)
    assert found.verdict is Verdict.FAIL or object_name == "pointwise_risk"
    assert found.message


@pytest.mark.parametrize("part", ["w", "v"])
def test_weights_of_a_gram_matrix_overflow_too(part):
    """The sums are in extended precision, which holds what a float does not."""
    instance, right = first("svm_plus_hinge", "collapse")
    found = judged(instance, {**right, part: np.full_like(right[part], 1e200)})
    assert found.verdict is Verdict.FAIL
    assert ("no float holds its gap: " + part if part == "v" else "xi_i") in found.message


def test_a_large_answer_does_not_excuse_itself_by_its_own_rounding():
    for loss in ("multiclass_hinge", "topk_entropy_beta"):
        drawn = datasets.draw("pointwise_risk.primal", "random", 40, 0)
        instance = next(i for i in drawn if i["loss"] == loss)
        known = verify_model.witness(instance)
        assert judged(instance, dict(known.primal)).ok
        found = judged(instance, {"g": np.full_like(known.primal["g"], 1e17)})
        assert not found.ok


def test_a_huge_w_does_not_hide_that_it_misses_margins():
    instance, right = first("ap_svm_appx", "separable")
    for parts in (right, {"w": right["w"]}):
        found = judged(instance, {**parts, "w": np.full_like(right["w"], 1e17)})
        assert not found.ok


@pytest.mark.parametrize("object_name", ["ap_ramp", "latent_ap_svm"])
def test_the_last_step_of_a_descent_is_repaired_within_tol_only(object_name):
    """Scaled back to the sum C, doubled weights would be the right ones."""
    instance, right = first(object_name)
    assert right["weights"].sum() > 0.6 * instance["C"]
    doubled = right | {"weights": 2 * right["weights"]}
    fails(judged(instance, doubled), "sum of the weights <= C is violated")


def test_a_huge_objective_does_not_excuse_the_later_ones():
    instance, right = first("ap_ramp")
    path = right["objectives"]
    for lies in ([1e20, 5 * path[-1]], [1e20, path[-1], 2 * path[-1], path[-1]]):
        assert judged(instance, right | {"objectives": np.array(lies)}).verdict is Verdict.FAIL


class Raises:
    """Every way of reading it raises."""

    def __array__(self, *_args, **_kwargs):
        raise RuntimeError("no array")

    @property
    def x(self):
        raise RuntimeError("no x")

    def __repr__(self):
        raise RuntimeError("no repr")


class Unnamed(Exception):
    """An error without a text."""

    def __str__(self):
        raise RuntimeError("no text")


class WithDual:
    """An answer with a dual point."""

    def __init__(self, x, dual):
        self.x, self.dual = x, dual


def unreadable(a):
    """Answers that are none."""
    masked = np.ma.masked_array(np.ones_like(a), mask=True)
    return [
        Raises(),
        {"W": Raises()},
        [Raises()],
        [[1.0], [1.0, 2.0]],
        masked,
        a + 1j,
        a.astype(object),
    ]


def outcomes(problem, returned, names=None):
    """Verdicts of every check on its first instance."""
    for name, check in checks.discover().items():
        if not check.applies(lookup(problem)) or (names and name not in names):
            continue
        instance = check.instances(lookup(problem), "quick", 0)[0]
        call = Caller(lambda *_args, **_named: returned, lookup(problem), batch=True)
        yield kit.run_one(name, check, call, instance)


@pytest.mark.parametrize(
    "problem", ["simplex.projection", "softmax.value", "multiclass_erm.primal"]
)
def test_what_cannot_be_read_is_a_crash_of_the_candidate(problem):
    for returned in unreadable(np.ones(3)):
        for result in outcomes(problem, returned):
            assert result.verdict is Verdict.CRASH, (result.check, returned)


def test_an_error_without_a_text_is_a_crash():
    def solver(a):
        raise Unnamed

    report = verify(solver, "simplex.projection", checks=["certified_gap"], shrink=False)
    assert report.counts["crash"] > 0
    assert any("Unnamed" in r.message for r in report.results)


@pytest.mark.parametrize(
    "dual", ["text", [[1.0], [1.0, 2.0]], Raises(), np.full(3, 1e300), [np.nan]]
)
def test_a_dual_point_that_is_none_is_no_use(dual):
    answer, names = WithDual(np.full(3, 7.0), dual), ["certified_gap", "ties", "agreement"]
    results = list(outcomes("topk_simplex_beta.projection", answer, names))
    assert [r.verdict for r in results] == [Verdict.FAIL] * 3


@pytest.mark.parametrize("number", [np.nan, [], [1.0, 2.0]])
def test_agreement_is_not_that_of_nan(number):
    for problem in ("topk_hinge_alpha.value", "softmax.conjugate", "lambert_w_exp.value"):
        (result,) = outcomes(problem, np.asarray(number), ["agreement"])
        assert result.verdict is Verdict.FAIL


def test_agreement_is_not_that_of_overflow():
    """The allowance for the rounding of an answer does not grow with what was returned."""
    for problem in ("topk_simplex_beta.projection", "softmax.gradient", "softmax.prox"):
        instance = checks.discover()["agreement"].instances(lookup(problem), "quick", 0)[0]
        huge = np.full_like(instance[lookup(problem).data], 1e300)
        (result,) = outcomes(problem, huge, ["agreement"])
        assert result.verdict is Verdict.FAIL


def test_extended_precision_is_rounded_to_doubles():
    def solver(a, k, r, rho):
        return projections.beta(a, k, r, rho).astype(np.longdouble)

    report = verify(solver, "topk_simplex_beta.projection", checks=["ties", "certified_gap"])
    report.raise_if_failed()


def test_who_drops_repeated_entries_claims_no_batches():
    """Two equal rows look like one to it; that is no claim to take batches."""

    def simplex(a, r):
        u, count = np.unique(a, return_counts=True)
        u, count = u[::-1], count[::-1]
        sums, many = np.cumsum(u * count), np.cumsum(count)
        rest = (sums - r) / many
        above = np.flatnonzero(u > rest)
        t = max(0.0, rest[above[-1]]) if len(above) else 0.0
        return np.maximum(a - t, 0)

    call = Caller(simplex, lookup("simplex.projection"))
    assert not batch.takes_batches(call)
    report = verify(simplex, "simplex.projection", checks=["batch"], shrink=False)
    assert report.counts["skipped"] == len(report.results)
    assert batch.takes_batches(Caller(kit.fast_candidate("simplex.projection"), call.problem))


def test_a_side_that_was_begun_is_not_dropped_silently():
    """Without beta nothing of alpha would be judged, and W alone would pass."""
    drawn = datasets.draw("svm_plus_hinge.primal", "random", 20, 0)
    instance = next(i for i in drawn if i["nonneg_slack"])
    known = verify_model.witness(instance)
    alpha = np.full_like(known.dual["alpha"], 7.0)
    assert judged(instance, dict(known.primal)).ok
    parts = {**known.primal, "alpha": alpha}
    fails(judged(instance, parts), "expected alpha, beta for the dual side")


@pytest.mark.parametrize(
    ("message", "kept"), [("shape (1,), expected (2,)", True), ("not finite: [nan]", False)]
)
def test_shrinking_keeps_the_kind_of_failure(message, kept):
    instance = checks.discover()["ties"].instances(lookup("simplex.projection"), "quick", 0)[7]

    def result(instance, text, terms):
        judgement = Judgement(Verdict.FAIL, message=text, terms=terms)
        return Result.of("ties", instance, judgement)

    first_one = result(instance, "shape (2,), expected (3,)", {})
    smallest = shrink(first_one, lambda i: result(i, message, {}))
    assert (smallest is not first_one) == kept
    figures = shrink(first_one, lambda i: result(i, "distance 3", {"distance": (3.0, 0.0)}))
    assert figures is first_one


@pytest.mark.parametrize(
    ("object_name", "part", "changes"),
    [
        ("binary_svm", "w", lambda p: {"X": 1e6 * p["X"], "bias": False}),
        ("svm", "alpha", lambda p: {"C": 1e13, "loss": "hinge"}),
        ("svm_plus_squared_hinge", "rho", lambda p: {"C": 1e13}),
    ],
)
def test_rounding_above_tol_is_no_pass(object_name, part, changes):
    """At such scales a bound on rounding exceeds the objective, and would excuse anything."""
    drawn = datasets.draw(
        f"{object_name}.primal", next(iter(models.load(object_name).families)), 4, 7, largest=8
    )
    for given in drawn:
        instance = given.with_params(**changes(given.params))
        known = verify_model.witness(instance)
        for factor in (1.1, 2.0):
            parts = {**known.primal, **known.dual}
            found = judged(instance, parts | {part: factor * np.asarray(parts[part])})
            assert not found.ok or found.gap <= 2 * instance["tol"]
