"""``refsolve train``: the model written is the model reported, and the certificate decides the exit code."""

import json
from functools import partial
from pathlib import Path

import _commands
import numpy as np
import pytest
from _pages import Page
from _processes import python
from sklearn.datasets import dump_svmlight_file, load_iris, make_blobs
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.pipeline import Pipeline

from fast import TopKLogisticRegression, TopKSVC
from verification import load_model

run = partial(_commands.run, "train")
data = partial(_commands.data, "train")
refused = partial(_commands.refused, "train")


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    lines = [
        "a,b,c,d,species",
        *(",".join(map(str, [*x, name])) for x, name in zip(X, names, strict=True)),
    ]
    path = tmp_path / "iris.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_csv_to_model_and_reports(csv: Path) -> None:
    words = ("-C", "0.1", "--scale", "minmax", "--holdout", "0.3", "--tol", "1e-4")
    shown = data(csv, "--label", "species", *words)
    assert shown["ok"] is True
    assert shown["model"]["certified relative duality gap"] <= 1e-4
    assert shown["model"]["examples"] == 105
    assert set(shown["accuracy"]) == {"train", "holdout"}
    model = load_model(csv.with_suffix(".refsolve"))
    assert isinstance(model.estimator, Pipeline)
    assert model.predict([[5.1, 3.5, 1.4, 0.2]]).tolist() == ["setosa"]
    assert model.classifier.dual_gap_ == shown["model"]["certified relative duality gap"]
    assert json.loads(csv.with_suffix(".json").read_text(encoding="utf-8")) == shown
    page = csv.with_suffix(".md").read_text(encoding="utf-8")
    seen = Page(csv.with_suffix(".html").read_text(encoding="utf-8")).seen
    assert {"svg", "figure", "table"} <= seen
    assert "script" not in seen
    shares = shown["accuracy"]["holdout"]
    assert (
        f"| holdout | 45 | {' | '.join(f'{100 * share:.2f}' for share in shares.values())} |"
        in page
    )


def test_accuracy_reported_is_that_of_the_model(csv: Path) -> None:
    shown = data(csv, "--test", csv, "-k", "2", "--gamma", "1", "--scale", "none")
    assert shown["accuracy"]["train"] == shown["accuracy"]["test"]
    X, y = load_iris(return_X_y=True)
    twin = TopKSVC(k=2, gamma=1.0, fit_intercept=True, random_state=0).fit(X, y)
    scores = twin.decision_function(X)
    rank = (scores >= scores[np.arange(len(y)), y][:, None]).sum(axis=1) - 1
    right = {str(k): pytest.approx(np.mean(rank < k)) for k in (1, 2)}  # 2 is the model's own k
    # of classes of one size
    assert shown["accuracy"]["train"] == right | {"balanced accuracy": right["1"]}


def test_two_classes(tmp_path: Path) -> None:
    X, y = make_blobs(40, 3, centers=2, random_state=0)
    np.savez(tmp_path / "two.npz", X=X, y=y)
    file = tmp_path / "new" / "model.refsolve"
    accuracy = data(tmp_path / "two.npz", "-o", file)["accuracy"]["train"]
    model = load_model(file)
    f = model.estimator.decision_function(X)
    assert accuracy == {
        "1": pytest.approx(np.mean(model.predict(X) == y)),
        "balanced accuracy": pytest.approx(balanced_accuracy_score(y, model.predict(X))),
        "AUC": pytest.approx(roc_auc_score(y, f)),
        "average precision": pytest.approx(average_precision_score(y, f)),
    }


def test_svm_file_stays_sparse(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "iris.svm"))
    run(tmp_path / "iris.svm", "--scale", "maxabs", "--test", tmp_path / "iris.svm")
    assert "maxabs" in refused(tmp_path / "iris.svm", "--scale", "minmax", "--force")


