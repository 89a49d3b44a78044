"""The Letter rows of Lapin et al. 2016, Table 3, trained and measured in their protocol.

Features scaled to [-1, 1] by the range of the training part, no bias, P = 1/2 ||W||^2 + C sum L with
C = 1/(lambda n). For every column (top-1, 3, 5, 10) C is the power of ten with the best validation
accuracy of that column, among equals the smallest. The paper does not say which examples the final
model sees, so that there are two readings, and both are measured: the training part alone, or
training and validation part together at the same lambda. The top-1 column of the top-10 rows depends
most on the grid: it falls by more than two points from C = 0.03 to C = 0.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from verification.benchmarks import peers
from verification.benchmarks.protocol import (
    TOL,
    TOP,
    Parts,
    Row,
    RowResult,
    accuracies,
    loss_of,
    timed_fit,
)
from verification.certificates import trained

#: Values of C: powers of ten.
GRID = (0.1, 1.0, 10.0, 100.0)


def _row(name: str, paper: Sequence[float], top: tuple[int, ...] = TOP) -> Row:
    loss = loss_of(name)
    wider = len(top) > len(TOP) or (loss.kind == "hinge" and not loss.ova)
    points = None if loss.truncated else 0.6 if wider else 0.5
    return Row(name, loss, tuple(paper), points, top)


#: The whole block of Table 3.
ROWS = tuple(
    _row(name, paper)
    for name, *paper in (
        ("SVM-OVA", 63.0, 82.0, 88.1, 94.6),
        ("LR-OVA", 68.1, 86.1, 90.6, 96.2),
        ("SVM-Multi", 76.5, 89.2, 93.1, 97.7),
        ("top-3 SVM", 74.0, 91.0, 94.4, 97.8),
        ("top-5 SVM", 70.8, 91.5, 95.1, 98.4),
        ("top-10 SVM", 61.6, 88.9, 96.0, 99.6),
        ("smooth top-1 SVM", 76.8, 89.9, 93.6, 97.6),
        ("smooth top-3 SVM", 74.1, 90.9, 94.5, 97.9),
        ("smooth top-5 SVM", 70.8, 91.5, 95.2, 98.6),
        ("smooth top-10 SVM", 61.7, 89.1, 95.9, 99.7),
        ("LR-Multi", 75.3, 90.3, 94.3, 98.0),
        ("top-3 Ent", 73.0, 90.8, 94.9, 98.5),
        ("top-5 Ent", 69.7, 90.9, 95.1, 98.8),
        ("top-10 Ent", 65.0, 89.7, 96.2, 99.6),
        ("top-3 Ent_tr", 63.6, 91.1, 95.6, 98.8),
        ("top-5 Ent_tr", 50.3, 87.7, 96.1, 99.4),
        ("top-10 Ent_tr", 46.5, 80.9, 93.7, 99.6),
    )
)
HINGES = tuple(row for row in ROWS if row.points == 0.6)
#: The rows of the thorough main job: the hinges, and the two convex entropies that cost least.
MAIN = tuple(row for row in ROWS if row in HINGES or row.name in ("LR-Multi", "top-5 Ent"))
#: Those of the main job: a hinge and an entropy.
SHORT = tuple(row for row in MAIN if row.name in ("smooth top-5 SVM", "top-5 Ent"))


def longer() -> tuple[Row, ...]:
    """Table 7 of the longer version: 37 methods, top-1 to top-10."""
    from verification.paper_statements.lapin_2016.tables_6_24 import TABLES

    printed = TABLES[7][1].items()
    return tuple(_row(name, [float(v) for v in row], tuple(range(1, 11))) for name, row in printed)


def load_parts() -> Parts:
    """The Letter data, every part scaled to [-1, 1] by the range of the training part."""
    from fast.datasets import load_letter

    raw = {name: load_letter(subset=name) for name in ("train", "validation", "test")}
    low, high = raw["train"][0].min(axis=0), raw["train"][0].max(axis=0)
    scaled = {name: (2.0 * (X - low) / (high - low) - 1.0, y) for name, (X, y) in raw.items()}
    return Parts(scaled["train"], scaled["validation"], scaled["test"])


def deviations(accuracies: Sequence[float], paper: Sequence[float]) -> tuple[float, ...]:
    """Ours minus the paper's in points, both at the one decimal that the paper prints."""
    return tuple(
        round(round(ours, 1) - printed, 1) for ours, printed in zip(accuracies, paper, strict=True)
    )


@dataclass(frozen=True)
class PeerRow:
    """One model beside LinearSVC(multi_class="crammer_singer") at the same C, without bias."""

    name: str
    C: float
    gap: float
    seconds: float
    test: tuple[float, ...]
    peer_suboptimality: float
    peer_seconds: float
    peer_test: tuple[float, ...]


def against_peer(parts: Parts, results: Sequence[RowResult], tol: float = TOL) -> list[PeerRow]:
    """Of each hinge row's chosen models the one with C nearest 1, beside the peer at the same C.

    The peer is held to the same suboptimality; at large C it would take most of the job's time.
    """
    X, y = parts.train
    found: dict[float, tuple[float, float, tuple[float, ...]]] = {}
    rows = []
    for result in results:
        if result.row not in HINGES:
            continue
        fit = min(result.chosen, key=lambda fit: abs(np.log10(fit.C)))
        if fit.C not in found:
            model, _ = timed_fit(parts.train, HINGES[0], fit.C, tol / 10)
            peer = peers.match(X, y, fit.C, trained(model, X, y).dual, tol)
            start = perf_counter()
            best = peers.crammer_singer(X, y, fit.C, peer.tol)
            seconds = perf_counter() - start
            scores = best.decision_function(parts.test[0])
            found[fit.C] = (
                peer.suboptimality,
                seconds,
                accuracies(scores, parts.test[1], best.classes_),
            )
        _, alone = timed_fit(parts.train, result.row, fit.C, tol)  # not begun at a smaller C
        rows.append(PeerRow(result.row.name, fit.C, fit.gap, alone, fit.test, *found[fit.C]))
    return rows
