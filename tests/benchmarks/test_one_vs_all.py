"""The table of one-vs-all beside its rivals, on data of a moment."""

import math
from typing import Any

import numpy as np
import pytest

from verification.benchmarks import one_vs_all, peers


def test_every_cell_has_a_line_also_where_no_rival_reaches_the_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((3, 4))[y] + 0.5 * rng.standard_normal((60, 4))
    match = peers.match

    def matched(X: Any, y: Any, C: float, *more: Any) -> peers.Peer:
        found = match(X, y, C, *more)
        return found if C < 1.0 else peers.Peer(math.nan, found.suboptimality, False)

    monkeypatch.setattr(peers, "match", matched)
    monkeypatch.setattr(one_vs_all, "data", lambda: iter([("few", X, y)]))
    monkeypatch.setattr(one_vs_all, "CS", (0.1, 1.0))
    monkeypatch.setattr(one_vs_all, "REPEATS", 1)
    found = [record.to_dict() for record in one_vs_all.table()]
    losses = "one-vs-rest hinge", "one-vs-rest logistic"
    assert [(line["data"], line["loss"], line["C"]) for line in found] == [
        ("few", loss, C) for loss in losses for C in (0.1, 1.0)
    ]
    for line in found:
        if line["C"] == 1.0:
            assert line["rival"] == "none"
            assert "seconds" not in line
        else:
            assert 0.0 <= line["gap"] <= one_vs_all.GAP
            assert line["ratio"] == line["peer_seconds"] / line["seconds"] > 0.0
