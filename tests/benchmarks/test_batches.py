"""Benchmark of every multiclass loss: what is found, that Clarabel solves the same rows, that cells are measured."""

import importlib

import numpy as np
import pytest

from verification.benchmarks import batches


def test_every_loss_of_one_label_is_found():
    found = set(batches.losses())
    assert {"consistent_topk_hinge", "smooth_consistent_topk_hinge", "softmax", batches.ALPHA, batches.BETA} <= found
    assert not found & {"average_precision", "ndcg", "multilabel_hinge"}
    cells = list(batches.operations())
    assert len(cells) == len(set(cells))
    assert {name for name, *_ in cells} <= found
    assert ("consistent_topk_hinge", "sdca_update", 100, 5) in cells


@pytest.mark.parametrize("name", ["consistent_topk_hinge", "ova_hinge"])
def test_the_batch_is_the_sum_of_its_rows(name, monkeypatch):
    monkeypatch.setattr(batches, "ENTRIES", 30)
    monkeypatch.setattr(batches, "BATCH", 3)
    arguments, n = batches._rows("prox", 6)
    assert n == 5
    arguments, n = {"v": arguments["v"][:3]}, 3
    optimum = batches.batch(name, "prox", arguments, 2).solve(solver="CLARABEL")
    module, v = importlib.import_module(f"fast.losses.{name}"), arguments["v"]
    u = module.prox(v, **batches.given(name, 2))
    scores = np.column_stack([np.zeros(n), u])  # of class 0 and the others
    value = module.value(scores, np.zeros(n, int), **batches.given(name, 2)).sum()
    if name.startswith("consistent"):
        assert abs(optimum - value - np.square(u - v).sum() / 2) < 1e-5
    assert optimum < module.value(np.column_stack([np.zeros(n), v]), np.zeros(n, int), **batches.given(name, 2)).sum()


def test_cells_are_measured(monkeypatch):
    monkeypatch.setattr(batches, "ENTRIES", 30)
    monkeypatch.setattr(batches, "BATCH", 3)
    for operation in batches.OPERATIONS:
        found = batches.rows("consistent_topk_hinge", operation, 6, 2, repeats=1)
        assert min(found.figures.values()) > 0.0
        assert found.least["clarabel_ratio"] == batches.CLARABEL_LIMIT
    assert batches.rows("truncated_topk_entropy", "prox", 6, 2, repeats=1)["clarabel_ratio"] is None
    monkeypatch.setattr(batches, "GAP", 1e-2)
    found = batches.training("consistent_topk_hinge", "digits", 0.01, repeats=1)
    assert 0.0 <= found["gap"] <= 1e-2
    assert found["times_beta"] > 0.0
