"""``train``, ``predict`` and ``evaluate`` speak one language of data: files, roles of columns, gaps, categories."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fast import APSVM, SVMPlusClassifier, TopKLogisticRegression
from verification import load_model

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def table(seed: int = 0) -> pd.DataFrame:
    """Numbers with gaps, a category that says something, a weight and a query."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["colour"] = np.where(rng.random(150) < 0.8, np.array(["red", "green", "blue"])[Y], "grey")
    frame.loc[::17, "b"] = np.nan
    frame.loc[::23, "colour"] = None
    frame["weight"] = rng.integers(0, 3, 150)
    frame["query"] = np.array(["q1", "q2", "q3"])[np.arange(150) % 3]
    frame["species"] = NAMES
    return frame


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    table().to_csv(tmp_path / "flowers.csv", index=False)
    return tmp_path / "flowers.csv"


ROLES = ("--label", "species", "--weight", "weight", "--ignore", "query")


def test_the_model_is_that_of_scikit_learn_s_transformers(csv: Path) -> None:
    shown = data("train", csv, *ROLES, "--model", "logistic", "--impute", "median", "--categories", "auto",
                 "--tol", "1e-8", "--no-fit-intercept")  # fmt: skip
    frame = table()
    frame["colour"] = frame["colour"].fillna("(missing)")
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    twin = ColumnTransformer([("n", numbers, list("abcd")), ("c", OneHotEncoder(), ["colour"])])
    prepared = twin.fit_transform(frame)
    right = TopKLogisticRegression(tol=1e-8).fit(prepared, NAMES, sample_weight=frame["weight"])
    found = load_model(csv.with_suffix(".refsolve"))
    np.testing.assert_allclose(found.classifier.coef_, right.coef_, atol=1e-3)
    assert shown["model"]["features"] == prepared.shape[1] == 4 + 5
    assert shown["model"]["primal objective"] == pytest.approx(right.primal_objective_, rel=1e-7)
    np.testing.assert_allclose(
        found.estimator.decision_function(found.arranged(table())), prepared @ found.classifier.coef_.T,
        atol=1e-12,
    )  # fmt: skip


def test_predictions_are_the_model_s_whatever_the_file_and_the_order(
    csv: Path, tmp_path: Path
) -> None:
    options = ("--impute", "mean", "--categories", "colour", "--scale", "minmax")
    assert "s  trained" in run("train", csv, *ROLES, *options, "-k", "2").stderr
    file, model = csv.with_suffix(".refsolve"), load_model(csv.with_suffix(".refsolve"))
    expected = model.predict(table())
    shuffled = table()[["species", "d", "colour", "b", "a", "query", "weight", "c"]]
    shuffled.to_parquet(tmp_path / "new.parquet")
    shuffled.drop(columns=["species", "weight", "query"]).to_csv(tmp_path / "bare.csv", index=False)
    for name in ("flowers.csv", "new.parquet", "bare.csv"):
        target = tmp_path / f"{name}.out.parquet"
        shown = data("predict", file, tmp_path / name, "-o", target, "-k", "3")
        written = pd.read_parquet(target)
        assert list(written.columns[:3]) == ["top_1", "top_2", "top_3"]
        np.testing.assert_array_equal(written["top_1"], expected)
        scores = written[[f"score_{c}" for c in model.classifier.classes_]].to_numpy()
        assert (np.sort(scores, axis=1)[:, -1] == scores.max(axis=1)).all()
        assert shown["examples"] == 150
    judged = data("evaluate", file, csv)["accuracy"]
    assert judged["1"] == pytest.approx(np.mean(expected == NAMES))


def test_a_category_that_was_never_seen_is_none_of_the_known(csv: Path, tmp_path: Path) -> None:
    run("train", csv, *ROLES, "--impute", "mean", "--categories", "auto", "--model", "logistic")
    strange = table()[["a", "b", "c", "d", "colour"]].head(2)
    strange["colour"] = ["violet", "red"]
    model = load_model(csv.with_suffix(".refsolve"))
    fed = model.estimator[0].transform(model.arranged(strange))
    assert fed[:, 4:].sum(axis=1).tolist() == [0.0, 1.0]
    strange.to_csv(tmp_path / "new.csv", index=False)
    run("predict", csv.with_suffix(".refsolve"), tmp_path / "new.csv")
    written = pd.read_csv(tmp_path / "new.predictions.csv")
    probabilities = [c for c in written if c.startswith("probability_")]
    np.testing.assert_allclose(written[probabilities].sum(axis=1), 1.0)


