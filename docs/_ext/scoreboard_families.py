"""Families of convex problems from their published definitions, each at three sizes, drawn by a seed.

A family is a function ``f(size, rng)`` that returns a `cvxpy.Problem` and what is known of it: its
optimal value, "infeasible", "unbounded", or None.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]
Made = tuple[cp.Problem, float | str | None]


@dataclass(frozen=True)
class Family:
    """A family: what it is, its cone, three sizes, and how one is made."""

    name: str
    cone: str
    sizes: tuple[Any, Any, Any]
    source: str
    make: Callable[[Any, np.random.Generator], Made]


FAMILIES: list[Family] = []


def family(name: str, cone: str, sizes: tuple[Any, Any, Any], source: str) -> Any:
    """Register a function as a family."""

    def add(make: Callable[[Any, np.random.Generator], Made]) -> Any:
        FAMILIES.append(Family(name, cone, sizes, source, make))
        return make

    return add


def problems() -> Iterator[tuple[Family, Any, cp.Problem, float | str | None]]:
    """Every family at every size."""
    for f in FAMILIES:
        for size in f.sizes:
            problem, truth = f.make(size, np.random.default_rng(7))
            yield f, size, problem, truth


# Linear programs


@family("transport", "LP", (5, 20, 60), "Hitchcock 1941; optimal prices planted")
def transport(n: int, rng: np.random.Generator) -> Made:
    """Ship from n places to n others; all totals are equations, one of which follows from the others."""
    plan = np.zeros((n, n))
    i = j = 0
    while i < n and j < n:  # a path of cells: a vertex
        plan[i, j] = rng.integers(1, 10)
        i, j = (i + 1, j) if rng.random() < 0.5 else (i, j + 1)
    u, v = rng.integers(0, 20, n), rng.integers(0, 20, n)
    cost = u[:, None] + v + np.where(plan > 0, 0, rng.integers(0, 10, (n, n)))
    x = cp.Variable((n, n), nonneg=True)
    rows = [cp.sum(x, axis=1) == plan.sum(axis=1), cp.sum(x, axis=0) == plan.sum(axis=0)]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, x))), rows), float((cost * plan).sum())


@family("flow", "LP", (10, 50, 200), "Ford & Fulkerson 1962; optimal potentials planted")
def flow(n: int, rng: np.random.Generator) -> Made:
    """Least cost flow with capacities on n nodes and 4n arcs."""
    tail = np.concatenate((np.arange(n - 1), rng.integers(0, n, 3 * n)))
    head = np.concatenate((np.arange(1, n), rng.integers(0, n, 3 * n)))
    keep = tail != head
    tail, head = tail[keep], head[keep]
    m = len(tail)
    N = sp.csr_array((np.r_[np.ones(m), -np.ones(m)], (np.r_[tail, head], np.r_[0:m, 0:m])), (n, m))
    capacity = rng.integers(1, 10, m).astype(float)
    kind = rng.integers(0, 3, m)  # empty, full, between
    x = np.select([kind == 0, kind == 1], [np.zeros(m), capacity], np.floor(capacity / 2))
    reduced = np.select([kind == 0, kind == 1], [rng.integers(0, 9, m), -rng.integers(0, 9, m)], 0)
    cost = N.T @ rng.integers(-20, 20, n) + reduced
    f = cp.Variable(m, nonneg=True)
    return cp.Problem(cp.Minimize(cost @ f), [N @ f == N @ x, f <= capacity]), float(cost @ x)


@family("Klee-Minty", "LP", (5, 10, 15), "Klee & Minty 1972, as Chvatal 1983 prints it")
def klee_minty(n: int, rng: np.random.Generator) -> Made:
    """Maximise sum 10^(n-j) x_j; 2 sum_(j<i) 10^(i-j) x_j + x_i <= 100^(i-1): optimum 100^(n-1)."""
    i, j = np.arange(n)[:, None], np.arange(n)
    A = np.where(j < i, 2 * 10.0 ** (i - j), np.eye(n))
    x = cp.Variable(n, nonneg=True)
    return cp.Problem(cp.Maximize(10.0 ** (n - 1 - j) @ x), [A @ x <= 100.0**j]), 100.0 ** (n - 1)


@family("nearly infeasible", "LP", (1e-3, 1e-6, 1e-9), "two rows that leave a strip of this width")
def nearly_infeasible(width: float, rng: np.random.Generator) -> Made:
    """Least c'x on 1 - width <= a'x <= 1 where c = a: optimum 1 - width."""
    a = rng.integers(1, 10, 20) / 8
    x = cp.Variable(20, nonneg=True)
    return cp.Problem(cp.Minimize(a @ x), [a @ x <= 1, a @ x >= 1 - width]), float(1 - width)


@family("infeasible by", "LP", (1e-3, 1e-6, 1e-9), "two rows that contradict each other by this")
def infeasible(by: float, rng: np.random.Generator) -> Made:
    """No x >= 0 has a'x <= 1 - by and a'x >= 1."""
    a, c = rng.integers(1, 10, 20) / 8, rng.integers(1, 10, 20)
    x = cp.Variable(20, nonneg=True)
    return cp.Problem(cp.Minimize(c @ x), [a @ x <= 1 - by, a @ x >= 1]), "infeasible"


@family(
    "unbounded by", "LP", (1e-3, 1e-6, 1e-9), "a ray along which the objective falls this slowly"
)
def unbounded(slope: float, rng: np.random.Generator) -> Made:
    """x_1 - x_2 may stay what it is while both grow."""
    x = cp.Variable(20, nonneg=True)
    c = np.concatenate(([1.0, -1.0 - slope], np.ones(18)))
    return cp.Problem(cp.Minimize(c @ x), [x[0] - x[1] >= -1]), "unbounded"


@family("badly scaled", "LP", (10, 20, 30), "planted; rows and columns times 2^-k ... 2^k")
def badly_scaled(k: int, rng: np.random.Generator) -> Made:
    """Twenty variables, thirty rows; powers of two round nothing."""
    m, n = 30, 20
    A = rng.integers(-5, 6, (m, n)).astype(float)
    x, y = rng.integers(1, 9, n).astype(float), rng.integers(1, 9, m).astype(float)
    tight = np.arange(m) < n
    b = A @ x - np.where(tight, 0, rng.integers(1, 9, m))
    y[~tight] = 0
    c = A.T @ y
    row, column = np.exp2(rng.integers(-k, k + 1, m)), np.exp2(rng.integers(-k, k + 1, n))
    v = cp.Variable(n)
    rows = [(A * row[:, None] / column) @ v >= b * row]
    return cp.Problem(cp.Minimize((c / column) @ v), rows), float(c @ x)


# Quadratic programs


@family("k-convex fit", "QP", (50, 500, 2000), "LISWET1: Li & Swetits 1993; Maros & Meszaros 1999")
def convex_fit(n: int, rng: np.random.Generator) -> Made:
    """Nearest sequence with second differences >= 0."""
    i = np.arange(1, n + 1)
    c = np.sqrt(np.linspace(0, 1, n)) + 0.1 * np.sin(i)
    D = sp.diags_array([1.0, -2.0, 1.0], offsets=[0, 1, 2], shape=(n - 2, n))
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [D @ x >= 0]), None


@family("obstacle", "QP", (8, 20, 40), "OBSTCLAE: Dolan, More & Munson 2004; Ciarlet 1978")
def obstacle(n: int, rng: np.random.Generator) -> Made:
    """A membrane on an n by n grid above a bump, -Laplace's five points."""
    t = np.linspace(0, 1, n + 2)[1:-1]
    T = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    K = sp.kronsum(T, T, format="csc")
    bump = np.outer(np.sin(9.2 * t), np.sin(9.3 * t)).ravel() ** 3
    u = cp.Variable(n * n, bounds=[bump, 2000.0])
    load = np.full(n * n, 1.0 / (n + 1) ** 2)
    return cp.Problem(cp.Minimize(cp.quad_form(u, cp.psd_wrap(K)) / 2 - load @ u)), None


