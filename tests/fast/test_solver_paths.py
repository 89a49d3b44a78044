"""How trainers get to their optimum, as recorded: a gap after each check.

A trainer certifies its model whatever happens on the way: what is wrong there makes it slower, and no
test of the answer notices. Whoever changes the way on purpose records it anew, and sees in the
difference whether it became shorter: ``python tests/fast/test_solver_paths.py``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import classes

from fast.families import named
from fast.solvers import hard_margin, plain_svm, structured
from fast.solvers.active_set import ActiveSetSolver
from fast.solvers.box_interior_point import FactorGram, MatrixGram
from fast.solvers.constrained_risk import EasyProblem
from fast.solvers.interior_point import minimise
from fast.solvers.primal_newton import PrimalNewtonSolver
from fast.solvers.score_problem import ScoreCut, ScoreProblem
from fast.solvers.state import TrainingState

RECORD = Path(__file__).with_name("solver_paths.json")
ROUNDING = 1e-12  # in a relative gap, after products in float64
#: Relative changes that count for none: rounding was seen to make a third of them at most, between five
#: kinds of BLAS, and compiled for four processors or not at all. Newton's directions are in float32; of the
#: bundle's cuts some are kept or dropped by the last bit, and Haswell's kernels move one gap by .011.
CHANGES = {"active": 1e-4, "newton": 0.1, "scores": 0.04}


def multiclass(solver, loss, C=1.0, tol=1e-6, most=20, start=None, sparse=False, **data):
    """P - D as a part of P(0), of a multiclass trainer; ``start``: from the dual for these times smaller weights.

    Of Newton also how often it looked at a point in float64 and in float32.
    """
    X, y = classes(**data)
    m = int(y.max()) + 1
    r = C * np.random.default_rng(3).uniform(0.5, 1.5, len(y))
    if sparse:
        X = sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X))
    trainer = solver(X, y, r, m, loss, 5)
    if start:
        first = solver(X, y, r * start, m, loss, 5)
        _run(first, loss.at_zero(m) * r.sum() * start, 1e-2, 20)
        trainer.start_warm(first.dual_variables() / start)
    else:
        trainer.start_cold()
    at, seen = getattr(trainer, "_at", None), []
    trainer._at = lambda W, double: seen.append(double) or at(W, double)
    path = _run(trainer, loss.at_zero(m) * r.sum(), tol, most)
    return [*path, seen.count(True), seen.count(False)] if at else path


def _run(trainer, primal, tol, most):
    state = TrainingState()
    state.record(0, float(primal), 0.0, trainer.W)
    trainer.run(state, tol, most, lambda state: False)
    return [(line["primal"] - line["dual"]) / primal for line in state.history]


def hinges(y):
    """The mean hinge of signed scores, as an oracle."""

    def oracle(scores):
        on = y * scores < 1.0
        return ScoreCut(
            float(np.maximum(1.0 - y * scores, 0.0).mean()), float(on.mean()), -y * on / len(y), int(on.sum())
        )  # fmt: skip

    return oracle


def scores(solver, C=20.0, tol=1e-6, most=200, start=None, easy=0, **data):
    """Gaps of a trainer of functions of the scores; ``easy``: under as many hard constraints."""
    X, y = classes(**data)
    signs = np.where(y > 0, 1.0, -1.0)
    if easy:
        at = np.random.default_rng(1).standard_normal((easy, X.shape[1]))
        side = np.where(np.arange(easy) % 2, 1.0, -1.0)
        far = hard_margin.Margins(at + 3.0 * side[:, None] * np.eye(X.shape[1])[0], side)
        problem = EasyProblem(X, hinges(signs), C, far)
    else:
        problem = ScoreProblem(X, hinges(signs), C)
    found = structured.solve(problem, tol, most, solver, start, (), None)
    return [line["gap"] for line in found.history] + [found.n_oracle, len(found.weights)]


def plain(gram, squared, C=1.0, sparse=False, **data):
    """Gaps of the ordinary SVM, down to where rounding begins to matter."""
    X, y = classes(**data)
    y, mean = np.where(y > 0, 1.0, -1.0), None
    if gram is MatrixGram:
        given = MatrixGram(X @ X.T)
    else:
        X, mean = plain_svm.centred_factor(sp.csr_array(X) if sparse else X + 5.0)
        given = FactorGram(X)
    cost = C * np.random.default_rng(3).uniform(0.5, 1.5, len(y))
    found = plain_svm.train(
        given, y, cost, squared, mean=mean, report=lambda state: state.gap < 1e-9
    )
    return [line["gap"] for line in found.history]


def programs(tol, m=9, d=4, rows=1, gram=False, scale=1.0):
    """Solutions of a small program; inaccurate, they tell how many steps were taken."""
    rng = np.random.default_rng(7)
    A, c = scale * rng.standard_normal((m, d)), rng.standard_normal(m)
    E = np.ones((1, m)) if rows == 1 else np.array([np.arange(m) % 2, np.arange(m) % 2 == 0], float)
    start = np.ones(m) / E.sum(axis=1).max()
    x = minimise(A, c, E, np.ones(rows), start, tol, A @ A.T if gram else None)
    return list(x)


def separation(n, d, shift, accuracy):
    """Length of a feasible w, and the examples that it was found with."""
    rng = np.random.default_rng(2)
    y = np.where(np.arange(n) % 3, 1.0, -1.0)
    X = rng.standard_normal((n, d)) + shift * y[:, None] * np.eye(d)[0]
    found = hard_margin.separate(hard_margin.Margins(X, y), accuracy)
    return [float(np.linalg.norm(found.w)), len(found.members)]


ACTIVE = {
    "hinge": {"loss": named("multiclass_hinge"), "n": 40, "m": 5, "d": 4, "C": 3.0},
    "alpha": {"loss": named("topk_hinge_alpha", k=3), "n": 40, "m": 7, "d": 5, "C": 5.0},
    "beta": {"loss": named("topk_hinge_beta", k=2), "n": 40, "m": 6, "d": 5, "C": 5.0},
    "squared": {
        "loss": named("squared_topk_hinge", k=2),
        "n": 40,
        "m": 6,
        "d": 4,
        "C": 3.0,
        "most": 10,
    },
    "smooth": {"loss": named("smooth_topk_hinge_alpha", k=2, gamma=0.5), "n": 40, "m": 6, "d": 4},
    "wide": {"loss": named("topk_hinge_alpha", k=2), "n": 30, "m": 20, "d": 3, "C": 2.0, "most": 9},
    "warm": {"loss": named("multiclass_hinge"), "n": 40, "m": 5, "d": 4, "C": 3.0, "start": 0.1},
    "sparse": {"loss": named("topk_hinge_alpha", k=2), "n": 40, "m": 6, "d": 6, "sparse": True},
}
NEWTON = {
    "softmax": {"loss": named("softmax"), "n": 60, "m": 4, "d": 6, "C": 3.0, "tol": 1e-9},
    "few": {"loss": named("softmax"), "n": 60, "m": 4, "d": 6, "tol": 1e-3, "C": 0.02},
    "beta": {"loss": named("topk_entropy_beta", k=2), "n": 60, "m": 5, "d": 4, "C": 30.0},
    "alpha": {"loss": named("topk_entropy_alpha", k=3), "n": 60, "m": 6, "d": 4, "C": 5.0},
    "smooth": {"loss": named("smooth_topk_hinge_beta", k=2, gamma=1.0), "n": 60, "m": 6, "d": 4},
    "warm": {"loss": named("softmax"), "n": 60, "m": 4, "d": 6, "C": 3.0, "start": 0.3},
    "sparse": {"loss": named("softmax"), "n": 60, "m": 4, "d": 6, "C": 10.0, "sparse": True},
    "long": {"loss": named("softmax"), "n": 30, "m": 3, "d": 40, "C": 10.0},
    "sampled": {"loss": named("softmax"), "n": 14_000, "m": 3, "d": 4, "C": 0.1},
}
SCORES = {
    "bundle": {"solver": "bundle", "n": 50, "m": 2, "d": 6, "spread": 0.5},
    "planes": {"solver": "cutting_plane", "n": 50, "m": 2, "d": 4, "spread": 0.5},
    "warm": {"solver": "bundle", "n": 50, "m": 2, "d": 4, "spread": 0.5, "start": np.ones(4)},
    "easy": {"solver": "bundle", "n": 50, "m": 2, "d": 4, "spread": 0.5, "easy": 40},
    "easy planes": {"solver": "cutting_plane", "n": 50, "m": 2, "d": 3, "spread": 0.5, "easy": 40},
}  # fmt: skip
PLAIN = {
    "factor": {"gram": FactorGram, "squared": False, "n": 40, "m": 2, "d": 3, "spread": 0.7},
    "factor squared": {"gram": FactorGram, "squared": True, "n": 40, "m": 2, "d": 3, "spread": 0.7},
    "matrix": {"gram": MatrixGram, "squared": False, "n": 30, "m": 2, "d": 3, "spread": 0.7},
    "matrix squared": {"gram": MatrixGram, "squared": True, "n": 30, "m": 2, "d": 3, "C": 1e3},
    "sparse": {"gram": FactorGram, "squared": False, "n": 40, "m": 2, "d": 3, "sparse": True, "C": 50.0},
}  # fmt: skip
PROGRAMS = {
    f"{rows} {tol:g} {d} {gram}": {"tol": tol, "rows": rows, "d": d, "gram": gram}
    for rows in (1, 2) for tol in (1e-1, 1e-3, 1e-6) for d in (4, 20) for gram in (False, True)
}  # fmt: skip
SEPARATIONS = {
    f"{n} {d} {accuracy}": {"n": n, "d": d, "shift": shift, "accuracy": accuracy}
    for n, d, shift, accuracy in ((90, 3, 4.0, 0.05), (90, 3, 4.0, 1e-6), (300, 6, 5.0, 1e-6), (40, 30, 1.0, 0.5))
}  # fmt: skip
PATHS = {
    "active": (multiclass, {n: {"solver": ActiveSetSolver} | c for n, c in ACTIVE.items()}),
    "newton": (multiclass, {n: {"solver": PrimalNewtonSolver} | c for n, c in NEWTON.items()}),
    "scores": (scores, SCORES),
    "plain": (plain, PLAIN),
    "programs": (programs, PROGRAMS),
    "separation": (separation, SEPARATIONS),
}


def agree(kind, name):
    """The path of a case, against the record."""
    run, cases = PATHS[kind]
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[kind][name]
    found = np.array(run(**cases[name]))
    np.testing.assert_allclose(found, recorded, rtol=CHANGES.get(kind, 1e-5), atol=ROUNDING)


@pytest.mark.parametrize("name", ACTIVE)
def test_class_lists(name):
    agree("active", name)


@pytest.mark.parametrize("name", NEWTON)
def test_newton(name):
    agree("newton", name)


@pytest.mark.parametrize("name", SCORES)
def test_functions_of_scores(name):
    agree("scores", name)


@pytest.mark.parametrize("name", PLAIN)
def test_the_ordinary_svm(name):
    agree("plain", name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_small_programs(name):
    agree("programs", name)


@pytest.mark.parametrize("name", SEPARATIONS)
def test_separations(name):
    agree("separation", name)


if __name__ == "__main__":
    found = {
        kind: {name: [float(f"{v:.7g}") for v in run(**case)] for name, case in cases.items()}
        for kind, (run, cases) in PATHS.items()
    }
    lines = (
        f' "{kind}": {{\n' + ",\n".join(f'  "{n}": {json.dumps(v)}' for n, v in cases.items()) + "\n }"
        for kind, cases in found.items()
    )  # fmt: skip
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
