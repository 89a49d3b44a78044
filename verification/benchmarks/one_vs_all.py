"""One-vs-all beside LinearSVC and LogisticRegression in one-vs-rest, at an equal certified gap.

``python -m verification.benchmarks.one_vs_all`` prints the table of docs/which_loss.md: CPU seconds, medians.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np

from verification.benchmarks import peers
from verification.benchmarks.records import Record, Side, contest, stream
from verification.benchmarks.standing import LOSSES, fitted
from verification.benchmarks.timing import one_thread
from verification.certificates import trained

GAP, SHARP, REPEATS = 1e-3, 1e-7, 5
CS = (0.01, 0.1, 1.0, 10.0, 100.0)


def data() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What is measured."""
    from fast.datasets import load_letter, make_gaussian_mixture

    X, y = load_letter("train")
    yield "Letter, 10 500 rows", X / 7.5 - 1.0, y
    for n, m, d, apart in ((10_000, 10, 100, 4.0), (20_000, 20, 20, 2.0)):
        X, y = make_gaussian_mixture(n, m, d, separation=apart, random_state=0)
        yield f"mixture, n = {n}, d = {d}, {m} classes", X, y


def table() -> Iterator[Record]:
    """Every data set, loss and C: ours, and the fastest rival that reaches the gap."""
    for name, X, y in data():
        for loss in ("one-vs-rest hinge", "one-vs-rest logistic"):
            fitted(loss, X[:500], y[:500], 1.0, GAP)  # compiles
            for C in CS:
                lower = trained(fitted(loss, X, y, C, SHARP), X, y).dual
                matches = [
                    peers.matched(peer, X, y, C, lower, GAP) for peer in LOSSES[loss].peers.values()
                ]
                names = {"data": name, "loss": loss, "C": C}
                ours = Side(
                    partial(fitted, loss, X, y, C, GAP), lambda model: float(model.dual_gap_)
                )
                runs = [
                    contest(names, ours, Side(theirs), REPEATS, process_time)
                    for found, theirs in matches
                    if found.reached
                ]
                if runs:
                    yield min(runs, key=lambda record: record["peer_seconds"])
                else:  # no rival reaches the gap
                    yield Record({**names, "rival": "none"}, {})


if __name__ == "__main__":
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream(table())
