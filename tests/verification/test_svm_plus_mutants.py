"""SVM+ trainers with the errors that trainers of SVM+ have: the judge finds every one of them.

`Recipe` is the paper's: deformed kernel, a QP solver, recovery of the model. It passes; each of its
subclasses differs from it in one place.
"""

import numpy as np
import pytest
from _problems import quietly
from _trainers import half, wrong
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fast import SVMPlusClassifier
from fast.errors import CollapseWarning
from fast.svm_plus import smo
from fast.svm_plus.deformed_kernel import deformed_kernel
from verification.certificates import judge_claims, trained
from verification.verdicts.verdict import Verdict

TOL = 1e-6


class Recipe(SVMPlusClassifier):
    """SVM2+ by the deformed kernel, with certificates of its own; linear kernels."""

    def kernel_q(self, Z, weight):
        return deformed_kernel(self.C, self.lam, Z=Z, sample_weight=weight)

    def multipliers(self, H, y):
        return smo.solve(H, y, 1e-8, max_iter=300_000).alpha

    def bias(self, y, margins, alpha):
        plus, minus = margins[y > 0].min(), margins[y < 0].min()
        return (minus - plus) / 2

    def correction(self, alpha, xi, Z, weight):
        r = (alpha - self.C * weight * xi) / self.lam
        return r @ Z, r.sum()

    def fit(self, X, y, Z=None, *, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.n_features_in_, self.classes_ = X.shape[1], np.unique(y)
        self.z_scaler_ = self._map = None
        positives = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        found = [self._one(X, np.where(y == c, 1.0, -1.0), Z, weight) for c in positives]
        names = (
            "coef_", "intercept_", "correction_coef_", "correction_intercept_", "dual_coef_",
            "primal_objective_", "dual_objective_",
        )  # fmt: skip
        for name, values in zip(names, zip(*found, strict=True), strict=True):
            setattr(self, name, np.array(values))
        self.slack_dual_coef_ = 0 * self.dual_coef_
        self.dual_gaps_ = 1 - self.dual_objective_ / self.primal_objective_
        self.dual_gap_ = self.dual_gaps_.max()
        return self

    def _one(self, X, y, Z, weight):
        K, Q = X @ X.T, self.kernel_q(Z, weight)
        H = K * np.outer(y, y) + Q
        alpha = np.maximum(self.multipliers(H, y), 0)
        g, S = H @ alpha, alpha.sum()
        q, m = alpha @ g, (g[y > 0].min() + g[y < 0].min()) / 2
        alpha, t = alpha * (S / q), S / q
        b = self.bias(y, t * g, alpha)
        v, rho = self.correction(alpha, Q @ alpha, Z, weight)
        scale = 1 / (m * t)
        w = X.T @ (alpha * y)
        return (
            scale * w, scale * b, scale * v, scale * rho, alpha * y, q / (2 * m * m), S * S / (2 * q),
        )  # fmt: skip


class PrintedFormula(Recipe):
    """(5) as it stands: a difference of nearly equal matrices."""

    def kernel_q(self, Z, weight):
        Kt = Z @ Z.T + 1
        inner = np.linalg.solve(self.lam / self.C * np.eye(len(Kt)) + Kt, Kt)
        Q = (Kt - Kt @ inner) / self.lam
        return (Q + Q.T) / 2


class BoxOfC(Recipe):
    """LIBSVM's C taken for the C of the model."""

    def multipliers(self, H, y):
        model = SVC(C=self.C, kernel="precomputed", tol=1e-8).fit(H * np.outer(y, y), y)
        alpha = np.zeros(len(y))
        alpha[model.support_] = abs(model.dual_coef_[0])
        return alpha


class NoConstant(Recipe):
    """The correcting kernel without its 1: g(z) = <v,z>."""

    def kernel_q(self, Z, weight):
        M = self.lam * np.eye(Z.shape[1]) + self.C * (Z.T * weight) @ Z
        return Z @ np.linalg.solve(M, Z.T)

    def correction(self, alpha, xi, Z, weight):
        return super().correction(alpha, xi, Z, weight)[0], 0.0


class AverageBias(Recipe):
    """The bias averaged over all points, support vectors or not."""

    def bias(self, y, margins, alpha):
        return (y * (1 - margins)).mean()


class SingleQ(Recipe):
    """Q in float32."""

    def kernel_q(self, Z, weight):
        return super().kernel_q(Z, weight).astype(np.float32).astype(float)


class LastClassWins(Recipe):
    """The last class with a positive score is predicted."""

    def predict(self, X):
        f = self.decision_function(X)
        if f.ndim == 1:
            return super().predict(X)
        last = f.shape[1] - 1 - (f[:, ::-1] > 0).argmax(axis=1)
        return self.classes_[np.where((f > 0).any(axis=1), last, f.argmax(axis=1))]


class SaysSo(Recipe):
    """Stops early, and says so: not a wrong claim, but not what was asked for."""

    def multipliers(self, H, y):
        return smo.solve(H, y, 0.05).alpha


class StopsEarly(SaysSo):
    """Stops early, and claims the gap that it was asked for."""

    def fit(self, X, y, Z=None, *, sample_weight=None):
        super().fit(X, y, Z, sample_weight=sample_weight)
        self.dual_gaps_ = np.full(len(self.dual_gaps_), self.tol)
        self.dual_gap_ = self.tol
        return self


#: Keeps xi >= 0 where it is dropped, and forgets it where it is kept.
FlippedSlack = wrong(SVMPlusClassifier, nonneg_slack=lambda m, y, given: not keeps_sign(m))
#: Returns half of the w that its certificate belongs to.
HalfTheModel = wrong(SVMPlusClassifier, told={"coef_": half})
#: Weights of examples that are forgotten.
PlainSum = wrong(Recipe, dropped=["sample_weight"])


def keeps_sign(model):
    return model.loss == "hinge" if model.nonneg_slack is None else model.nonneg_slack


def data(classes=2, seed=0, n=30):
    """Z knows how far examples are beyond the border of each class: else w = 0 is optimal."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, 3)), rng.standard_normal((classes, 3))
    f = X @ W.T
    f = (
        np.column_stack([f[:, 0] - f[:, 1], f[:, 1] - f[:, 0]])
        if classes == 2
        else f - np.median(f, axis=0)
    )
    y = (f + 0.7 * rng.standard_normal(f.shape)).argmax(axis=1)
    signs = np.where(y[:, None] == np.arange(classes), 1, -1)
    Z = np.minimum(signs * f, 0.7) + 0.1 * rng.standard_normal(f.shape)
    return X, y, Z[:, 1:] if classes == 2 else Z, rng.uniform(0.2, 2.0, n)


def objection(trainer, classes=2, seed=0, **params):
    """Empty for a good model."""
    X, y, Z, weight = data(classes, seed)
    model = trainer(**(PAPER | params))
    quietly(model, X, y, Z, sample_weight=weight, ignored=(CollapseWarning, ConvergenceWarning))
    judgement = judge_claims(model, X, y, weight, Z=Z)
    if judgement.verdict is Verdict.FAIL:
        return judgement.message
    gap = trained(model, X, y, weight, Z=Z).relative_gap
    return f"stopped at {gap:.3g}" if gap > 2 * TOL else ""


PAPER = {"standardize_z": False, "tol": TOL, "C": 3.0, "lam": 0.5, "free_slack": 0.0}
HUGE = {"C": 1e6, "lam": 1e-2}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
def test_right_trainers_pass(classes, seed):
    assert objection(Recipe, classes, seed) == ""
    for loss in ("hinge", "squared_hinge"):
        assert objection(SVMPlusClassifier, classes, seed, loss=loss) == ""
        for params in ({"nonneg_slack": True}, {"free_slack": 0.5}):
            assert objection(SVMPlusClassifier, classes, seed, loss=loss, **params) == ""
    assert objection(SVMPlusClassifier, classes, seed, **HUGE) == ""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("trainer", "says", "params"),
    [
        (PrintedFormula, "gap", HUGE),
        (BoxOfC, "stopped", {"C": 0.01}),
        (NoConstant, "", {}),
        (AverageBias, "primal", {}),
        (SingleQ, "", {}),
        (PlainSum, "", {}),
        (FlippedSlack, "", {"classes": 4}),
        (FlippedSlack, "", {"classes": 4, "nonneg_slack": True}),
        (FlippedSlack, "", {"classes": 4, "loss": "hinge"}),
        (StopsEarly, "gap", {}),
        (HalfTheModel, "gap", {}),
        (HalfTheModel, "gap", {"loss": "hinge"}),
        (SaysSo, "stopped", {}),
    ],
)
def test_wrong_trainers_are_found(trainer, says, params, seed):
    found = objection(trainer, seed=seed, **params)
    assert found != ""
    assert says in found


@pytest.mark.parametrize("seed", range(3))
def test_the_last_positive_class_must_not_win(seed):
    assert objection(LastClassWins, 2, seed) == ""
    assert "largest score" in objection(LastClassWins, 4, seed)


def test_one_wrong_class_of_three_is_enough():
    X, y, Z, weight = data(3)
    model = SVMPlusClassifier(tol=TOL, free_slack=1.0).fit(X, y, Z, sample_weight=weight)
    assert judge_claims(model, X, y, weight, Z=Z).ok
    model.coef_[2] *= 0.99
    assert judge_claims(model, X, y, weight, Z=Z).message.startswith("problem 2")