@family(
    "optimal control", "QP", (10, 50, 200), "double integrator with bounds: Borrelli et al. 2017"
)
def control(steps: int, rng: np.random.Generator) -> Made:
    """Bring position 5 to 0 by forces of at most 1."""
    A, B = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0], [1.0]])
    x, u = cp.Variable((2, steps + 1)), cp.Variable((1, steps), bounds=[-1, 1])
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ u, x[:, 0] == np.array([5.0, 0.0]), x[1] >= -1.5]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), rows), None


@family("lasso", "QP", (10, 50, 150), "Tibshirani 1996, as in OSQP's benchmark")
def lasso(n: int, rng: np.random.Generator) -> Made:
    """Ten times as many rows as columns."""
    A = rng.standard_normal((10 * n, n))
    y = A @ np.where(rng.random(n) < 0.5, rng.standard_normal(n) / np.sqrt(n), 0)
    y += rng.standard_normal(10 * n)
    w = cp.Variable(n)
    weight = float(np.abs(A.T @ y).max()) / 5
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) + weight * cp.norm1(w))), None


@family("SVM in units", "QP", (2, 4, 8), "Cortes & Vapnik 1995; columns times 10^-k ... 10^k")
def machine(k: int, rng: np.random.Generator) -> Made:
    """Features in different units."""
    X = rng.standard_normal((60, 8)) * 10.0 ** np.linspace(-k, k, 8)
    y = np.sign(X[:, 0] * 10.0**k + rng.standard_normal(60))
    w = cp.Variable(8)
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w)))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinge)), None


