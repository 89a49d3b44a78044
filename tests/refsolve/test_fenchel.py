"""Models as norms and losses of linear maps: their programs have the oracle's optimum, and wrong ones are found out.

That the declared numbers are the printed ones at a point is asked by `verification.declarations`.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from _privileged import draw, printed_kernel

import refsolve
from refsolve import catalogue, fenchel
from refsolve.errors import InvalidParameterError
from refsolve.fenchel import Block, Model, Term
from refsolve.models import binary_svm, svm, svm_2k, svm_plus_squared_hinge
from verification.declarations import models as printed

#: Of the size of the numbers that are compared.
ROUNDING = 1e-11
INF = np.inf


def close(a, b):
    assert np.isfinite([a, b]).all(), (a, b)
    assert abs(a - b) <= ROUNDING * (1 + abs(a) + abs(b)), (a, b)


@dataclass(frozen=True)
class Polytope:
    """Parts of a vector between low and high, with Ax = b."""

    parts: dict[str, tuple[int, Any, Any]]
    A: np.ndarray
    b: np.ndarray

    def split(self, x):
        ends = np.cumsum([size for size, _, _ in self.parts.values()])[:-1]
        return dict(zip(self.parts, np.split(x, ends), strict=True))

    def bounds(self):
        parts = self.parts.values()
        return (np.concatenate([np.broadcast_to(p[side], p[0]) for p in parts]) for side in (1, 2))

    def draw(self, rng):
        """A random point: a middle one, moved within the equations as far as the bounds allow."""
        low, high = self.bounds()
        ends = np.where(np.isfinite(low), low, -1), np.where(np.isfinite(high), high, low + 2)
        x = (ends[0] + np.where(np.isfinite(low) | np.isfinite(high), ends[1], 1)) / 2
        step = rng.normal(size=x.size) * (1 + abs(x))
        for _ in range(3):
            x = x - np.linalg.lstsq(self.A, self.A @ x - self.b, rcond=None)[0]
            step = step - np.linalg.lstsq(self.A, self.A @ step, rcond=None)[0]
        assert (x > low).all()
        assert (x < high).all()
        room = np.where(step > 0, high - x, x - low) / np.maximum(abs(step), 1e-300)
        return self.split(x + rng.uniform(0.2, 0.95) * min(room.min(), 3) * step)


def domain(model: Model) -> Polytope:
    """The feasible set of the derived dual, from the declaration."""
    parts, rows, targets = {}, [], []
    for name, term in model.terms.items():
        loss, size = term.loss, model.size(name)
        top = INF if getattr(loss, "cost", None) is None else loss.cost
        parts[name] = size, (0.0 if loss.nonneg else -top), top
    total = sum(size for size, _, _ in parts.values())
    whole = Polytope(parts, np.zeros((0, total)), np.zeros(0))
    columns = [whole.split(e) for e in np.eye(total)]
    for name, block in model.blocks.items():
        if block.weight == 0:
            start = model.pull(name, whole.split(np.zeros(total)))
            rows.append(np.array([model.pull(name, p) - start for p in columns]).T)
            targets.append(-start)
    for name, term in model.terms.items():
        if isinstance(term.loss, fenchel.Largest):
            groups = [p[name].reshape(term.loss.groups, -1).sum(axis=1) for p in columns]
            rows.append(np.array(groups).T)
            targets.append(np.full(term.loss.groups, term.loss.mass))
    A = np.vstack([np.zeros((0, total)), *rows])
    return Polytope(parts, A, np.concatenate([np.zeros(0), *targets]))


def _data(n, d, s, seed, *names):
    X, y, Z = draw(n, d, s, seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, n)
    weight[y > 0] *= weight[y < 0].sum() / weight[y > 0].sum()
    given = {"X": X, "y": y, "Z": Z, "sample_weight": weight}
    return {name: given[name] for name in ("X", "y", *names)}


def _appx(bias):
    given = _data(10, 3, 1, 11) | {"easy": np.arange(10) >= 5, "C": 1.3, "bias": bias}
    X, y, easy = (given[name] for name in ("X", "y", "easy"))
    X[easy] = np.random.default_rng(11).normal(size=(5, 3)) + 3 * y[easy, None]
    return given


def _plus(**flags):
    return _data(9, 2, 2, 13, "Z", "sample_weight") | {"C": 3.0, "lam": 1.7} | flags


SVM = _data(10, 3, 1, 3, "sample_weight") | {"C": 0.6}
OWN = {"label_signed": True, "free_slack": 0.3}
BINARY = _data(10, 3, 1, 13) | {"C": 4.0}
RISK = {"X": np.random.default_rng(15).normal(size=(7, 2)), "y": np.arange(7) % 3, "lam": 0.3}
#: By name, which begins with that of the model, what it is asked with.
CASES = {
    "svm hinge": SVM | {"loss": "hinge"},
    "svm squared hinge": SVM | {"loss": "squared_hinge"},
    "svm_2k": _data(8, 2, 3, 5, "Z", "sample_weight") | {"CA": 0.7, "CB": 1.1, "D": 0.4, "eps": 0.15},
    "svm_plus_hinge": _plus(nonneg_slack=True),
    "svm_plus_hinge, no sign": _plus(nonneg_slack=False),
    "svm_plus_hinge, signed with own slacks": _plus(nonneg_slack=True, **OWN),
    "svm_plus_hinge, bias penalised": _plus(nonneg_slack=True, penalize_bias=True),
    "svm_plus_squared_hinge": _plus(nonneg_slack=False),
    "svm_plus_squared_hinge, slacks >= 0": _plus(nonneg_slack=True),
    "svm_plus_squared_hinge, signed with own slacks": _plus(nonneg_slack=False, **OWN),
    "svm_plus_squared_hinge, bias penalised": _plus(nonneg_slack=True, penalize_bias=True),
    "binary_svm": BINARY | {"bias": False},
    "binary_svm, bias a feature": BINARY | {"bias": True},
    "binary_svm, free bias": BINARY | {"bias": "free"},
    "top_push": _data(10, 3, 1, 17) | {"C": 0.7},
    "multiclass_erm, hinge": RISK | {"loss": "multiclass_hinge"},
    "ap_svm": {"X": draw(5, 3, 1, 9)[0], "y": np.array([1, 0, 0, 1, 0]), "C": 1.3},
    "ap_svm_appx": _appx(True),
    "ap_svm_appx, no bias": _appx(False),
}  # fmt: skip


def object_of(name):
    return name.replace(",", "").split()[0]


def declared(name):
    """The model, as it is declared; that of the risk is written here, as the largest of m cuts."""
    if object_of(name) != "multiclass_erm":
        return catalogue.load(object_of(name)).declaration(**CASES[name])
    X, y, m, n = RISK["X"], RISK["y"], 3, 7
    against = np.eye(m) - np.eye(m)[y][:, None]  # (n, m, m): f_j - f_y
    rows = (against[:, :, None] * X[:, None, :, None]).reshape(n * m, 2 * m)
    cuts = Term(fenchel.Largest(1 / n, n), {"w": rows}, (np.arange(m) != y[:, None]).ravel())
    return Model({"w": Block(2 * m, RISK["lam"])}, {"alpha": cuts})


def optimum(name):
    """Certified, by the formulas that are printed."""
    return refsolve.solve(f"{object_of(name)}.dual", **CASES[name]).raise_if_uncertain().value


@pytest.mark.parametrize("name", CASES)
def test_both_programs_have_the_optimum_of_the_oracle(name):
    """Solved as derived; the multipliers that the primal finds are as good as the dual's own; the gap is P - D."""
    model = declared(name)
    reduced = model.absorbed("paid", "tie") if "squared" in name and "plus" in name else model
    up, down = fenchel.primal(model, 2.0, {"w": 0.5}).solve(), fenchel.dual(model, 3.0).solve()
    size = 1 + abs(model.primal(up))
    assert abs(model.primal(up) - optimum(name)) <= 1e-6 * size
    assert max(model.excess(up), model.violation(down), model.violation(up)) <= 1e-6 * size
    for p in (up, down):
        assert abs(model.gap(up, p)) <= 1e-6 * size
        for block, value in model.recover(p).items():
            np.testing.assert_allclose(value, up[block], atol=2e-3 * size)
    free = {b for b, block in model.blocks.items() if block.weight == 0}
    assert free <= set(down)
    short = fenchel.dual(reduced, 0.7, scales={"alpha": 2.0}).solve()
    assert abs(reduced.dual(short) - model.dual(down)) <= 1e-6 * size
    rng = np.random.default_rng(1)
    for _ in range(5):
        p = domain(model).draw(rng)
        assert model.violation(p) <= ROUNDING * (1 + max(abs(v).max() for v in p.values()))
        assert model.dual(p) <= optimum(name) + 1e-6 * size
        moved = {n: np.asarray(v) * 1.01 for n, v in up.items()}
        if model.excess(moved) <= 0:
            assert model.gap(moved, p) >= 0
            close(model.gap(moved, p), model.primal(moved) - model.dual(p))


