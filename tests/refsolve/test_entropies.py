"""The entropy losses: naive twins, sixty-digit truth, 1 - s, and the inequalities between them."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from _draw import certified

import refsolve
from refsolve import certificates
from refsolve.errors import InvalidParameterError
from refsolve.generators.entropy import Entropy, TopK
from refsolve.proofs import curved
from refsolve.proofs.loss import Loss

Real = np.longdouble
TOPK = ["topk_entropy_alpha", "topk_entropy_beta"]
MULTICLASS = ["softmax", *TOPK]


def sixty_digits(b, alpha, coupled, k, *, beta):
    """The same minimiser in sixty digits, which proves itself: x, 1 - s, log(1 - s), and the loss if alpha = 0."""
    object_name = "topk_simplex_beta" if beta else "topk_simplex_alpha"
    exact = tuple(Fraction(float(v)) for v in b)
    canonicalized = curved.Curved(
        Entropy(), object_name, (("k", k), ("r", 1)), exact, Fraction(alpha), int(coupled), 1.0
    )
    found = curved.solve(canonicalized)
    with curved.precision(canonicalized):
        rest = found.complement[0]
        return found.x, rest, rest.ln(), curved.value(canonicalized, found) if alpha == 0 else None


SCALES = [(1.0, 0.0), (30.0, 0.0), (300.0, 1e-300), (30.0, 1.0), (1e4, 1e3), (3.0, 1e10)]


@pytest.mark.parametrize(("scale", "alpha"), SCALES)
@pytest.mark.parametrize("object_name", TOPK)
def test_roots_have_the_digits_of_sixty_digit_arithmetic(object_name, scale, alpha):
    rng = np.random.default_rng(int(scale) + (object_name == TOPK[0]))
    beta = object_name == "topk_entropy_beta"
    for coupled in (False, True) if alpha else (False,):
        d = int(rng.integers(1, 5))
        k = int(rng.integers(1, d + 1))
        b = rng.normal(size=d) * scale
        right_x, right_rest, log, loss = sixty_digits(b, alpha, coupled, k, beta=beta)
        root = TopK(b.astype(Real), Real(alpha), Real(alpha * coupled), k, beta)
        x, rest = root.point()
        size = 1 + scale + abs(np.log(alpha or 1.0))
        for found, right in zip((*x, rest), (*right_x, right_rest), strict=True):
            if right > Decimal("1e-4900"):  # longdouble ends there
                right = Real(str(right))
                assert abs(found - right) <= 1e-17 * size * right
        low, high = root.complement()
        exact = Real(str(log))
        assert low <= exact <= high
        assert high - low <= 1e-15 * size
        if alpha == 0:
            lower, upper = Loss(object_name, {"k": k}, d).value_bounds(b.astype(Real))
            value = Real(str(loss))
            assert abs(upper - value) <= 1e-18 * size
            assert abs(lower - value) <= 1e-18 * size


def test_a_plateau_of_saturated_caps_keeps_the_digits_of_one_minus_s():
    # for t between the second and third score s + y - 1 is below rounding, but the root is unique
    b = [100.0, 60.0, 20.0]
    _, rest, *_ = sixty_digits(b, 0, False, 2, beta=True)
    root = TopK(np.array(b, Real), Real(0), Real(0), 2, True)
    assert float(root.point()[1]) == pytest.approx(float(rest), rel=1e-15)
    assert float(root.point()[1]) == pytest.approx(np.exp(-60) / 2, rel=1e-12)


@pytest.mark.parametrize("object_name", MULTICLASS)
def test_a_given_complement_is_judged_to_its_last_digits(object_name):
    params = {} if object_name == "softmax" else {"k": 2}
    d, params_d = 3, params
    loss = Loss(object_name, params_d, d)
    for top in (-5.0, 40.0, 690.0, 1e4):
        scores = np.array([0.0, top, top - 1.0, top - 30.0])
        best = loss.maximum(np.asarray(scores[1:], Real))
        rest = float(best.rest[0])
        g = -loss.block(best.x, 0).astype(float)
        given = {"scores": scores, "y": 0, **params}
        right = certificates.gradient(object_name, g, complement=rest, **given)
        assert right.complement <= 1e-15 * (1 + abs(top))
        assert right.gap <= 1e-13 * right.scale
        assert right.distance <= 1e-14 * (1 + abs(top))
        assert np.isnan(certificates.gradient(object_name, g, **given).complement)
        if rest > 0:
            wrong = certificates.gradient(object_name, g, complement=rest * (1 + 1e-9), **given)
            assert wrong.complement == pytest.approx(1e-9, rel=1e-3)
        lost = certificates.gradient(object_name, g, complement=max(0.0, 1 - g[1:].sum()), **given)
        assert lost.complement > 1e-3 or top < 36 or rest == 0
    prox = {"v": np.array([690.0, 689.0, 1.0]), "t": 2.0}
    b = np.asarray(prox["v"], Real)
    x, rest = loss.propose(b, 2.0)
    u = (b - 2 * x).astype(float)
    assert (
        certificates.prox(object_name, u, complement=float(rest), **prox, **params).complement
        < 1e-12
    )
    assert certificates.prox(object_name, u, complement=0.0, **prox, **params).complement == np.inf
    q = np.array([0.0, 690.0, 689.0, 1.0])
    x, rest = loss.generator._root(loss.domain, q[1:].astype(Real), Real(3), coupled=True).point()
    a = 2 * loss.block(x, 0).astype(float)
    update = {"q": q, "y": 0, "k_ii": 1.5, "C": 2.0, **params}
    proof = certificates.sdca_update(object_name, a, complement=float(rest), **update)
    assert proof.complement < 1e-12
    assert proof.gap <= 1e-13 * proof.scale


def test_complements_that_make_no_sense_are_refused():
    given = {"scores": [0.0, 1.0], "y": 0}
    for bad in (-0.1, 1.5, np.nan, "a", [0.1]):
        with pytest.raises(InvalidParameterError, match="complement = "):
            certificates.gradient("softmax", [-0.5, 0.5], complement=bad, **given)
    with pytest.raises(InvalidParameterError, match="has no 1 - s"):
        certificates.gradient("multiclass_hinge", [-0.5, 0.5], complement=0.5, **given)
    # x and 1 - s have to sum to 1
    proof = certificates.conjugate("softmax", -np.log(2), [0.5], complement=0.4)
    assert proof.violation == pytest.approx(0.1)


def test_large_scores_and_both_ends_of_the_step():
    """Certified at score scale 1e4: updates for alpha to 1e10, proxes for steps to 1e6."""
    rng = np.random.default_rng(74)
    for object_name in MULTICLASS:
        params = {} if object_name == "softmax" else {"k": 2}
        for scale, t in ((1e4, 1.0), (1.0, 1e-300), (1.0, 1e-8), (1e4, 1e10), (1.0, 1e10)):
            q = rng.normal(size=5) * scale
            certified(f"{object_name}.prox", v=q[1:], t=min(t, 1e6), **params)
            certified(f"{object_name}.sdca_update", q=q, y=0, k_ii=t, **params)


# ---- truncated


def test_the_truncated_gradient_drops_the_first_of_equal_classes():
    scores = np.array([0.0, 2.0, 2.0, 1.0])
    found = refsolve.solve("truncated_topk_entropy.gradient", scores=scores, y=0, k=2)
    assert found.x[1] == 0
    assert found.x[2] > 0.3
    # the other choice is a gradient of a piece as good, dropping the third class is not
    swapped = certificates.gradient("truncated_topk_entropy", found.x[[0, 2, 1, 3]], scores, 0, k=2)
    assert swapped.gap <= 1e-8
    wrong = certificates.gradient("truncated_topk_entropy", found.x[[0, 3, 2, 1]], scores, 0, k=2)
    assert wrong.gap > 0.1
    whole = refsolve.solve("softmax.gradient", scores=scores, y=0).x
    assert certificates.gradient("truncated_topk_entropy", whole, scores, 0, k=2).violation > 0.1


def test_the_truncated_loss_has_no_dual():
    problems = refsolve.problems("losses")
    assert "truncated_topk_entropy.prox" in problems
    assert "truncated_topk_entropy.sdca_update" not in problems
    zero = refsolve.solve("truncated_topk_entropy.conjugate", x=[0.0, 0.0], k=2)
    assert (zero.value, str(zero.status)) == (0.0, "certified")
    assert refsolve.solve("truncated_topk_entropy.conjugate", x=[0.1, 0.0], k=2).value == np.inf
    softmax = refsolve.solve("truncated_topk_entropy.conjugate", x=[0.1, 0.2], k=1).value
    assert softmax == pytest.approx(refsolve.solve("softmax.conjugate", x=[0.1, 0.2]).value)


def test_wrong_truncated_candidates_are_caught():
    v = np.array([3.0, 2.0, -1.0])
    right = refsolve.solve("truncated_topk_entropy.prox", v=v, t=2.0, k=2).x
    assert right[0] == 3.0
    proof = certificates.prox("truncated_topk_entropy", right, v, t=2.0, k=2)
    assert proof.gap <= 1e-8
    other = v.copy()  # the second dropped instead of the first: a local minimum
    other[[0, 2]] = refsolve.solve("softmax.prox", v=v[[0, 2]], t=2.0).x
    assert certificates.prox("truncated_topk_entropy", other, v, t=2.0, k=2).gap > 0.1
    assert certificates.prox("truncated_topk_entropy", v, v, t=2.0, k=2).gap > 0.1
    full = refsolve.solve("softmax.prox", v=v, t=2.0).x
    assert certificates.prox("truncated_topk_entropy", full, v, t=2.0, k=2).gap > 0.01


# ---- the other generators
