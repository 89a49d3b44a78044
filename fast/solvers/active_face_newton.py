"""Newton steps in the dual on the current face, by conjugate gradients.

When the support of the dual has nearly settled, coordinate ascent creeps along valleys that couple
many examples. On the current face of every Delta_k(r_i) the dual is a concave quadratic; its
maximiser, regularised by a proximal term, is found by preconditioned conjugate gradients, and the
step is projected back onto the simplices. The face of example i has the tangent space

* alpha: {d : d = 0 on zeros, d = <1,d>/k on entries at the cap s/k, and <1,d> = 0 if s = r};
* beta:  {d : d = 0 on zeros and on entries at the cap r/k, and <1,d> = 0 if s = r}.

The squared hinge has a cone for a simplex, r = inf, and the price s^2/(2 r_i) in the quadratic.

A direction is an array (q, capacity) aligned with the lists of the q examples in ``members``.
"""

from typing import Any

import numpy as np

from fast._numba import kernel
from fast.kernels.hinges import ALPHA, by_loss, project_row

from .rows import row_axpy, row_dot

FREE, CAPPED, FIXED = 0, 1, 2  # kinds of list entries
AT_BOUND = 1e-12  # relative rounding of sums within a list

Problem = tuple[Any, Any, Any, Any, Any, Any, Any]  # rows, y, r, squares, loss, lists, mass


@kernel
def classify(v, n, total, radius, variant, k, kinds):
    """Kinds of the entries v[:n] of a point of Delta_k(radius) with sum ``total``.

    Returns (dimension of its face, whether the sum is at the radius).
    """
    full = total >= radius * (1.0 - AT_BOUND)
    if k == 1:
        cap = np.inf
    else:
        cap = (total if variant == ALPHA else radius) / k * (1.0 - AT_BOUND)
    free = 0
    capped = 0
    for t in range(n):
        if v[t] <= 0.0:
            kinds[t] = FIXED
        elif v[t] >= cap:
            kinds[t] = CAPPED
            capped += 1
        else:
            kinds[t] = FREE
            free += 1
    if free > 0:
        return (free - 1 if full else free), full
    return (1 if variant == ALPHA and capped > 0 and not full else 0), full


@kernel
def find_faces(examples, r, squares, loss, lists, mass, members, kinds, saturated):
    """Collect the examples whose face has a positive dimension; returns (number, dimension)."""
    variant, k, _, price = loss
    _, value, count = lists
    q = 0
    dimension = 0
    for position in range(examples.shape[0]):
        i = examples[position]
        if squares[i] == 0.0:  # a zero row couples with nothing: its own update is exact
            continue
        radius = np.inf if price > 0.0 else r[i]
        dim, full = classify(value[i], count[i], mass[i], radius, variant, k, kinds[q])
        if dim > 0:
            members[q] = i
            saturated[q] = full
            q += 1
            dimension += dim
    return q, dimension


@kernel
def to_tangent(g, n_list, kinds, full, alpha, k):
    """Orthogonal projection of ``g`` on the tangent space of its face, in place."""
    free = 0
    capped = 0
    sum_free = 0.0
    sum_capped = 0.0
    for t in range(n_list):
        if kinds[t] == FREE:
            free += 1
            sum_free += g[t]
        elif kinds[t] == CAPPED:
            capped += 1
            sum_capped += g[t]
    shift = 0.0
    level = 0.0
    if full:
        shift = sum_free / free
    elif alpha and capped > 0:
        if free == 0:
            level = sum_capped / capped
        else:  # d = level on the cap, level = <1,d_free>/(k - capped)
            beta = 1.0 / (k - capped)
            h = (sum_free + free * beta * sum_capped) / (1.0 + free * capped * beta * beta)
            level = beta * h
            shift = beta * (capped * level - sum_capped)
    for t in range(n_list):
        if kinds[t] == FREE:
            g[t] -= shift
        else:
            g[t] = level if kinds[t] == CAPPED else 0.0


@kernel
def face_gradient(rows, y, r, loss, lists, face, W, margin, sums, out):
    """Out = tangent part of (f_j - f_y + margin) - (margin*gamma x + price*sums)/r under W's scores."""
    dense, data, indices, indptr = rows
    variant, k, gamma, price = loss
    index, value, count = lists
    members, kinds, saturated = face
    for t in range(members.shape[0]):
        i = members[t]
        shift = margin - price / r[i] * sums[t]
        shift -= row_dot(dense, data, indices, indptr, i, W, y[i])
        for a in range(count[i]):
            if kinds[t, a] != FIXED:  # those become 0 in the tangent
                z = row_dot(dense, data, indices, indptr, i, W, index[i, a]) + shift
                out[t, a] = z - margin * gamma / r[i] * value[i, a]
        to_tangent(out[t], count[i], kinds[t], saturated[t], variant == ALPHA, k)


