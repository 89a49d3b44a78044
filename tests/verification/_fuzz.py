"""Spoilt files without end, for every reader: whatever is in a file, it is read or refused by our own error.

``python tests/verification/_fuzz.py --executions 200000`` runs long, and prints counts as JSON. Inputs that
reach new lines (or pairs of lines) of the readers are kept and spoilt further. Spoiling knows bytes, JSON and
archives, whose checksums it mends, so that it gets behind them.
"""

import argparse
import hashlib
import io
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import sklearn

import fast
from fast.data import arrow, files, npy
from fast.data import io as passes
from verification import load_model
from verification.app import io as readers
from verification.app import labels, model_file, preprocessing, tables, trained_model
from verification.errors import VerificationError
from verification.external import replies, wire
from verification.failures import explain, replay
from verification.instances import instance as instances
from verification.instances import npz
from verification.instances.instance import Instance
from verification.report import lines
from verification.report.render import render_json
from verification.selftest import detection_file, soak
from verification.verdicts.verdict import Candidate

#: Files whose lines are watched.
WATCHED = {
    str(Path(module.__file__ or "").resolve())
    for module in (
        npz, labels, tables, readers, model_file, trained_model, wire, replies, replay, replay.stored, replay.answers,
        explain, instances, lines, detection_file, soak, zipfile, arrow, files, npy, passes,
    )
}  # fmt: skip
SECONDS = 20
NUMBERS = (
    0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400, 1e308, 0.5,
)  # fmt: skip
WORDS = (
    b"nan", b"inf", b"-1", b"1e400", b'"', b",", b":", b"\n", b"\r", b"\x00", b"\xff\xfe", b"PK\x05\x06", b"(",
    b"[" * 2000, b"{", b"9" * 5000, b"0x1p9999", b"<f8", b"|O", b"<U9999", b"(1, 2)f8", b"True", b"#", b"qid:1",
    b"\xed\xa0\x80", b"99999999999999", b"4294967296:1", b"x" * 140_000,
)  # fmt: skip
OWN = (VerificationError, wire.MalformedError)


# -- how a file is spoilt ---------------------------------------------------------------------------


