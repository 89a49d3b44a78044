"""``refsolve compare``: the papers' protocol on a user's data, row by row."""

import csv
import json
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from fast.metrics import topk_accuracy
from verification.app import comparing
from verification.app.known import DATA, about, printed
from verification.app.rows import KEPT
from verification.benchmarks import protocol
from verification.benchmarks.binary import LAMS
from verification.benchmarks.methods import Loss
from verification.benchmarks.protocol import Fit, Row, RowResult, loss_of, methods_for

RNG = np.random.default_rng(3)
Y = np.arange(400) % 5
X = RNG.standard_normal((400, 6)) + 1.2 * RNG.standard_normal((5, 6))[Y]
NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])[Y]
FEW = ("-k", "1,2", "--method", "LR-Multi", "--method", "top-2 SVM", "-C", "0.01,0.1,1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.savez(tmp_path / "all.npz", X=X, y=NAMES, K=X @ X.T)
    return tmp_path / "all.npz"


def naive(
    train: np.ndarray, validation: np.ndarray, test: np.ndarray, ks: tuple[int, ...]
) -> list[float]:
    """The softmax row by scikit-learn: C by validation per column, both parts at the same lambda."""

    def measured(C: float, rows: np.ndarray, judged: np.ndarray) -> list[float]:
        model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000)
        scores = model.fit(X[rows], NAMES[rows]).decision_function(X[judged])
        return [float(topk_accuracy(NAMES[judged], scores, k, classes=model.classes_)) for k in ks]

    found = {C: measured(C, train, validation) for C in (0.01, 0.1, 1.0)}
    both, last = np.concatenate([train, validation]), []
    for j in range(len(ks)):
        C = max(found, key=lambda C, j=j: found[C][j])  # type: ignore[misc]
        last.append(100.0 * measured(C * len(train) / len(both), both, test)[j])
    return last


def test_softmax_is_what_scikit_learn_has_in_the_same_protocol(file: Path, tmp_path: Path) -> None:
    words = ("compare", file, *FEW, "--scale", "none", "--tol", "1e-8", "--extend-grid", "0")
    words = (*words, "--splits", "2", "--no-fit-intercept")  # fmt: skip
    told = data(*words, "--seed", "5", "--output", tmp_path / "out")
    row = next(row for row in told["rows"] if row["method"] == "LR-Multi")
    for s in range(2):
        left, test = train_test_split(
            np.arange(400), test_size=0.25, random_state=5 + s, stratify=NAMES
        )
        train, validation = train_test_split(
            left, test_size=1 / 3, random_state=5 + s, stratify=NAMES[left]
        )
        expected = naive(np.sort(train), np.sort(validation), np.sort(test), (1, 2))
        np.testing.assert_allclose(row["accuracy"][s], expected, atol=1e-9)
    lines = list(
        csv.reader((tmp_path / "out" / "compare.csv").read_text(encoding="utf-8").splitlines())
    )
    assert [line[0] for line in lines] == ["method", "LR-Multi", "top-2 SVM"]
    assert float(lines[1][1]) == pytest.approx(np.mean([a[0] for a in row["accuracy"]]))
    assert max(row["gap"] for row in told["rows"]) <= 1e-8
    assert all(
        (tmp_path / "out" / f"compare.{kind}").stat().st_size for kind in ("html", "md", "svg")
    )


def test_a_run_that_was_ended_goes_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, out = ("compare", file, *FEW, "--extend-grid", "0"), tmp_path / "out"
    whole = data(*words, "--output", tmp_path / "whole")
    first = comparing.run_row

    def interrupted(parts: protocol.Parts, row: Row, *rest: object) -> RowResult:
        if row.name == "top-2 SVM":
            with suppress(KeyboardInterrupt):  # as a trainer does, which keeps its best model
                signal.raise_signal(signal.SIGINT)
        return first(parts, row, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(comparing, "run_row", interrupted)
    told = data(*words, "--output", out, code=1)
    assert not told["complete"]
    assert [row["method"] for row in told["rows"]] == ["LR-Multi"]
    monkeypatch.undo()
    assert "is not empty" in refused(*words, "--output", out)
    assert "grid was [0.01, 0.1, 1.0]" in refused(*words, "-C", "1,2", "--output", out, "--resume")
    with (out / KEPT).open("a", encoding="utf-8") as stream:
        stream.write('{"split": 0, "me')  # the machine went down while a row was written
    told = data(*words, "--output", out, "--resume")
    for one, other in zip(told["rows"], whole["rows"], strict=True):
        assert one["method"] == other["method"]
        assert one["accuracy"] == other["accuracy"]
    lines = (out / KEPT).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["row"] for line in lines[1:]] == ["LR-Multi", "top-2 SVM"]
    for spoilt in ("[]\n[]\n", lines[0] + '\n{"row": "LR-Multi", "result": {"fits": 1}}\n'):
        (out / KEPT).write_text(spoilt, encoding="utf-8")
        assert "not what a run left" in refused(*words, "--output", out, "--resume")