def test_ranking_in_queries(csv: Path, tmp_path: Path) -> None:
    words = ("--label", "species", "--group", "query", "--ignore", "weight,b,colour")
    shown = data("train", csv, *words, "--model", "ap", "--positive", "virginica", "-C", "10")
    frame, positive = table(), NAMES == "virginica"
    scaled = StandardScaler().fit_transform(frame[["a", "c", "d"]])
    right = APSVM(C=10.0).fit(scaled, positive, groups=frame["query"])
    value = right.score(scaled, positive, groups=frame["query"])
    assert shown["accuracy"]["train"]["average precision"] == pytest.approx(value, abs=0.02)
    file = csv.with_suffix(".refsolve")
    options = ("--group", "query", "--ignore", "weight,b,colour", "--positive", "virginica")
    for known in (
        ("--label", "species", *options),
        (),
    ):  # the model remembers the roles of the columns
        assert data("evaluate", file, csv, *known)["accuracy"] == shown["accuracy"]["train"]
    assert "Precision–recall curve per query" in pages(file, csv)[".html"]
    run("predict", file, csv)
    written = pd.read_csv(tmp_path / "flowers.predictions.csv")
    for _, part in written.groupby("query"):
        assert sorted(part["rank"]) == list(range(1, len(part) + 1))
        assert (np.diff(part.sort_values("rank")["score"]) <= 0.0).all()


def test_privileged_columns_are_only_for_training(csv: Path, tmp_path: Path) -> None:
    words = ("--label", "species", "--privileged", "c,d", "--ignore", "weight,b,colour,query")
    options = ("--model", "svmplus", "--lam", "0.1", "--positive", "setosa")
    shown = data("train", csv, *words, *options)
    scaled = StandardScaler().fit_transform(X[:, :1])
    right = SVMPlusClassifier(lam=0.1).fit(scaled, NAMES == "setosa", X[:, 2:])
    model = load_model(csv.with_suffix(".refsolve"))
    np.testing.assert_allclose(model.classifier.coef_, right.coef_, atol=1e-6)
    assert shown["model"]["features"] == 1
    pd.DataFrame({"a": X[:, 0]}).to_csv(tmp_path / "new.csv", index=False)
    run("predict", csv.with_suffix(".refsolve"), tmp_path / "new.csv")
    written = pd.read_csv(tmp_path / "new.predictions.csv")["top_1"]
    np.testing.assert_array_equal(written == "setosa", right.predict(scaled))
    assert set(written) <= {"setosa", "not setosa"}
    shown = data("train", csv, *words, *options[:2], "--force")
    assert not any("w = 0" in line for line in shown["advice"])  # `free_slack`


def pages(model: Path, examples: Path) -> dict[str, str]:
    """The report of ``evaluate``."""
    run("evaluate", model, examples, "-o", model.parent / "judged")
    return {p.suffix: p.read_text(encoding="utf-8") for p in model.parent.glob("judged.*")}


def test_of_several_C_the_best_on_other_examples_is_kept(csv: Path, tmp_path: Path) -> None:
    words = (*ROLES, "--impute", "mean", "--categories", "auto", "-C", "10,0.0001,0.1")
    shown = data("train", csv, *words, "--holdout", "0.3", "-k", "2", "--tol", "1e-6")
    path = shown["path"]
    assert path["C"] == [0.0001, 0.1, 10.0]
    assert max(path["gap"]) <= 1e-6
    best = int(np.argmax(path["accuracy"]["2"]))
    assert (
        shown["model"]["C"]
        == path["C"][best]
        == load_model(csv.with_suffix(".refsolve")).classifier.C
    )
    for k in ("1", "2"):
        assert shown["accuracy"]["holdout"][k] == path["accuracy"][k][best]
    assert "Accuracy along the path of C" in csv.with_suffix(".html").read_text(encoding="utf-8")
    written = pages(csv.with_suffix(".refsolve"), csv)
    assert set(written) == {".html", ".md", ".json"}
    assert "the classes among the 2 best" in written[".html"]
    assert "a number > 0, or several" in refused("train", csv, *ROLES, "-C", "1,x", "--force")
    assert "add --holdout" in refused("train", csv, *words, "--force")
    plain = ("--label", "species", "--ignore", "weight,b,colour", "--holdout", "0.3", "--force")
    for model, name, more in (
        ("ap", "average precision", ("--group", "query")),
        ("svmplus", "accuracy", ("--privileged", "d", "--ignore", "weight,b,colour,query")),
    ):
        options = (*plain, "--positive", "virginica", *more, "--model", model, "-C", "0.01,1")
        shown = data("train", csv, *options)
        scores = shown["path"]["accuracy"][name]
        assert len(scores) == 2
        assert shown["model"]["C"] == shown["path"]["C"][int(np.argmax(scores))]
        measured = shown["accuracy"]["holdout"]
        assert max(scores) == pytest.approx(measured[name if model == "ap" else "1"], abs=1e-12)


