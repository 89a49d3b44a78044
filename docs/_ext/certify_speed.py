"""CPU seconds of a solve as its user has it, and of `certify` of what it left, problem by problem.

``python docs/_ext/records.py certify_speed`` writes docs/records/certify_speed.jsonl: each problem in a
process of its own, after a small one; the solve is ``problem.solve()`` with CVXPY's reduction.
``python docs/_ext/certify_speed.py NAME ...`` prints the same of some.
"""

import json
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse
from scoreboard_families import FAMILIES

import refsolve
from verification.benchmarks.forked import TIMEOUT, forked

sp: Any = scipy.sparse  # whose types know few of its functions

LIMIT = 600.0
CASES: dict[str, tuple[Callable[[np.random.Generator], cp.Problem], str]] = {}


def case(name: str, *solvers: str) -> Any:
    """Register a problem, with the solvers that answer it."""

    def add(make: Callable[[np.random.Generator], cp.Problem]) -> Any:
        for solver in solvers or ("CLARABEL",):
            CASES[f"{name}, {solver}" if solver != "CLARABEL" else name] = make, solver
        return make

    return add


def _family(name: str, size: object) -> None:
    make = next(f.make for f in FAMILIES if f.name == name)
    case(f"{name} {size}")(lambda rng: make(size, rng)[0])


@case("logistic, 1000 x 20")
def _logistic(rng: np.random.Generator) -> cp.Problem:
    X, w = rng.standard_normal((1000, 20)), cp.Variable(20)
    y = np.sign(X @ rng.standard_normal(20) + rng.standard_normal(1000))
    loss = cp.sum(cp.logistic(cp.multiply(-y, X @ w)))
    return cp.Problem(cp.Minimize(loss + 0.1 * cp.sum_squares(w)))


@case("k-convex fit 2002", "CLARABEL", "HIGHS", "OSQP")
def _convex_fit(rng: np.random.Generator) -> cp.Problem:
    return next(f.make for f in FAMILIES if f.name == "k-convex fit")(2002, rng)[0]


@case("free LP, 2000 x 1000, 2e4 nonzeros")
def _free(rng: np.random.Generator) -> cp.Problem:
    n, x = 1000, cp.Variable(1000)
    A = sp.random_array((2 * n, n), density=10 / n, rng=rng) + sp.eye_array(2 * n, n)
    y, b = rng.random(2 * n), A @ rng.standard_normal(n) + rng.random(2 * n)
    return cp.Problem(cp.Minimize((A.T @ -y) @ x), [A @ x <= b])


@case("lasso, 1000 x 100 dense")
def _lasso(rng: np.random.Generator) -> cp.Problem:
    A, x = rng.standard_normal((1000, 100)), cp.Variable(100)
    y = A @ (rng.standard_normal(100) * (rng.random(100) < 0.2)) + rng.standard_normal(1000)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) / 2 + 10 * cp.norm1(x)))


@case("LP with a box, 5000, 2.5e4 nonzeros", "CLARABEL", "HIGHS")
def _boxed(rng: np.random.Generator) -> cp.Problem:
    n = 5000
    A, x = sp.random_array((2500, n), density=10 / n, rng=rng, format="csr"), cp.Variable(n)
    b = A @ rng.random(n) + 0.1
    return cp.Problem(cp.Minimize(rng.standard_normal(n) @ x), [A @ x <= b, x >= 0, x <= 1])


@case("sparse ridge, 5000, 1e5 nonzeros")
def _ridge(rng: np.random.Generator) -> cp.Problem:
    A, x = sp.random_array((10000, 5000), density=0.002, rng=rng, format="csr"), cp.Variable(5000)
    y = rng.standard_normal(10000)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) + 0.1 * cp.sum_squares(x)))


@case("banded QP, 1e5 nonzeros", "CLARABEL", "OSQP")
def _banded(rng: np.random.Generator) -> cp.Problem:
    return banded(10000, rng)


def banded(n: int, rng: np.random.Generator) -> cp.Problem:
    """About eleven nonzeros a variable: a form of bandwidth two, rows of bandwidth two, a box."""
    ones = [np.ones(n - abs(k)) for k in (-1, 0, 1)]
    L = sp.diags_array([ones[0], 2 * ones[1], ones[2]], offsets=[-1, 0, 1], format="csc")
    A = sp.diags_array(
        [rng.standard_normal(n - abs(k)) for k in (-1, 0, 1)], offsets=[-1, 0, 1], format="csc"
    )
    x = cp.Variable(n)
    c, b = rng.standard_normal(n), A @ rng.standard_normal(n) + rng.random(n)
    rows = [A @ x <= b, x >= -3, x <= 3]
    return cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(L @ L.T)) / 2 + c @ x), rows)