def test_a_gram_matrix_trains_what_its_features_do(file: Path, tmp_path: Path) -> None:
    options = (*FEW, "--scale", "none", "--tol", "1e-9", "--extend-grid", "0", "--no-fit-intercept")
    plain = data("compare", file, *options, "--output", tmp_path / "a")
    gram = data("compare", file, "--gram", "K", *options, "--output", tmp_path / "b")
    for one, other in zip(plain["rows"], gram["rows"], strict=True):
        np.testing.assert_allclose(one["accuracy"], other["accuracy"], atol=1e-9)
    np.savez(tmp_path / "no.npz", y=NAMES, K=X @ X.T - 50.0 * np.eye(400), S=np.triu(X @ X.T), W=X)
    for name, why in (
        ("K", "positive semidefinite"),
        ("S", "not symmetric"),
        ("W", "expected W (n, n)"),
    ):
        said = refused(
            "compare", tmp_path / "no.npz", "--gram", name, "-k", "1", "--output", tmp_path / "c"
        )
        assert why in said


def test_tables_with_gaps_two_classes_and_columns_in_another_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(Y < 2, "few", "many"))
    frame.loc[::7, "c"] = np.nan
    parts = {
        "train": frame[:200],
        "validation": frame[200:300],
        "test": frame[300:][["f", "kind", *"bcdae"]],
    }
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ("compare", tmp_path / "train.csv", "--label", "kind")
    rest = ("--validation", tmp_path / "validation.csv", "--test", tmp_path / "test.csv", "-C", "0.1,1")  # fmt: skip
    assert "the value is missing" in refused(*words, *rest, "--output", tmp_path / "a")
    told = data(*words, *rest, "--impute", "mean", "--fit-intercept", "--output", tmp_path / "a")
    parts["test"][frame.columns].to_csv(tmp_path / "test.csv", index=False)
    again = data(*words, *rest, "--impute", "mean", "--fit-intercept", "--output", tmp_path / "b")
    assert [row["method"] for row in told["rows"]] == ["SVM", "LR", "AP-SVM"]
    assert [r["accuracy"] for r in told["rows"]] == [r["accuracy"] for r in again["rows"]]
    assert min(row["accuracy"][0][0] for row in told["rows"]) > 70.0
    said = refused(*words, *rest, "--impute", "mean", "--method", "LR-OVA", "--output", tmp_path / "c")
    assert "expected for two classes one of SVM, LR, AP-SVM; SVM+ with --privileged" in said


def test_privileged_features_choose_lambda_too_and_go_on(tmp_path: Path) -> None:
    frame = pd.DataFrame(X[:, :3], columns=list("abc")).assign(z=X[:, 3], u=X[:, 4], kind=NAMES)
    frame.to_csv(tmp_path / "all.csv", index=False)
    words = ("compare", tmp_path / "all.csv", "--label", "kind", "--privileged", "z,u", "-C", "0.1,1")  # fmt: skip
    assert "--privileged goes with two classes" in refused(*words, "--output", tmp_path / "out")
    words = (*words, "--positive", "cat", "--extend-grid", "0", "--seed", "1")
    told = data(*words, "--output", tmp_path / "out")
    found = {row["method"]: row for row in told["rows"]}
    assert list(found) == ["SVM", "LR", "AP-SVM", "SVM+"]
    assert told["columns"] == ["Accuracy", "AP"]
    assert found["SVM"]["lam"] == [[None, None]]
    assert all(lam in LAMS for lam in found["SVM+"]["lam"][0])
    assert max(row["gap"] for row in told["rows"]) <= 1e-3
    y = NAMES == "cat"
    left, test = train_test_split(np.arange(400), test_size=0.25, random_state=1, stratify=y)
    train, other = train_test_split(left, test_size=1 / 3, random_state=1, stratify=y[left])
    size = X[np.sort(train), :3]
    A = (X[:, :3] - size.mean(axis=0)) / size.std(axis=0)
    scores = {}
    for C in (0.1, 1.0):
        options = {"fit_intercept": False, "tol": 1e-10, "max_iter": 5000}
        scores[C] = LogisticRegression(C=C, **options).fit(A[train], y[train])
    best = max(
        scores, key=lambda C: average_precision_score(y[other], A[other] @ scores[C].coef_[0])
    )
    last = LogisticRegression(C=best * len(train) / len(left), **options).fit(A[left], y[left])
    expected = 100.0 * average_precision_score(y[test], A[test] @ last.coef_[0])
    assert found["LR"]["accuracy"][0][1] == pytest.approx(expected, abs=0.5)
    again = data(*words, "--output", tmp_path / "out", "--resume")
    assert [row["accuracy"] for row in again["rows"]] == [row["accuracy"] for row in told["rows"]]
    frame[:300].to_csv(tmp_path / "train.csv", index=False)
    frame[300:350].to_csv(tmp_path / "val.csv", index=False)
    frame[350:].drop(columns=["z", "u"]).to_csv(tmp_path / "test.csv", index=False)
    words = ("compare", tmp_path / "train.csv", *words[2:], "--validation", tmp_path / "val.csv")
    told = data(
        *words, "--test", tmp_path / "test.csv", "--method", "SVM+", "--output", tmp_path / "b"
    )
    assert told["sizes"] == [300, 50, 50]