@kernel
def direction_to_primal(rows, y, lists, face, direction, sums, V):
    """V = the change of W that belongs to ``direction``; ``sums`` = <1,d> of each example."""
    dense, data, indices, indptr = rows
    index, _, count = lists
    members = face[0]
    V[:] = 0.0
    for t in range(members.shape[0]):
        i = members[t]
        s = 0.0
        for a in range(count[i]):
            v = direction[t, a]
            if v != 0.0:
                row_axpy(dense, data, indices, indptr, i, -v, V, index[i, a])
                s += v
        sums[t] = s
        if s != 0.0:
            row_axpy(dense, data, indices, indptr, i, s, V, y[i])


@kernel
def conjugate_gradients(
    rows, y, r, squares, loss, lists, face, sums, W, proximal, max_steps, arrays, V
):
    """Maximise the quadratic on the face, minus proximal/2 sum_i K_i ||d_i||^2.

    ``sums``: the masses of the members, then scratch. Leaves the step in arrays[0]; returns (gain that the
    quadratic predicts, iterations).
    """
    gamma = loss[2]
    members = face[0]
    count = lists[2]
    step, residual, search, image = arrays
    q = members.shape[0]
    face_gradient(rows, y, r, loss, lists, face, W, 1.0, sums, residual)
    decrease = 0.0
    for t in range(q):
        i = members[t]
        scale = 1.0 / (squares[i] * (1.0 + proximal) + gamma / r[i])
        for a in range(count[i]):
            step[t, a] = 0.0
            search[t, a] = scale * residual[t, a]
            decrease += residual[t, a] * search[t, a]
    start = decrease
    predicted = 0.0
    done = 0
    while done < max_steps and decrease > 0.0:
        direction_to_primal(rows, y, lists, face, search, sums, V)
        face_gradient(rows, y, r, loss, lists, face, V, 0.0, sums, image)
        curvature = 0.0
        for t in range(q):
            i = members[t]
            ridge = proximal * squares[i] + gamma / r[i]
            for a in range(count[i]):
                image[t, a] = ridge * search[t, a] - image[t, a]
                curvature += search[t, a] * image[t, a]
        if not curvature > 0.0:
            break
        length = decrease / curvature
        predicted += 0.5 * length * decrease
        small = 0.5 * length * decrease < 0.003 * predicted
        new = 0.0
        for t in range(q):
            i = members[t]
            scale = 1.0 / (squares[i] * (1.0 + proximal) + gamma / r[i])
            for a in range(count[i]):
                step[t, a] += length * search[t, a]
                residual[t, a] -= length * image[t, a]
                new += scale * residual[t, a] * residual[t, a]
        done += 1
        if small or new < 1e-3 * start:
            break
        ratio = new / decrease
        decrease = new
        for t in range(q):
            i = members[t]
            scale = 1.0 / (squares[i] * (1.0 + proximal) + gamma / r[i])
            for a in range(count[i]):
                search[t, a] = scale * residual[t, a] + ratio * search[t, a]
    return predicted, done


@kernel
def feasible_length(r, loss, lists, face, step, mass):
    """Largest length up to 1 at which value + length*step is in every Delta_k(r_i)."""
    variant, k, _, price = loss
    _, value, count = lists
    members, kinds, saturated = face
    longest = 1.0
    for t in range(members.shape[0]):
        i = members[t]
        s = 0.0
        for a in range(count[i]):
            s += step[t, a]
        if s > 0.0 and not saturated[t] and price == 0.0:
            longest = min(longest, max(r[i] - mass[i], 0.0) / s)
        for a in range(count[i]):
            if kinds[t, a] != FREE:  # these stay where they are, or at the cap
                continue
            if step[t, a] < 0.0:
                longest = min(longest, value[i, a] / -step[t, a])
            if k > 1:
                room = (mass[i] if variant == ALPHA else r[i]) / k - value[i, a]
                towards = step[t, a] - (s / k if variant == ALPHA else 0.0)
                if towards > 0.0:
                    longest = min(longest, max(room, 0.0) / towards)
    return longest


