"""The benchmark of losses on tensors: everything is measured; no test here asserts a time."""

import json
import subprocess
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
    assert "install refsolve[torch]" in refused("bench", "torch")


def test_the_module_needs_torch_and_numpy_alone(tmp_path):
    """Where there is no GPU it says so; what it imports is on every machine with torch."""
    record = tmp_path / "record.json"
    words = ["--size", "4x20", "--loss", "softmax", "--repeats", "1", "--record", str(record)]
    code = (
        "import sys; from verification.benchmarks import torch_losses as t; "
        f"assert t.main({words!r}) == 0; "
        "print([n for n in ('cvxpy', 'refsolve', 'sklearn', 'typer') if n in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "[]"
    assert [t["loss"] for t in json.loads(record.read_text())["timings"]] == [
        "cross_entropy",
        "softmax",
    ]


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert torch_losses.main(["--device", "cuda"]) == 0
    assert "skipped" in capsys.readouterr().out
