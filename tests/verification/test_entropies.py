"""The judges of the entropies: against closed forms, against all pieces, and by spoiling answers."""

import itertools
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from _part import every
from _references import tells
from scipy.special import logsumexp

from refsolve.generators.entropy import Entropy
from refsolve.proofs import curved as entropy
from verification import Instance, Verdict, certificates
from verification.certificates import core, entropy_points, truncated
from verification.instances import families
from verification.verdicts.verdict import Candidate

POINTS = [
    f"{object_name}.{operation}"
    for object_name in ("softmax", "topk_entropy_alpha", "topk_entropy_beta", "ova_logistic")
    for operation in ("gradient", "prox", "sdca_update")
] + [f"multilabel_entropy.{operation}" for operation in ("gradient", "prox", "sdca_update")]


def judge(instance, x, complement=None):
    return certificates.judge(instance, Candidate(np.asarray(x), complement=complement))


def problem(b, alpha=0, rho=0, k=1, object_name="topk_simplex_alpha", generator=None, target=()):
    params = (("r", 1),) if object_name in ("box", "simplex") else (("k", k), ("r", 1))
    exact = tuple(Fraction(v) for v in b)
    return entropy.Curved(
        generator or Entropy(), object_name, params, exact, Fraction(alpha), rho, 1.0, target
    )


def test_a_solution_that_is_none_is_refused(monkeypatch):
    canonicalized = problem([1.0, 0.2, -3.0], 1, 1, 2)
    found = entropy.solve(canonicalized)
    with entropy.precision(canonicalized):
        for i, factor in itertools.product(range(3), ["1.0000001", "0.5"]):
            x = list(found.x)
            x[i] *= Decimal(factor)
            off = entropy.backward_error(canonicalized, x, found.complement, found.theta, found.mu)
            assert off > Decimal("1e-8")
        wrong = [found.complement[0] * Decimal("1.0000001")]
        assert entropy.backward_error(canonicalized, found.x, wrong, found.theta, found.mu) > 1e-8
    solve = Entropy.solve
    monkeypatch.setattr(Entropy, "solve", lambda *a: (solve(*a)[0][::-1], *solve(*a)[1:]))
    with pytest.raises(entropy.UncertainError):
        entropy.solve(canonicalized)


def test_what_the_caps_leave_is_certified_relatively():
    """The last free entry fills its cap but for 1e-70, of which the entry after it gets its share."""
    canonicalized = problem([900.0, 500.0, 340.0], k=2, object_name="topk_simplex_beta")
    found = entropy.solve(canonicalized)
    with entropy.precision(canonicalized):
        ratio = (found.x[2] / found.x[1]).ln()
        assert abs(ratio + 160) < Decimal("1e-50")
        full = [*found.mu[:1], Decimal(1), found.mu[2]]
        assert entropy.backward_error(
            canonicalized, found.x, found.complement, found.theta, full
        ) > Decimal("1e-3")


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("family", ["random", "saturated"])
def test_spoiled_entries_fail_however_small_they_are(name, family):
    rng = np.random.default_rng(4)
    seen = 0
    for instance in families.draw(name, family, 30, seed=12)[:: every(2)]:
        right = certificates.expected(instance)
        assert judge(instance, right).ok
        if instance.get("sample_weight") == 0:
            continue
        x = right.copy()
        j = int(rng.integers(x.size))
        canonicalized = core.curved_core(instance)
        found = entropy_points.solution(canonicalized)
        if instance.operation == "prox":
            x[j] += 1e-9 * (1 + abs(x).max() + instance["t"])
        elif abs(right[j]) > 1e-290:
            relative = 1e-9 * found.size
            if relative > 0.5:
                continue
            target = float(core.mass(instance)) * ("multilabel" in name)
            x[j] += relative * (abs(x[j]) + target)  # p - t is known up to rounding of t
        if not np.array_equal(x, right):
            assert judge(instance, x).verdict is Verdict.FAIL, (instance.code(), x, right)
            seen += 1
    assert seen > 8 // every(2)


def test_complements_are_judged_relatively():
    instance = Instance.of(
        "softmax.gradient", scores=np.array([0.0, 690.0]), y=0, costs=None, sample_weight=None
    )
    x = certificates.expected(instance)
    assert x.tolist() == [-1.0, 1.0]
    right = math.exp(-690.0)
    assert judge(instance, x, right).ok
    for wrong in (0.0, right * (1 + 1e-9), 2.0**-53, 1.0):
        assert judge(instance, x, wrong).verdict is Verdict.FAIL


def test_values_are_judged_relatively_where_they_are_small():
    instance = Instance.of(
        "softmax.value", scores=np.array([40.0, 0.0, 1.0]), y=0, costs=None, sample_weight=None
    )
    right = math.log1p(math.exp(-40) + math.exp(-39))
    tells(instance, right=[right], wrong=[0.0, right * (1 + 1e-9)])