def test_what_cannot_be_compared_is_refused_at_once(file: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "one.npz", X=X, y=np.zeros(400, int))
    np.savez(tmp_path / "new.npz", X=X[:5], y=["fox"] * 5)
    np.savez(tmp_path / "rare.npz", X=X[:12], y=np.array(["a"] * 11 + ["b"]))
    cases = {
        ("--method", "top-2 ent"): "method is 'top-2 ent'",
        ("--method", "smooth top-2 Ent"): "expected SVM-OVA",
        ("-k", "5"): "k = 5 with 5 classes",
        ("-k", "0,1"): "expected numbers of guesses",
        ("--test", str(file), "--splits", "2"): "splits=2 goes with one file",
        ("--test", str(tmp_path / "new.npz")): "no training example has the label 'fox'",
        ("--paper-dataset", "mnist"): "paper_dataset is 'mnist'",
        ("--scale", "log"): "scale is 'log'",
    }
    for words, why in cases.items():
        assert why in refused("compare", file, *words, "--output", tmp_path / "out"), words
    assert "one class" in refused("compare", tmp_path / "one.npz", "--output", tmp_path / "out")
    assert "has 1 examples" in refused(
        "compare", tmp_path / "rare.npz", "-k", "1", "--output", tmp_path / "out"
    )
    assert "TRAIN" in refused("compare")
    assert not (tmp_path / "out").exists()


def test_the_printed_figures_stand_beside_ours(file: Path, tmp_path: Path) -> None:
    shown = run(
        "compare", file, *FEW, "--extend-grid", "0", "--paper-dataset", "fmd", "--output", tmp_path / "out"
    ).stdout
    rows = {line[:10].strip(): line for line in shown.splitlines() if " / " in line}
    assert "/ 79.0" in rows["LR-Multi"]  # top-1 and top-2 of Table 14
    assert "/ 90.6" in rows["LR-Multi"]
    assert "/ 78.2" in rows["top-2 SVM"]
    assert " / " not in run("compare", file, *FEW, "--output", tmp_path / "b").stdout


def test_the_papers_data_sets_are_known() -> None:
    assert "Table 17" in run("compare", "--paper-dataset", "indoor67").stdout
    assert printed("indoor67", ["SVM-Multi", "top-3 SVM", "none"], (1, 3)) == {
        "SVM-Multi": [82.5, 95.4],
        "top-3 SVM": [81.6, 95.1],
    }
    for name in DATA:
        assert len(about(name).data["printed"]) >= 30


def test_a_grid_goes_on_where_the_best_is_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[float]] = []

    def path(parts: object, row: Row, grid: list[float], tol: float, step: object) -> list[Fit]:
        tried.append(list(grid))
        return [Fit(C, 0.0, 0.0, (C,), (-abs(np.log10(C) - 2.0),)) for C in grid]

    monkeypatch.setattr(protocol, "fits_along", path)
    monkeypatch.setattr(protocol, "refit_model", lambda parts, row, fit, tol: fit)
    row = Row("made up", Loss("hinge"), top=(1,))
    parts = protocol.Parts(*3 * ((X, Y),))
    found = protocol.run_row(parts, row, (0.1, 1.0), further=5)
    assert [round(C, 6) for grid in tried for C in grid] == [0.1, 1.0, 10.0, 100.0, 1000.0]
    assert pytest.approx(100.0) == found.chosen[0].C
    tried.clear()
    assert pytest.approx(10.0) == protocol.run_row(parts, row, (0.1, 1.0), further=1).chosen[0].C


@pytest.mark.parametrize("name", [*methods_for((1, 3)), "top-4 SVM beta", "smooth top-2 SVM alpha"])
def test_names_of_the_tables_are_losses(name: str) -> None:
    loss = loss_of(name)
    assert loss.ova == name.endswith("OVA")
    assert loss.truncated == name.endswith("_tr")
    assert (loss.gamma > 0.0) == name.startswith("smooth")
    assert loss.variant == ("beta" if name.endswith("beta") else "alpha")
    assert loss.k == next((int(c) for c in name if c.isdigit()), 1)
