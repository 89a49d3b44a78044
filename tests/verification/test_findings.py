"""What long vectors, earlier calls, other threads and the floating point state show of a solver."""

import functools
import time

import numpy as np
import pytest

from verification import checks, verify
from verification.certificates import certify, extended, text
from verification.external import wire
from verification.external.serve import Server
from verification.faulty_solvers import memory
from verification.kit.signatures import full_name
from verification.kit.solver_call import Caller
from verification.problems.problem import fast_candidate, lookup
from verification.selftest import stopped, written
from verification.verdicts.verdict import Candidate

SIMPLEX = "simplex.projection"
RIGHT = written.build("simplex_sort")


def failed(candidate, check, problem=SIMPLEX, **options):
    report = verify(candidate, problem, checks=[check], **options)
    return report if not report.ok else None


@pytest.mark.parametrize("kind", sorted(stopped.KINDS))
def test_what_stops_too_early_is_wrong_on_the_fixed_regime_and_is_found(kind):
    make, problem, fixed, *_ = stopped.KINDS[kind]
    limit = {"newton": 4.0, "bisection": 18.0}.get(kind, 6.0)
    assert stopped.worst(problem, make(limit, 0.0)) > stopped.WRONG[problem]
    check = "trained" if problem == "binary_svm.primal" else "distributions"
    assert failed(make(limit, 0.0), check, problem, fixed=fixed, shrink=False)


@pytest.mark.parametrize(
    "name",
    [SIMPLEX, "topk_cone.projection", "softmax.prox", "topk_hinge_beta.value", "ova_logistic.gradient",
     "sparsemax.sdca_update", "softmax.conjugate", "squared_topk_hinge.sdca_update",
     "multilabel_smooth_hinge.gradient", "topk_hinge_alpha.prox", "topk_entropy_alpha.sdca_update"],
)  # fmt: skip
def test_what_extended_precision_proves_is_right(name):
    """It never passes what exact arithmetic refuses: answers off by more and more."""
    problem = lookup(name)
    call, proven, refused = Caller(fast_candidate(name), problem), 0, 0
    instances = checks.discover()["distributions"].instances(problem, "quick", 3)
    for instance in [i for i in instances if i[problem.data].size < 100][::2]:
        answer = np.asarray(call(instance).x, dtype=float)
        for off in (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-6):
            moved = np.asarray(answer * (1 + off * (-1.0) ** np.arange(answer.size)))
            moved = moved.reshape(answer.shape)
            judged = extended.proven(instance, moved)
            if judged is None and refused > 5:
                continue
            exact = certify(instance, Candidate(moved)).ok
            assert exact or judged is None
            proven, refused = proven + (judged is not None), refused + (not exact)
    assert proven > 2
    assert refused > 5


def rounded_key(a, r=1.0, table={}):  # noqa: B006
    key = np.round(a, 6).tobytes(), r
    if key not in table:
        table[key] = RIGHT(a, r)
    return table[key].copy()


def test_a_table_under_a_rounded_key_is_found_and_the_calls_are_shown():
    report = failed(rounded_key, "history")
    assert "for step in (0.0, " in report.counterexample
    lines = [x for x in report.counterexample.splitlines() if not x.startswith(("from", "# "))]
    printed = []
    exec(
        "\n".join(lines),
        {"rounded_key": functools.partial(rounded_key, table={}), "print": printed.append},
    )
    assert any(np.array_equal(printed[0], x) for x in printed[1:])


def test_many_calls_are_asked_for_though_some_take_long():
    """As a garbage collector does, or a kernel that is compiled: the fastest of the first ones counts."""
    calls = 0

    def project(a, r=1.0):
        nonlocal calls
        calls += 1
        start = time.process_time()
        while calls < 60 and calls % 3 and time.process_time() < start + 0.02:
            pass
        return np.clip(a, 0, r)

    report = verify(project, "box.projection", checks=["history"], shrink=False)
    assert report.counts["pass"] == len(report.results)


def test_float32_answers_are_said_once_and_judged_as_such():
    def single(a, r=1.0):
        return RIGHT(a.astype(np.float32), np.float32(r)).astype(np.float32)

    report = verify(single, SIMPLEX, checks=["certified_gap"], shrink=False)
    assert report.counts["fail"] == 1
    assert "--dtype float32" in report.failures[0].message
    others = {reason for said in report.tally.reasons.values() for reason in said if "float32" in reason}
    assert len(others) == 1  # in the same words each time
    for isolate in (False, True):
        assert verify(single, SIMPLEX, checks=["certified_gap"], dtype="float32", isolate=isolate).ok


def test_flushed_subnormals_are_one_finding():
    least = np.finfo(float).tiny

    def flushes(a, r=1.0):
        x = RIGHT(np.where(abs(a) < least, 0.0, a), 0.0 if r < least else r)
        return np.where(x < least, 0.0, x)

    report = verify(flushes, SIMPLEX, shrink=False)
    assert report.counts["fail"] <= 1
    assert all("subnormal numbers count as zero" in f.message for f in report.failures)


def test_who_answers_with_subnormal_numbers_is_not_said_to_flush_them():
    def sloppy(a, r=1.0):
        x = RIGHT(a, r)
        return np.where((x > 0) & (x < 1e-315), 3 * x, x)

    report = verify(sloppy, SIMPLEX, checks=["extremes"], shrink=False)
    assert report.failures
    assert not any("count as zero" in f.message for f in report.failures)