@case("random QP, 3e4 nonzeros")
def _random_qp(rng: np.random.Generator) -> cp.Problem:
    n, m = 1500, 3000
    A = sp.random_array((m, n), density=8 / n, rng=rng, format="csr")
    F = sp.random_array((n, n), density=1 / n, rng=rng, format="csr")
    P, x = (F @ F.T + 0.1 * sp.eye_array(n)).tocsc(), cp.Variable(n)
    b = A @ rng.standard_normal(n) + rng.random(m)
    objective = cp.quad_form(x, cp.psd_wrap(P)) / 2 + rng.standard_normal(n) @ x
    return cp.Problem(cp.Minimize(objective), [A @ x <= b])


@case("SVM, 5000 x 1000, 1e5 nonzeros")
def _machine(rng: np.random.Generator) -> cp.Problem:
    X, w = sp.random_array((5000, 1000), density=0.02, rng=rng, format="csr"), cp.Variable(1000)
    y = np.sign(X @ rng.standard_normal(1000) + 0.1 * rng.standard_normal(5000))
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinge))


@case("total variation, 3000")
def _variation(rng: np.random.Generator) -> cp.Problem:
    y = np.cumsum(rng.standard_normal(3000) * (rng.random(3000) < 0.01)) + rng.standard_normal(3000)
    x = cp.Variable(3000)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - y) / 2 + 5 * cp.norm1(cp.diff(x))))


@case("portfolio, 3000 assets, 30 factors")
def _portfolio(rng: np.random.Generator) -> cp.Problem:
    n, k = 3000, 30
    F, x, y = sp.random_array((n, k), density=0.5, rng=rng), cp.Variable(n), cp.Variable(k)
    d, mu = rng.random(n) * np.sqrt(k), rng.standard_normal(n)
    risk = cp.sum_squares(cp.multiply(np.sqrt(d), x)) + cp.sum_squares(y)
    return cp.Problem(cp.Maximize(mu @ x - risk), [F.T @ x == y, cp.sum(x) == 1, x >= 0])


@case("group lasso, 1000 x 2000, 1e5 nonzeros")
def _groups(rng: np.random.Generator) -> cp.Problem:
    A, x = sp.random_array((1000, 2000), density=0.05, rng=rng, format="csr"), cp.Variable((400, 5))
    y = A[:, :25] @ rng.standard_normal(25) + 0.1 * rng.standard_normal(1000)
    fit = cp.sum_squares(A @ cp.vec(x, order="C") - y) / 2
    return cp.Problem(cp.Minimize(fit + 0.5 * cp.sum(cp.norm(x, 2, axis=1))))


@case("entropy, 2000 x 20")
def _entropy(rng: np.random.Generator) -> cp.Problem:
    A, x = rng.random((20, 2000)), cp.Variable(2000)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [A @ x == A.mean(axis=1), cp.sum(x) == 1])


for _name, _size in (
    ("transport", 100),
    ("flow", 2000),
    ("obstacle", 60),
    ("optimal control", 1000),
):
    _family(_name, _size)


def _measured(name: str) -> Iterator[dict[str, Any]]:
    warnings.simplefilter("ignore")
    make, solver = CASES[name]
    small, rng = cp.Variable(3), np.random.default_rng(7)
    warm = cp.Problem(cp.Minimize(cp.sum_squares(small) + cp.logistic(small[0])), [small >= 1])
    warm.solve(solver="CLARABEL")
    refsolve.certify(warm)
    problem = make(rng)
    rough, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    problem.solve(solver=solver)
    solved = process_time()
    proof = refsolve.certify(problem)
    ended, data = process_time(), problem.get_problem_data("CLARABEL")[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    nonzeros = sum(int(data[key].nnz) for key in ("P", "A") if data.get(key) is not None)
    yield {
        "name": name, "nonzeros": nonzeros, "said": problem.status, "status": str(proof.status),
        "bound": float(f"{proof.bound:.3g}"), "solve": round(solved - start, 3),
        "certify": round(ended - solved, 3),
        "ratio": round((ended - solved) / (solved - start), 2),
        "megabytes": round((peak - rough) / 1024),
    }  # fmt: skip


def lines(*names: str) -> Iterator[dict[str, Any]]:
    """A row for each problem."""
    for name in names or CASES:
        found, why = forked(partial(_measured, name), [LIMIT])
        late = f"no answer in {LIMIT:.0f} s" if why == TIMEOUT else why
        yield found[0] if found else {"name": name, "status": late}


if __name__ == "__main__":
    for line in lines(*[n for n in CASES if any(part in n for part in sys.argv[1:] or [""])]):
        print(json.dumps(line), flush=True)
