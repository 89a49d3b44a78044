"""Coordinate ascent on short lists of classes: the dual kept sparse.

Each example i keeps a list of other classes, ``index[i, :count[i]]``, with their dual mass
``value[i, :count[i]]`` (x in Delta_k(r_i), zero outside the list). Two kernels alternate:

* ``refresh_rows`` sees the scores of all classes (one matrix product outside): it returns each
  example's loss and Fenchel-Young gap and renews its list: the classes that carry mass and those
  close to the margin;
* ``active_pass`` visits the examples that still matter and updates their blocks exactly, touching
  the listed classes only.

Scaling: P(W) = 1/2 ||W||^2 + sum_i r_i L(y_i, W x_i), r_i = C * weight_i. Layout: W is (m, d).

A loss is (variant, k, gamma, price). With price 0 the blocks lie in Delta_k(r_i); the squared hinge has
price 1: the mass s_i has no bound and costs s_i^2/(2 r_i).
"""

import numpy as np

from fast._numba import REORDER, kernel
from fast.kernels.hinges import BETA, by_loss, project_row

from .rows import TINY, row_axpy, row_dot

SMOOTH = True  # of `by_loss`


@kernel
def keep_largest(scores, skip, keep, top, top_class):
    """The ``keep`` largest entries of ``scores`` but scores[skip], sorted; returns their number."""
    held = 0
    floor = -np.inf
    for j in range(scores.shape[0]):
        v = scores[j]
        if v > floor and j != skip:
            if held < keep:
                t = held
                held += 1
            else:
                t = keep - 1
            while t > 0 and top[t - 1] < v:
                top[t] = top[t - 1]
                top_class[t] = top_class[t - 1]
                t -= 1
            top[t] = v
            top_class[t] = j
            if held == keep:
                floor = top[keep - 1]
    return held


@kernel(forceinline=True, fastmath=REORDER | {"nnan"})
def largest_but(f, skip):
    """Largest entry of ``f`` but f[skip]."""
    kept = f[skip]
    f[skip] = -np.inf
    best = f[0]
    for j in range(1, f.shape[0]):
        best = f[j] if f[j] > best else best
    f[skip] = kept
    return best


@kernel
def hinge_of_sorted(variant, z, k):
    """Top-k hinge from the k largest margins z, sorted: max(0, mean) or mean of the positive."""
    s = 0.0
    for t in range(k):
        if variant == BETA and z[t] <= 0.0:
            break
        s += z[t]
    return max(s, 0.0) / k


@kernel(fastmath=REORDER)
def smoothed(z, p, gamma):
    """(<z,p> - ||p||^2/2)/gamma: the smooth loss, with p the projection of z on Delta_k(gamma)."""
    s = 0.0
    for j in range(z.shape[0]):
        s += p[j] * (z[j] - 0.5 * p[j])
    return s / gamma


@by_loss(4)
def refresh_rows(scores, first, examples, near, loss, lists, out, work):
    """Losses, Fenchel-Young gaps and new lists of the rows first, first+1, ... of ``scores``.

    ``examples`` is (y, r), ``near`` (reach, negligible, keep), ``loss`` (variant, k, gamma, price),
    ``lists`` (index, value, count), ``out`` (losses, gaps), ``work`` (6, m) scratch. ``reach[i]``: how
    far below the margin a class may lie and still be listed; an example with a gap <= ``negligible``
    keeps only the classes with mass. Returns how often ``keep`` or the lists were too short, and the
    largest support that a smooth loss asked for.
    """
    y, r = examples
    reach, negligible, keep = near
    out_loss, out_gap = out
    variant, k, gamma, price = loss
    index, value, count = lists
    m = scores.shape[1]
    top, place, seen = work[0], work[1], work[2]
    z, p, scratch = work[3], work[4], work[5]
    for j in range(m):
        seen[j] = -1.0
    crowded = 0
    longest = 0
    for row in range(scores.shape[0]):
        i = first + row
        yi = y[i]
        f = scores[row]
        shift = 1.0 - f[yi]
        held = 0
        if SMOOTH:
            t = 0
            for j in range(m):
                if j != yi:
                    z[t] = f[j] + shift
                    t += 1
            project_row(variant, z[: m - 1], k, gamma, 0.0, p[: m - 1], scratch[: m - 1])
            value_i = smoothed(z[: m - 1], p[: m - 1], gamma)
            lowest = largest_but(f, yi) + shift
            support = 0
            for t in range(m - 1):
                if p[t] > 0.0:
                    support += 1
                    lowest = min(lowest, z[t])
            longest = max(longest, support)
        elif k == 1:
            lowest = max(largest_but(f, yi) + shift, 0.0)
            value_i = lowest
        else:
            held = keep_largest(f, yi, keep, top, place)
            for t in range(k):
                z[t] = top[t] + shift
            value_i = hinge_of_sorted(variant, z, k)
            lowest = z[k - 1]
        if price > 0.0:
            value_i *= 0.5 * value_i
        # Fenchel-Young gap of the block, and the classes that carry mass
        gap = r[i] * value_i
        square, total = 0.0, 0.0
        n_list = 0
        for t in range(count[i]):
            v = value[i, t]
            if v > 0.0:
                j = index[i, t]
                gap -= v * (f[j] + shift)
                square += v * v
                total += v
                index[i, n_list] = j
                value[i, n_list] = v
                n_list += 1
                seen[j] = i
        if r[i] > 0.0:
            gap += 0.5 / r[i] * (gamma * square + price * total * total)
        out_loss[i] = value_i
        out_gap[i] = gap
        old = n_list
        if SMOOTH and gap > negligible and reach[i] < np.inf:
            threshold = lowest - reach[i] - shift  # supports may be long: no need to sort them
            for j in range(m):
                if f[j] >= threshold and seen[j] != i and j != yi:
                    if n_list == index.shape[1]:
                        crowded += 1
                        break
                    index[i, n_list] = j
                    value[i, n_list] = 0.0
                    n_list += 1
        elif gap > negligible:
            if held == 0:
                held = keep_largest(f, yi, keep, top, place)
            lowest = min(lowest, top[0] + shift)
            threshold = lowest - reach[i] - shift
            for t in range(held):
                if t >= k and top[t] < threshold:
                    break
                j = int(place[t])
                if seen[j] != i:
                    if n_list == index.shape[1]:
                        crowded += 1
                        break
                    index[i, n_list] = j
                    value[i, n_list] = 0.0
                    n_list += 1
            if n_list == old and held == keep < m - 1 and top[held - 1] >= lowest - shift:
                crowded += 1  # every class seen here is listed, and others may belong there
        count[i] = n_list
    return crowded, longest


