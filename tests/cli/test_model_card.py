"""The model card of `refsolve train`: what it says of data, loss and certificate is so, and its command proves it."""

import hashlib
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run
from sklearn.datasets import load_iris

from refsolve.losses import (
    average_precision,
    topk_entropy_beta,
    topk_hinge_alpha,
    truncated_topk_entropy,
)
from refsolve.models import svm_plus_squared_hinge
from verification.app.model_card import checksum

RNG = np.random.default_rng(6)
N = 90
FRAME = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["x", "y", "z"])
FRAME["two"] = np.where(FRAME.x + 0.5 * RNG.normal(size=N) > 0, "up", "down")
FRAME["kind"] = np.where(FRAME.y > 1.2, "rare", FRAME.two)


@pytest.fixture
def csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("a.csv", index=False)
    return Path("a.csv")


@pytest.mark.parametrize(
    "words", [(), ("--gamma", "1"), ("--model", "logistic", "-k", "2", "--class-weight", "balanced")]
)
def test_the_command_on_the_card_checks_the_certificate(csv: Path, words: tuple[str, ...]) -> None:
    told = data("train", csv, "--ignore", "two", "--holdout", "0.3", "--seed", "5", *words)
    card, wanted = told["card"], told["model"]["primal objective"]
    program, *check = shlex.split(card["check"])
    assert program == "refsolve"
    found = data(*check)
    assert found["primal"] == pytest.approx(wanted, rel=1e-9)
    assert found["dual"] <= told["model"]["dual objective"] * (1 + 2e-3)
    other = [word if word != "5" else "6" for word in check]  # other examples than it was trained on
    assert data(*other, code=1)["primal"] != pytest.approx(wanted, rel=1e-3)
    assert card["sha256"] == {"a.csv": hashlib.sha256(csv.read_bytes()).hexdigest()}
    page = csv.with_suffix(".md").read_text(encoding="utf-8")
    assert [text for text in (*card["sha256"].values(), card["check"], card["intended use"]) if text not in page] == []
    assert card["versions"]["numpy"] == np.__version__
    assert "card" not in run("train", csv, "--ignore", "two", "--force").stdout.lower()  # it is in the files


@pytest.mark.parametrize(
    ("words", "formula", "audited"),
    [
        (("--ignore", "two"), topk_hinge_alpha.SPEC.formulas["value"], True),
        (("--ignore", "two", "--model", "logistic", "-k", "2", "--variant", "beta"),
         topk_entropy_beta.SPEC.formulas["value"], True),
        (("--ignore", "two", "--model", "logistic", "-k", "2", "--truncated"),
         truncated_topk_entropy.SPEC.formulas["value"], False),
        (("--ignore", "kind", "--label", "two", "--model", "ap", "--positive", "up"),
         average_precision.SPEC.formulas["Delta"], False),
        (("--ignore", "kind", "--label", "two", "--model", "svmplus", "--privileged", "z"),
         svm_plus_squared_hinge.SPEC.formulas["primal"], False),
    ],
)  # fmt: skip
def test_the_loss_is_the_declared_one(csv: Path, words: tuple[str, ...], formula: str, audited: bool) -> None:
    card = data("train", csv, *words)["card"]
    assert " ".join(formula.split()) in " ".join(f"{card['loss']} {card['objective']}".split())
    assert bool(card["check"]) == audited
    assert ("c_j = 1" in card["loss"], "c_j = 0" in card["loss"]) == (
        "hinge_alpha" in card["loss"], "entropy" in card["loss"])  # fmt: skip


def test_limits_are_those_of_this_model(csv: Path) -> None:
    FRAME[["x", "z"]].assign(a=FRAME.x > 0, b=FRAME.y > 0).to_csv("m.csv", index=False)
    several = data("train", "m.csv", "--model", "multilabel", "--labels", "a,b")["card"]
    assert "c_j = 1 on N, 0 on P" in several["loss"]
    assert "labels a, b" in several["intended use"]
    kinds = FRAME.kind.where(FRAME.kind.eq("rare").cumsum() <= 4, FRAME.two)
    FRAME.assign(kind=kinds).to_csv(csv, index=False)
    words = ("--categories", "two", "--impute", "median", "--force")
    alone = " ".join(data("train", csv, *words)["card"]["limits"])
    chosen = " ".join(data("train", csv, *words, "-C", "0.1,1", "--test", csv)["card"]["limits"])
    for text in ("Classes with fewer than 10 training examples: rare.", "column's median", "Values of two"):
        assert text in alone
    assert ("training examples alone" in alone, "training examples alone" in chosen) == (True, False)
    assert ("C was chosen" in alone, "C was chosen" in chosen) == (False, True)
    short = ("--max-iter", "1", "--tol", "1e-14", "--model", "logistic")
    assert "Training ended" in " ".join(data("train", csv, *words, *short, code=1)["card"]["limits"])


def test_the_checksum_of_a_folder_is_that_of_its_names_and_files(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(name)
    lines = "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in "ab")
    assert checksum(tmp_path) == hashlib.sha256(lines.encode()).hexdigest()
    (tmp_path / "b").rename(tmp_path / "c")
    assert checksum(tmp_path) != hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize(("gamma", "name"), [("0", ""), ("0.5", "smooth_")])
def test_card_of_the_consistent_hinge_names_its_loss_and_no_command(
    tmp_path: Path, gamma: str, name: str
) -> None:
    file, model = tmp_path / "iris.csv", tmp_path / "iris.refsolve"
    load_iris(as_frame=True).frame.to_csv(file, index=False)
    words = ("-k", "2", "--variant", "consistent", "--gamma", gamma, "-o", model)
    card = data("train", file, *words)["card"]
    assert card["loss"].startswith(f"{name}consistent_topk_hinge: L = ")
    assert not card["check"]
    assert f"{name}consistent_topk_hinge" in refused("audit", model, file)