@family("SVM dual", "QP", (20, 60, 200), "Cortes & Vapnik 1995; Gram matrix of rank 5")
def svm_dual(n: int, rng: np.random.Generator) -> Made:
    """A singular form with a box and one equation."""
    X, y = rng.standard_normal((n, 5)), np.sign(rng.standard_normal(n))
    R = (X * y[:, None]).T
    a = cp.Variable(n, bounds=[0, 1])
    return cp.Problem(cp.Minimize(cp.sum_squares(R @ a) / 2 - cp.sum(a)), [y @ a == 0]), None


@family("tiny objective", "QP", (1e-4, 1e-7, 1e-10), "a least-squares fit on a simplex, times this")
def tiny(scale: float, rng: np.random.Generator) -> Made:
    """Only the objective's own scale can tell a good point from a bad one."""
    A, b = rng.standard_normal((20, 10)), rng.standard_normal(20)
    x = cp.Variable(10, nonneg=True)
    return cp.Problem(cp.Minimize(scale * cp.sum_squares(A @ x - b)), [cp.sum(x) == 1]), None


# Second-order cones


@family("Fermat-Weber", "SOCP", (5, 50, 300), "Weber 1909")
def fermat(n: int, rng: np.random.Generator) -> Made:
    """The point of least total distance from n places in the plane."""
    places, x = rng.standard_normal((n, 2)), cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum(cp.norm(places - x[None, :], axis=1)))), None


@family("smallest ball", "SOCP", (5, 50, 300), "Sylvester 1857")
def ball(n: int, rng: np.random.Generator) -> Made:
    """The least ball around n points of space."""
    places, x, r = rng.standard_normal((n, 3)), cp.Variable(3), cp.Variable()
    return cp.Problem(cp.Minimize(r), [cp.norm(places - x[None, :], axis=1) <= r]), None


@family("robust portfolio", "SOCP", (5, 30, 100), "Ben-Tal & Nemirovski 1999")
def portfolio(n: int, rng: np.random.Generator) -> Made:
    """Return less the norm of what is uncertain, weights on a simplex."""
    mean, R = rng.random(n) / 10, rng.standard_normal((n, n)) / 10
    p = cp.Variable(n, nonneg=True)
    return cp.Problem(cp.Maximize(mean @ p - cp.norm(R @ p)), [cp.sum(p) == 1, p <= 0.5]), None


@family("cone in units", "SOCP", (10, 20, 30), "planted; columns times 2^-k ... 2^k")
def cone_in_units(k: int, rng: np.random.Generator) -> Made:
    """Least c'x with ||Ax - b|| <= 5, c = A'(3, 4, 0 ...): optimum at Ax - b = -(3, 4, 0 ...)."""
    n = 8
    A = np.eye(n) + np.triu(rng.integers(-2, 3, (n, n)), 1)
    v = np.concatenate(([3.0, 4.0], np.zeros(n - 2)))
    x = rng.integers(-4, 5, n).astype(float)
    b, column = A @ x + v, np.exp2(rng.integers(-k, k + 1, n))
    y = cp.Variable(n)
    rows = [cp.norm((A / column) @ y - b) <= 5]
    return cp.Problem(cp.Minimize(((A.T @ v) / column) @ y), rows), float(v @ A @ x)


# Exponential cones


@family("logistic regression", "exponential", (10, 50, 150), "Cox 1958")
def logistic(n: int, rng: np.random.Generator) -> Made:
    """Three coefficients, 4n rows, a small ridge."""
    X = rng.standard_normal((4 * n, 5))
    y = np.sign(X[:, 0] + rng.standard_normal(4 * n))
    w = cp.Variable(5)
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w)))
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(w) / 10)), None


@family("maximum entropy", "exponential", (10, 50, 200), "Jaynes 1957")
def entropy(n: int, rng: np.random.Generator) -> Made:
    """Three moments of a distribution on n points; the last follows from the others."""
    t = np.linspace(-1, 1, n)
    p0 = rng.random(n)
    p0 /= p0.sum()
    M = np.vstack((np.ones(n), t, t**2, 1 + t))
    p = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [M @ p == M @ p0]), None


