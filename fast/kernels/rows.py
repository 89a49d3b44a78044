"""From the kernels of one row to the loops over rows that a loss is computed and trained by.

A loss over the m - 1 other classes, z = u + c, brings four kernels; p holds its parameters:

* ``value_row(p, z, x, work)``: the loss; x and work are scratch of the size of z.
* ``gradient_row(p, z, x, work)``: writes the (sub)gradient x; returns 1 - <1,x>.
* ``conjugate_row(p, x, costs, known, slack)``: conjugate less <costs,x>, inf outside up to ``slack``;
  ``known`` is 1 - <1,x>, or negative.
* ``step_row(p, b, a, rho, x, work)``: writes the x that minimises
  a/2 (||x||^2 + rho <1,x>^2) - <b,x> + conjugate(x), a >= 0, rho 0 or 1; returns 1 - <1,x>.

Instead of the last it may bring ``prox_row`` and ``update_row``, which are made of it else. Losses in
other coordinates bring the functions ``*_at`` of a whole row.

The functions of this file are texts for the compiler: `compiled` makes kernels of them that call those of
a loss. These are found in the globals of a function, so that the machine code is kept on disk with the
file of the loss; as arguments they would cost the cache. There is a loop per operation, so that the
first value waits for no other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fast._numba import inlined, kernel, remade
from fast._rows import load
from fast._validation import LIMIT
from fast.kernels.hinges import others, with_own

Kernel = Callable[..., Any]
value_row: Kernel
gradient_row: Kernel
conjugate_row: Kernel
step_row: Kernel
operation: int  # of a loop: branches of the others are cut before it is compiled

OPERATIONS = 5
VALUE, GRADIENT, UPDATE, PROX, CONJUGATE = range(OPERATIONS)
SCRATCH = 7  # rows of the scratch space


def prox_row(p, v, costs, t, out, z, work):
    """Write argmin over u of L(u + costs) + ||u - v||^2/(2t) = v - t x; returns 1 - <1,x>."""
    for j in range(v.shape[0]):
        z[j] = v[j] + costs[j]
    rest = step_row(p, z, t, 0.0, out, work)
    for j in range(v.shape[0]):
        out[j] = v[j] - t * out[j]
    return rest


def update_row(p, b, r, norm, x, work):
    """Write x with the dual block -factor x, b = q_j - q_y + c_j; returns (factor, 1 - <1,x>)."""
    return r, step_row(p, b, min(r * norm, LIMIT), 1.0, x, work)


def value_at(p, row, y, costs, space):
    """Loss of a row of scores."""
    z, x, work = space[1, 1:], space[2, 1:], space[3, 1:]
    others(row, y, costs, z)
    return value_row(p, z, x, work)


def gradient_at(p, row, y, costs, weight, out, space):
    """Write ``weight`` times the gradient in the scores; returns 1 - <1,x>."""
    z, x, work = space[1, 1:], space[2, 1:], space[3, 1:]
    others(row, y, costs, z)
    rest = gradient_row(p, z, x, work)
    with_own(x, y, weight, out)
    return rest


def update_at(p, row, y, costs, r, norm, out, space):
    """Write the dual block of an example; returns 1 - <1,x>."""
    z, x, work = space[1, 1:], space[2, 1:], space[3, 1:]
    others(row, y, costs, z)
    factor, rest = update_row(p, z, r, norm, x, work)
    with_own(x, y, -factor, out)
    return rest


def prox_at(p, row, y, costs, t, out, space):
    """Write the proximal point of a row over the others; returns 1 - <1,x>."""
    return prox_row(p, row, costs, t, out, space[1], space[3])


def conjugate_at(p, row, y, costs, known, slack, space):
    """Conjugate at a row over the others."""
    return conjugate_row(p, row, costs, known, slack)


def run_rows(p, scalar, given, y, costs, weights, numbers, out, space):
    """Fill the rows of ``out``; returns the number of rows done (fewer: a bad entry).

    ========= ============== ======= ============== =============== =======
    operation given          weights numbers[:, 0]  numbers[:, 1]   scalar
    ========= ============== ======= ============== =============== =======
    VALUE     scores         w
    GRADIENT  scores         w                      receives 1 - s
    UPDATE    q              w       k_ii           receives 1 - s  C
    PROX      v                      t              receives 1 - s
    CONJUGATE x                                     1 - s, or -1    slack
    ========= ============== ======= ============== =============== =======
    """
    for i in range(given.shape[0]):
        row = space[0]
        if not load(given[i], row):
            return i
        cost = costs[i % costs.shape[0]]
        if operation == VALUE:
            out[i, 0] = weights[i] * value_at(p, row, y[i], cost, space)
        elif operation == GRADIENT:
            numbers[i, 1] = gradient_at(p, row, y[i], cost, weights[i], out[i], space)
        elif operation == UPDATE:
            r = weights[i] * scalar
            numbers[i, 1] = update_at(p, row, y[i], cost, r, numbers[i, 0], out[i], space)
        elif operation == PROX:
            numbers[i, 1] = prox_at(p, row, y[i], cost, numbers[i, 0], out[i], space)
        else:
            out[i, 0] = conjugate_at(p, row, y[i], cost, numbers[i, 1], scalar, space)
    return given.shape[0]


def ascend(p, f, gram, y, costs, r, blocks, change, space):
    """Sequential exact updates of the dual blocks of a few examples.

    ``f`` (B, m) scores under the W before, ``gram`` (B, B); ``blocks`` (B, m) are replaced, and
    ``change`` (B, m) receives what was added to them.
    """
    m = f.shape[1]
    for i in range(f.shape[0]):
        for j in range(m):
            change[i, j] = 0.0
        if not r[i] > 0.0:
            continue
        for h in range(i):
            factor = gram[i, h]
            if factor != 0.0:
                for j in range(m):
                    f[i, j] += factor * change[h, j]
        norm = gram[i, i]
        for j in range(m):
            f[i, j] -= norm * blocks[i, j]
        update_at(p, f[i], y[i], costs[i % costs.shape[0]], r[i], norm, change[i], space)
        for j in range(m):
            new = change[i, j]
            change[i, j] = new - blocks[i, j]
            blocks[i, j] = new


def sweep(p, X, y, costs, r, blocks, V, f, new, space):
    """As `ascend` with the scores of each example from V = W' (d, m), which follows; f and new are scratch."""
    d, m = X.shape[1], blocks.shape[1]
    for i in range(X.shape[0]):
        if not r[i] > 0.0:
            continue
        norm = 0.0
        for e in range(d):
            norm += X[i, e] * X[i, e]
        for j in range(m):
            f[j] = 0.0 - norm * blocks[i, j]
        for e in range(0, d - 3, 4):  # four at once: rows of V are short
            for j in range(m):
                first = X[i, e] * V[e, j] + X[i, e + 1] * V[e + 1, j]
                f[j] += first + (X[i, e + 2] * V[e + 2, j] + X[i, e + 3] * V[e + 3, j])
        for e in range(d - d % 4, d):
            for j in range(m):
                f[j] += X[i, e] * V[e, j]
        update_at(p, f, y[i], costs[i % costs.shape[0]], r[i], norm, new, space)
        moved = False
        for j in range(m):
            moved |= new[j] != blocks[i, j]
            f[j] = new[j] - blocks[i, j]
            blocks[i, j] = new[j]
        for e in range(d if moved else 0):
            for j in range(m):
                V[e, j] += X[i, e] * f[j]


