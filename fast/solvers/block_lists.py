"""The active-list solver for rows that need not fit in memory: the dual is kept by groups of them.

A check reads every group once: scores block by block, losses, gaps and new lists, of which only the
entries are kept, in files when they are many. It copies the rows whose gaps matter, of all groups, and
sweeps go over these until the next check. If they do not fit either, sweeps go over those that are
there whenever some have to make room, which chance decides with regard to gaps, not the order of rows:
files are often sorted by class, and blocks of a few classes at a time hardly converge. Checks to 1e-3
for 12 811 unit rows of 1000 classes, C = 10: 10 where all fit, 24 where a tenth does, and 548 then if
nothing is swept in between. (Weakly regularised Gaussian classes can take hundreds where a tenth fits.)
"""

import functools
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._threads import ordered_map
from fast.data.io import groups_ahead
from fast.families.hinges import Hinge

from .active_face_newton import FaceNewton
from .active_set import ActiveSetSolver, Problem, packed, unpacked
from .multiclass_bounds import bounds_of_weights, sums_of_masses
from .passes import added
from .rows import as_rows, is_sparse, scores, squared_norms
from .state import TrainingState, block_length
from .working_set import active_pass, primal_from_dual, refresh_rows, squared_masses

LISTS = 256_000_000  # bytes of lists, beyond which groups keep them in files
AT_HAND = 512_000_000  # bytes of rows, with what belongs to them, between two checks
ENTRY, EXAMPLE = 64, 64  # bytes of a list entry, Newton's step included, and of an example besides
NEGLIGIBLE = 0.01  # times the mean gap: smaller ones wait
SWEEPS = 8  # over rows of which some have to make room
CHUNK = 8192  # lists that are spread out at once
READ = 2.0  # nanoseconds per entry of X that is read


