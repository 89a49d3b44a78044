import itertools
import time

import numpy as np
import pytest

from fast.losses import topk_hinge_alpha
from verification import certificates, checks
from verification.checks import shapes as check
from verification.faulty_solvers import Mutant
from verification.instances import shapes
from verification.instances.shapes import Shape
from verification.kit.loop import run_one, verify
from verification.kit.solver_call import Caller
from verification.problems.problem import lookup, names
from verification.selftest import detection_matrix, ports

#: What the other tests have cut down.
FULL = {name: dict(getattr(check, name)) for name in ("ROWS", "LENGTHS", "VECTORS", "SWEPT")}
REST = {name: getattr(check, name) for name in ("DIVISIBLE", "FULL", "IN_ALL")}


@pytest.fixture(autouse=True, scope="module")
def _all_shapes():
    detection_matrix._drawn.cache_clear()  # few shapes, if another file of tests has been here
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (FULL | REST).items():
            patch.setattr(check, name, value)
        yield
    detection_matrix._drawn.cache_clear()


LAYOUTS = ("spread", "last", "middle", "first")


def drawn(problem, shape, most=9):
    task = lookup(problem)
    return shapes.short(task, np.random.default_rng(3), Shape(*shape), most)


TWINS = (
    "simplex.projection l1_ball.projection topk_cone.projection softmax.value softmax.prox lambert_w_exp.value "
    "topk_hinge_alpha.gradient smooth_topk_hinge_beta.sdca_update multilabel_entropy.value topk_hinge_beta.conjugate"
)


@pytest.mark.parametrize("problem", TWINS.split())
def test_rows_have_the_answer_that_exact_arithmetic_gives_them_alone(problem):
    """The naive twin: each row of a batch, and each layout of a vector, solved by itself."""
    for shape in ((5, 23, "1"), (0, 29, "half")):
        instance = drawn(problem, shape)
        for layout in (*LAYOUTS, "varied", "end"):
            made = shapes.laid(instance, layout)
            for i in range(len(made.allowed)):
                right = certificates.expected(shapes.row(instance, made, i))
                got = made.right[i] if shape[0] else made.right
                np.testing.assert_allclose(got, right, rtol=0, atol=made.allowed[i])


def test_every_set_has_an_entry_without_a_part():
    tasks = [lookup(n) for n in names("sets") if check.applies(lookup(n))]
    assert tasks
    assert all(shapes.absent(task) is not None for task in tasks)


def test_the_covering_array_covers_every_pair():
    factors = (range(4), "abc", (True, False), range(3))
    found = shapes.covering(factors, np.random.default_rng(0), lambda i, c, *_: (i, c) != (0, "a"))
    for (i, one), (j, other) in itertools.combinations(enumerate(factors), 2):
        pairs = {(x, y) for x in one for y in other}
        if (i, j) == (0, 1):
            pairs.remove((0, "a"))
        assert {(f[i], f[j]) for f in found} == pairs
    assert len(found) < 20  # of 66


def test_shapes_lie_around_powers_of_two():
    found = [Shape.of(i) for i in check.instances(lookup("topk_cone.projection"), "quick", 0)]
    assert max(s.rows for s in found) > 65_535
    assert max(s.length for s in found) > 2**17 - 2
    assert any(s.rows == s.length for s in found)
    assert {s.length % 64 for s in found} >= {0, 1, 3, 63}
    assert {s.rows % 64 for s in found if s.rows} >= {0, 1, 3, 63}
    assert len(found) <= check.COUNTS["quick"]