@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_the_deformed_kernel_follows_from_the_squares(delta):
    """Absorbing the squares gives H = K yy' + Q, Q as printed in (5)."""
    X, y, Z = draw(9, 2, 3, 2)
    given = {"X": X, "y": y, "Z": Z, "C": 1.4, "lam": 0.6, "free_slack": delta}
    model = svm_plus_squared_hinge.declaration(**given).absorbed("paid", "tie")
    Q = printed_kernel(Z @ Z.T + delta * np.eye(9), 1.4, 0.6)
    if not delta:
        np.testing.assert_allclose(model.kernel("alpha"), X @ X.T * np.outer(y, y) + Q, atol=1e-12)
    found = svm_plus_squared_hinge.deformed_kernel(Z=Z, C=1.4, lam=0.6, free_slack=delta)
    np.testing.assert_allclose(found, model.kernel("alpha") - X @ X.T * np.outer(y, y), atol=1e-12)


def test_the_variable_that_is_absorbed_is_the_slack_times_its_cost():
    """(3) with its squares apart has n variables more; at q = C xi, xi = Q gamma, it is (4)."""
    X, y, Z = draw(8, 2, 2, 6)
    C, lam, rng = 0.9, 1.1, np.random.default_rng(6)
    given = {"X": X, "y": y, "Z": Z, "C": C, "lam": lam}
    model, Q = svm_plus_squared_hinge.declaration(**given), printed_kernel(Z @ Z.T, C, lam)
    for _ in range(5):
        p = domain(model).draw(rng)
        alpha = p["alpha"]
        best = svm_plus_squared_hinge.dual(**given, alpha=alpha)
        assert model.dual(p) < best
        q = C * Q @ alpha
        p = {"alpha": alpha, "paid": q, "tie": alpha - q}
        assert model.violation(p) <= ROUNDING * 10
        close(model.dual(p), best)