class BlockListSolver(ActiveSetSolver):
    """Trains one top-k hinge model on a `fast.data.Source`; see :func:`fast.models.multiclass_erm.train`."""

    WHOLE, n_jobs = False, 1  # threads of a check, whose number changes no bit

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.family = loss
        super().__init__(X, y, r, m, loss, seed)

    def _measure(self) -> None:
        n, m = len(self.y), self.m
        self.squares, entries = np.zeros(n), 0
        self.means, self.sparse = np.zeros((m, self.X.shape[1])), False
        counts = np.maximum(np.bincount(self.y, minlength=m), 1)
        for _, group, part in self._groups():
            self.squares[group], self.sparse = squared_norms(part), is_sparse(part)
            entries += part.nnz if self.sparse else part.size
            y, size = self.y[group], part.shape[0]
            pick = sp.csr_array((1.0 / counts[y], (y, np.arange(size))), shape=(m, size))
            sums = pick @ part
            self.means += sums.toarray() if is_sparse(sums) else sums
        self.width = entries / n
        self.kept: list[tuple[Any, Any]] = [(None, None)] * len(self.X.groups)
        self.sizes = np.zeros(len(self.kept), np.int64)
        self.folder: Path | None = None

    def _groups(self) -> Iterator[tuple[int, slice, Any]]:
        """Number, place and rows of every group that has any."""
        for g, (group, part) in enumerate(groups_ahead(self.X)):
            if group.stop > group.start:
                yield g, group, part

    def _prepare(self, n: int, d: int, m: int) -> None:
        self.W, self.work, self.newton = (
            np.zeros((m, d)),
            np.zeros((6, max(m, 2))),
            FaceNewton(m, d),
        )
        self.check_cost += READ * n * self.width
        self.floor, self.squared = -np.inf, 0.0
        self.problem: Any = None
        self.moved: Any = None  # W of the masses, if a pass has changed them since it was judged
        for g, group in enumerate(self.X.groups):
            self._keep(g, sp.csr_array((group.stop - group.start, m)))

    # -- lists of a group: (CSR or its file, which of its rows are at hand, and their lists) ------
    def _keep(self, g: int, lists: Any) -> None:
        """Instead of those that were kept; an interrupt leaves the one or the other."""
        before, kept = self.kept[g][0], lists
        self.sizes[g] = lists.data.nbytes + lists.indices.nbytes + lists.indptr.nbytes
        if self.sizes.sum() > LISTS:
            if self.folder is None:
                self.folder = Path(tempfile.mkdtemp(prefix="fast-lists-"))
                weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            kept = self.folder / f"{g}-{self.rng.integers(2**62)}.npz"
            sp.save_npz(kept, lists, compressed=False)
            self.sizes[g] = 0
        self.kept[g] = kept, None
        if isinstance(before, Path):
            before.unlink()

    def _lists(self, g: int) -> Any:
        """CSR (rows, m) with the dual variables that sweeps have left."""
        lists, at_hand = self.kept[g]
        if isinstance(lists, Path):
            lists = sp.load_npz(lists)
        if at_hand is not None:
            near, (_, value, count) = at_hand
            swept = np.zeros(lists.shape[0], bool)
            swept[near] = True
            taken = np.arange(value.shape[1]) < count[:, None]
            lists.data[np.repeat(swept, np.diff(lists.indptr))] = value[taken]
        return lists

    def _take_lists(self, dual: Any) -> None:
        dual = sp.csr_array(dual)
        for g, group in enumerate(self.X.groups):
            self._keep(g, dual[group].copy())

    def dual_variables(self) -> sp.csr_array:
        """The dual as a CSR array (n, m): mass of each example on the other classes."""
        out = sp.csr_array(sp.vstack([self._lists(g) for g in range(len(self.kept))], format="csr"))
        out.eliminate_zeros()
        out.sort_indices()
        return out

    # -- passes over the groups -------------------------------------------------------------------
    def _class_means(self) -> np.ndarray:
        return self.means

    def _sum_weights(self) -> None:
        self.W[:], self.squared, V = 0.0, 0.0, self.newton.V
        for g, group, part in self._groups():
            kept = self._lists(g)
            for first in range(0, part.shape[0], CHUNK):
                rows = slice(first, min(first + CHUNK, part.shape[0]))
                at = slice(group.start + rows.start, group.start + rows.stop)
                lists = unpacked(kept[rows], 1)
                primal_from_dual(as_rows(part[rows]), self.y[at], lists, self.mass[at], V)
                self.W += V
                self.squared += squared_masses(self.r[at], self.loss, lists)

    def finalize(self, state: TrainingState) -> None:
        """The bound of the dual that an interrupt has left."""
        self._sum_weights()
        state.claim(state.primal, self.dual_objective(0.5 * float(np.vdot(self.W, self.W))))

    def bounds_at(self, W: np.ndarray) -> tuple[float, float] | None:
        """P at W and D, rounded outwards."""
        if not isinstance(self.family, Hinge):
            return None
        parts = (
            sums_of_masses(part, W, self._lists(g), self.y[group], self.r[group], self.family)
            for g, group, part in self._groups()
        )
        return bounds_of_weights(W, len(self.y), self.family, added(parts))

    def check(self, gap: float, negligible: float) -> tuple[float, float]:
        """Primal and dual objective at the current point; lists are renewed, rows that matter at hand."""
        self.floor = max(negligible, NEGLIGIBLE * gap / len(self.y))
        return super().check(gap, negligible)

    def _refresh(
        self, W: np.ndarray, offset: Any, reach: np.ndarray, negligible: float = -np.inf
    ) -> None:
        size, crowded, longest = block_length(self.m), 0, 0
        self.squared, near, self.problem = 0.0, _AtHand(self.rng), None
        for g, group, part in self._groups():
            block = functools.partial(
                self._block, group.start, part, self._lists(g), W, offset, reach, negligible, size
            )
            new = []
            for short, support, square, lists in ordered_map(
                block, range(0, part.shape[0], size), self.n_jobs
            ):
                crowded, longest = crowded + short, max(longest, support)
                self.squared += square
                new.append(lists)
            kept = sp.csr_array(sp.vstack(new, format="csr"))
            self.mass[group] = kept.sum(axis=1)
            self._keep(g, kept)
            gaps = np.where(self.r[group] > 0.0, self.gaps[group], -np.inf)
            near.add(g, part, kept, gaps, self.floor)
            if near.held > 1.25 * near.fit:
                self._sweep(near)
                near.leave()
        self._lengthen(crowded, longest)
        self._gather(near)

    def _block(
        self, start: int, part: Any, kept: Any, W: np.ndarray, offset: Any, reach: np.ndarray,
        negligible: float, size: int, first: int,
    ) -> tuple[int, int, float, Any]:  # fmt: skip
        """New lists of some rows of a group: how many are too short, the longest, squares, CSR."""
        rows = slice(first, min(first + size, part.shape[0]))
        at = slice(start + rows.start, start + rows.stop)
        f = scores(part, W, rows.start, rows.stop)
        if offset is not None:
            f += offset
        lists = unpacked(kept[rows], self.lists[0].shape[1])
        near, out = (reach[at], negligible, self.keep), (self.losses[at], self.gaps[at])
        short, support = refresh_rows(
            f, 0, (self.y[at], self.r[at]), near, self.loss, lists, out, np.zeros_like(self.work)
        )
        square = squared_masses(self.r[at], self.loss, lists)
        return short, support, square, packed(lists, self.m)

    def _sweep(self, near: "_AtHand") -> None:
        """Update the blocks of more examples than fit; W is still needed, so that a copy of it moves."""
        self._gather(near)
        self.moved = self.W.copy() if self.moved is None else self.moved
        size = len(self.problem[1])
        order, idle = self.rng.permutation(size), np.zeros(size, np.int8)
        for _ in range(SWEEPS):
            size = active_pass(*self.problem, self.moved, order, size, idle, self.work)[1]
            self.rng.shuffle(order[:size])
        values, first = packed(self.problem[5], self.m).data, 0
        self.problem = None
        for g, _, _, lists, _ in near.parts:
            self._keep(g, self._lists(g))
            lists.data[:] = values[first : first + lists.nnz]
            first += lists.nnz

    def _gather(self, near: "_AtHand") -> None:
        """Rows, lists and the rest of who matters, one after the other."""
        parts = near.parts
        if not parts:
            self.problem = None
            return
        X = [part[2] for part in parts]
        joined = sp.csr_array(sp.vstack(X, format="csr")) if self.sparse else np.concatenate(X)
        lists = unpacked(sp.vstack([part[3] for part in parts], format="csr"), 1)
        ids = np.concatenate([self.X.groups[g].start + rows for g, rows, *_ in parts])
        given = self.y[ids], self.r[ids], self.squares[ids]
        self.problem = as_rows(joined), *given, self.loss, lists, lists[1].sum(axis=1)
        first = 0
        for g, rows, *_ in parts:
            last = first + len(rows)
            self.kept[g] = self.kept[g][0], (rows, tuple(a[first:last] for a in lists))
            first = last

    def _at_hand(self, negligible: float) -> tuple[Problem, np.ndarray]:
        if self.problem is None:  # every gap is rounding, the certificate is not there yet
            self.floor = -np.inf
            self._refresh(self.W, None, np.zeros(len(self.y)))
        if self.moved is not None:
            self.W[:], self.moved = self.moved, None
        return self.problem, np.arange(len(self.problem[1]))

    def dual_objective(self, half_norm: float) -> float:
        """D of the lists as they were when a pass last saw them."""
        return float(self.mass.sum()) - half_norm - 0.5 * self.squared