@family("log-sum-exp", "exponential", (5, 20, 60), "Boyd & Vandenberghe 2004, 4.5")
def posynomial(n: int, rng: np.random.Generator) -> Made:
    """A posynomial of n terms in logarithms, in a box."""
    A, b = rng.standard_normal((n, 4)), rng.standard_normal(n)
    y = cp.Variable(4, bounds=[-2, 2])
    return cp.Problem(cp.Minimize(cp.log_sum_exp(A @ y + b))), None


@family(
    "relative entropy", "exponential", (10, 50, 200), "Kullback & Leibler 1951; optimum 0 planted"
)
def divergence(n: int, rng: np.random.Generator) -> Made:
    """The nearest distribution with a mean that the given one has: itself."""
    q = rng.integers(1, 10, n) / 16
    values = rng.integers(-5, 6, n)
    p = cp.Variable(n)
    rows = [cp.sum(p) == q.sum(), values @ p == values @ q]
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(p, q))), rows), 0.0


# Semidefinite matrices and powers


@family("maximum cut", "SDP", (5, 12, 25), "Goemans & Williamson 1995")
def cut(n: int, rng: np.random.Generator) -> Made:
    """Its relaxation on a random graph."""
    W = np.triu(rng.integers(0, 4, (n, n)), 1)
    W = W + W.T
    X = cp.Variable((n, n), PSD=True)
    laplacian = np.diag(W.sum(axis=1)) - W
    return cp.Problem(cp.Maximize(cp.trace(laplacian @ X) / 4), [cp.diag(X) == 1]), None


@family(
    "Lovasz theta", "SDP", (5, 11, 21), "Lovasz 1979: n cos(pi/n) / (1 + cos(pi/n)) on odd cycles"
)
def theta(n: int, rng: np.random.Generator) -> Made:
    """The cycle of n nodes."""
    X = cp.Variable((n, n), PSD=True)
    rows = [cp.trace(X) == 1, *[X[i, (i + 1) % n] == 0 for i in range(n)]]
    value = n * np.cos(np.pi / n) / (1 + np.cos(np.pi / n))
    return cp.Problem(cp.Maximize(cp.sum(X)), rows), float(value)


@family("nearest correlation", "SDP", (4, 10, 20), "Higham 2002")
def correlation(n: int, rng: np.random.Generator) -> Made:
    """The nearest correlation matrix to a symmetric one."""
    G = rng.uniform(-1, 1, (n, n))
    X = cp.Variable((n, n), PSD=True)
    rows = [cp.diag(X) == 1]
    return cp.Problem(cp.Minimize(cp.sum_squares(X - (G + G.T) / 2)), rows), None


@family("least largest eigenvalue", "SDP", (3, 8, 16), "Overton 1988")
def eigenvalue(n: int, rng: np.random.Generator) -> Made:
    """Of A_0 + sum x_i A_i."""
    S = rng.standard_normal((4, n, n))
    S = S + S.transpose(0, 2, 1)
    x = cp.Variable(3, bounds=[-10, 10])
    return cp.Problem(
        cp.Minimize(cp.lambda_max(S[0] + sum(x[i] * S[i + 1] for i in range(3))))
    ), None


@family("p-norm fit", "power", (5, 20, 60), "Boyd & Vandenberghe 2004, 6.1; p = 2.75")
def p_norm(n: int, rng: np.random.Generator) -> Made:
    """Four coefficients, n + 5 rows."""
    A, b = rng.standard_normal((n + 5, 4)), rng.standard_normal(n + 5)
    x = cp.Variable(4)
    return cp.Problem(cp.Minimize(cp.pnorm(A @ x - b, 2.75, approx=False))), None


@family(
    "growth",
    "power",
    (3, 10, 40),
    "Cobb & Douglas 1928: a product of powers under a budget; planted",
)
def growth(n: int, rng: np.random.Generator) -> Made:
    """Maximise t <= x^a y^(1-a) a row with one budget: a and 1 - a of each share are optimal."""
    weight = rng.choice((0.25, 0.375, 0.75), n)
    x, y, t = cp.Variable(n), cp.Variable(n), cp.Variable(n)
    rows = [cp.PowCone3D(x, y, t, weight), x + y <= 1]
    value = float(np.sum(weight**weight * (1 - weight) ** (1 - weight)))
    return cp.Problem(cp.Maximize(cp.sum(t)), rows), value