def test_one_slack_over_all_labellings_has_the_dual_of_the_hinges():
    """A weight for each of 2^n labellings is a point of the box, and every such point has weights."""
    X, y, _ = draw(4, 2, 1, 3)
    C, rows, n = 1.6, y[:, None] * X, 4
    hinges = binary_svm.declaration(X, y, C=C)
    wrong = np.array(list(itertools.product((0, 1), repeat=n)))
    cuts = Term(fenchel.Largest(C, 1), {"w": -wrong @ rows / n}, wrong.mean(axis=1))
    slack = Model({"w": Block(2)}, {"weights": cuts})
    rng = np.random.default_rng(3)
    u = {"w": rng.normal(size=2)}
    close(slack.primal(u), hinges.primal(u))
    for _ in range(5):
        p = domain(slack).draw(rng)
        alpha = binary_svm.from_labels(y, labels=y * (1 - 2 * wrong), weights=p["weights"])
        assert hinges.violation({"alpha": alpha}) <= ROUNDING
        close(slack.dual(p), hinges.dual({"alpha": alpha.astype(float)}))
        share = domain(hinges).draw(rng)["alpha"] * n / C  # independent errors
        p = {"weights": C * np.prod(np.where(wrong, share, 1 - share), axis=1)}
        assert slack.violation(p) <= ROUNDING
        close(slack.dual(p), hinges.dual({"alpha": share * C / n}))


def test_kernels_and_features_declare_the_same_dual():
    X, y, Z = draw(9, 3, 2, 8)
    costs = {"CA": 1.0, "CB": 0.5, "D": 0.3, "y": y}
    plain, kernel = (
        svm_2k.declaration(**costs, **views)
        for views in ({"X": X, "Z": Z}, {"K": X @ X.T, "Kz": Z @ Z.T})
    )
    rng = np.random.default_rng(8)
    for _ in range(3):
        p = domain(plain).draw(rng)
        assert kernel.violation(p) <= ROUNDING
        close(plain.dual(p), kernel.dual(p))
    names = ("alpha_A", "alpha_B", "beta")
    np.testing.assert_allclose(kernel.kernel(*names), plain.kernel(*names), atol=1e-12)
    np.testing.assert_allclose(plain.kernel("beta"), X @ X.T + Z @ Z.T, atol=1e-12)


# ---- wrong declarations


def changed(model, term, block=None, factor=1.0, **parts):
    """One map multiplied by a factor, or other parts of a term."""
    old = model.terms[term]
    maps = dict(old.maps)
    if block is not None:
        maps[block] = maps[block] * factor
    return replace(model, terms=dict(model.terms) | {term: replace(old, maps=maps, **parts)})


def without(model, term):
    return replace(model, terms={k: t for k, t in model.terms.items() if k != term})


