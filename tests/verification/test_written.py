"""Ports written by hand: each is wrong where it says, and kinds that a set has shown to be missing are asked."""

import contextlib
from typing import Any

import numpy as np
import pytest

from verification import certificates, verify
from verification.instances import families
from verification.instances.instance import Instance
from verification.kit.loop import applicable
from verification.problems.problem import fast_candidate, lookup
from verification.selftest import written
from verification.selftest.written import right_only
from verification.verdicts.verdict import Candidate

THIRD = {port["name"]: port for port in written.ports("third")}
PORTS = {
    port["name"]: port
    for name in ("third", "fourth", "fifth", "sixth")
    for port in written.ports(name)
}
#: Checks that judge an answer by itself; every problem has one of them.
JUDGES = ("ground_truth", "fenchel_young", "conjugate", "trained")
#: Every call by itself is right.
LATER = ("beta_update_answers_in_one_buffer",)


def _parts(answer: Any) -> list[Any]:
    if isinstance(answer, dict):
        return list(answer.values())
    return list(answer) if isinstance(answer, tuple) else [answer]


def _copied(given: dict[str, Any]) -> dict[str, Any]:
    return {n: v.copy(order="K") if isinstance(v, np.ndarray) else v for n, v in given.items()}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", [n for n, port in PORTS.items() if "wrong_at" in port and n not in LATER]
)
def test_a_port_is_wrong_where_it_says(name):
    """Another answer, none, or other arguments than before; after earlier calls where it needs them."""
    port = PORTS[name]
    asked = eval(port["wrong_at"], {"np": np})
    *before, last = asked if isinstance(asked, list) else [asked]
    wrong, right = written.build(**port), written.build(port["of"])
    for each in before:
        wrong(**_copied(each))
    given = last if name == "strides_ignored" else _copied(last)
    got = None
    with contextlib.suppress(ValueError, ZeroDivisionError):
        got = wrong(**given)
    expected = right(**_copied(last))
    same = got is not None and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-10, atol=0)
        for a, b in zip(_parts(got), _parts(expected), strict=True)
    )
    kept = all(np.array_equal(given[n], v) for n, v in last.items() if isinstance(v, np.ndarray))
    assert not (same and kept)


def test_three_ports_are_wrong_in_later_calls():
    update = written.build(**PORTS["beta_update_answers_in_one_buffer"])
    first = update(np.array([0.0, 0.3]), 0, 1.0)
    kept = first.copy()
    update(np.array([0.0, -9.0]), 0, 1.0)
    assert (first != kept).all()
    prox = written.build(**THIRD["one_buffer_for_all_answers"])
    first = prox(np.array([5.0]))
    prox(np.array([-9.0]))
    assert first[0] == -9.0
    project, a = written.build(**THIRD["sort_kept_by_id"]), np.array([0.0, 1.0])
    project(a)
    a[0] = 9.0
    assert project(a)[0] == 1.0


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("full_within_1e-9", "extremes"),
        ("nearly_one_is_one", "extremes"),
        ("flattened", "batch"),
        ("number_becomes_a_row", "batch"),
        ("C_times_k_underflows", "extremes"),
        ("box_keeps_the_type_of_the_input", "purity"),
        ("bipartite_zero_if_a_side_is_negative", "certified_gap"),
        ("multilabel_hinge_update_zero_norm_any_margin", "extremes"),
        ("bipartite_stops_at_a_ten_millionth_of_the_radius", "extremes"),
    ],
)
def test_survivors_of_the_first_run_are_found(name, check):
    port = PORTS[name]
    problem = (written.PROBLEMS | written.MORE)[port["of"]]
    assert not verify(written.build(**port), problem, checks=[check], shrink=False).ok
    assert verify(written.build(port["of"]), problem, checks=[check], shrink=False).ok


@pytest.mark.parametrize("of", ["alpha_nested", "beta_breakpoints", "bipartite_bisect"])
def test_an_integer_radius_is_judged_as_any_other(of):
    problem, project = written.MORE[of], written.build(of)
    for instance in families.draw(problem, "random", 30, seed=0):
        whole = instance.with_params(r=2)
        assert certificates.judge(whole, Candidate(project(**whole.params))).ok
    assert verify(project, problem, checks=["distributions"], shrink=False).ok


