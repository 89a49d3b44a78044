"""Losses on tensors by the kit, in every form that training asks; skipped where torch is not installed."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from verification import InvalidArgumentError, verify  # noqa: E402
from verification.bridges.torch_losses import ACCURACY, FORMS, candidate, forms  # noqa: E402
from verification.kit.solver_call import NotApplicableError  # noqa: E402
from verification.reference_solvers.torch_losses import SOUND, softmax, whole  # noqa: E402
from verification.selftest import torch_losses  # noqa: E402

RECORD = Path(__file__).resolve().parents[2] / "docs" / "records" / "torch_kit.json"
# All of what kills is asked of one right loss in every form, and of the others in the forms that mutants have.
ASKED = [("softmax", op, form) for op in ("value", "gradient") for form in forms(op)]
ASKED += [("topk_hinge_alpha", "value", form) for form in ("sum", "smoothed", "square")]
ASKED += [
    (object_name, op, "rows")
    for object_name in SOUND
    if object_name != "softmax"
    for op in ("value", "gradient")
]


@pytest.mark.parametrize(("object_name", "operation", "form"), ASKED)
def test_the_sound_losses_pass(object_name, operation, form):
    """What kills a mutant is neither the form nor what it is made from."""
    problem = f"{object_name}.{operation}"
    loss = candidate(whole(SOUND[object_name]), problem, form)
    report = verify(loss, problem, every=40, accuracy=ACCURACY.get(form), shrink=False)
    assert report.ok, report


def test_what_a_form_cannot_ask_is_said():
    with pytest.raises(InvalidArgumentError, match="expected one of rows"):
        candidate(softmax, "softmax.gradient", "smoothed")
    half = candidate(whole(softmax), "softmax.value", "float16")
    assert half(scores=np.zeros(2), y=0) == pytest.approx(np.log(2), rel=ACCURACY["float16"])
    with pytest.raises(NotApplicableError, match="float16"):
        half(scores=np.array([0.0, 1e6]), y=0)
    assert set(ACCURACY) <= set(FORMS)


@pytest.mark.parametrize("problem", sorted({problem for problem, _ in torch_losses.judged()}))
def test_every_loss_on_tensors(problem):
    """A part of what docs/records/torch_kit.json has: all problems in all forms, some instances."""
    for asked, form in torch_losses.judged():
        if asked == problem:
            one = "certified_gap" if problem.endswith("gradient") else "fenchel_young"
            some = {"every": 40} if form == "rows" else {"every": 8, "checks": [one]}
            report = torch_losses.judge(problem, form, **some)
            assert report.ok, f"{form}: {report}"


def test_the_record_is_of_every_loss():
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert record["ok"]
    assert set(record["judged"]) == {" ".join(one) for one in torch_losses.judged()}
    assert all(row["pass"] > 5 for row in record["judged"].values())