@by_loss(3)
def try_step(rows, y, r, loss, lists, face, step, length, trial, V, work):
    """Trial = projection of value + length*step; V = its change of W; returns the linear gain."""
    dense, data, indices, indptr = rows
    variant, k, gamma, price = loss
    index, value, count = lists
    members = face[0]
    V[:] = 0.0
    gain = 0.0
    for t in range(members.shape[0]):
        i = members[t]
        p = count[i]
        radius = np.inf if price > 0.0 else r[i]
        for a in range(p):
            work[0, a] = value[i, a] + length * step[t, a]
        project_row(variant, work[0, :p], k, radius, 0.0, trial[t, :p], work[1, :p])
        s = 0.0
        square = 0.0
        total = 0.0
        for a in range(p):
            delta = trial[t, a] - value[i, a]
            total += trial[t, a] + value[i, a]
            if delta != 0.0:
                row_axpy(dense, data, indices, indptr, i, -delta, V, index[i, a])
                s += delta
                square += delta * (trial[t, a] + value[i, a])
        if s != 0.0:
            row_axpy(dense, data, indices, indptr, i, s, V, y[i])
        gain += s - 0.5 / r[i] * (gamma * square + price * s * total)
    return gain


@kernel
def accept_step(lists, face, trial, mass):
    """Write the projected step into the lists."""
    _, value, count = lists
    members = face[0]
    for t in range(members.shape[0]):
        i = members[t]
        s = 0.0
        for a in range(count[i]):
            value[i, a] = trial[t, a]
            s += trial[t, a]
        mass[i] = s


class FaceNewton:
    """Keeps the buffers and the proximal weight from one face step to the next."""

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.proximal = 0.1
        self.V = np.zeros((n_classes, n_features))
        self._arrays = [np.empty((0, 0)) for _ in range(5)]
        self._kinds = np.empty((0, 0), np.int8)

    def _reserve(self, n: int, capacity: int) -> None:
        have = self._arrays[0].shape
        if have[0] < n or have[1] != capacity:
            n = n + n // 4
            self._arrays = [np.zeros((n, capacity)) for _ in range(5)]
            self._kinds = np.zeros((n, capacity), np.int8)

    def step(
        self, problem: Problem, W: np.ndarray, examples: np.ndarray, work: np.ndarray, budget: float
    ) -> tuple[float, float]:
        """One regularised Newton step, taken if it helps; returns (dual gain, entries visited).

        ``budget`` bounds the entries that conjugate gradients visit (but 5 iterations are free).
        """
        rows, y, r, squares, loss, lists, mass = problem
        self._reserve(len(examples), lists[0].shape[1])
        members = np.empty(len(examples), np.int64)
        saturated = np.empty(len(examples), np.bool_)
        q, dimension = find_faces(
            examples, r, squares, loss, lists, mass, members, self._kinds, saturated
        )
        if q == 0:
            return 0.0, 0.0
        entries = dimension + 2 * q
        steps = min(100, max(5, int(budget / (2.0 * entries))))
        face = (members[:q], self._kinds[:q], saturated[:q])
        step, residual, search, image, trial = (a[:q] for a in self._arrays)
        predicted, done = conjugate_gradients(
            rows, y, r, squares, loss, lists, face, mass[members[:q]], W, self.proximal, steps,
            (step, residual, search, image), self.V,
        )  # fmt: skip

        def gain_of(length: float) -> float:
            linear = try_step(rows, y, r, loss, lists, face, step, length, trial, self.V, work)
            return linear - float(np.vdot(W, self.V)) - 0.5 * float(np.vdot(self.V, self.V))

        gain, length = 0.0, 1.0
        for length in (1.0, 0.5, 0.25, 0.1):
            gain = gain_of(length)
            if gain > 0.0:
                break
        bounded = not gain > 0.0
        if bounded:  # a valley that leaves the face: go as far as the face does, where it is exact
            length = feasible_length(r, loss, lists, face, step, mass)
            gain = gain_of(length)
        if gain > 0.0:
            accept_step(lists, face, trial, mass)
            W += self.V
        if gain > 0.5 * predicted and length == 1.0:
            self.proximal = max(self.proximal / 3.0, 1e-7)
        elif (length < 1.0 or gain < 0.2 * predicted) and not (bounded and gain > 0.0):
            self.proximal = min(self.proximal * 4.0, 1.0)
        visited = (2.0 * done + 3.0) * entries
        return max(gain, 0.0), visited


def _warmup() -> None:
    """The one kernel that few trainings need."""
    few, full, whole = np.ones(1), np.ones((1, 1)), np.zeros(1, np.int64)
    lists = np.zeros((1, 1), np.int32), full, whole + 1
    face = whole, np.zeros((1, 1), np.int8), np.zeros(1, np.bool_)
    feasible_length(few, (ALPHA, 1, 0.0, 0.0), lists, face, full, few)