class _AtHand:
    """Rows that matter, by groups, as many as fit: (group, places in it, rows, lists, priorities)."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.parts: list[tuple] = []
        self.rng, self.held, self.longest, self.fit = rng, 0, 1, 1 << 60

    def add(self, g: int, X: Any, lists: Any, gaps: np.ndarray, floor: float) -> None:
        """Those of a group with a gap above ``floor``."""
        near = np.flatnonzero(gaps > floor)
        if len(near) == 0:
            return
        key = gaps[near] / (1.0 - self.rng.random(len(near)))
        self.parts.append((g, near, X[near], lists[near], key))
        self.held += len(near)
        self.longest = max(self.longest, int(np.diff(lists.indptr)[near].max()))
        entries = X.nnz / X.shape[0] * 1.5 if is_sparse(X) else X.shape[1]
        each = int(entries * X.dtype.itemsize + ENTRY * self.longest + EXAMPLE)
        self.fit = min(self.fit, max(AT_HAND // each, 1))

    def leave(self) -> None:
        """Keep as many as fit, at random, but rather those with large gaps."""
        keys = np.concatenate([part[4] for part in self.parts])
        least, parts = np.partition(keys, -self.fit)[-self.fit], []
        for g, near, X, lists, key in self.parts:
            left = np.flatnonzero(key >= least)
            if len(left):
                parts.append((g, near[left], X[left], lists[left], key[left]))
        self.parts, self.held = parts, sum(len(part[1]) for part in parts)
