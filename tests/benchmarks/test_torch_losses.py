"""The benchmark of losses on tensors: everything is measured; no test here asserts a time."""

import sys

import pytest
from _commands import data, refused

pytest.importorskip("torch", reason="torch is not installed")

from verification.benchmarks import torch_losses


def test_every_loss_is_measured():
    words = ("bench", "torch", "--size", "4x20", "--threads", "1", "--repeats", "1")
    found = data(*words)["timings"]
    assert [t["loss"] for t in found] == ["cross_entropy", *torch_losses.LOSSES]
    assert all(t["ms"] > 0 and t["arrays"] > 0.9 for t in found)
    limits = {t["loss"]: t["targets"] for t in found}
    assert limits["softmax"] == "ratio <= 4, arrays <= 3.1"
    assert "expected rows x classes" in refused("bench", "torch", "--size", "4")


def test_without_torch_the_command_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "pip install '.[torch]'" in refused("bench", "torch")


def test_a_record_has_every_loss_as_it_is_and_compiled(monkeypatch):
    monkeypatch.setitem(torch_losses.SIZES, "cpu", ((4, 20),))
    monkeypatch.setattr("torch.compile", lambda f, **options: f)
    found = torch_losses.recorded(compiled=True, repeats=1)
    assert found["command"].endswith("--device cpu --threads 1 --repeats 1 --compiled")
    told = [(t["loss"], t["compiled"]) for t in found["timings"]]
    assert told == [
        (loss, how) for how in (False, True) for loss in ("cross_entropy", *torch_losses.LOSSES)
    ]


def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "expected cpu, or cuda where" in refused("bench", "torch", "--device", "cuda")
