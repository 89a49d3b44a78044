#!/usr/bin/env bash
# snapml 1.17.2 with NumPy 2.4.6: the filter of warnings chooses its machine code, and so the bits of its models.
#
# On import snapml asks numpy.core for the processor's features. Since NumPy 2 that name is deprecated; under
# -W error::DeprecationWarning (a test suite in which warnings are errors) the import of it fails, snapml says in a
# UserWarning that AVX2 will not be used, and loads its general library in the place of that for AVX2. The same fit with
# the same seed then ends in other last digits: a reference value that a test pins is not what production computes, and
# times that are taken in a test are those of the other library.
# Seen, on a processor with AVX2: snapml.libsnapmlutils_avx2 by default, snapml.libsnapmlutils under the filter; the
# largest difference of two logistic regressions on the same digits is above 0 and below 1e-6.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check snapml==1.17.2 scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
grep -q avx2 /proc/cpuinfo || { echo "not run: needs a processor with AVX2"; exit 0; }
cat >"$place/fit.py" <<'END'
import sys

import numpy as np
import snapml
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
X, y = np.vstack([X / 16] * 10), np.tile(np.where(y > 4, 1.0, -1.0), 10)
model = snapml.LogisticRegression(regularizer=0.1, tol=1e-6, max_iter=2000, fit_intercept=False, random_state=0)
np.save(sys.argv[1], np.ravel(model.fit(X, y).coef_))
print(*[name for name in sys.modules if "libsnapmlutils" in name])
END
python="$place/venv/bin/python"
usual=$("$python" "$place/fit.py" "$place/usual.npy")
strict=$("$python" -W error::DeprecationWarning "$place/fit.py" "$place/strict.npy" 2>"$place/said")
echo "by default $usual; with deprecations as errors $strict"
grep -q "AVX2 will not be used" "$place/said"
[[ $usual == snapml.libsnapmlutils_avx2 && $strict == snapml.libsnapmlutils ]] || { echo "no longer so"; exit 1; }
"$python" - "$place/usual.npy" "$place/strict.npy" <<'END'
import sys

import numpy as np

apart = np.abs(np.load(sys.argv[1]) - np.load(sys.argv[2])).max()
print(f"largest difference of the weights {apart:.1e}")
assert 0 < apart < 1e-6, "no longer so"
END
echo "as described"
