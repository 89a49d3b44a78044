"""``refsolve probe``: files in, a certified path of C and the best model out."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from _commands import data, refused, run

from fast import datasets, probe
from fast.data import rows
from fast.errors import UnreadableError
from verification import load_model
from verification.app.cluster import chunk
from verification.app.console import Task

X, Y = datasets.make_deep_features(600, 5, 12, random_state=0)
NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])[Y]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    parts = {"x": X[:400], "y": NAMES[:400], "v": X[400:], "w": NAMES[400:], "i": Y[:400]}
    for name, array in parts.items():
        np.save(tmp_path / f"{name}.npy", array.astype(np.float32) if array.ndim > 1 else array)
    return tmp_path


def test_the_best_of_a_path_is_kept_with_its_certificate(files: Path) -> None:
    judged = ("--validation", files / "v.npy", "--validation-labels", files / "w.npy")
    words = ("probe", files / "x.npy", files / "y.npy", *judged, "-C", "10,0.1,1")
    told = data(*words, "--output", files / "out")
    found = probe(X[:400].astype(np.float32), NAMES[:400], (X[400:], NAMES[400:]), [0.1, 1, 10])
    assert told["path"]["C"] == [0.1, 1.0, 10.0]
    assert max(told["path"]["gap"]) <= 1e-3
    np.testing.assert_allclose(told["path"]["accuracy"]["top-1"], found.accuracies[0], atol=0.006)
    assert told["certified"]
    assert told["forecast"]["fits"] == 3
    model = load_model(files / "out" / "probe.refsolve")
    assert model.certified
    assert told["best"]["C"] == model.classifier.C
    assert set(model.predict(X[400:])) <= set(NAMES)
    svg = (files / "out" / "probe.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert json.loads((files / "out" / "probe.json").read_text(encoding="utf-8"))
    assert "is not empty" in refused(*words, "--output", files / "out")
    predicted = files / "predicted.csv"
    run("predict", files / "out" / "probe.refsolve", files / "v.npy", "--output", predicted)
    assert len(predicted.read_text(encoding="utf-8").splitlines()) == 201
    assert "labels in a file of their own (LABELS)" in refused("train", files / "x.npy")


def test_protocols_and_losses_without_validation(files: Path) -> None:
    words = ("probe", files / "x.npy", files / "i.npy", "--force", "--output", files / "out")
    told = data(*words, "--preset", "mteb", "--loss", "hinge", "-k", "2", "--jobs", "2")
    assert told["path"]["C"] == [1.0] * 10
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pd.DataFrame(X[:400], columns=[f"x{j}" for j in range(12)]).assign(kind=NAMES[:400])
    table.to_parquet(files / "x.parquet")
    words = ("probe", files / "x.parquet", "--label", "kind", "--force", "--output", files / "out")
    shown = run(*words, "-C", "0.1,1", "--loss", "entropy", "--k", "3")
    assert "400 rows, 12 features, 5 classes; 3 fits" in shown.stderr
    assert "held out" in shown.stdout


def test_ctrl_c_keeps_what_there_is(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(task: Task, done: int, text: str, total: int | None = None) -> None:
        if text.startswith("C = 1:"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Task, "at", interrupted)
    words = ("probe", files / "x.npy", files / "y.npy", "-C", "0.1,1,10", "--tol", "1e-9")
    told = data(*words, "--output", files / "out", code=1)
    assert told["path"]["C"] == [0.1, 1.0]
    assert not told["complete"]
    assert load_model(files / "out" / "probe.refsolve").classifier.C in (0.1, 1.0)
    monkeypatch.undo()
    told = data(*words, "--output", files / "out", "--resume")
    assert told["path"]["C"] == [0.1, 1.0, 10.0]
    assert told["certified"]
    assert "no run that was ended" in refused(*words, "--output", files / "out", "--resume")


def test_what_was_kept_stays_until_nothing_is_wrong_and_files_are_examined_once(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = files / "out" / "fits" / "0"
    kept.mkdir(parents=True)
    words = ("probe", files / "x.npy", files / "y.npy", "-C", "0.1", "--output", files / "out")
    np.save(files / "z.npy", np.full(200, "zebra"))
    judged = ("--validation", files / "v.npy", "--validation-labels", files / "z.npy")
    wrong_ones = (("--loss", "softmin"), ("-C", "a"), ("--label", "b"), ("--k", "5"), ("--tol", "-1"),
                  ("--max-iter", "0"), ("--jobs", "0"), judged)  # fmt: skip
    for wrong in wrong_ones:
        refused(*words, *wrong, "--force")
    assert kept.exists()
    seen: list[str] = []
    monkeypatch.setattr("fast.solvers.first_pass.examine", lambda X: seen.append(X.name))
    told = data(*words, "--force", "--jobs", "-1")
    assert not kept.exists()
    assert not seen
    assert told["certified"]


@pytest.mark.parametrize("label", [None, "y"])
def test_workers_refuse_a_file_that_changed(label: str | None, tmp_path: Path) -> None:
    file = tmp_path / ("x.npy" if label is None else "x.parquet")

    def write(X: np.ndarray) -> None:
        if label is None:
            np.save(file, X)
        else:
            pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
            pd.DataFrame(X).add_prefix("x").assign(y=Y).to_parquet(file)

    write(X)
    source = rows(file, label=label)
    given = str(file), getattr(source, "chosen", None), source.stamp, 5, 9
    np.testing.assert_array_equal(chunk(*given), X[5:9])
    write(2.0 * X)
    os.utime(file, ns=(0, 0))
    with pytest.raises(UnreadableError, match="changed since it was opened"):
        chunk(*given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_read_their_rows_themselves(files: Path) -> None:
    pytest.importorskip("distributed")
    judged = ("--validation", files / "v.npy", "--validation-labels", files / "w.npy")
    words = ("probe", files / "x.npy", files / "y.npy", *judged, "-C", "0.1,1", "--force")
    here = data(*words, "--output", files / "here", "--jobs", "1")
    spread = data(*words, "--output", files / "there", "--workers", "1")
    assert spread["path"]["gap"] == here["path"]["gap"]
    assert spread["best"] == here["best"]
    wrong = refused(*words, "--output", files / "there", "--workers", "1", "--scheduler", "tcp://a:1")
    assert "exclude each other" in wrong


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x.npy", "w.npy"), "expected 400, one for each row of"),
        (("x.npy",), "LABELS: expected labels in a file of their own, or --label COLUMN"),
        (("x.npy", "none.npy"), "none.npy"),
        (("broken.npy", "y.npy"), "broken.npy"),
        (("x.npy", "broken.npy"), "broken.npy"),
        (("nan.npy", "y.npy"), "row 7, column 3: nan"),
        (("x.npy", "y.npy", "-C", "a"), "expected a number > 0"),
        (("x.npy", "y.npy", "-C", "-1"), "Cs"),
        (("x.npy", "y.npy", "--preset", "vtab"), "clip"),
        (("x.npy", "y.npy", "--loss", "softmin"), "loss"),
        (("x.npy", "y.npy", "--k", "5"), "k: 5"),
        (("x.npy", "y.npy", "--validation", "v.npy"), "--validation: expected"),
        (("x.npy", "y.npy", "--validation", "x.npy", "--validation-labels", "i.npy"), "label"),
    ],
)
def test_wrong_files_and_options_are_refused(
    words: tuple[str, ...], said: str, files: Path
) -> None:
    (files / "broken.npy").write_bytes((files / "x.npy").read_bytes()[:500])
    holed = np.load(files / "x.npy")
    holed[7, 3] = np.nan
    np.save(files / "nan.npy", holed)
    given = [files / w if w.endswith(".npy") else w for w in words]
    words_of_error = refused("probe", *given, "--output", files / "out").split()
    assert "".join(said.split()) in "".join(words_of_error)  # lines may break within a path
