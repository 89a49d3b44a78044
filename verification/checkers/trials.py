"""Certificates for the checkers: right ones of random models, and wrong ones made from them.

A wrong one claims what is not so, or is no certificate at all; where its data are changed, its hash
is made anew, as whoever wants to deceive would do.
"""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast import OneVsAllClassifier, TopKLogisticRegression, TopKSVC
from fast.certificates import Certificate, linear_model
from fast.families import named

Array = np.ndarray[Any, Any]


def right(rng: Any, *, tol: float | None = None) -> Certificate:
    """Of a random loss, size, scale, layout and dtype, trained to a random accuracy, or to ``tol``."""
    return next(rights(rng, tol=tol))


def rights(rng: Any, *, tol: float | None = None) -> Iterator[Certificate]:
    """The same, and then those of the model with its rows and classes in other orders."""
    n, d, m = int(rng.integers(12, 80)), int(rng.integers(1, 9)), int(rng.integers(2, 7))
    X: Any = rng.normal(size=(n, d)) * 10.0 ** (rng.uniform(-2, 2) if tol is None else 0.5)
    y = np.r_[np.arange(m), rng.integers(0, m, n - m)]
    X = X.astype(np.float32) if rng.random() < 0.3 else X
    X = sp.csr_array(X * (rng.random((n, d)) < 0.5)) if rng.random() < 0.3 else X
    given: dict[str, Any] = {
        "C": 10.0 ** rng.uniform(-3, 2) if tol is None else 10.0 ** rng.uniform(-1, 1),
        "tol": 10.0 ** rng.uniform(-8, -1) if tol is None else tol,
        "fit_intercept": bool(rng.random() < 0.4),
    }
    k, variant = int(rng.integers(1, m)), str(rng.choice(["alpha", "beta"]))
    model: Any
    if rng.random() < 0.4:
        gamma = float(rng.choice([0.0, 0.0, 0.1, 2.0]))
        model = TopKSVC(k=k, variant=variant, gamma=gamma, **given)
    elif rng.random() < 0.5:
        model = TopKLogisticRegression(k=k, variant=variant, **given)
    else:
        loss = str(rng.choice(["hinge", "smooth_hinge", "logistic"]))
        model = OneVsAllClassifier(loss=loss, gamma=float(rng.choice([0.2, 1.0])), **given)
    weight = rng.uniform(0.1, 2, n) * (rng.random(n) < 0.9) if rng.random() < 0.5 else np.ones(n)
    weight[:m] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it was stopped early
        model.fit(X, y, weight)
    if tol is not None and np.linalg.norm(model.coef_) < 0.05:
        yield from rights(rng, tol=tol)  # an optimum of zeros is one for many problems
    while True:
        yield model.certificate(X, y, weight)
        rows, classes = rng.permutation(n), rng.permutation(m)
        X, y, weight = X[rows], np.argsort(classes)[y[rows]], weight[rows]
        model.coef_, model.intercept_ = model.coef_[classes], model.intercept_[classes]
        model.dual_coef_ = model.dual_coef_[rows][:, classes]


