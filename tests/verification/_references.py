"""Naive twins for the tests: no formula of the code under test."""

import dataclasses

import numpy as np
from _part import every

from verification import Candidate, Verdict, certificates, models, verify
from verification.instances import datasets
from verification.kit.loop import applicable
from verification.problems.problem import lookup
from verification.reference_solvers import solvers
from verification.verdicts import verify_model


def drawn(problem, count=1, seed=1, largest=12):
    """A few instances of every family."""
    object_name = problem.partition(".")[0]
    return [
        instance
        for family in models.load(object_name).families
        for instance in datasets.draw(problem, family, count, seed, largest=largest)
    ]


def judge(instance, **parts):
    """The verdict on these parts of an answer, of the side whose parts they are."""
    return judged(asked(instance, parts), parts)


def judged(instance, parts):
    """The verdict on these parts of an answer, of the side that the instance asks for."""
    return verify_model.judge(instance, Candidate(None, parts=dict(parts)))


def fails(judgement, *says):
    """The answer is judged wrong, for these reasons."""
    assert judgement.verdict is Verdict.FAIL
    for text in says:
        assert text in judgement.message


def tells(instance, right=(), wrong=()):
    """What is right passes as the answer, and what is wrong fails."""
    for x in right:
        assert certificates.judge(instance, Candidate(np.asarray(x))).ok, x
    for x in wrong:
        found = certificates.judge(instance, Candidate(np.asarray(x)))
        assert found.verdict is Verdict.FAIL, x


def asked(instance, parts):
    """The instance of the side whose parts are given; of the primal where both are."""
    sides = models.load(instance.object_name).parts
    side = next((s for s, names in sides.items() if set(names) & set(parts)), "primal")
    return dataclasses.replace(instance, problem=lookup(f"{instance.object_name}.{side}"))


#: The rankings have tests of their own; losses are in tests/losses, beside the same exact solutions.
SOUND = {name: solver for name, solver in solvers.SOLVERS.items() if lookup(name).kind != "losses"}


def passes_every_check(solver, problem, share, **options):
    """What kills a mutant is its defect: the algorithms that they are made from are right."""
    report = verify(solver, problem, every=every(share), **options).raise_if_failed()
    assert set(report.by_check()) == set(applicable(lookup(problem)))
    for check, counts in report.by_check().items():
        assert counts["pass"] > 0 or check == "batch"
    assert report.counts["inconclusive"] == 0
    if lookup(problem).kind == "models":  # these are as good as they promise, tol, not as floats
        return
    data = lookup(problem).data  # of long vectors, rounding grows with the length
    short = [r.distance for r in report.results if r.ok and r.instance[data].size <= 64]
    assert max(d for d in short if d is not None) < 1e-14
    assert report.worst_distance_ratio < 0.5