@pytest.mark.parametrize("profile", check.SWEPT)
@pytest.mark.parametrize(("problem", "share"), [("simplex.projection", 1), ("softmax.value", 2)])
def test_every_width_of_a_block_divides_a_length_and_half_of_them_leave_all_remainders(
    problem, share, profile
):
    found = check.instances(lookup(problem), profile, 0)
    every = [s for i in found if ".." in i.family for s in Shape.each(i)]
    top = check.SWEPT[profile] // share
    for sizes in ({s.length for s in every if not s.rows}, {s.rows for s in every if s.rows > 3}):
        assert all(any(n % w == 0 for n in sizes) for w in range(2, top + 1))
        assert all({n % w for n in sizes} == set(range(w)) for w in range(2, top // 2, 41))


@pytest.mark.parametrize("problem", TWINS.split())
def test_the_last_entry_of_a_range_counts(problem):
    """By exact arithmetic: without it the answer is another one."""
    task = lookup(problem)
    for each in [i for i in check.instances(task, "quick", 0) if i.family.startswith("x513..")]:
        made = shapes.laid(each, "end", Shape(0, 14))
        main = made.params[task.data].copy()
        main[-1] = shapes.absent(task) if main[-1] != shapes.absent(task) else 1.0
        other = certificates.expected(each.with_params(**{**made.params, task.data: main}))
        assert not np.allclose(other, made.right, 0, 1e6 * made.allowed)


def long_rows_forget_r(a, r=1.0):
    """The kernel for rows beyond shared memory has r = 1 built in."""
    return ports.simplex_by_sorting(a, r if a.shape[-1] <= 6144 else 1.0)


def radius_within_a_grid(a, r=1.0):
    """The radius of a row is read by its index in a grid of 128 rows."""
    each = np.ndim(r) and len(r) > 128
    return ports.simplex_by_sorting(a, r[np.arange(len(r)) % 128] if each else r)


def next_row_comes_early(a, r=1.0):
    """Tiles of 96 in two buffers: of full rows the last tile is that of the next row, beyond 40 rows."""
    a = np.array(a)
    if a.ndim == 2 and len(a) > 40 and a.shape[1] % 96 == 0:
        a[:-1, -96:] = a[1:, :96].copy()
    return ports.simplex_by_sorting(a, r)


def costs_in_constant_memory(scores, y, k=1, costs=None):
    """There is room for 1024 costs; those after them are 1."""
    costs = costs if scores.shape[-1] <= 1024 else None
    return topk_hinge_alpha.value(scores, y, k=k, costs=costs)


def ties_of_one_block(scores, y, k=1):
    """Of the ties with the k-th largest margin only those of one block of 256 fill up the k."""
    rows, at = np.atleast_2d(scores), np.atleast_1d(y)[:, None]
    margins = 1 + rows - np.take_along_axis(rows, at, 1)
    np.put_along_axis(margins, at, -np.inf, 1)
    least = -np.sort(-margins, 1)[:, k - 1 : k]
    blocks = np.add.reduceat(margins == least, np.arange(0, rows.shape[1], 256), axis=1)
    above = np.where(margins > least, margins, 0.0)
    ties = np.minimum(k - (above != 0).sum(1), blocks.max(1))
    found = np.maximum(0, above.sum(1) + ties * least[:, 0]) / k
    return found if scores.ndim == 2 else float(found[0])


BY_HAND = {
    "simplex.projection": (long_rows_forget_r, radius_within_a_grid, next_row_comes_early),
    "topk_hinge_alpha.value": (costs_in_constant_memory, ties_of_one_block),
}


@pytest.mark.parametrize(("problem", "port"), [(p, f) for p, fs in BY_HAND.items() for f in fs])
def test_ports_by_hand_of_kinds_that_are_not_generated_are_killed(problem, port):
    row = detection_matrix.row(Mutant(port.__name__, problem, "", port), checks=["shapes"])
    assert row.cells["shapes"]


def test_of_a_range_the_call_that_fails_is_printed():
    def wrong(a, r=1.0):
        x = ports.simplex_by_sorting(a, r)
        return x if a.shape[-1] % 601 else 0 * x

    report = verify(wrong, "simplex.projection", checks=["shapes"], shrink=False)
    printed = []
    assert "x601" in report.summary()
    exec(report.counterexample or "", {"wrong": wrong, "print": printed.append})
    assert len(printed) <= 2


def test_slow_candidates_are_spared_and_it_is_said(monkeypatch):
    monkeypatch.setitem(check.SWEPT, "quick", 32)

    def slow(a, r=1.0):
        for _ in range(len(a) ** 2 // 4):
            pass
        return ports.simplex_by_sorting(a, r)

    report = verify(slow, "simplex.projection", checks=["shapes"], batch=False)
    left = [r for r in report.results if "left out" in r.message]
    assert report.ok
    assert left
    assert "x131" in "".join(r.message for r in left)


def test_candidates_that_compile_each_size_are_spared_and_it_is_said(monkeypatch):
    monkeypatch.setattr(check, "COMPILING", 0.1)
    monkeypatch.setattr(check, "COMPILED", 0.005)
    seen = set()

    def compiles(a, r):
        if a.shape not in seen:
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
        seen.add(a.shape)
        return ports.simplex_by_sorting(a, r)

    report = verify(compiles, "simplex.projection", checks=["shapes"], batch=False, shrink=False)
    assert report.ok
    assert len(seen) < 40
    said = [reason for found in report.tally.reasons.values() for reason in found]
    assert "left out: each new size seems to be compiled, 0.1 s in all" in said


@pytest.mark.parametrize("name", ports.RIGHT)
def test_right_ports_pass(name):
    problem, candidate = ports.RIGHT[name]
    assert verify(candidate, problem, checks=["shapes", "batch", "scales"]).ok


@pytest.mark.parametrize("kind", ports.FAULTS)
def test_a_fault_is_one(kind):
    """One of the first few at least is killed."""
    numbers = [n for n in range(400) if ports.port(n, 2)[0] == kind][:5]
    checked = {"columns_order": ("batch",), "product_wraps": ("products",)}.get(kind, ("shapes",))
    found = (
        detection_matrix.row(ports.port(n, 2)[2], checks=checked, until_killed=True)
        for n in numbers
    )
    assert any(row.killed for row in found)


def test_what_a_run_says():
    found = ports.measured(3, seed=1, right=False)
    assert found["own"]["ports"] + found["held_out"]["ports"] == 3
    assert sum(row["ports"] for row in found["kinds"].values()) == 3
    killed = found["own"]["killed"] + found["held_out"]["killed"]
    assert killed + len(found["survivors"]) == 3


def test_wrong_shapes_and_nan_are_failures():
    task = lookup("simplex.projection")
    instance = next(i for i in check.instances(task, "quick", 0) if Shape.of(i).rows > 2)
    for wrong in (lambda a, r, rho: np.zeros(3), lambda a, r, rho: np.full(a.shape, np.nan)):
        call = Caller(wrong, task, batch=True)
        result = run_one("shapes", checks.discover()["shapes"], call, instance)
        assert result.verdict.is_bad


@pytest.mark.parametrize(
    "problem", ["box.projection", "multilabel_hinge.sdca_update", "squared_topk_hinge.value"]
)
def test_the_first_rows_of_the_largest_batch_are_the_smaller_ones(problem):
    many = drawn(problem, (40, 9))
    for name in ("33..40x9", "39..40x12"):
        instance = shapes.Instance(many.problem, name, many.items)
        for shape in Shape.each(instance)[:2]:
            found = shapes.laid(instance, "spread", shape)
            alone = shapes.laid(shapes.Instance(many.problem, str(shape), many.items), "spread")
            assert found.right.shape[0] == shape.rows
            for given, right in zip(found.params.values(), alone.params.values(), strict=True):
                assert np.array_equal(given, right) or given is right is None
            for own in ("right", "allowed", "size"):
                assert np.array_equal(getattr(found, own), getattr(alone, own))


@pytest.mark.parametrize(
    "problem", [*TWINS.split(), "multilabel_hinge.sdca_update", "box.projection"]
)
def test_the_last_entries_of_the_longest_call_are_the_shorter_ones(problem):
    for name in ("x23..28", "3x23..28"):
        short = drawn(problem, (int(name[0] == "3") * 3, 40))
        instance = shapes.Instance(short.problem, name, short.items)
        for shape in Shape.each(instance):
            found = shapes.laid(instance, "end", shape)
            alone = shapes.laid(shapes.Instance(short.problem, str(shape), short.items), "end")
            for given, right in zip(found.params.values(), alone.params.values(), strict=True):
                assert np.array_equal(given, right) or given is right is None
                assert type(given) is type(right)
            assert np.array_equal(found.right, alone.right)
            assert np.array_equal(found.size, alone.size)
            assert (found.allowed <= alone.allowed * (1 + 1e-12)).all()  # their quotient is rounded
            assert (found.allowed > 0.8 * alone.allowed).all()