def spoilt(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """The file with one to four changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        change = _archive if data[:2] == b"PK" else _json if data[:1] in b"[{" else _bytes
        data = (change if rng.random() < 0.7 else _bytes)(data, rng, others)
    return data[:400_000]


def _bytes(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    i, j = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    j = min(j, i + rng.choice((1, 4, 64, len(data) + 1)))
    how = rng.randrange(8)
    if how == 0:
        return data[:i] + data[j:]
    if how == 1:
        return data[:i]
    if how == 2:
        return data[:j] + data[i:j] * rng.choice((1, 3)) + data[j:]
    if how == 3:
        return data[:i] + rng.choice(WORDS) + data[j if rng.random() < 0.5 else i :]
    if how == 4:
        other = rng.choice(others)
        return data[:i] + other[rng.randrange(len(other) + 1) :]
    if how == 5 and (found := list(re.finditer(rb"\d+", data))):
        at = rng.choice(found)
        return data[: at.start()] + str(rng.choice(NUMBERS)).encode() + data[at.end() :]
    if not data:
        return rng.choice(WORDS)
    i = min(i, len(data) - 1)
    return (
        data[:i]
        + bytes((data[i] ^ (1 << rng.randrange(8)) if how == 6 else rng.randrange(256),))
        + data[i + 1 :]
    )


def _json(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    text, rest = data, b""
    if data.count(b"\n{"):  # a line of several
        rows = data.split(b"\n")
        k = rng.randrange(len(rows))
        return b"\n".join([*rows[:k], _json(rows[k], rng, others), *rows[k + 1 :]])
    try:
        tree = json.loads(text)
        other = json.loads(rng.choice(others)) if rng.random() < 0.2 else tree
    except (ValueError, RecursionError):
        return _bytes(data, rng, others)
    places, donors = list(_nodes(tree)), list(_nodes(other))
    if not places:
        return _bytes(data, rng, others)
    parent, key = rng.choice(places)
    how = rng.randrange(5)
    if how == 0:
        del parent[key]
    elif how == 1 and donors:
        giver, name = rng.choice(donors)
        parent[key] = json.loads(json.dumps(giver[name]))
    elif how == 2 and isinstance(parent, dict):
        parent[rng.choice(("", "x", "parts", "dtype", "repr", "k", "float"))] = parent.pop(key)
    elif how == 3 and isinstance(parent[key], str):
        parent[key] = _bytes(parent[key].encode("utf-8", "surrogatepass"), rng, others)[
            :200
        ].decode("utf-8", "surrogateescape")
    else:
        deep = json.loads("[" * 400 + "]" * 400)
        odd = (
            deep, None, True, "", "nan", "0x1p9999", "\ud800", "<O8", [], {}, [[[]]], 1.5, {"float": "inf"}, *NUMBERS,
        )  # fmt: skip
        parent[key] = rng.choice(odd)
    try:
        return json.dumps(tree).encode() + rest
    except (ValueError, RecursionError):
        return data


def _nodes(tree: Any) -> Any:
    """All places of a tree as (container, key)."""
    stack = [tree]
    while stack:
        node = stack.pop()
        for key in (
            node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        ):
            yield node, key
            stack.append(node[key])


def _archive(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Members changed, the archive written anew: its CRCs are right, mostly SHA256SUMS too."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice(sorted(members))
    except Exception:
        return _bytes(data, rng, others)
    how = rng.randrange(6)
    if how == 0:
        del members[name]
    elif how == 1:
        members[rng.choice((name + "x", "X.npy", "y", "coef.npy"))] = members[name]
    elif how == 2:
        members[name] = members[rng.choice(sorted(members))]
    elif name.endswith(".npy") and rng.random() < 0.6:
        head = members[name][:128]
        members[name] = _bytes(head, rng, [head, *WORDS]) + members[name][128:]
    else:
        members[name] = spoilt(members[name], rng, [members[n] for n in members])
    if "SHA256SUMS" in members and rng.random() < 0.9:
        sums = (
            f"{hashlib.sha256(d).hexdigest()}  {n}\n"
            for n, d in members.items()
            if n != "SHA256SUMS"
        )
        members["SHA256SUMS"] = "".join(sums).encode("utf-8", "surrogateescape")
    stream = io.BytesIO()
    pack = rng.choice(
        (zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
    )
    with zipfile.ZipFile(stream, "w", pack) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name) if pack == 0 else name, member)
    return stream.getvalue()


# -- readers ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """What reads a file, with some that are whole."""

    name: str
    suffix: str
    read: Callable[[Path], Any]
    seeds: Callable[[], list[bytes]]


def _npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _npz_seeds() -> list[bytes]:
    X, y = np.arange(6.0).reshape(3, 2), [0, 1, 0]
    packed = io.BytesIO()
    np.savez_compressed(packed, X=X.astype(np.float32), y=np.array(["a", "b", "a"]))
    return [_npz(X=X, y=y), _npz(X=np.asfortranarray(X), y=np.array(y, float)), packed.getvalue()]


CSV = [b"1,2,0\n3,4,1\n", b'a,b,"c d"\n1,2e0,x\n3,-4.5,"y, z"\n\n5,6,x\n', b"1,nan,0\n2,3,0.5\n"]
SVM = [b"1 1:0.5 3:-2\n0 2:1 # a\n", b"3 qid:1 1:1\n-1 0:2 9:1e9\n"]


def _replay_seeds() -> list[bytes]:
    a = np.array([1.0, -0.5, 0.25])
    given = [
        (Instance.of("simplex.projection", a=a, r=1.0), Candidate(a)),
        (Instance.of("topk_hinge_alpha.value", scores=a, y=1, k=1, costs=None), Candidate(0.5)),
        (
            Instance.of("topk_simplex_alpha.projection", a=a.astype(np.float32), k=2),
            Candidate(a, dual=a),
        ),
        (Instance.of("softmax.gradient", scores=a, y=0), Candidate("no", complement=0.5)),
    ]
    found = []
    for i, (instance, answer) in enumerate(given):
        each = replay.Replay(
            check="certified_gap", candidate="somebody.solve", instance=instance, verdict="fail",
            message="wrong", code="print(1)", environment={"numpy": "2"}, terms={"gap": (0.5, 1e-9)},
            returned=answer, right=Candidate(a), right_terms={"gap": (0.0, None)}, profile="quick", seed=i,
            settings={"timeout": 10.0, "batch": None, "fixed": {"k": 1}, "checks": None, "xfail": {},
                      "isolate": False, "solver": ""},
            rows=(instance, instance) if i == 0 else (),
        )  # fmt: skip
        found.append(json.dumps(each.to_dict()).encode())
    return found


def _model_seeds() -> list[bytes]:
    found = []
    for kind, scale in ((fast.TopKSVC, "none"), (fast.TopKLogisticRegression, "standard")):
        fitted = kind(random_state=0)
        vars(fitted).update(
            classes_=np.array(["a", "b", "c"]) if scale == "none" else np.arange(3), coef_=np.ones((3, 2)),
            intercept_=np.zeros(3), n_features_in_=2, n_iter_=3, solver_="newton", primal_objective_=1.0,
            dual_objective_=1.0, dual_gap_=0.0,
        )  # fmt: skip
        estimator: Any = fitted
        if scale != "none":
            from sklearn.pipeline import make_pipeline

            estimator = make_pipeline(preprocessing.scaler(scale, False).fit(np.eye(2)), fitted)
        found.append(model_file.packed(trained_model.Model(estimator, scale, ("u", "v"))))
    return found


def _parquet_seeds() -> list[bytes]:
    import pandas as pd

    found = []
    for compression in ("none", "snappy"):
        stream = io.BytesIO()
        frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1, 2, 3], "y": ["u", "v", "u"]})
        frame.to_parquet(stream, compression=compression)
        found.append(stream.getvalue())
    return found


def _mat_seeds() -> list[bytes]:
    from scipy.io import savemat

    found = []
    for options in ({}, {"do_compression": True}, {"format": "4"}):
        stream = io.BytesIO()
        savemat(stream, {"X": np.arange(6.0).reshape(3, 2), "y": np.array([0, 1, 0])}, **options)
        found.append(stream.getvalue())
    return found


def _record_seeds() -> list[bytes]:
    row = {"name": "a", "problem": "simplex.projection", "defect": "d", "cells": {"purity": 1}}
    run = {"profile": "quick", "seed": 0, "until_killed": True}
    kill = {"run": run, "commit": "c", "kind": "row", "found": row}
    chunk = {"solver": "fast", "problem": "simplex.projection", "seed": 0, "count": 2, "counts": {"pass": 2},
             "worst_ratio": 0.5, "checks": {}, "reasons": {}, "alarms": [], "seconds": 0.1}  # fmt: skip
    soaked = [{"commit": "c", "total": 2, "seed": 0}, chunk]
    return [
        b"\n".join(json.dumps(each).encode() for each in found) for found in ([kill, kill], soaked)
    ]


def _answer_seeds() -> list[bytes]:
    array = {"dtype": "float64", "shape": [3], "values": [1.0, "0x1p0", "inf"]}
    found = [{"x": array, "complement": 0.5}, {"x": [[1.0, 2], [3, 4]], "value": 1.0, "counts": [1, 2]},
             {"parts": {"W": array, "A": [1]}}, {"x": {"npz": "a.npz", "key": "x"}, "view": "a"}]  # fmt: skip
    return [json.dumps(each).encode() for each in found]


def _npy_seeds() -> list[bytes]:
    found = []
    for kind, version in (("f2", (1, 0)), ("f4", (2, 0)), ("f8", (1, 0))):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.arange(6.0).reshape(3, 2).astype(kind), version)
        found.append(stream.getvalue())
    return found


def _lists_seeds() -> list[bytes]:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    found = []
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float16(), 2), pa.large_list(pa.int8())):
        stream = pa.BufferOutputStream()
        rows = pa.array([np.array([i, 1], np.float16) for i in range(3)], kind)
        write_table(pa.table({"x": rows}), stream, row_group_size=2)
        found.append(stream.getvalue().to_pybytes())
    return found


def _read_rows(path: Path) -> None:
    try:
        passes.examine(fast.data.rows(path))
    except fast.errors.FastError as error:
        raise VerificationError(str(error)) from error


def _read_model_of_any_width(path: Path) -> Any:
    found = load_model(path)
    return found.predict(np.zeros((1, found.classifier.n_features_in_)))


def _read_records(path: Path) -> None:
    data = path.read_bytes()
    if b"solver" in data or b"total" in data:
        soak.record(path, list(soak.done(path).values()))
    else:
        detection_file.KillFile(path, {"profile": "quick", "seed": 0, "until_killed": True})


def _read_answer(path: Path) -> None:
    reply = wire.loads(path.read_bytes())
    replies.answer(reply, {"a": np.zeros(3)}, "parts" in reply, path.parent)


READERS = {
    reader.name: reader
    for reader in (
        Reader("csv", ".csv", readers.read_examples, lambda: CSV),
        Reader("npz", ".npz", readers.read_examples, _npz_seeds),
        Reader("parquet", ".parquet", readers.read_examples, _parquet_seeds),
        Reader("mat", ".mat", readers.read_examples, _mat_seeds),
        Reader("svm", ".svm", readers.read_examples, lambda: SVM),
        Reader("replay", ".json", replay.load, _replay_seeds),
        Reader(
            "explain",
            ".json",
            lambda p: render_json(explain.document(replay.load(p))),
            _replay_seeds,
        ),
        Reader("model", ".refsolve", _read_model_of_any_width, _model_seeds),
        Reader("records", ".jsonl", _read_records, _record_seeds),
        Reader("npy", ".npy", _read_rows, _npy_seeds),
        Reader("lists", ".parquet", _read_rows, _lists_seeds),
        Reader("answer", ".json", _read_answer, _answer_seeds),
    )
}


# -- the loop ---------------------------------------------------------------------------------------


@dataclass
class Found:
    """Counts of one reader, and the first file of each raw error."""

    executions: int = 0
    read: int = 0
    refused: int = 0
    kept: int = 0
    reached: int = 0
    seconds: float = 0.0
    errors: dict[str, bytes] = field(default_factory=dict)


def fuzz(reader: Reader, executions: int, seed: int, folder: Path) -> Found:
    """Spoil files and have them read; an error that is not our own, and a hang, is kept."""
    rng, found, reached = random.Random(f"{reader.name} {seed}"), Found(), set[int]()
    path, start = folder / f"a{reader.suffix}", time.perf_counter()
    corpus = list(reader.seeds())
    queue = list(corpus)
    for number in range(executions):
        data = queue.pop() if queue else spoilt(rng.choice(corpus), rng, corpus)
        path.write_bytes(data)
        before = len(reached)
        watcher = _Watcher(reached)
        if number < 2000 or number % 4 == 0:  # watching takes half of the time
            sys.settrace(watcher.called)
        try:
            _limited(reader.read, path)
            found.read += 1
        except OWN as error:
            found.refused += 1
            if "memory of this machine" in str(error):
                found.errors.setdefault("a size was believed", data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
            found.errors.setdefault(said, data)
        finally:
            sys.settrace(None)
        if len(reached) > before and len(data) < 20_000:
            corpus.append(data)
    found.executions, found.kept, found.reached = executions, len(corpus), len(reached)
    found.seconds = round(time.perf_counter() - start, 1)
    return found


def _limited(read: Callable[[Path], Any], path: Path) -> None:
    def hang(*_: Any) -> None:
        raise AssertionError(f"nothing in {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class _Watcher:
    """Pairs of lines that follow each other."""

    def __init__(self, reached: set[int]) -> None:
        self.reached, self.last = reached, 0

    def called(self, frame: FrameType, event: str, _: Any) -> Any:
        return self.line if frame.f_code.co_filename in WATCHED else None

    def line(self, frame: FrameType, event: str, _: Any) -> Any:
        here = hash((id(frame.f_code), frame.f_lineno))
        self.reached.add(here ^ (self.last >> 1))
        self.last = here
        return self.line


def main() -> int:
    """Run for long; 1 if a raw error was found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--executions", type=int, default=10_000, help="of each reader")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--reader", action="append", choices=sorted(READERS))
    options.add_argument("--keep", type=Path, help="folder for the files of raw errors")
    given = options.parse_args()
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    counts: dict[str, Any] = {}
    bad = 0
    sklearn.set_config(skip_parameter_validation=True)  # half of the time of the smallest files
    with tempfile.TemporaryDirectory() as folder:
        for name in given.reader or READERS:
            found = fuzz(READERS[name], given.executions, given.seed, Path(folder))
            counts[name] = {**vars(found), "errors": sorted(found.errors)}
            for i, (said, data) in enumerate(found.errors.items()):
                bad += 1
                print(f"{name}: {said}", file=sys.stderr)
                if given.keep:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{name}-{i}{READERS[name].suffix}").write_bytes(data)
    total = sum(each["executions"] for each in counts.values())
    result = {
        "commit": head.stdout.strip(),
        "seed": given.seed,
        "executions": total,
        "readers": counts,
    }
    print(json.dumps(result, indent=1))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