COMPLAINTS: dict[str, tuple[tuple[str, ...], str]] = {
    "gaps": ((*ROLES, "--categories", "auto"), "line 2, column 'b': the value is missing"),
    "text": ((*ROLES, "--impute", "mean"), "line 3, column 'colour': expected a number, got"),
    "what fills": ((*ROLES, "--impute", "zero"), "mean, median, most_frequent"),
    "no such category": ((*ROLES, "--categories", "smell"), "which are no features"),
    "no such weight": (("--label", "species", "--weight", "mass"), "no column 'mass'"),
    "a weight of text": (("--label", "species", "--weight", "query"), "the weight is q1"),
    "two roles": (("--label", "species", "--weight", "species"), "'species' has two roles"),
    "group of a classifier": (("--label", "species", "--group", "query", "--ignore", "b,colour"), "--model ap"),
    "privileged of a classifier": (
        ("--label", "species", "--privileged", "c", "--ignore", "b,colour,query"), "--model svmplus",
    ),
    "three classes to rank": (
        ("--label", "species", "--model", "ap", "--ignore", "b,colour,query"), "--positive",
    ),
    "no such positive": (("--label", "species", "--positive", "rose"), "no label is 'rose'"),
    "weights of ranks": (
        ("--label", "species", "--positive", "setosa", "--model", "ap", "--weight", "weight", "--ignore",
         "b,colour,query"), "ranks have no weights",
    ),
    "lam": (("--label", "species", "--lam", "1"), "svmplus"),
    "k of a ranking": (
        ("--label", "species", "--positive", "setosa", "--model", "ap", "-k", "2", "--ignore",
         "b,colour,query"), "k does not belong",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMPLAINTS)
def test_complaints(case: str, csv: Path) -> None:
    words, says = COMPLAINTS[case]
    assert says in refused("train", csv, *words)
    assert not csv.with_suffix(".refsolve").exists()


def test_complaints_of_a_model_that_is_there(csv: Path, tmp_path: Path) -> None:
    run("train", csv, *ROLES, "--impute", "mean", "--categories", "auto")
    file = csv.with_suffix(".refsolve")

    def said(command: str, *words: Any, **changes: Any) -> str:
        table().assign(**changes).to_csv(tmp_path / "new.csv", index=False)
        return refused(command, file, tmp_path / "new.csv", *words)

    table().assign(size=1).to_csv(tmp_path / "more.csv", index=False)
    assert "left out: ['size']" in " ".join(
        run("predict", file, tmp_path / "more.csv").stderr.split()
    )
    assert "line 2, column 'a': expected a number, got 'tall'" in said("predict", a="tall")
    assert "ends in .csv or .parquet" in said("predict", "-o", tmp_path / "x.txt")
    assert "1 <= k <= 3" in said("predict", "-k", "4")
    assert "none of the classes" in said("evaluate", species="rose")
    table().drop(columns="d").to_csv(tmp_path / "new.csv", index=False)
    assert "lacks the features ['d']" in refused("predict", file, tmp_path / "new.csv")
    run("predict", file, csv)
    assert "--force replaces it" in refused("predict", file, csv)
    run("predict", file, csv, "--force")


def test_columns_that_are_no_numbers_and_no_text(tmp_path: Path) -> None:
    when = pd.date_range("2020-01-01", periods=150)
    pd.DataFrame({"a": X[:, 0], "when": when, "y": Y}).to_parquet(tmp_path / "a.parquet")
    assert "column 'when' holds datetime" in refused("train", tmp_path / "a.parquet")
    pd.DataFrame({"a": X[:, 0], "list": [[1]] * 150, "y": Y}).to_parquet(tmp_path / "a.parquet")
    assert "column 'list' holds list" in refused("train", tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for spoilt in (b"", whole[:100], whole[:-9], b"PAR1" + whole[4:-40] + b"\xff" * 36 + b"PAR1"):
        (tmp_path / "a.parquet").write_bytes(spoilt)
        assert "not readable as Parquet" in refused("train", tmp_path / "a.parquet")