@pytest.mark.parametrize(
    "problem", ["smooth_topk_hinge_alpha.sdca_update", "ova_hinge.value", "softmax.prox"]
)
def test_costs_of_zero_come_with_ordinary_scores(problem):
    """All of them and some of them: they are not the costs of the loss, which are taken where none are given."""
    drawn = [i for i in families.draw(problem, "random", 200, seed=0) if i["costs"] is not None]
    main = lookup(problem).data
    zeros = [np.count_nonzero(i["costs"] == 0) for i in drawn if i[main].any()]
    sizes = [i["costs"].size for i in drawn if i[main].any()]
    assert sum(z == n for z, n in zip(zeros, sizes, strict=True)) >= 3
    assert sum(1 < z < n for z, n in zip(zeros, sizes, strict=True)) >= 3


@pytest.mark.parametrize(
    ("x", "inside", "outside"),
    [
        ([2e-323, 0.0], True, True),
        ([1e-17, 3e-17], True, True),
        ([0.1 + 0.2, 0.3], True, False),
        ([0.25, 0.5], False, True),
    ],
)
def test_sums_of_both_sides_are_compared_in_their_own_size(x, inside, outside):
    """Sums that differ by all they are may be told apart, those that differ by rounding may not."""
    x = np.array(x)
    asked = Instance.of("multilabel_hinge.conjugate", "border", x=x, y=np.array([0, 1]), costs=None)
    verdicts = [certificates.judge(asked, Candidate(np.array(v))).ok for v in (-x[0], np.inf)]
    assert verdicts == [inside, outside]


def test_a_promise_is_relative_to_the_largest_number_also_where_entries_far_below_have_no_part():
    """Whoever divides by the largest number loses a radius beside 1e58: within a promise, not within rounding."""
    right = written.build("simplex_sort")

    def lost(a, r=1.0, rho=0.0):
        return right(a, r) * (abs(a).max() < 1e20)

    for options, ok in (({"accuracy": 1e-8}, True), ({}, False)):
        report = verify(
            lost, "simplex.projection", checks=["distributions"], shrink=False, **options
        )
        assert report.ok is ok


@pytest.mark.parametrize(
    ("bias", "ok"), [(1.0, True), (1.5, True), (1 - 1e-9, False), (0.0, False)]
)
def test_one_class_and_a_free_bias_have_the_optimum_0(bias, ok):
    """w = 0 and b = 1 make every hinge 0; a gap that is all rounding decides nothing, unless none is smaller."""

    def train(X, y, C):
        right = fast_candidate("binary_svm.primal")
        one = len(set(y)) == 1
        sign = 2.0 * y[0] - 1
        found = right(X=X, y=y, C=C, bias="free")
        return (np.zeros(X.shape[1]), sign * bias) if one else (found["w"], found["b"])

    report = verify(
        train, "binary_svm.primal", checks=["trained"], fixed={"bias": "free"}, shrink=False
    )
    assert (report.counts["inconclusive"], report.ok) == (0, ok)


@pytest.mark.parametrize("operation", ["value", "gradient", "prox", "sdca_update"])
def test_a_loss_that_only_the_oracle_has_is_decided(operation):
    """The loss as printed is the beta variant at k = 1 and 2, and at no other k."""
    same = fast_candidate(f"topk_hinge_beta.{operation}")
    for k in (1, 2, 3):
        name = f"topk_hinge_alpha_printed.{operation}"
        report = verify(same, name, checks=["ties", "shapes"], fixed={"k": k}, shrink=False)
        assert (report.counts["inconclusive"], report.ok) == (0, k < 3)


def test_without_an_exact_solution_shapes_decide_nothing_and_raise_nothing(monkeypatch):
    monkeypatch.setattr(certificates, "expected", lambda instance: None)
    right = fast_candidate("topk_hinge_beta.value")
    report = verify(right, "topk_hinge_beta.value", checks=["shapes"], fixed={"k": 5}, shrink=False)
    assert report.counts["inconclusive"] == len(report.results) > 0


@pytest.mark.parametrize(
    ("solver", "problem", "options"),
    [
        (of, problem, {"fixed": written.FIXED.get(of)})
        for of, problem in (written.PROBLEMS | written.MORE | written.LATEST).items()
        if of != "erm_sdca"  # 10 s: coordinate ascent in plain Python
    ]
    + [pytest.param(*port, id=port[0].__name__) for port in right_only.PORTS],
)
def test_a_right_port_passes(solver, problem, options):
    """By the exact solution where a check compares with it; skipped is what a port does not take, some options."""
    has = applicable(lookup(problem))
    check = next(name for name in JUDGES if name in has)
    every = 20 if check == "trained" else 10
    solver = written.build(solver) if isinstance(solver, str) else solver
    report = verify(solver, problem, checks=[check], every=every, shrink=False, **options)
    assert report.ok, report.summary()
    assert report.counts["pass"] >= 3
    assert report.counts["pass"] + report.counts["skipped"] == len(report.results)