_INLINED = prox_row, update_row, value_at, gradient_at, update_at, prox_at, conjugate_at


@dataclass(frozen=True)
class RowKernels:
    """The loops of a loss, each compiled at its first call."""

    loops: tuple[Callable[..., int], ...]  # by operation: VALUE, GRADIENT, ...
    ascend: Callable[..., None]
    sweep: Callable[..., None]


def compiled(brought: Mapping[str, Any], file: str) -> RowKernels:
    """The loops over rows for the kernels that a loss brings, by name; ``file`` is where they stand.

    Parameters
    ----------
    brought : mapping
        Functions compiled by `fast._numba.kernel`; for example ``vars()`` of a module.
    file : str
        Its path, ``__file__``: the machine code is kept beside it.
    """
    space: dict[str, Any] = {n: value for n, value in brought.items() if "__" not in n}
    space["__name__"] = brought.get("__name__", __name__)

    def make(text: Any, name: str, compiler: Kernel, **constants: int) -> Any:
        return compiler(remade(text, name, space | constants, file))

    for text in _INLINED:
        if text.__name__ not in brought:
            space[text.__name__] = make(text, text.__name__, inlined)
    loops = (make(run_rows, f"run_rows_{i}", kernel, operation=i) for i in range(OPERATIONS))
    return RowKernels(tuple(loops), make(ascend, "ascend", kernel), make(sweep, "sweep", kernel))
