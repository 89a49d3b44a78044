"""One-vs-all and multilabel declarations: definitions in the scores, the papers' forms, reductions."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from _draw import certified

import refsolve
from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from refsolve.proofs.loss import Loss

LABELS = ([0, 1, 0, 0, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0])


def _value(stem, scores, y, **params):
    result = certified(f"{stem}.value", scores=scores, y=y, **params)
    return result.value


def _scores(rng):
    return rng.normal(size=5), np.round(rng.normal(size=5) * 2), 30 * rng.normal(size=5)


@pytest.mark.parametrize("y", LABELS)
def test_multilabel_values_are_what_their_definitions_say(y):
    rng = np.random.default_rng(61)
    right, wrong = np.flatnonzero(y), np.flatnonzero(np.array(y) == 0)
    for f in _scores(rng):
        costs = rng.uniform(0, 2, 5)
        worst = max(f[j] - f[i] + 1 for j, i in itertools.product(wrong, right))
        size = 1e-7 * max(1, abs(f).max())
        assert _value("multilabel_hinge", f, y) == pytest.approx(max(0, worst), abs=size)
        worst = max(f[j] - f[i] + costs[j] + costs[i] for j, i in itertools.product(wrong, right))
        value = _value("multilabel_hinge", f, y, costs=costs)
        assert value == pytest.approx(max(0, worst), abs=size)
        g = f + costs
        entropy = np.mean([np.log(np.exp(g - g[i]).sum()) for i in right])
        value = _value("multilabel_entropy", f, y, costs=costs)
        assert value == pytest.approx(entropy, abs=size)
        assert value >= np.log(right.size) - size


@pytest.mark.parametrize("y", LABELS)
def test_only_the_sum_of_both_margins_matters(y):
    """A margin of 1/2 on both sides is a margin of 1 on the wrong labels, smoothed or not."""
    rng = np.random.default_rng(62)
    for f in _scores(rng):
        size = 1e-7 * max(1, abs(f).max())
        for stem, params in (("multilabel_hinge", {}), ("multilabel_smooth_hinge", {"gamma": 0.3})):
            halves = _value(stem, f, y, costs=np.full(5, 0.5), **params)
            assert halves == pytest.approx(_value(stem, f, y, **params), abs=size)


def test_ova_values_are_sums_of_binary_losses():
    """Equation (9) of the long version at the margins alpha_j = y_j f_j, and (2) and (3) beside it."""

    def smooth(alpha, gamma):
        if alpha < 1 - gamma:
            return 1 - alpha - gamma / 2
        return (alpha - 1) ** 2 / (2 * gamma) if alpha <= 1 else 0.0

    rng = np.random.default_rng(63)
    for f, y in itertools.product(_scores(rng), (0, 3)):
        alpha = np.where(np.arange(5) == y, f, -f)
        size = 1e-7 * max(1, abs(f).max())
        hinge = sum(max(0, 1 - a) for a in alpha)
        assert _value("ova_hinge", f, y) == pytest.approx(hinge, abs=size)
        logistic = sum(np.logaddexp(0, -a) for a in alpha)
        assert _value("ova_logistic", f, y) == pytest.approx(logistic, abs=size)
        for gamma in (0.2, 1.0, 5.0):
            printed = sum(smooth(a, gamma) for a in alpha)
            value = _value("ova_smooth_hinge", f, y, gamma=gamma)
            assert value == pytest.approx(printed, abs=size)
            assert -size <= hinge - value <= 5 * gamma / 2 + size


@pytest.mark.parametrize("y", LABELS)
def test_smooth_multilabel_hinge_is_the_envelope_and_close_to_the_hinge(y):
    """0 <= hinge - smooth <= gamma: ||x||^2 <= 2 on the bipartite simplex."""
    module = catalogue.load("multilabel_smooth_hinge")
    rng = np.random.default_rng(64)
    for z, gamma in itertools.product(_scores(rng), (0.1, 1.0, 10.0)):
        loss = Loss("multilabel_smooth_hinge", {"gamma": gamma}, 5, np.array(y))
        lower, upper = loss.value_bounds(z.astype(np.longdouble))
        assert 0 <= upper - lower <= 1e-15 * max(1, abs(z).max())
        envelope = cp.Problem(cp.Minimize(module.value(cp.Constant(z), y, gamma)))
        size = 1e-6 * max(1, abs(z).max())
        assert float(upper) == pytest.approx(envelope.solve(solver="CLARABEL"), abs=size)
        hinge = module.hinge.value(cp.Constant(z), y).value
        assert -1e-12 <= hinge - upper <= gamma + 1e-12
        # the bound is attained where one violation dominates
        far = 100 * np.eye(5)[np.argmin(y)]
        value = float(loss.value_bounds(far.astype(np.longdouble))[1])
        if sum(y) == 1:
            assert value == pytest.approx(100 - gamma, abs=1e-12)


def test_one_label_is_the_multiclass_loss():
    rng = np.random.default_rng(65)
    for f, label in itertools.product(_scores(rng), (0, 4)):
        y = np.eye(5, dtype=int)[label]
        for multi, single in (
            ("multilabel_hinge", "multiclass_hinge"),
            ("multilabel_entropy", "softmax"),
        ):
            size = 1e-7 * max(1, abs(f).max())
            assert _value(multi, f, y) == pytest.approx(_value(single, f, label), abs=size)
        update = {"q": f, "k_ii": 0.8, "C": 1.3}
        block = refsolve.solve("multilabel_hinge.sdca_update", y=y, **update)
        same = refsolve.solve("multiclass_hinge.sdca_update", y=label, **update)
        apart = block.certificate.distance + same.certificate.distance
        assert np.linalg.norm(block.x - same.x) <= apart + 1e-14


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_a_side_without_labels(y):
    f = [1.0, -2.0, 0.5]
    for stem, params in (("multilabel_hinge", {}), ("multilabel_smooth_hinge", {"gamma": 1.0})):
        given = {"scores": f, "y": y, **params}
        assert refsolve.solve(f"{stem}.value", **given).value == pytest.approx(0, abs=1e-9)
        assert not refsolve.solve(f"{stem}.gradient", **given).x.any()
        prox = refsolve.solve(f"{stem}.prox", v=f, y=y, **params)
        np.testing.assert_allclose(prox.x, f, atol=prox.certificate.distance + 1e-15)
    if not any(y):
        with pytest.raises(InvalidParameterError, match="at least one positive"):
            refsolve.solve("multilabel_entropy.value", scores=f, y=y)


@pytest.mark.parametrize("stem", ["multilabel_hinge", "multilabel_entropy"])
@pytest.mark.parametrize("y", [[0, 1], [0, 1, 2], [0, 0.5, 1], None, "abc", 1, [[0, 1, 0]]])
def test_bad_indicators_are_refused_by_name(stem, y):
    for operation, data in (("value", "scores"), ("prox", "v"), ("conjugate", "x")):
        with pytest.raises(InvalidParameterError, match="y = ") as caught:
            refsolve.solve(f"{stem}.{operation}", **{data: [0.1, 0.2, 0.3]}, y=y)
        assert caught.value.argument == "y"


def test_one_vs_all_risk_separates_into_binary_ones():
    """The sum over the classes, with one C: m binary problems, here each by itself in CVXPY."""
    rng = np.random.default_rng(66)
    X, y, C = rng.normal(size=(12, 3)), rng.integers(0, 4, 12), 0.7
    losses = {
        "ova_hinge": (lambda a: cp.sum(cp.pos(1 - a)), {}),
        "ova_logistic": (lambda a: cp.sum(cp.logistic(-a)), {}),
        "ova_smooth_hinge": (lambda a: cp.sum(cp.huber(cp.pos(1 - a), 0.5)), {"gamma": 0.5}),
    }
    for stem, (loss, params) in losses.items():
        total = 0.0
        for j in range(4):
            w = cp.Variable(3)
            margins = cp.multiply(np.where(y == j, 1.0, -1.0), X @ w)
            problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * loss(margins)))
            total += problem.solve(solver="CLARABEL")
        joint = certified("multiclass_erm.primal", loss=stem, X=X, y=y, C=C, **params)
        # P is divided by lambda = 1/(C n) there
        assert joint.value * C * 12 == pytest.approx(total, rel=1e-6)
