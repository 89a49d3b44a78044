"""Examples with several labels, from train to evaluate, whatever the file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run
from scipy.io import savemat
from scipy.sparse import csc_array, csr_array
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import average_precision_score, f1_score
from sklearn.preprocessing import StandardScaler

from fast import MultilabelClassifier
from verification import load_model
from verification.app.dataset import Roles
from verification.app.io import read

RNG = np.random.default_rng(4)
X = RNG.standard_normal((160, 5))
Y = X @ RNG.standard_normal((5, 4)) + RNG.standard_normal((160, 4)) > 0.7
NAMES = ("sad", "loud", "fast", "live")
MODEL = ("--model", "multilabel")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same examples in every kind of file; the csv has names."""
    for part, rows in {"a": slice(0, 120), "b": slice(120, 160)}.items():
        mine, own = X[rows], Y[rows]
        frame = pd.DataFrame(mine, columns=list("uvwxy"))
        frame[list(NAMES)] = own.astype(int)
        frame.to_csv(tmp_path / f"{part}.csv", index=False)
        sparse = csr_array(own.astype(float))
        parts = {f"Y_{name}": getattr(sparse, name) for name in ("data", "indices", "indptr")}
        np.savez(tmp_path / f"{part}.npz", X=mine, Y=own)
        np.savez(tmp_path / f"{part}_csr.npz", X=mine, **parts, Y_shape=sparse.shape)
        savemat(tmp_path / f"{part}.mat", {"X": mine, "tags": csc_array(own.astype(float))})
        file = str(tmp_path / f"{part}.svm")
        dump_svmlight_file(mine, sparse, file, zero_based=False, multilabel=True)
    return tmp_path


@pytest.mark.parametrize("loss", ["hinge", "smooth_hinge", "entropy"])
def test_a_table_from_train_to_predict(folder: Path, loss: str) -> None:
    words = ("train", folder / "a.csv", *MODEL, "--loss", loss, "--labels", ",".join(NAMES))
    told = data(*words, "--test", folder / "b.csv", "--tol", "1e-6")
    assert told["certified"]
    step = StandardScaler().fit(X[:120])
    naive = MultilabelClassifier(loss=loss, tol=1e-6, fit_intercept=True, random_state=0)
    naive.fit(step.transform(X[:120]), Y[:120])
    F, found = (f(step.transform(X[120:])) for f in (naive.decision_function, naive.predict))
    shares, own = told["accuracy"]["test"], Y[120:]
    assert shares["subset accuracy"] == np.mean((found == own).all(axis=1))
    assert shares["Hamming loss"] == np.mean(found != own)
    right = 2 * np.sum(found * own) / (found.sum() + own.sum())
    np.testing.assert_allclose(shares["micro F1"], right, rtol=1e-12)
    assert shares["macro F1"] == pytest.approx(f1_score(own, found, average="macro"))
    for j, name in enumerate(NAMES):
        ap = average_precision_score(own[:, j], F[:, j])
        assert shares["labels"][name]["AP"] == pytest.approx(ap)
    model = load_model(folder / "a.refsolve")
    np.testing.assert_array_equal(model.predict(pd.read_csv(folder / "b.csv")), found)
    assert model.labels == NAMES
    again = data("evaluate", folder / "a.refsolve", folder / "b.csv", "-o", folder / "page")
    assert again["accuracy"] == shares
    assert "Precision–recall curve per label" in (folder / "page.html").read_text(encoding="utf-8")
    run("predict", folder / "a.refsolve", folder / "b.csv")
    frame = pd.read_csv(folder / "b.predictions.csv", keep_default_na=False)
    assert list(frame["labels"]) == [",".join(np.array(NAMES)[row > 0]) for row in found]
    np.testing.assert_allclose(frame[[f"score_{name}" for name in NAMES]], F, atol=1e-9)
    run("predict", folder / "a.refsolve", folder / "b.csv", "-k", 2, "--force")
    best = pd.read_csv(folder / "b.predictions.csv")["top_1"]
    np.testing.assert_array_equal(best, np.array(NAMES)[F.argmax(axis=1)])


