"""SVM, SVM+ and SVM-2K as problems: judged from formulas, whichever parts are given."""

import numpy as np
import pytest
from _references import drawn, judge

from verification import Verdict, models, verify
from verification.certificates import plus_bounds
from verification.certificates.plus_model import problem as data_of
from verification.instances import datasets
from verification.instances.instance import Instance
from verification.models import svm_plus_squared_hinge
from verification.reference_solvers import svm as sound
from verification.verdicts import verify_model

SQUARED, HINGE = "svm_plus_squared_hinge", "svm_plus_hinge"


def instance(problem, **given):
    object_name = problem.partition(".")[0]
    return Instance.of(problem, "given", **{**models.load(object_name).defaults, **given})


X1 = {
    "X": np.array([[1.0], [-1.0]]), "y": np.array([1.0, -1.0]), "Z": np.array([[2.0], [-4.0]]),
    "C": 1.0, "lam": 20.0,
}  # fmt: skip


@pytest.mark.parametrize(("nonneg", "optimum"), [(False, 0.46895075), (True, 0.46896552)])
def test_slack_of_any_sign_and_nonnegative_slack_have_different_optima(nonneg, optimum):
    ours = instance(f"{SQUARED}.primal", **X1, nonneg_slack=nonneg, tol=1e-9)
    other = ours.with_params(nonneg_slack=not nonneg)
    known, wrong = verify_model.witness(ours), verify_model.witness(other)
    assert known.certificate.primal == pytest.approx(optimum, rel=1e-7)
    assert judge(ours, **known.primal, **known.dual).ok
    assert judge(ours, **known.primal).ok
    assert judge(ours, **known.dual).ok
    message = judge(ours, **wrong.primal)
    assert message.verdict is Verdict.FAIL
    assert ("xi_i >= 0" if nonneg else "certified witness") in message.message


@pytest.mark.parametrize("object_name", [SQUARED, HINGE])
def test_w_alone_and_w_with_b_are_enough(object_name):
    model, verdicts = models.load(object_name), []
    for each in drawn(f"{object_name}.primal"):
        primal, _ = model.witness(each.params)
        verdicts += [
            judge(each, w=primal["w"]).verdict,
            judge(each, w=primal["w"], b=primal["b"]).verdict,
        ]
        wrong = judge(each, w=primal["w"] + 1.0)
        assert wrong.verdict is not Verdict.PASS or not np.any(primal["w"])
    assert Verdict.FAIL not in verdicts
    assert verdicts.count(Verdict.PASS) >= 0.9 * len(verdicts)


def test_alpha_is_not_compared():
    X, Z = np.array([[0.0], [2.0], [2.0]]), np.zeros((3, 1))
    y = np.array([-1.0, 1.0, 1.0])
    ours = instance("svm.dual", X=X, y=y, C=10.0)
    for share in (0.0, 0.3, 1.0):
        assert judge(ours, alpha=0.5 * np.array([1.0, share, 1 - share])).ok
    ours = instance(f"{SQUARED}.dual", X=X, y=y, Z=Z, C=1.0, lam=1.0)
    alpha = verify_model.witness(ours).dual["alpha"]
    assert judge(ours, alpha=alpha).ok
    assert judge(ours, alpha=np.array([alpha[0], alpha[0], 0.0])).ok
    assert judge(ours, alpha=np.array([alpha[0], 0.0, alpha[0]])).ok


def test_coefficients_of_rows_without_weight_are_part_of_the_function():
    """Rows 1 and 3 are the same, and row 3 weighs nothing: either may carry the coefficient."""
    X = np.array([[1.0], [-1.0], [0.5], [-1.0]])
    Z = np.array([[0.0], [1.0], [2.0], [1.0]])
    weight, y = np.array([1.0, 1.0, 2.0, 0.0]), np.array([1.0, -1.0, 1.0, -1.0])
    ours = instance(
        f"{HINGE}.primal", K=X @ X.T, Kz=Z @ Z.T, y=y, sample_weight=weight, C=1.0, lam=1.0
    )
    primal = dict(verify_model.witness(ours).primal)
    assert judge(ours, **primal).ok
    w = primal["w"].copy()
    w[1], w[3] = 0.0, w[1]
    assert w[3] != 0
    assert judge(ours, **{**primal, "w": w}).ok
    w[3] = 0.0
    assert not judge(ours, **{**primal, "w": w}).ok