def free_intercept(rng: Any) -> Certificate:
    """A softmax whose intercept is not regularised: its dual has columns that sum to 0."""
    n, d, m, loss = 40, 3, 4, named("softmax")
    X, y, C = rng.normal(size=(n, d)), np.arange(n) % m, 0.2
    Z, scale = np.hstack([X, np.ones((n, 1))]), np.r_[np.ones(d), 1e-12]
    V = np.zeros((m, d + 1))
    for _ in range(60):  # Newton's method, in full: one class's intercept is fixed by the 1e-12
        f = Z @ V.T
        p = np.exp(f - f.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        slope = scale * V + C * (p - np.eye(m)[y]).T @ Z
        H = np.diag(np.tile(scale, m))
        for i in range(n):
            H += C * np.kron(np.diag(p[i]) - np.outer(p[i], p[i]), np.outer(Z[i], Z[i]))
        V -= np.linalg.solve(H, slope.ravel()).reshape(m, d + 1)
    W, b = V[:, :d], V[:, d]
    A = -C * np.asarray(loss.gradient(X @ W.T + b, y))
    A -= A.mean(axis=0)  # of 1e-16
    primal = float((W * W).sum() / 2 + C * np.asarray(loss.value(X @ W.T + b, y)).sum())
    values = primal, primal - 1e-11 * primal
    return linear_model(X, y, np.full(n, C), W, b, loss, A, values, intercept="free")


def wrong(given: Certificate, folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of wrong certificates; ``given`` is accurate to less than 1e-6."""
    for name, change in _CLAIMS.items():
        made = change(given)
        if made is not None:
            path = folder / f"{name.replace(' ', '_')}.cert"
            made.save(path)
            yield name, path
    yield from malformed(given, folder)


def malformed(given: Certificate, folder: Path) -> Iterator[tuple[str, Path]]:
    """The same of files that are no certificates, whatever they claim."""
    source = folder / "source.cert"
    given.save(source)
    raw = source.read_bytes()
    size = 32 + int(raw[16:31])
    text = raw[32:size].decode()
    for name, bytes_of in _FILES.items():
        path = folder / f"{name.replace(' ', '_')}.cert"
        made_of = bytes_of(raw, json.loads(text), size)
        if made_of is not None:
            path.write_bytes(made_of)
            yield name, path


def _solution(given: Certificate, **arrays: Any) -> Certificate:
    return replace(given, solution={**given.solution, **arrays})


def _data(given: Certificate, **arrays: Any) -> Certificate:
    return replace(given, data={**given.data, **arrays})


def _dual(given: Certificate, change: Callable[[Array, Array, Array], Any]) -> Certificate | None:
    """With a change of the dual, dense."""
    solution, y, mass = dict(given.solution), given.data["y"], given.data["mass"]
    if "A.data" in solution:
        parts = [solution.pop(f"A.{part}") for part in ("data", "indices", "indptr")]
        solution["A"] = sp.csr_array(tuple(parts), shape=(len(y), len(solution["W"]))).toarray()
    if "A" not in solution:
        return None
    solution["A"] = solution["A"].copy()
    change(solution["A"], y, mass)
    return replace(given, solution=solution)


def _outside(A: Array, y: Array, mass: Array) -> None:
    i = int(np.argmax(mass))
    j = (y[i] + 1) % A.shape[1]
    A[i, y[i]] += A[i, j] - 1e-6 * mass[i]  # x_j = -1e-6
    A[i, j] = 1e-6 * mass[i]


def _unbalanced(A: Array, y: Array, mass: Array) -> None:
    A[np.argmax(mass), y[np.argmax(mass)]] += 2 * mass.max()


def _spoiled(values: Array, by: float) -> Array:
    return np.where(values == values.max(), by, values)


def _problem(given: Certificate, pattern: str, put: Any) -> Certificate | None:
    text = re.sub(pattern, put, given.problem)
    return None if text == given.problem else replace(given, problem=text)


def _another_k(given: Certificate) -> Certificate | None:
    k, m = int(re.findall(r" k=(\d+)", given.problem)[0]), len(given.solution["W"])
    if not re.search("loss=(hinge|quadratic) ", given.problem) or m < 3:
        return None  # another cap changes nothing where it is not reached
    return _problem(given, r" k=\d+", f" k={k + 1 if k < m - 1 else k - 1}")


def _another_loss(given: Certificate) -> Certificate | None:
    one_vs_all = "+ova" in given.problem
    return _problem(given, r"loss=(\w+)\S*", r"loss=\1" if one_vs_all else r"loss=\1+ova")


_CLAIMS: dict[str, Callable[[Certificate], Certificate | None]] = {
    "sign of the dual": lambda c: _dual(c, lambda A, y, r: A.__imul__(-1.0)),
    "a dual of zeros": lambda c: _dual(c, lambda A, y, r: A.fill(0.0)),
    "a dual outside by 1e-6": lambda c: _dual(c, _outside),
    "a dual that is unbalanced": lambda c: _dual(c, _unbalanced),
    "sign of the weights": lambda c: _solution(c, W=-c.solution["W"]),
    "weights of zero": lambda c: _solution(c, W=0 * c.solution["W"]),
    "weights of one percent more": lambda c: _solution(c, W=1.01 * c.solution["W"]),
    "weights with nan": lambda c: _solution(c, W=_spoiled(c.solution["W"], np.nan)),
    "another C": lambda c: _data(c, mass=1e-6 * c.data["mass"]),
    "lost weights of examples": lambda c: _data(c, mass=c.data["mass"] * (np.arange(len(c.data["y"])) % 2)),
    "a negative weight": lambda c: _data(c, mass=-c.data["mass"]),
    "an infinite weight": lambda c: _data(c, mass=_spoiled(c.data["mass"], np.inf)),
    "permuted classes": lambda c: _data(c, y=(c.data["y"] + 1) % len(c.solution["W"])),
    "a label too many": lambda c: _data(c, y=np.where(c.data["y"] == 0, len(c.solution["W"]), c.data["y"])),
    "a negative label": lambda c: _data(c, y=c.data["y"] - 1),
    "labels as reals": lambda c: _data(c, y=c.data["y"].astype(float)),
    "a row of labels missing": lambda c: _data(c, y=c.data["y"][1:]),
    "no weights": lambda c: replace(c, solution={k: v for k, v in c.solution.items() if k != "W"}),
    "a claim below the truth": lambda c: replace(c, bound=-1e-9),
    "another k": _another_k,
    "k of none": lambda c: _problem(c, r" k=\d+", " k=0"),
    "k of too many": lambda c: _problem(c, r" k=\d+", " k=77"),
    "another gamma": lambda c: _problem(c, r" gamma=(\S+)", lambda m: f" gamma={1e4 * float(m[1]) or 1.0!r}"),
    "gamma of nan": lambda c: _problem(c, r" gamma=\S+", " gamma=nan"),
    "another cost": lambda c: _problem(c, r" cost=0.0", " cost=0.5"),
    "a negative cost": lambda c: _problem(c, r" cost=\S+", " cost=-1.0"),
    "another loss": _another_loss,
    "an unknown loss": lambda c: _problem(c, r"loss=\w+", "loss=unheard_of"),
    "a loss of too many words": lambda c: _problem(c, r"loss=\S+", r"\g<0>+beta+ova"),
    "an intercept that is not there": lambda c: _problem(c, "intercept=none", "intercept=feature"),
    "a lost intercept": lambda c: _problem(c, "intercept=(feature|free)", "intercept=none"),
    "a lost intercept constraint": lambda c: _problem(c, "intercept=feature", "intercept=free"),
    "an unknown kind": lambda c: _problem(c, "^erm", "lottery"),
    "a dual of another kind": lambda c: replace(c, header={**c.header, "dual": "believed"}),
}  # fmt: skip


def rewritten(header: dict[str, Any], rest: bytes, text: str | None = None) -> bytes:
    """A file with a header, or with a text in its place, before the arrays."""
    text = json.dumps(header) if text is None else text
    size = -(-(len(text) + 33) // 64) * 64 - 32
    return f"refsolve-cert 1 {size:015d}\n{text:<{size - 1}}\n".encode() + rest


def _entry(name: str, **changes: Any) -> Callable[[bytes, dict[str, Any], int], bytes]:
    def change(raw: bytes, header: dict[str, Any], size: int) -> bytes:
        header["arrays"][_named(header, name)].update(changes)
        return rewritten(header, raw[size:])

    return change


def _twice(raw: bytes, header: dict[str, Any], size: int) -> bytes:
    return rewritten({}, raw[size:], json.dumps(header)[:-1] + f', "bound": {header["bound"]!r}}}')


def _named(header: dict[str, Any], name: str) -> str:
    """An array of the solution, or of the data, whatever the kind of problem."""
    return next(
        n for n in (name, *(("x", "z") if name == "W" else ("a", "q"))) if n in header["arrays"]
    )


def _swapped(raw: bytes, header: dict[str, Any], size: int) -> bytes:
    one, other = (header["arrays"][_named(header, name)] for name in ("W", "mass"))
    one["offset"], other["offset"] = other["offset"], one["offset"]
    return rewritten(header, raw[size:])


def _flipped(raw: bytes, header: dict[str, Any], size: int) -> bytes:
    at = size + header["arrays"][_named(header, "mass")]["offset"]
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def _said(**changes: Any) -> Callable[[bytes, dict[str, Any], int], bytes]:
    return lambda raw, header, size: rewritten({**header, **changes}, raw[size:])


_FILES: dict[str, Callable[[bytes, dict[str, Any], int], bytes | None]] = {
    "an empty file": lambda raw, header, size: b"",
    "another file": lambda raw, header, size: b"\x89PNG" + raw[4:],
    "a later version": lambda raw, header, size: b"refsolve-cert 2" + raw[15:],
    "cut after the first line": lambda raw, header, size: raw[:32],
    "cut in the header": lambda raw, header, size: raw[: size // 2],
    "cut in the arrays": lambda raw, header, size: raw[: (size + len(raw)) // 2],
    "cut by a block": lambda raw, header, size: raw[:-64],
    "a header of no length": lambda raw, header, size: raw[:16] + b"0" * 15 + raw[31:],
    "a header of great length": lambda raw, header, size: raw[:16] + b"9" * 15 + raw[31:],
    "a header that is no JSON": lambda raw, header, size: rewritten({}, raw[size:], "}{ problem"),
    "a header without arrays": lambda raw, header, size: _said(arrays={})(raw, header, size),
    "a flipped bit of the data": _flipped,
    "another hash": _said(sha256="0" * 64),
    "a claim of nan": _said(bound=float("nan")),
    "a claim of infinity": _said(bound=float("inf")),
    "a claim made twice": _twice,
    "a claim in words": _said(bound="small"),
    "swapped arrays": _swapped,
    "an offset after the end": _entry("W", offset=1 << 40),
    "a negative offset": _entry("W", offset=-64),
    "an offset in between": _entry("W", offset=4),
    "a shape that overflows": _entry("W", shape=[1 << 40, 1 << 40]),
    "a shape with a minus": _entry("W", shape=[-1, -1]),
    "a shape of three": _entry("W", shape=[1, 1, 1]),
    "an unknown dtype": _entry("W", dtype=">f8"),
}  # fmt: skip
