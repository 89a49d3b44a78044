"""Identifiers are left out, features that give the label away and labels that count are said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run

from verification import load_model
from verification.app.column_checks import doubts, without_identifiers
from verification.app.dataset import Examples, Roles
from verification.app.io import read

N = 60
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=N).round(3), "y": RNG.normal(size=N).round(3)})
KIND = np.where(FRAME.x + FRAME.y > 0, "up", "down")
ROWS = np.arange(N)
#: What says that a column tells rows apart, or nothing, by its name and values.
COLUMNS = {
    "row numbers": ("anything", ROWS, "it numbers the rows"),
    "from 17 on": ("anything", ROWS + 17, "it numbers the rows"),
    "gaps": ("anything", ROWS * 3 - ROWS % 2, "it numbers the rows, with gaps"),
    "customers": ("customer_id", RNG.permutation(10**6)[:N], "60 whole numbers, all different"),
    "camel": ("PatientID", RNG.permutation(10**6)[:N], "60 whole numbers, all different"),
    "R": ("rownames", RNG.permutation(N), "60 whole numbers, all different"),
    "pandas": ("Unnamed: 3", ROWS[::-1], "60 whole numbers, all different"),
    "no name": ("size", RNG.permutation(10**6)[:N], ""),
    "in words": ("paid", RNG.permutation(10**6)[:N], ""),
    "repeats": ("user_id", ROWS // 2, ""),
    "times": ("anything", 1_700_000_000 + 86_400 * ROWS, ""),
    "fractions": ("anything", ROWS / 2, ""),
    "falls": ("anything", ROWS[::-1], ""),
}


def examples(tmp_path: Path, **columns: object) -> Examples:
    FRAME.assign(**columns, kind=KIND).to_csv(tmp_path / "a.csv", index=False)  # type: ignore[arg-type]
    return read(tmp_path / "a.csv")


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_that_tell_rows_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    name, values, why = COLUMNS[case]
    found = without_identifiers(examples(tmp_path, **{name: values}), ())
    said = " ".join(capsys.readouterr().err.split())
    assert (name in found.X.columns, name in found.apart) == (not why, bool(why))
    assert said.startswith(f"{name} left out: {why}" if why else "")
    assert (f"--keep {name}" in said) == bool(why) == bool(said)
    kept = without_identifiers(examples(tmp_path, **{name: values}), (), [name])
    assert list(kept.X.columns) == ["x", "y", name]


def test_short_tables_and_what_is_asked_for_stay(tmp_path: Path) -> None:
    FRAME.assign(n=ROWS, kind=KIND).iloc[:19].to_csv(tmp_path / "a.csv", index=False)
    assert "n" in without_identifiers(read(tmp_path / "a.csv"), ()).X.columns
    FRAME.assign(n=ROWS, kind=KIND).to_csv(tmp_path / "a.csv", index=False)
    asked = read(tmp_path / "a.csv", Roles(features=("n", "x")))
    assert list(without_identifiers(asked, ()).X.columns) == ["n", "x"]
    only = read(tmp_path / "a.csv", Roles(ignore=("x", "y")))
    assert list(without_identifiers(only, ()).X.columns) == ["n"]
    np.savez(tmp_path / "a.npz", X=np.c_[ROWS, FRAME], y=KIND)
    assert without_identifiers(read(tmp_path / "a.npz"), ()).X.shape[1] == 3
    assert "keep names ['z'], which are no features" in refused("train", tmp_path / "a.csv", "--keep", "z")


@pytest.mark.parametrize("header", [True, False])
def test_a_model_ignores_what_training_left_out(tmp_path: Path, header: bool) -> None:
    """With and without names, whether a later file has the column or not, and where parts of it are drawn."""
    frame = pd.DataFrame({"id": ROWS + 1, **FRAME, "kind": KIND})
    frame.to_csv(tmp_path / "a.csv", index=False, header=header)
    said = run("train", tmp_path / "a.csv", "--holdout", "0.3", "--seed", "3").stderr
    assert "left out: it numbers the rows" in said
    model = load_model(tmp_path / "a.refsolve")
    assert model.estimator.n_features_in_ == 2
    shuffled = frame.assign(id=RNG.permutation(N)).drop(columns="kind")
    answers = []
    for later in (shuffled, shuffled.drop(columns="id")):
        later.to_csv(tmp_path / "b.csv", index=False, header=header)
        run("predict", tmp_path / "a.refsolve", tmp_path / "b.csv", "-o", tmp_path / "p.csv", "--force")
        answers.append(pd.read_csv(tmp_path / "p.csv").iloc[:, 0].tolist())
    assert answers[0] == answers[1]
    told = data("evaluate", tmp_path / "a.refsolve", tmp_path / "a.csv")
    assert told["accuracy"]["1"] == pytest.approx(np.mean(np.array(answers[0]) == KIND))
    run("train", tmp_path / "a.csv", "--test", tmp_path / "a.csv", "--force")
    assert run("audit", tmp_path / "a.refsolve", tmp_path / "a.csv", "--refit").exit_code == 0
    run("train", tmp_path / "a.csv", "--keep", "id" if header else "0", "--force")
    assert load_model(tmp_path / "a.refsolve").estimator.n_features_in_ == 3


def test_compare_leaves_the_same_columns_out(tmp_path: Path) -> None:
    frame = FRAME.assign(id=ROWS, copy=np.where(KIND == "up", "yes", "no"), kind=KIND)
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ("compare", tmp_path / "a.csv", "--method", "LR", "-C", "1", "--extend-grid", "0", "--categories", "auto")
    said = " ".join(run(*words, "-o", tmp_path / "out").stderr.split())
    assert "id left out: it numbers the rows" in said
    assert "copy alone gives label kind right for 100 %" in said


# -- features that give the label away ----------------------------------------------------------------


Y = np.array(["no", "yes", "maybe"])[ROWS % 3]
TWO = np.array(["no", "yes"])[ROWS % 2]


def telling(y: np.ndarray, **columns: object) -> list[str]:
    frame = pd.DataFrame(columns)
    found = Examples(Path("a.csv"), frame, y, True, str, apart=("kind",))
    return [text.partition(" alone")[0] for text in doubts(found)]


def test_features_that_alone_give_the_label(tmp_path: Path) -> None:
    code = pd.Series(np.where(Y == "no", "a", np.where(Y == "yes", "b", "c")), dtype=object)
    flipped = code.copy()
    flipped[0] = "b"  # 59 of 60 are too few
    rest = {"noise": RNG.normal(size=N), "names": pd.Series([f"n{i}" for i in ROWS], dtype=object)}
    assert telling(Y, code=code, flipped=flipped, **rest) == ["code"]
    assert telling(Y, number=(ROWS % 3) * 2.0, ranges=ROWS % 3 + RNG.random(N) / 2, **rest) == ["number", "ranges"]
    mixed = ROWS % 3 + RNG.random(N) / 2
    mixed[0] = 9.0  # a second range of the same class
    assert telling(Y, mixed=mixed) == []
    known = np.where(TWO == "yes", RNG.normal(size=N), np.nan)  # known only of one class
    assert telling(TWO, known=known, gone=np.full(N, np.nan), above=RNG.random(N) + (TWO == "no")) == ["known", "above"]


def test_what_is_rare_is_not_given_away_by_what_is_common() -> None:
    y = np.where(np.arange(2000) < 5, "rare", "common")
    half = pd.Series(np.arange(2000) % 2 == 0).astype(float)
    assert telling(y, half=half) == []
    assert telling(y, exact=(y == "rare").astype(float)) == ["exact"]


def test_the_share_is_that_of_all_training_examples(tmp_path: Path) -> None:
    y = np.arange(4000) % 2
    column = y.astype(float)
    column[:12] = 1 - column[:12]
    found = Examples(Path("a.csv"), pd.DataFrame({"c": column}), y, True, str)
    assert [text[:40] for text in doubts(found)] == ["c alone gives label right for 99.7 % of t"[:40]]


def test_the_report_says_it(tmp_path: Path) -> None:
    FRAME.assign(alive=np.where(KIND == "up", 1, 0), kind=KIND).to_csv(tmp_path / "a.csv", index=False)
    told = data("train", tmp_path / "a.csv", "--holdout", "0.3")
    assert [text.partition(" right")[0] for text in told["advice"]] == ["alive alone gives label kind"]
    assert "--ignore alive" in (tmp_path / "a.html").read_text("utf-8")
    told = data("train", tmp_path / "a.csv", "--ignore", "alive", "--force")
    assert told["advice"] == []


# -- labels that are counts ---------------------------------------------------------------------------


def test_counts_as_labels_are_refused_or_said(tmp_path: Path) -> None:
    few = FRAME.assign(count=(RNG.permutation(1000)[:N]))
    few.to_csv(tmp_path / "a.csv", index=False)
    assert "counts and measurements are put into classes first" in refused("train", tmp_path / "a.csv")
    poisson = np.r_[np.repeat(np.arange(10), 5), np.arange(10, 20)]  # 10 of 20 numbers once
    FRAME.assign(count=poisson).to_csv(tmp_path / "a.csv", index=False)
    told = data("train", tmp_path / "a.csv")
    assert "label count: 20 different numbers, 10 of them once, are taken for classes" in told["advice"][0]
    said = refused("train", tmp_path / "a.csv", "--holdout", "0.3", "--force")
    assert "--rare-classes drop or merge" in said
    assert "if these are counts or measurements" in said
    for labels in (np.repeat(np.arange(20), 3), np.array([f"c{i}" for i in poisson]), ROWS % 10):
        FRAME.assign(kind=labels).to_csv(tmp_path / "a.csv", index=False)
        assert data("train", tmp_path / "a.csv", "--force")["advice"] == []