def test_a_model_that_is_not_certified_is_written_and_ends_with_1(csv: Path) -> None:
    shown = data(csv, "-C", "1000", "--tol", "1e-12", "--max-iter", "1", code=1)
    assert shown["ok"] is False
    assert shown["model"]["certified relative duality gap"] > 1e-12
    assert "scale the features" in shown["advice"][0]
    assert "scale the features" in csv.with_suffix(".md").read_text(encoding="utf-8")
    assert csv.with_suffix(".refsolve").is_file()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-k", "3"), "k"),
        (("-k", "0"), "k"),
        (("--C", "-1"), "C"),
        (("--gamma", "-1"), "gamma"),
        (("--tol", "nan"), "tol"),
        (("--variant", "delta"), "'alpha', 'beta' or 'consistent'"),
        (("--model", "forest"), "svm, logistic"),
        (("--truncated",), "model='logistic'"),
        (("--model", "logistic", "--gamma", "1"), "smooth by itself"),
        (("--model", "logistic", "--truncated", "--variant", "beta"), "has no variants"),
        (("--model", "logistic", "-k", "3"), "k"),
        (("--scale", "log"), "standard, minmax"),
        (("--holdout", "1.5"), "strictly between 0 and 1"),
        (("--holdout", "0.001"), "every class on both sides"),
        (("--holdout", "0.5", "--test", "x.csv"), "exclude each other"),
        (("--seed=-1",), "seed=-1: expected an integer from 0"),
        (("--seed=-1", "--holdout", "0.5"), "seed=-1: expected an integer from 0"),
        (("--label", "kind"), "no column 'kind'"),
        (("-o", "model.pkl"), ".refsolve"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_options(csv: Path, words: tuple[str, ...], expected: str) -> None:
    assert expected in refused(csv, *words)
    assert not csv.with_suffix(".refsolve").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,2,0\n3,4,0\n", "bad.csv cannot be trained on: all 2 labels are 0"),
        ("1,nan,0\n3,4,1\n", "the value is missing"),
        ("1,inf,0\n3,4,1\n", "inf"),
    ],
)
def test_data_that_cannot_be_trained_on(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    said = "".join(refused(path).lower().split())  # lines may break within a path
    assert "".join(expected.lower().split()) in said


def test_holdout_with_unknown_labels(csv: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b,c,d,species\n1,2,3,4,orchid\n", encoding="utf-8")
    assert "orchid" in refused(csv, "--test", other)
    other.write_text("a,b,species\n1,2,setosa\n", encoding="utf-8")
    assert "lacks the features ['c', 'd']" in refused(csv, "--test", other)


def test_columns_of_the_test_data_go_by_name(csv: Path, tmp_path: Path) -> None:
    rows = [line.split(",") for line in csv.read_text(encoding="utf-8").splitlines()]
    other = tmp_path / "other.csv"

    def permuted(order: tuple[int, ...]) -> Path:
        text = "\n".join(",".join(row[j] for j in order) for row in rows)
        other.write_text(text, encoding="utf-8")
        return other

    words = ("--label", "species", "--test", permuted((2, 4, 0, 3, 1)))
    accuracy = data(csv, *words)["accuracy"]
    assert accuracy["train"] == accuracy["test"]
    rows[0][2] = "e"
    assert "lacks the features ['c'] of the model" in refused(
        csv, "--force", *words[:3], permuted((0, 1, 2, 3, 4))
    )


def test_no_folder_is_made_for_data_that_are_not_there(tmp_path: Path) -> None:
    refused(tmp_path / "no" / "data.csv")
    assert not (tmp_path / "no").exists()
    assert "suffix" in refused(".")


def test_a_model_that_is_there_is_kept(csv: Path) -> None:
    run(csv)
    before = csv.with_suffix(".refsolve").read_bytes()
    for lost in (".md", ".json"):
        assert "--force replaces it" in refused(csv, "--C", "2")
        csv.with_suffix(".refsolve").unlink()
        kept = lost.replace(".md", ".json")
        # a long path is broken into lines
        assert f"iris{kept}isthere" in "".join(refused(csv, "--C", "2").split())
        csv.with_suffix(".refsolve").write_bytes(before)
    run(csv, "--C", "2", "--force")
    assert load_model(csv.with_suffix(".refsolve")).classifier.C == 2.0


@pytest.mark.parametrize("words", [("-k", "1"), ("-k", "2"), ("-k", "2", "--truncated")])
def test_logistic_models(csv: Path, words: tuple[str, ...]) -> None:
    shown = data(csv, "--model", "logistic", *words, "--tol", "1e-5", "--scale", "none")
    name = "Multinomial logistic regression" if words == ("-k", "1") else "Top-k logistic regression"
    assert shown["title"].startswith(f"{name} trained on ")
    gap = "certified relative duality gap"
    gap += " of the last convex step" if "--truncated" in words else ""
    assert shown["model"][gap] <= 1e-5
    assert shown["model"]["truncated"] is ("--truncated" in words)
    model = load_model(csv.with_suffix(".refsolve"))
    assert isinstance(model.estimator, TopKLogisticRegression)
    X, _ = load_iris(return_X_y=True)
    assert model.estimator.predict_topk(X[:3]).shape == (3, int(words[1]))


KERNELS_OF_A_FIT = """
import sys
import numpy
from scipy.sparse import csr_array
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.datasets import load_digits, load_iris
from verification.app import training
from verification.app.dataset import Examples

def ready():
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("fast")]
    found = [v for m in modules for v in vars(m).values() if hasattr(v, "py_func")]
    return {(v.py_func.__module__, v.__name__, str(s)) for v in found for s in v.nopython_signatures}

numpy.random.seed(0)  # for orders without a random_state
iris, digits = load_iris(return_X_y=True), load_digits(return_X_y=True)
prepare = training.compile_kernels if sys.argv[1] == "prepared" else lambda *args: None
before = set()

def prepare_and_look(*args):
    prepare(*args)
    before.update(ready())

training.compile_kernels = prepare_and_look
for parameters in ({"gamma": 0.0}, {"gamma": 1.0}, {"model": "logistic"}):
    for data, y in [iris, (csr_array(iris[0]), iris[1]), (digits[0] / 16, digits[1])]:
        training.train(Examples.of(data, y), k=2, C=0.1, scale="none", **parameters)
        for name in sorted(ready() - before):
            print(name)
        before.clear()
"""


@pytest.mark.parametrize("prepared", [True, False])
def test_the_training_alone_compiles_nothing(prepared: bool) -> None:
    """Every kernel of a fit is ready before its clock starts; without the preparation none is."""
    result = python("-c", KERNELS_OF_A_FIT, "prepared" if prepared else "cold")
    assert (result.stdout == "") is prepared, result.stdout


def test_examples_without_labels_are_for_predict(csv: Path, tmp_path: Path) -> None:
    data(csv, "--label", "species")
    bare = tmp_path / "bare.csv"
    lines = csv.read_text(encoding="utf-8").splitlines()
    place = lines[0].split(",").index("species")
    rows = [line.split(",") for line in lines]
    bare.write_text("\n".join(",".join(r[:place] + r[place + 1 :]) for r in rows), encoding="utf-8")
    said = _commands.refused("evaluate", csv.with_suffix(".refsolve"), bare)
    assert "Without labels `refsolve predict` is the command" in " ".join(said.split())
