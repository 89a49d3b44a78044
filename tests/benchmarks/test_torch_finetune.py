"""The fine-tuning experiment, tiny, and its record; skipped where torch is not installed."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from verification.benchmarks import torch_finetune as finetune  # noqa: E402

RECORD = Path(__file__).resolve().parents[2] / "docs" / "records" / "torch_finetune.json"
SIZES = (100, 100, 200)


@pytest.fixture(scope="module")
def tiny():
    """One seed and three losses."""
    few = {"softmax": (1,), "topk_hinge_alpha": (3,), "truncated_topk_entropy": (3,)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finetune, "LOSSES", few)
        patch.setattr(finetune, "RATES", (0.0, 0.05))
        return finetune.measured(2, SIZES, (4, 2))


def test_parts_share_no_image():
    parts = finetune.pairs(0, SIZES)
    assert [len(y) for _, y in parts] == list(SIZES)
    for rows, y in parts:
        assert rows.shape == (len(y), 1, 8, 16)
        assert set(np.bincount(y, minlength=100)) == {len(y) // 100}
    clean = parts[0][0].reshape(100, 2, 8, 8)
    assert float(clean.amin()) >= 0  # noise is drawn while it is learnt from
    assert float(parts[1][0].amin()) < 0


def test_every_loss_starts_from_the_same_network(tiny):
    """At a rate of 0 nothing moves: where validation chose it, the accuracy is that before."""
    rows = tiny["losses"]
    assert list(rows) == [
        "pretrained",
        "softmax, k = 1",
        "topk_hinge_alpha, k = 3",
        "truncated_topk_entropy, k = 3",
    ]
    for row in list(rows.values())[1:]:
        for rate, top, before in zip(
            row["rate"], row["top"], rows["pretrained"]["top"], strict=True
        ):
            assert rate != 0.0 or top == before
    assert any(row["rate"] != [0.0, 0.0] for row in list(rows.values())[1:])


def test_accuracies_rise_with_the_guesses(tiny):
    for row in tiny["losses"].values():
        assert (np.diff(row["top"], axis=1) >= 0).all()


def test_a_tie_is_an_error():
    flat = lambda rows: torch.zeros(len(rows), 3)  # noqa: E731
    assert finetune.accuracy(flat, torch.zeros(2, 1), torch.tensor([0, 1])) == [0, 0, 1, 1, 1]


def test_what_is_beyond_noise():
    own = np.full((5, 5), 0.5)
    steady = own + np.array([0.01, 0.011, 0.009, 0.01, 0.01])[:, None]
    loud = own + np.array([0.1, -0.08, 0.02, 0.0, 0.01])[:, None]
    tops = {"pretrained": own, "softmax, k = 1": own, "a": steady, "b": loud}
    record = {"losses": {name: {"top": top.tolist()} for name, top in tops.items()}}
    assert finetune.beyond_noise(record) == {"a": [1, 2, 3, 4, 5]}
    mean, error = finetune.differences(record)["a"]
    assert mean == pytest.approx(0.01)
    assert error == pytest.approx(0.0007071 / np.sqrt(5), rel=1e-3)


def test_the_record_has_five_seeds_of_every_loss():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    names = [f"{object_name}, k = {k}" for object_name, ks in finetune.LOSSES.items() for k in ks]
    assert list(record["losses"]) == ["pretrained", *names]
    assert record["seeds"] == 5
    assert all(np.shape(row["top"]) == (5, 5) for row in record["losses"].values())