def test_own_slacks_are_the_best():
    """With delta the point (w, b, v, rho) is feasible whatever it is; eta is found."""
    y = np.array([1.0, -1.0])
    data = data_of(
        y, loss="squared_hinge", C=2.0, lam=3.0, X=y[:, None], Z=y[:, None], free_slack=5.0
    )
    proof = plus_bounds.upper(data, plus_bounds.whole(data, np.zeros(1), 0.0, np.zeros(1), 0.0))
    # xi = eta = 1 for both: C + lam/delta
    assert proof.high == pytest.approx(2.0 + 3.0 / 5.0, rel=1e-12)


def test_candidates_may_return_the_model_as_a_tuple_or_by_name():
    def pair(X, y, C, loss="hinge"):
        found = sound.train_plain({"X": X, "y": y, "C": C, "loss": loss})
        return found["w"], found["b"]

    def named(X, y, Z, C, lam):
        return sound.train_plus({"X": X, "y": y, "Z": Z, "C": C, "lam": lam}, True)

    for solver, problem in ((pair, "svm.primal"), (named, f"{SQUARED}.dual")):
        report = verify(solver, problem, checks=["trained"])
        assert report.ok
        assert report.counts["skipped"] > 0  # what they do not take


def test_svc_on_the_deformed_kernel_is_judged_as_it_is():
    from sklearn.svm import SVC

    def svc(X, y, Z, C, lam):
        Zt = np.column_stack([Z, np.ones(len(y))])
        Q = Zt @ np.linalg.solve(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt, Zt.T)
        kernel = X @ X.T + Q * np.outer(y, y)
        model = SVC(C=(C * len(y) + lam) / 2, kernel="precomputed", tol=1e-6).fit(kernel, y)
        alpha = np.zeros(len(y))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        return alpha

    [each] = datasets.draw(f"{SQUARED}.dual", "planted", 1, 0)
    each = each.with_params(C=2.0, lam=0.5, tol=1e-3)
    alpha = svc(**{n: each[n] for n in ("X", "y", "Z", "C", "lam")})
    assert judge(each, alpha=alpha).ok
    assert not judge(each, alpha=0.9 * alpha).ok


@pytest.mark.parametrize("object_name", [SQUARED, HINGE])
def test_stiff_problems_are_asked_for_as_much_as_others(object_name):
    """Kernels with C k(x, x) = 1e8 and C/lam = 1e10, features z of 1e-4: certified to 1e-7 each."""
    stiff = datasets.draw(f"{object_name}.primal", "stiff", 12, 0, largest=12)
    kernels = [each for each in stiff if each["K"] is not None]
    assert any(each["C"] == 1e10 * each["lam"] for each in kernels)
    top = [each["C"] * each["K"].diagonal().max() for each in kernels]
    assert max(top) > 1e8
    assert any(each["Z"] is not None and abs(each["Z"]).max() < 1e-3 for each in stiff)
    for each in stiff + datasets.draw(f"{object_name}.primal", "huge C", 4, 0, largest=12):
        assert each["tol"] == 1e-6
        known = verify_model.witness(each)
        proof = known.certificate
        assert proof.gap <= 1e-7 * abs(proof.primal) + 2 * proof.error
        assert judge(each, **known.primal, **known.dual).ok
        for names in (["w"], ["w", "b"]):  # v and rho that the judge found are not held against it
            some = judge(each, **{name: known.primal[name] for name in names})
            assert some.verdict is not Verdict.FAIL, some.message


def test_what_is_no_instance_is_refused():
    [each] = datasets.draw(f"{SQUARED}.primal", "random", 1, 0)
    valid, params = svm_plus_squared_hinge.TASK.valid, each.params
    n = len(params["y"])
    assert valid(params)
    for name, value in {
        "y": np.ones(n), "C": 0.0, "lam": -1.0, "Z": params["Z"][1:], "K": np.eye(n),
        "sample_weight": (params["y"] > 0).astype(float), "free_slack": -1.0,
    }.items():  # fmt: skip
        assert not valid({**params, name: value})
    indefinite = np.eye(n)
    indefinite[0, 0] = -1.0
    assert not valid({**params, "X": None, "K": indefinite})
    for smaller in svm_plus_squared_hinge.TASK.simpler(params):
        if valid(smaller):
            assert len(smaller["y"]) <= n
            break
    else:
        pytest.fail("nothing simpler is valid")
