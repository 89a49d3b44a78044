"""``refsolve train`` on large tables beside a script of scikit-learn: ``python -m verification.benchmarks.tables``.

A CSV of 100 000 rows and a Parquet file of a million, 40 numbers and a label of two classes; both sides read it, hold
out a fifth, standardise, fit a logistic regression, score both parts and save the model. CPU seconds of the whole
process (user and system), medians of three runs in turns, and the most memory above that of the same command on
a hundred rows, as a multiple of the numbers' eight bytes. A first run of each compiles and is not counted.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from verification.benchmarks.records import Record, stream

FEATURES, REPEATS = 40, 3
TABLES = {"csv": 100_000, "parquet": 1_000_000}  # rows
_PEER = """
import sys
import joblib, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
file = sys.argv[1]
frame = pd.read_csv(file) if file.endswith("csv") else pd.read_parquet(file)
X, y = frame.drop(columns="y"), frame["y"]
X, X_held, y, y_held = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
print(model.score(X, y), model.score(X_held, y_held))
joblib.dump(model, file + ".joblib")
"""


def write(file: Path, n: int) -> None:
    """A table of ``n`` rows whose features have means and scales of their own, the label linear with noise."""
    import pandas as pd

    rng = np.random.default_rng(0)
    scale, shift = np.exp(rng.standard_normal(FEATURES)), rng.standard_normal(FEATURES)
    Z = rng.standard_normal((n, FEATURES))
    score = Z @ rng.standard_normal(FEATURES) / np.sqrt(FEATURES) + 0.5 * rng.standard_normal(n)
    frame = pd.DataFrame(Z * scale + shift, columns=[f"x{j}" for j in range(FEATURES)])
    frame["y"] = np.where(score > 0.0, "yes", "no")
    frame.to_csv(file, index=False) if file.suffix == ".csv" else frame.to_parquet(file, index=False)


def used(words: list[str]) -> tuple[float, float]:
    """CPU seconds of a command that ends well, and its peak memory in bytes.

    Raises
    ------
    subprocess.CalledProcessError
        A command that does not.
    """
    one = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    child = subprocess.Popen(words, env=one, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0


def compare(kinds: Iterable[str], repeats: int = REPEATS) -> Iterator[Record]:
    """Seconds of both, peer / ours, and memory above the start, one file at a time."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            large, small = Path(folder, f"large.{kind}"), Path(folder, f"small.{kind}")
            for file, n in ((large, TABLES[kind]), (small, 100)):  # elsewhere: a child's peak begins with ours
                code = f"from pathlib import Path\nfrom {__spec__.name} import write\nwrite(Path({str(file)!r}), {n})"
                subprocess.run([sys.executable, "-c", code], check=True)

            def train(file: Path) -> list[str]:
                options = ["--model", "logistic", "--holdout", "0.2", "--force", "-o", f"{file}.refsolve"]
                return [sys.executable, "-m", "verification.cli", "train", str(file), *options]

            peer = [sys.executable, "-c", _PEER, str(large)]
            start = max(used(train(small))[1] for _ in range(2))
            runs = [(used(peer), used(train(large))) for _ in range(repeats + 1)][1:]
            theirs, ours = (median(run[side][0] for run in runs) for side in (0, 1))
            above = max(run[1][1] for run in runs) - start
            figures = {"peer_s": theirs, "ours_s": ours, "peer / ours": theirs / ours}
            memory = above / (8.0 * FEATURES * TABLES[kind])
            yield Record({"table": f"{TABLES[kind]} x {FEATURES} {kind}"}, {**figures, "times the data": memory})


if __name__ == "__main__":
    stream(compare(sys.argv[1:] or TABLES))