def reweighted(model, block, factor=1.0, weight=None):
    old = model.blocks[block]
    new = replace(old, weight=old.weight * factor if weight is None else weight)
    return replace(model, blocks=dict(model.blocks) | {block: new})


def loss_of(model, term, **parts):
    return changed(model, term, loss=replace(model.terms[term].loss, **parts))


def sloped(model, factor):
    xi = replace(model.blocks["xi"], slope=factor * model.blocks["xi"].slope)
    return replace(model, blocks=dict(model.blocks) | {"xi": xi})


WRONG = [
    ("svm hinge", "sign of the bias", lambda m: changed(m, "alpha", "b", np.linspace(-1, 1, m.size("alpha"))[:, None])),
    ("svm hinge", "sign of the rows", lambda m: changed(m, "alpha", "w", -1)),
    ("svm hinge", "bias penalised", lambda m: reweighted(m, "b", weight=1.0)),
    ("svm hinge", "mean for the sum", lambda m: loss_of(m, "alpha", cost=m.terms["alpha"].loss.cost / 10)),
    ("svm hinge", "margin lost", lambda m: changed(m, "alpha", offset=None)),
    ("svm hinge", "squared", lambda m: changed(m, "alpha", loss=fenchel.squared_hinge(m.terms["alpha"].loss.cost))),
    ("svm squared hinge", "without 1/2", lambda m: loss_of(m, "alpha", own=m.terms["alpha"].loss.own / 2)),
    ("svm squared hinge", "both sides paid", lambda m: loss_of(m, "alpha", both=True)),
    ("svm_2k", "sum of the views", lambda m: changed(changed(m, "beta", "v", -1), "beta", "rho", -1)),
    ("svm_2k", "one side of the tube", lambda m: loss_of(m, "beta", both=False)),
    ("svm_2k", "no tube", lambda m: loss_of(m, "beta", eps=0.0)),
    ("svm_2k", "costs swapped", lambda m: loss_of(m, "alpha_A", cost=m.terms["alpha_B"].loss.cost)),
    ("svm_2k", "view B unpaid", lambda m: without(m, "alpha_B")),
    ("svm_2k", "bias of B lost", lambda m: changed(m, "alpha_B", "rho", 0.0)),
    ("svm_plus_hinge", "slacks of any sign", lambda m: without(m, "beta")),
    ("svm_plus_hinge", "margins lost", lambda m: without(m, "alpha")),
    ("svm_plus_hinge", "C halved", lambda m: sloped(m, 0.5)),
    ("svm_plus_hinge", "lam inverted", lambda m: reweighted(m, "v", weight=1 / 1.7)),
    ("svm_plus_hinge", "rho penalised", lambda m: reweighted(m, "rho", weight=1.7)),
    ("svm_plus_hinge", "slack subtracted", lambda m: changed(m, "alpha", "xi", -1)),
    ("svm_plus_squared_hinge", "rho free as in (1)", lambda m: reweighted(m, "rho", 1e-9)),
    ("svm_plus_squared_hinge", "without 1/2", lambda m: loss_of(m, "paid", own=m.terms["paid"].loss.own / 2)),
    ("svm_plus_squared_hinge", "lam forgotten", lambda m: reweighted(m, "v", 1 / 1.7)),
    ("svm_plus_squared_hinge, slacks >= 0", "correction of sign -", lambda m: changed(m, "alpha", "xi", -1)),
    ("svm_plus_squared_hinge, slacks >= 0", "X1", lambda m: without(m, "beta")),
    ("svm_plus_squared_hinge, bias penalised", "b free", lambda m: reweighted(m, "b", weight=0.0)),
    ("binary_svm", "the sum", lambda m: loss_of(m, "alpha", cost=10 * m.terms["alpha"].loss.cost)),
    ("binary_svm, free bias", "no bias", lambda m: changed(m, "alpha", "b", 0.0)),
    ("multiclass_erm, hinge", "the sum", lambda m: loss_of(m, "alpha", mass=1.0)),
    ("multiclass_erm, hinge", "lambda inverted", lambda m: reweighted(m, "w", weight=1 / 0.3)),
    ("ap_svm", "sign of Psi", lambda m: changed(m, "alpha", "w", -1)),
    ("ap_svm", "sum for the mean", lambda m: loss_of(m, "alpha", mass=5.0)),
    ("ap_svm", "Delta lost", lambda m: changed(m, "alpha", offset=None)),
    ("ap_svm", "Delta = AP", lambda m: changed(m, "alpha", offset=1 - m.terms["alpha"].offset)),
    ("ap_svm", "1/2 lost", lambda m: reweighted(m, "w", 2.0)),
    ("ap_svm_appx", "easy ones lost", lambda m: without(m, "mu")),
    ("ap_svm_appx", "margins at 0", lambda m: changed(m, "mu", offset=None)),
    ("ap_svm_appx", "easy labels turned", lambda m: changed(m, "mu", "w", -1)),
    ("ap_svm_appx", "bias penalised", lambda m: reweighted(m, "b", weight=1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wrong", "change"), WRONG, ids=[f"{n}: {w}" for n, w, _ in WRONG])
def test_a_wrong_declaration_is_found(name, wrong, change, monkeypatch):
    """By the optimum of its program, if there is one; or else by what is printed, at a point."""
    model = change(declared(name))
    try:
        dual = fenchel.dual(model).solve()
    except (cp.error.SolverError, TypeError, AttributeError):  # infeasible, unbounded, nothing left
        return
    if not abs(model.dual(dual) - optimum(name)) <= 1e-6 * (1 + abs(optimum(name))):
        return
    module, loss = catalogue.load(object_of(name)), CASES[name].get("loss")
    right = module.declaration

    def wrongly(*args, **given):
        model = right(*args, **given)
        return change(model) if given.get("loss") == loss else model

    monkeypatch.setattr(module, "declaration", wrongly)
    assert any("declared" in text for text in printed.disagreements(object_of(name)))


# ---- losses and maps


LOSSES = {
    "hinge": (fenchel.hinge(np.array([0.5, 2.0])), lambda z: [0.5, 2.0] @ np.maximum(0, z)),
    "squared hinge": (
        fenchel.squared_hinge(np.array([0.5, 2.0])),
        lambda z: [0.5, 2.0] @ np.maximum(0, z) ** 2 / 2,
    ),
    "square": (fenchel.square(np.array([0.5, 2.0])), lambda z: [0.5, 2.0] @ z**2 / 2),
    "tube": (
        fenchel.tube(np.array([0.5, 2.0]), 0.3),
        lambda z: [0.5, 2.0] @ np.maximum(0, abs(z) - 0.3),
    ),
    "huber": (
        fenchel.Slopes(np.array([1.0, 1.0]), np.array([0.5, 0.5]), both=True),
        lambda z: np.where(abs(z) <= 0.5, z**2, abs(z) - 0.25).sum(),
    ),
    "largest": (fenchel.Largest(1.5, 1), lambda z: 1.5 * z.max()),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_the_supremum_over_its_slopes(name):
    loss, formula = LOSSES[name]
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-4, 4, 161)]), axis=-1).reshape(-1, 2)
    inside = np.array([p for p in grid if loss.violation(p) <= 1e-9])
    costs = np.array([loss.conjugate(p) for p in inside])
    for z in rng.uniform(-0.95, 0.95, size=(10, 2)):
        close(loss.value(z), formula(z))
        best = (inside @ z - costs).max()
        assert best <= loss.value(z) + 1e-9
        assert loss.value(z) - best <= 0.03
        scaled = loss.scaled(0.3, 7.0)
        close(scaled.value(0.3 * z), loss.value(z) / 7)
        p = inside[rng.integers(len(inside))]
        close(scaled.conjugate(p / 0.3 / 7), loss.conjugate(p) / 7)
        assert scaled.violation(p / 0.3 / 7) <= 1e-9


