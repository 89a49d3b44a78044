"""``refsolve audit``: files in, what is certain out."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _commands import data, refused, run

import fast

X, Y = fast.datasets.make_deep_features(300, 5, 8, random_state=0)
NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])[Y]
MODEL = fast.TopKLogisticRegression(C=10.0, tol=1e-6).fit(X, NAMES)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    arrays = {"w": MODEL.coef_, "x": X, "y": NAMES, "b": np.zeros(5), "far": 0.0 * MODEL.coef_, "t": MODEL.coef_.T,
              "bad": np.where(X[3, 1] == X, np.inf, X)}  # fmt: skip
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(kind=NAMES)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    return tmp_path


def test_every_format_says_the_same(files: Path) -> None:
    wanted = fast.audit(MODEL.coef_, X, NAMES, loss="softmax", C=10.0)
    assert wanted.relative_gap < 1e-5
    for words in (("x.npy", "y.npy"), ("x.npz", "y.npy"), ("x.csv",), ("x.parquet",)):
        label = ["--label", "kind"] if len(words) == 1 else []
        told = data("audit", files / "w.npy", *(files / word for word in words), *label, "--C", 10)
        assert (told["primal"], told["dual"]) == pytest.approx((wanted.primal, wanted.dual))
        assert told["accuracy"] == wanted.accuracy
    words = (files / f"{name}.npy" for name in ("w", "x", "y"))
    found = data("audit", *words, "--intercept", files / "b.npy", "--C", 10, code=1)
    assert found["passes"] > 1


def test_weights_are_read_from_csv_with_and_without_names(files: Path) -> None:
    W, names = pd.DataFrame(MODEL.coef_), [f"x{j}" for j in range(8)]
    b = np.linspace(-0.1, 0.1, 5)
    wanted = fast.audit(MODEL.coef_, X, NAMES, loss="softmax", C=10.0, intercept=b).primal
    order = [3, 1, 0, 4, 2]
    written = {
        "plain": W.to_csv(header=False, index=False),
        "counted": W.to_csv(index=False),
        "indexed": W.to_csv(),
        "named": W.set_axis(names, axis=1).to_csv(index=False),
        "classes": W.set_axis(names, axis=1)
        .set_axis(MODEL.classes_)[names[::-1]]
        .iloc[order]
        .to_csv(),
    }
    frame = pd.read_parquet(files / "x.parquet")
    frame[[*names[::-1], "kind"]].to_parquet(files / "turned.parquet")
    np.savetxt(files / "b.csv", b)
    np.savetxt(files / "turned.csv", b[order])
    for name, text in written.items():
        (files / "w.csv").write_text(text)
        turned = name == "classes"
        rest = [files / ("turned.parquet" if turned else "x.csv"), "--label", "kind"]
        if name == "indexed":  # whose classes are numbers
            rest = [files / "x.npy", files / "y.npy", "--classes", files / "c.npy"]
            np.save(files / "c.npy", MODEL.classes_)
        rest += ["--C", 10, "--intercept", files / ("turned.csv" if turned else "b.csv")]
        told = data("audit", files / "w.csv", *rest, code=1)
        assert told["primal"] == pytest.approx(wanted), name
    (files / "w.csv").write_text(written["named"])
    frame.assign(more=1.0)[[*names[::-1], "more", "kind"]].to_csv(files / "turned.csv", index=False)
    b = ("--C", 10, "--intercept", files / "b.csv")
    for name in ("turned.parquet", "turned.csv"):
        told = run("audit", files / "w.csv", files / name, "--label", "kind", *b, "--json", code=1)
        assert json.loads(told.stdout)["primal"] == pytest.approx(wanted)
        assert ("'more'" in told.stderr) == (name == "turned.csv")
    plain = "1,2\n3,x\n"
    for text, why in (
        (plain, "line 2, column 2"),
        ("", "cannot read"),
        ("1,2\n3\n", "line 2, column 2"),
    ):
        (files / "w.csv").write_text(text)
        assert why in refused("audit", files / "w.csv", files / "x.csv", "--label", "kind")


def test_a_model_far_away_fails_and_refit_says_by_how_much(files: Path) -> None:
    words = ("audit", files / "far.npy", files / "x.npy", files / "y.npy", "--C", 10)
    assert "--refit says which" in run(*words, code=1).stdout
    assert "above the optimum by at least" in run(*words, "--refit", code=1).stdout
    told = data(*words, "--refit", code=1)
    assert told["optimum"]["relative_gap"] <= 1e-3
    assert told["least_above"] > 1.0


def test_what_is_wrong_is_said_on_a_line(files: Path) -> None:
    rest = files / "x.npy", files / "y.npy"
    (files / "empty.npz").write_bytes(b"")
    assert "transposed: pass W.T" in refused("audit", files / "t.npy", *rest)
    assert "tol=nan" in refused("audit", files / "w.npy", *rest, "--tol", "nan")
    for words, why in (
        (("bad.npy", "y.npy"), "row 3, column 1"),
        (("x.npy",), "--label"),
        (("empty.npz", "y.npy"), "it is empty"),
        (("x.csv", "y.npy"), "column 'kind': expected a number"),
    ):
        assert why in refused("audit", files / "w.npy", *(files / word for word in words))
