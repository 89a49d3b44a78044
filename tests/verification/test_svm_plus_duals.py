"""The dual with the deformed kernel: four solvers, each judged alone; and Q in exact arithmetic."""

import numpy as np
import pytest
from _svm_plus_exact import deformed, exact

from fast.errors import InvalidParameterError
from fast.models.svm_plus_squared_hinge import train_kernel
from fast.svm_plus.deformed_kernel import deformed_kernel
from refsolve.models import svm_plus_squared_hinge as oracle
from verification.instances import svm_plus as svm_plus_instances
from verification.instances.instance import Instance
from verification.trainers import svm_plus_duals as duals
from verification.verdicts.verdict import Verdict

INSTANCES = svm_plus_instances.instances("quick", 0)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: i.family)
def test_every_solver_passes(instance):
    found = duals.examine(instance)
    assert list(found) == ["production", "SMO", "LIBSVM", "oracle"]
    for name, judgement in found.items():
        stiff = instance["C"] >= duals.STIFF * instance["lam"] and name in ("SMO", "LIBSVM")
        allowed = {Verdict.PASS, Verdict.EXPECTED_FAILURE} if stiff else {Verdict.PASS}
        assert judgement.verdict in allowed, f"{name}: {judgement.message}"


# -- what is judged, and how ------------------------------------------------------------------


def wrong_box(given):
    """LIBSVM with box = C."""
    return duals.by_libsvm(given, given["C"])


def half_way(given):
    """SMO that is stopped after a few steps."""
    from fast.svm_plus import smo

    K, Q, y = duals.kernels(given)
    return smo.solve(K * np.outer(y, y) + Q, y, 1e-9, max_iter=2).alpha


def without_constant(given):
    """The dual of another problem, rho left out."""
    K, _, y = duals.kernels(given)
    kept = np.flatnonzero(given.get("sample_weight", np.ones(len(given["y"]))))
    Z, weight = given["Z"][kept], given.get("sample_weight", np.ones(len(given["y"])))[kept]
    M = given["lam"] * np.eye(Z.shape[1]) + given["C"] * (Z.T * weight) @ Z
    Q = Z @ np.linalg.solve(M, Z.T)
    try:
        found = train_kernel(K, y, given["C"], given["lam"], Q=Q, tol=1e-6, check_definite=False)
    except InvalidParameterError:  # no slacks without the constant are large enough
        return np.zeros(len(y))
    return found.alpha


def another_C(given):
    return duals.by_production(given | {"C": 1.1 * given["C"]})


@pytest.mark.parametrize("solver", [half_way, without_constant, another_C])
def test_wrong_solvers_are_found(solver):
    ordinary = [i for i in INSTANCES if i.family in ("random", "informative z", "separable")]
    verdicts = [duals.examine(i, {"candidate": solver})["candidate"].verdict for i in ordinary]
    assert verdicts.count(Verdict.FAIL) >= len(ordinary) // 2


def test_libsvm_with_box_c_is_found_where_the_box_binds():
    ordinary = [i for i in INSTANCES if i.family in ("random", "informative z", "separable")]
    found = {True: [], False: []}
    for instance in ordinary:
        binds = duals.by_oracle(instance.params).max() > 1.01 * instance["C"]
        judged = duals.examine(instance, {"candidate": wrong_box})["candidate"]
        found[binds].append(judged.verdict)
    assert set(found[True]) == {Verdict.FAIL}
    assert set(found[False]) == {Verdict.PASS}


def test_agreement_is_no_proof():
    """Four solvers that return the same wrong answer are four failures."""
    instance = INSTANCES[0]
    one = duals.by_production(instance.params | {"lam": 30.0, "C": 7.0})
    found = duals.examine(instance, dict.fromkeys(("production", "SMO", "LIBSVM"), lambda _: one))
    assert all(j.verdict is Verdict.FAIL for j in found.values())


def test_the_box_is_inactive_and_no_smaller_one_is_in_general():
    """Each class holds half of sum alpha = 2 optimum <= C sum w_i + lam; with n = 2 alpha gets there."""
    for instance in INSTANCES:
        given = instance.params
        alpha = duals.by_oracle(given)
        assert alpha.max() <= duals.box(given) * (1 + 1e-6)
        assert alpha.sum() <= 2 * duals.box(given) * (1 + 1e-6)
    tight = {"X": np.zeros((2, 1)), "Z": np.zeros((2, 1)), "y": np.array([1.0, -1.0])}
    tight |= {"C": 3.0, "lam": 0.5}
    assert duals.by_oracle(tight) == pytest.approx(2 * [duals.box(tight)])


def test_the_report(monkeypatch):
    one = [Instance.of(duals.PROBLEM, "random", **INSTANCES[0].params)]
    monkeypatch.setattr(duals, "instances", lambda *_: one)
    report = duals.verify_duals().raise_if_failed()
    assert [r.check for r in report.results] == list(duals.SOLVERS)
    assert report.counts["pass"] == 4
    shown = duals.records(report)
    assert [record["solver"] for record in shown] == list(duals.SOLVERS)
    assert all(record["instances"] == 1 and record.reached for record in shown)


# -- Q to 1e-12 -------------------------------------------------------------------------------

RATIOS = [10.0**k for k in (-16, -12, -8, -4, -1, 0, 2, 4, 6, 8, 10, 12)]


def error(Q, wanted):
    """Largest error of an entry over the largest entry."""
    return float(abs(exact(Q) - wanted).max() / abs(wanted).max())


@pytest.mark.parametrize("compute", ["fast", "refsolve"])
@pytest.mark.parametrize("shape", [(7, 2), (4, 6)])
def test_q_of_features(compute, shape):
    rng = np.random.default_rng(shape[1])
    Z, weight = rng.standard_normal(shape), rng.uniform(0.3, 2.0, shape[0])
    Kz = exact(Z) @ exact(Z).T
    for ratio in RATIOS:
        for lam, delta in ((1.0, 0.0), (1e-3, 0.2)):
            given = {"Z": Z, "sample_weight": weight, "free_slack": delta}
            wanted = deformed(Kz, ratio * lam, lam, weight, delta)
            assert error(q_of(compute, ratio * lam, lam, given), wanted) <= 1e-12, ratio


@pytest.mark.parametrize("compute", ["fast", "refsolve"])
def test_q_of_a_kernel(compute):
    """A kernel matrix of full rank, its entries taken as exact."""
    rng = np.random.default_rng(0)
    Z, weight = rng.standard_normal((6, 2)), rng.uniform(0.3, 2.0, 6)
    Kz = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    for ratio in RATIOS:
        given = {"Kz": Kz, "sample_weight": weight}
        wanted = deformed(exact(Kz), ratio, 1.0, weight)
        assert error(q_of(compute, ratio, 1.0, given), wanted) <= 1e-12, ratio


def q_of(compute, C, lam, given):
    if compute == "fast":
        return deformed_kernel(C, lam, **given)
    return oracle.deformed_kernel(C=C, lam=lam, **given)


def test_the_printed_formula_is_not_good_enough():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((7, 2))
    Kt = Z @ Z.T + 1
    errors = []
    for ratio in (1.0, 1e4, 1e8):
        inner = np.linalg.solve(np.eye(7) / ratio + Kt, Kt)
        wanted = deformed(exact(Z) @ exact(Z).T, ratio, 1.0, np.ones(7))
        errors.append(error(Kt - Kt @ inner, wanted))
    assert errors[0] < 1e-12
    assert errors[1] > 1e-12
    assert errors[2] > 1e-9