def test_constraints_are_losses():
    bound, tie, z = fenchel.nonpositive(), fenchel.zero(), np.array([-1.0, 0.25])
    assert (bound.excess(z), tie.excess(z)) == (0.25, 1.0)
    assert (bound.violation(z), tie.violation(z)) == (1.0, 0.0)
    assert bound.value(z) == tie.value(z) == bound.conjugate(z) == 0.0


def test_a_declaration_that_does_not_fit_is_refused():
    hinge, w = fenchel.hinge(np.ones(3)), {"w": Block(2)}
    Model(w, {"t": Term(hinge, {"w": np.ones((3, 2))}, np.ones(3))})
    for term in (
        Term(hinge, {"w": np.ones((3, 3))}),
        Term(hinge, {"v": np.ones((3, 2))}),
        Term(hinge, {"w": np.ones((3, 2))}, np.ones(2)),
    ):
        with pytest.raises(InvalidParameterError, match=r"terms\['t'\]"):
            Model(w, {"t": term})


def test_a_derived_program_can_be_read():
    X, y, _ = draw(6, 2, 1, 0)
    shown = str(fenchel.dual(svm.declaration(X, y, C=1.0)))
    assert "alpha <= alpha:cost" in shown
    assert "alpha.b.T @ alpha == 0" in shown