@pytest.mark.parametrize("kind", [".npz", "_csr.npz", ".mat", ".svm"])
def test_every_kind_of_file_is_the_same(folder: Path, kind: str) -> None:
    more = ("--labels", "tags") if kind == ".mat" else ()
    found = read(folder / f"a{kind}", Roles(labels=more[1:]))
    np.testing.assert_array_equal(found.y, Y[:120])
    assert found.labels == ("0", "1", "2", "3")
    words = ("train", folder / f"a{kind}", *MODEL, *more, "--scale", "none", "--holdout", "0.3")
    told = data(*words, "-C", "0.1,1")
    assert (told["certified"], len(told["path"]["C"])) == (True, 2)
    model = folder / f"a{kind}".replace(kind[-4:], ".refsolve")
    found = data("evaluate", model, folder / f"b{kind}", *(more and ("--label", "tags")))
    assert found["accuracy"]["subset accuracy"] > 0.3
    run("predict", model, folder / f"b{kind}")


def test_what_does_not_go_together_is_said(folder: Path) -> None:
    text = (folder / "a.svm").read_text(encoding="utf-8").splitlines()
    (folder / "one.svm").write_text("".join(f"{i % 3} 1:{i}\n" for i in range(9)), encoding="utf-8")
    (folder / "few.svm").write_text("1 1:2\n 1:3\n", encoding="utf-8")
    (folder / "new.svm").write_text("7,9 1:2\n", encoding="utf-8")
    (folder / "bad.svm").write_text("\n".join([*text[:3], "1,x 2:1", *text[3:]]), encoding="utf-8")
    np.savez(folder / "two.npz", X=X, Y=2.0 * Y)
    ends = [0, *[1] * 160]
    np.savez(folder / "far.npz", X=X, Y_data=[1], Y_indices=[99], Y_indptr=ends, Y_shape=[160, 4])
    run("train", folder / "a.svm", *MODEL)
    csv, names = folder / "a.csv", ",".join(NAMES)
    for words, why in (
        ((folder / "a.svm", "--scale", "none"), "expected one, or --model multilabel"),
        ((folder / "a.npz", "--label", "Y"), "several labels goes with --model multilabel"),
        ((folder / "one.svm", *MODEL), "every example has one label"),
        ((folder / "few.svm", *MODEL), "at least two labels"),
        ((folder / "bad.svm", *MODEL), "line 4: not in svmlight format"),
        ((csv, *MODEL), "at least two labels"),
        ((csv, *MODEL, "--labels", "sad,u"), "line 2, column 'u': the entry is"),
        ((csv, "--labels", names), "expected --labels with --model multilabel"),
        ((csv, *MODEL, "--label", "sad"), "--label with the others"),
        ((csv, *MODEL, "--labels", names, "-k", "2"), "k does not belong to model='multilabel'"),
        ((csv, *MODEL, "--labels", names, "--gamma", "1"), "expected loss='smooth_hinge'"),
        ((csv, *MODEL, "--labels", names, "--loss", "softmax"), "loss: 'softmax'; expected"),
        ((csv, *MODEL, "--labels", names, "--positive", "sad"), "not with several"),
        ((csv, "--loss", "hinge"), "loss does not belong to model='svm'"),
        ((folder / "two.npz", *MODEL), "expected 1 for a label of the example, or 0"),
        ((folder / "far.npz", *MODEL), "Y_shape a CSR matrix: "),
        ((folder / "a.svm", *MODEL, "--test", folder / "new.svm"), "['7', '9']"),
    ):
        assert why in refused("train", *words, "--force"), words
    assert "['7', '9']" in refused("evaluate", folder / "a.refsolve", folder / "new.svm")