@by_loss(4)
def active_pass(rows, y, r, squares, loss, lists, mass, W, order, n_order, idle, work):
    """One pass over order[:n_order]; returns (dual increase, examples kept, list entries visited).

    The block maximises the dual exactly: with q = W x_i - K a_i, den = K + gamma/r and
    b = (q_j - q_y + 1)/den it is the biased projection of b with rho = (K + price/r)/den. An example that did
    not change twice in a row leaves ``order``, whose first entries are those kept.
    """
    dense, data, indices, indptr = rows
    variant, k, gamma, price = loss
    index, value, count = lists
    b_all, x_all, z_all, scratch = work[0], work[1], work[2], work[3]
    gain = 0.0
    kept = 0
    visited = 0
    for position in range(n_order):
        i = order[position]
        p = count[i]
        visited += p + 1
        K = squares[i]
        s_old = mass[i]
        ridge, slope = gamma / r[i], price / r[i]
        den = K + ridge
        b, x, z = b_all[:p], x_all[:p], z_all[:p]
        if den > TINY:
            f_y = row_dot(dense, data, indices, indptr, i, W, y[i])
            for t in range(p):
                z[t] = row_dot(dense, data, indices, indptr, i, W, index[i, t]) - f_y + 1.0
                b[t] = (z[t] + K * (value[i, t] + s_old)) / den
            radius = np.inf if price > 0.0 else r[i]
            s = project_row(variant, b, k, radius, (K + slope) / den, x, scratch[:p])
        else:  # a zero row without smoothing: all mass on the first k classes, all equally good
            s = r[i] * min(p, k) / k
            for t in range(p):
                z[t] = 1.0
                x[t] = r[i] / k if t < k else 0.0
        linear = 0.0
        quadratic = 0.0
        smooth = 0.0
        for t in range(p):
            delta = x[t] - value[i, t]
            linear += z[t] * delta
            quadratic += delta * delta
            smooth += delta * (x[t] + value[i, t])
        if quadratic == 0.0:
            idle[i] += 1
            if idle[i] < 2:
                order[kept] = i
                kept += 1
            continue
        idle[i] = 0
        order[kept] = i
        kept += 1
        change = s - s_old
        gain += linear - 0.5 * K * (quadratic + change * change) - 0.5 * ridge * smooth
        gain -= 0.5 * slope * change * (s + s_old)
        for t in range(p):
            delta = x[t] - value[i, t]
            if delta != 0.0:
                row_axpy(dense, data, indices, indptr, i, -delta, W, index[i, t])
                value[i, t] = x[t]
        if change != 0.0:
            row_axpy(dense, data, indices, indptr, i, change, W, y[i])
        mass[i] = s
    return gain, kept, visited


@kernel
def primal_from_dual(rows, y, lists, mass, W):
    """W = sum_i a_i x_i' and mass_i = <1,x_i>, anew from the lists."""
    dense, data, indices, indptr = rows
    index, value, count = lists
    W[:] = 0.0
    for i in range(count.shape[0]):
        s = 0.0
        for t in range(count[i]):
            v = value[i, t]
            if v != 0.0:
                row_axpy(dense, data, indices, indptr, i, -v, W, index[i, t])
                s += v
        mass[i] = s
        if s != 0.0:
            row_axpy(dense, data, indices, indptr, i, s, W, y[i])


@kernel
def squared_masses(r, loss, lists):
    """sum_i (gamma ||x_i||^2 + price s_i^2)/r_i: twice the quadratic part of the conjugates."""
    _, _, gamma, price = loss
    _, value, count = lists
    total = 0.0
    for i in range(count.shape[0]):
        s, square = 0.0, 0.0
        for t in range(count[i]):
            s += value[i, t]
            square += value[i, t] * value[i, t]
        if s > 0.0:
            total += (gamma * square + price * s * s) / r[i]
    return total