def test_a_radius_per_row_need_not_be_taken():
    assert verify(
        lambda a, r=1.0: np.clip(a, 0, r), "box.projection", checks=["batch", "shapes"]
    ).ok


def test_what_takes_nothing_by_name_is_called_by_position():
    gradient = written.build("softmax_gradient")

    def loss(scores, y, costs=None, sample_weight=None):
        return 0.0

    @functools.wraps(loss)
    def positional(*args, **named):
        if named:
            raise TypeError("differentiates by the first argument, of which there is none")
        return gradient(*args)

    globals()["loss"] = loss
    loss.__qualname__ = positional.__qualname__ = "loss"
    report = verify(positional, "softmax.gradient", checks=["ties"])
    assert report.ok
    request = {"params": {"y": 0, "costs": None, "sample_weight": None}, "arrays": {"scores": wire.array(np.zeros(2))}}
    answer = Server(positional, lookup("softmax.gradient")).answer(request)  # in a process of its own
    assert wire.decode(answer["x"], "x").tolist() == [-0.5, 0.5]
    assert report.candidate.endswith("<wrapper of loss>")
    assert report.settings["solver"] == ""
    globals()["slope"] = positional
    assert full_name(positional) == (__name__, "slope")


def test_every_port_that_is_written_is_one_and_the_right_ones_pass():
    for name in ("first", "second"):
        assert all(callable(written.build(**port)) for port in written.ports(name))
    for of in ("simplex_newton", "topk_beta", "softmax_value"):
        report = written.run({"of": of}, "quick", checks=["distributions", "history", "ties"])
        report.raise_if_failed()


@pytest.mark.parametrize(
    ("defect", "problem", "shown"),
    [
        (memory.sorts_in_place, "topk_simplex_alpha.projection", "False: the input was changed"),
        (memory.returns_the_input, "topk_simplex_alpha.projection", "False: the answer is a view"),
        (memory.reuses_buffer, "topk_cone.projection", "False: a later call overwrote the answer"),
        (memory.ap_reuses_counts, "average_precision.loss_augmented_inference", "a later call"),
    ],
)
def test_a_script_shows_the_aliasing_when_it_is_run(defect, problem, shown, capsys):
    code = failed(defect, "purity", problem).counterexample
    exec(code, {})
    printed = capsys.readouterr().out.splitlines()
    said = [line for line in code.splitlines() if line.startswith("print(")]
    (place,) = (i for i, line in enumerate(said) if shown in line)
    if "False" in shown:
        assert printed[place] == "False"
        assert printed.count("False") == 1
    else:  # (value, counts, coefficients) twice
        half = len(printed[place]) // 2
        assert printed[place][:half] != printed[place][half + 1 :]


def sorts_in_place_floats_only(a, r=1.0):
    if a.dtype.kind != "f":
        raise TypeError("no integers")
    a.sort()
    return RIGHT(a, r)


def test_the_script_of_who_refuses_integers_runs_to_its_end(capsys):
    code = failed(sorts_in_place_floats_only, "purity").counterexample
    exec(code, {"sorts_in_place_floats_only": sorts_in_place_floats_only})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "False"  # the input was changed
    assert printed[-2] == "refused, which is no fault: no integers"
    assert printed[-1].startswith("[")


def strict(problem):
    """A conjugate that is +inf wherever the numbers given, in doubles, miss the equations of the domain."""
    right = fast_candidate(problem)

    def conjugate(x, y, costs=None):
        x = x.astype(float)
        sides = x.sum() if "entropy" in problem else x[y == 1].sum() - x[y == 0].sum()
        return np.inf if abs(sides) > 1e-12 else right(x, y, costs=costs)

    return conjugate


@pytest.mark.parametrize("problem", ["multilabel_hinge.conjugate", "multilabel_entropy.conjugate"])
def test_single_precision_may_put_a_point_outside_of_a_domain_of_equations(problem):
    """Whoever says so is right; and of points that float32 holds exactly nobody is."""
    right = strict(problem)
    assert failed(right, "single_precision", problem) is None

    def single(x, y, costs=None):
        return np.inf if x.dtype == np.float32 else right(x, y, costs=costs)

    report = failed(single, "single_precision", problem)
    messages = [f.message for f in report.failures]
    assert all("the point lies in the domain: " in m for m in messages)
    for failure, message in zip(report.failures, messages, strict=True):
        x, right = (np.asarray(failure.instance[name], dtype=float) for name in ("x", "y"))
        room = min(x + right / right.sum()) if "entropy" in problem else min(*x, 1 - right @ x)
        assert f"{room:.3g} inside the nearest inequality" in message


def test_messages_name_the_entry_of_a_long_array_that_was_changed():
    before = np.arange(100.0)
    after = np.where(before == 70, -1.0, before)
    assert text.change(before, after) == "70.0 to -1.0 at [70]"
    assert text.change(before[:2], after[:2] + 1) == "[0.0, 1.0] to [1.0, 2.0]"


def wrong_if_long(a, r=1.0):
    return RIGHT(a, r) * (1.01 if a.size > 500 else 1.0)


def test_a_script_draws_a_long_vector_again(capsys):
    code = failed(wrong_if_long, "distributions").counterexample
    assert len(code) < 4000
    names = {"wrong_if_long": wrong_if_long}
    exec(code.replace("from test_findings import wrong_if_long", ""), names)
    instance = names["instance"]
    assert instance["a"].size > 500
    answer = Candidate(wrong_if_long(instance["a"], instance["r"]))
    assert not certify(instance, answer).ok
    assert capsys.readouterr().out
