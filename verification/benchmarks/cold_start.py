"""The first fit of every estimator in a fresh process: ``python -m verification.benchmarks.cold_start``.

CPU seconds, on one thread, with an empty kernel cache and with a full one, and how many specialisations
of kernels numba compiles; the import is not part of them.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator

from verification.benchmarks.records import Record, stream

#: What is made and how it is fitted: `X` and labels `y`, `sign` of two classes.
FITS = {
    "TopKSVC()": "fit(X, y)",
    "TopKSVC(k=3)": "fit(X, y)",
    "TopKSVC(k=3, variant='beta')": "fit(X, y)",
    "TopKSVC(k=3, gamma=1.0)": "fit(X, y)",
    "TopKSVC(solver='interior')": "fit(X, y)",
    "TopKSVC(gamma=1.0, solver='newton')": "fit(X, y)",
    "TopKLogisticRegression()": "fit(X, y)",
    "TopKLogisticRegression(k=3)": "fit(X, y)",
    "TopKLogisticRegression(k=3, truncated=True)": "fit(X, y)",
    "APSVM()": "fit(X, sign)",
    "LatentAPSVM()": "fit(X.reshape(-1, 2, 20), sign[::2])",
    "SVMPlusClassifier()": "fit(X, sign, X[:, :5])",
    "SVMPlusClassifier(loss='hinge')": "fit(X, sign, X[:, :5])",
    "SVMPlusClassifier(kernel='rbf')": "fit(X, sign, X[:, :5])",
}

_CHILD = """
import json, sys, time, warnings
from time import process_time
import numpy as np
loaded = process_time()
import fast
bare = process_time()
made = fast.{estimator}.set_params(random_state=0)
ready = process_time()
from numba.core import event
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = np.arange(600) % 6
X = rng.standard_normal((600, 20)) + 2.0 * rng.standard_normal((6, 20))[y]
sign = y == 0
start = process_time()
with event.install_recorder("numba:compile") as seen:
    made.{fit}
end = process_time()
compiled = [(e.data["dispatcher"].py_func.__qualname__, str(e.data["args"])) for _, e in seen.buffer if e.is_start]
print(json.dumps([bare - loaded, ready - bare, end - start, compiled]))
"""


def first_fit(estimator: str, cache: str, **environment: str) -> list:
    """CPU seconds of ``import fast``, of the estimator's import and of the fit; what was compiled."""
    code = _CHILD.format(estimator=estimator, fit=FITS[estimator])
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_CACHE_DIR": cache}
    words = [sys.executable, "-c", code]
    settings = {**os.environ, **one, **environment}
    done = subprocess.run(words, env=settings, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def table(estimators: Iterable[str]) -> Iterator[Record]:
    """Specialisations compiled, and seconds without and with a kernel cache, one estimator at a time."""
    for estimator in estimators:
        with tempfile.TemporaryDirectory() as cache:
            _, _, cold, kernels = first_fit(estimator, cache)
            bare, imported, warm, _ = first_fit(estimator, cache)
        seconds = {"cold_s": cold, "warm_s": warm, "import_s": bare + imported}
        yield Record({"first fit": f"`{estimator}`"}, {"kernels": len(kernels), **seconds})


if __name__ == "__main__":
    stream(table(sys.argv[1:] or FITS))
