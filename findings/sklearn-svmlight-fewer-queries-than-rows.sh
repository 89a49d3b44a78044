#!/usr/bin/env bash
# scikit-learn 1.9.1, load_svmlight_file(query_id=True): a row without qid is left out of the array of queries alone.
#
# The svmlight format lets a line have no qid. load_svmlight_file then returns X and y with all rows and an array of
# queries with fewer, without a warning: from the first such row on every query belongs to the row before its own. Code
# that goes by position (sorting rows by query, groups of a ranker) pairs rows with wrong queries.
# Seen: X (3, 1), y [1. 0. 1.], query_id [1 2]; row 3 has query 2 and stands where query_id ends.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
"$place/venv/bin/python" -W error - <<'END'
from io import BytesIO

from sklearn.datasets import load_svmlight_file

X, y, queries = load_svmlight_file(BytesIO(b"1 qid:1 1:1\n0 1:2\n1 qid:2 1:3\n"), query_id=True)
print("rows", X.shape[0], "labels", y.tolist(), "queries", queries.tolist())
assert (X.shape[0], len(y), queries.tolist()) == (3, 3, [1, 2]), "no longer so"
END
echo "as described"
