"""A loss in a file of somebody else: computed and trained like ours, with a certificate."""

from pathlib import Path

import numpy as np
import pytest

from fast import audit
from fast.errors import InvalidParameterError
from fast.families import named
from fast.models.multiclass_erm import train

SOURCE = '''
"""Half the squared violations."""

from dataclasses import dataclass

import numpy as np

from fast._numba import kernel
from fast.families import Loss, module_functions
from fast.kernels.projections import uncapped_row
from fast.kernels.rows import compiled


@kernel
def value_row(p, z, x, work):
    total = 0.0
    for j in range(z.shape[0]):
        total += 0.5 * p[0] * max(z[j], 0.0) ** 2
    return total


@kernel
def gradient_row(p, z, x, work):
    s = 0.0
    for j in range(z.shape[0]):
        x[j] = p[0] * max(z[j], 0.0)
        s += x[j]
    return 1.0 - s


@kernel
def conjugate_row(p, x, costs, known, slack):
    total = 0.0
    for j in range(x.shape[0]):
        if x[j] < -slack:
            return np.inf
        total += 0.5 / p[0] * x[j] * x[j] - costs[j] * x[j]
    return total


@kernel
def step_row(p, b, a, rho, x, work):
    den = a + 1.0 / p[0]
    for j in range(b.shape[0]):
        x[j] = b[j] / den
    return 1.0 - uncapped_row(x, 1e300, a * rho / den, False, x, work)


@dataclass(frozen=True)
class SquaredViolations(Loss):
    size: float = 1.0
    smooth = True
    kernels = compiled(globals(), __file__)


value, gradient, conjugate, prox, sdca_update = module_functions(SquaredViolations, value="size/2 ||z_+||^2.")
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> str:
    path: Path = tmp_path_factory.mktemp("losses") / "squared_violations.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    return rng.standard_normal((4, 5))[y] + rng.standard_normal((120, 5)), y


def objectives(W, dual_variables, X, y, r, size) -> tuple[float, float]:
    """P and D from the definitions."""
    n = len(y)
    f = X @ W.T
    z = f - f[np.arange(n), y][:, None] + 1.0
    z[np.arange(n), y] = 0.0
    x = dual_variables.toarray()
    A = -x
    A[np.arange(n), y] = x.sum(axis=1)
    V = A.T @ X
    primal = 0.5 * (W * W).sum() + r * 0.5 * size * (np.maximum(z, 0.0) ** 2).sum()
    assert x.min() >= 0.0
    return primal, x.sum() - 0.5 / (size * r) * (x * x).sum() - 0.5 * (V * V).sum()


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "sdca"])
@pytest.mark.parametrize("size", [1.0, 0.3])
def test_a_loss_of_a_file_is_trained_to_a_certified_gap(file, solver, size):
    X, y = data()
    found = train(X, y, 0.5, loss=named(file, size=size), solver=solver, tol=1e-7)
    assert found.gap <= 1e-7
    assert found.solver == ("lbfgs" if solver == "auto" else solver)
    P, D = objectives(found.W, found.dual_variables, X, y, 0.5, size)
    assert found.primal == pytest.approx(P, rel=1e-10)
    assert found.dual <= D + 1e-10 * abs(P)
    assert 2e-7 * abs(P) >= P - D


def test_its_operations_are_those_of_any_loss(file):
    loss = named(file, size=2.0)
    rng = np.random.default_rng(1)
    v, x = rng.standard_normal((6, 3)), rng.random((6, 3))
    p = loss.prox(v, t=0.7)
    residual = loss.value(np.insert(p, 0, 0.0, axis=1), np.zeros(6, int))
    residual += loss.conjugate((v - p) / 0.7) - ((v - p) / 0.7 * p).sum(axis=1)
    np.testing.assert_allclose(residual, 0.0, atol=1e-13)  # Fenchel and Young
    assert (loss.conjugate(-x) == np.inf).all()


@pytest.mark.parametrize(
    ("loss", "solver", "match"),
    [
        ("no_such", "auto", "loss: 'no_such'; expected a name of fast.losses"),
        ("/no/such/file.py", "auto", "expected a file"),
        ("ova_hinge", "auto", "ova_hinge; expected a loss with a solver"),
        ("multiclass_hinge", "newton", "needs curvature; expected one of"),
        ("softmax", "active", "needs lists; expected one of"),
        ("softmax", "fast", "solver: 'fast' for softmax"),
    ],
)
def test_what_does_not_fit_is_named_at_once(loss, solver, match):
    X, y = data()
    with pytest.raises(InvalidParameterError, match=match):
        train(X, y, 1.0, loss=loss, solver=solver)


def test_margins_that_are_not_the_familys_are_refused_by_its_trainers_and_bounds():
    """These take the family's own, whatever ``cost`` says."""
    file = Path(__file__).parents[1] / "outside" / "fast" / "losses" / "topk_softmax_margin.py"
    X, y = data()
    with pytest.raises(InvalidParameterError, match=r"topk_softmax_margin.*margins of its family"):
        train(X, y, 1.0, loss=str(file))
    with pytest.raises(InvalidParameterError, match="expected a convex loss of one label"):
        audit(np.eye(4, 5), X, y, loss=str(file), C=1.0)


def test_unknown_parameters_are_named():
    with pytest.raises(InvalidParameterError, match=r"gamma: not a parameter of softmax"):
        named("softmax", gamma=1.0)
    with pytest.raises(InvalidParameterError, match=r"one of: k, gamma"):
        named("smooth_topk_hinge_beta", cap=1.0)