def test_conjugates():
    given = {"x": np.array([0.25, 0.5]), "k": 1, "costs": None}
    inside = Instance.of("topk_entropy_alpha.conjugate", **given)
    right = 2 * 0.25 * math.log(0.25) + 0.5 * math.log(0.5)
    tells(inside, right=[right], wrong=[right - 1e-9, math.inf])
    outside = inside.with_params(k=2)
    tells(outside, right=[math.inf], wrong=[right])
    # p = x + t sums to 1 up to rounding only: that is inside
    labels = Instance.of(
        "multilabel_entropy.conjugate", x=np.array([1 / 3, -1 / 3, 0.0]), y=np.array([0, 1, 1]),
        costs=None,
    )  # fmt: skip
    p = np.array([1 / 3, 1 / 6, 1 / 2])
    tells(labels, right=[float((p * np.log(p)).sum())], wrong=[math.inf])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_truncated_value_and_prox_against_all_pieces(k):
    rng = np.random.default_rng(k)
    for ties in (False, True):
        v = rng.choice([-1.0, 0.5, 2.0], size=4) if ties else rng.normal(size=4)
        pieces = [list(j) for j in itertools.combinations(range(4), 5 - k)]
        scores = np.insert(v, 2, 0.0)
        instance = Instance.of(
            "truncated_topk_entropy.value", scores=scores, y=2, k=k, costs=None, sample_weight=None
        )
        least = min(np.logaddexp(0, logsumexp(v[j])) for j in pieces)
        tells(instance, right=[least], wrong=[least + 1e-9])
        step = Instance.of("truncated_topk_entropy.prox", v=v, k=k, t=2.0, costs=None)
        found = []
        for j in pieces:
            piece = Instance.of("softmax.prox", v=v[j], t=2.0, costs=None)
            u = v.copy()
            u[j] = certificates.expected(piece)
            value = np.logaddexp(0, logsumexp(u[j])) + ((u - v) ** 2).sum() / 4
            found.append((value, u))
        best = min(value for value, _ in found)
        for value, u in found:
            assert judge(step, u).ok is bool(value <= best + 1e-12), (k, ties, u)
        assert judge(step, certificates.expected(step)).ok


def test_truncated_conjugate_and_gradient():
    zero = Instance.of("truncated_topk_entropy.conjugate", x=np.zeros(3), k=2, costs=None)
    tells(zero, right=[0.0], wrong=[math.inf])
    away = zero.with_params(x=np.array([0.1, 0.0, 0.0]))
    tells(away, right=[math.inf], wrong=[-0.3])
    tied = Instance.of(
        "truncated_topk_entropy.gradient", scores=np.array([0.0, 1.0, 1.0]), y=0, k=2, costs=None,
        sample_weight=None,
    )  # fmt: skip
    s = 1 / (1 + math.exp(-1))
    tells(tied, [[-s, 0.0, s], [-s, s, 0.0]], wrong=[[-s, s / 2, s / 2], [0.0, 0.0, 0.0]])
    assert truncated.reduced(tied, truncated.dropped(tied)).problem.name == "softmax.gradient"


def test_lambert_is_judged_by_its_promise():
    t = np.array([-800.0, -745.0, -2.0, 0.0, 3.0, 1e4])
    instance = Instance.of("lambert_w_exp.value", t=t)
    right = certificates.expected(instance)
    assert judge(instance, right).ok
    for i in range(2, 6):
        wrong = right.copy()
        wrong[i] *= 1 + 1e-14
        assert judge(instance, wrong).verdict is Verdict.FAIL
    tells(instance, wrong=[right[:2], np.full(6, np.nan)])


def test_an_uncertain_solution_passes_nothing(monkeypatch):
    instance = families.draw("softmax.gradient", "random", 1, seed=0)[0]
    right = certificates.expected(instance)

    def uncertain(core):
        raise entropy.UncertainError("no certificate")

    monkeypatch.setattr(entropy_points, "solution", uncertain)
    assert judge(instance, right).verdict is Verdict.INCONCLUSIVE
    assert certificates.certify(instance, Candidate(right)).verdict is Verdict.INCONCLUSIVE
    assert certificates.expected(instance) is None


def test_a_core_is_a_value():
    canonicalized = problem([1.0, 2.0])
    assert replace(canonicalized, alpha=Fraction(1)) != canonicalized == problem([1.0, 2.0])


def test_a_gap_is_judged_by_what_its_formula_resolves():
    """At s = 1e-305 the sums of the gap have an error of their own, at the solution too."""
    seen = 0
    for instance in families.draw("topk_entropy_alpha.gradient", "saturated", 60, 0):
        right = Candidate(certificates.expected(instance))
        for judgement in (
            certificates.judge(instance, right),
            certificates.certify(instance, right),
        ):
            assert judgement.ok
            assert judgement.gap <= judgement.gap_tolerance
        seen += abs(right.x).max() < 1e-300
    assert seen
