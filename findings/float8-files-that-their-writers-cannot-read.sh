#!/usr/bin/env bash
# ml_dtypes 0.6.0 with numpy 2.4.6 and safetensors 0.8.0: arrays of 8-bit floats are written without complaint, and
# neither writer reads them back.
#
# np.save gives float8_e5m2 the header '<f1', which np.load refuses ("not a valid dtype descriptor"): the file is
# readable by nothing that goes by its header. float8_e4m3fn becomes '<V1': it loads as void, which does not say which of
# the 8-bit formats it was, and has no cast to a number. bfloat16 becomes '<V2', whose bits can be decoded, as ml_dtypes
# has no other type of two bytes.
# safetensors.numpy.save_file takes the same arrays, with their types by name in the header (F8_E5M2); load_file and
# safe_open(framework="numpy") raise AttributeError: module 'numpy' has no attribute 'float8_e5m2', for any tensor of the
# file in load_file's case, while bfloat16 is read through ml_dtypes.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 ml_dtypes==0.6.0 safetensors==0.8.0
cd "$place"
"$place/venv/bin/python" - <<'END'
from io import BytesIO

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file


def written(kind):
    stream = BytesIO()
    np.save(stream, np.ones((2, 3), kind))
    return stream.getvalue()


def outcome(call):
    try:
        return str(call().dtype)
    except (AttributeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


for kind in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
    data = written(getattr(ml_dtypes, kind))
    print("npy", kind, outcome(lambda: np.load(BytesIO(data))))
assert outcome(lambda: np.load(BytesIO(written(ml_dtypes.bfloat16)))) == "|V2"
assert outcome(lambda: np.load(BytesIO(written(ml_dtypes.float8_e4m3fn)))) == "|V1"
assert "not a valid dtype descriptor" in outcome(lambda: np.load(BytesIO(written(ml_dtypes.float8_e5m2))))

save_file({"a": np.ones((2, 3), ml_dtypes.bfloat16)}, "a")
save_file({"a": np.ones((2, 3), ml_dtypes.bfloat16), "b": np.ones(2, ml_dtypes.float8_e5m2)}, "b")
assert load_file("a")["a"].dtype == ml_dtypes.bfloat16
print("safetensors", outcome(lambda: load_file("b")["a"]))
assert "has no attribute 'float8_e5m2'" in outcome(lambda: load_file("b")["a"])
with safe_open("b", framework="numpy") as file:
    assert outcome(lambda: file.get_tensor("a")) == "bfloat16"
    assert "has no attribute 'float8_e5m2'" in outcome(lambda: file.get_tensor("b"))
END
echo "as described"
