"""The compilation wrapper: its cache, its fall-back, and kernels as other kernels call them."""

import errno
import logging
import os
import re
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest

import fast
from fast import _kernel_cache, _numba
from fast._numba import kernel, njit
from fast.kernels import hinges
from fast.losses import topk_hinge_beta
from fast.sets import simplex, topk_simplex_alpha
from verification.benchmarks import cold_start

PACKAGE = {
    "__init__.py": "",
    "inner.py": """
        from fast._numba import kernel
        @kernel
        def f(x):
            return x + {shift}
        """,
    "outer.py": """
        from other.inner import f
        from fast._numba import njit
        @njit
        def g(x):
            return 2.0 * f(x)
        """,
}
RUN = "from other.outer import g; print(g(1.0), sum(g.stats.cache_hits.values()))"


def run(code, folder, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def write(folder, shift="1.0"):
    (folder / "other").mkdir(exist_ok=True)
    for name, text in PACKAGE.items():
        (folder / "other" / name).write_text(textwrap.dedent(text).replace("{shift}", shift))


def test_cache_notices_an_edited_callee_in_another_file(tmp_path):
    """Numba itself compares only the file of the cached function."""
    cache = str(tmp_path / "cache")
    write(tmp_path)
    assert run(RUN, tmp_path, NUMBA_CACHE_DIR=cache) == ["4.0", "0"]
    assert run(RUN, tmp_path, NUMBA_CACHE_DIR=cache) == ["4.0", "1"]
    write(tmp_path, "10.0")
    assert run(RUN, tmp_path, NUMBA_CACHE_DIR=cache) == ["22.0", "0"]


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A function whose kernels are stored below a folder of its own."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_kernel_cache, "_said", set())
    (tmp_path / "probe.py").write_text("def probe(x):\n    return x + 1.0\n")
    return runpy.run_path(str(tmp_path / "probe.py"))["probe"]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [0, 37, 100, "flipped"])
def test_a_damaged_cache_entry_is_compiled_again(cached, tmp_path, caplog, suffix, damage):
    """Numba alone ends every call with UnpicklingError or EOFError; flipped machine code ends the process."""
    assert njit(cached)(1.0) == 2.0
    (file,) = tmp_path.rglob(f"*.{suffix}")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 255
    file.write_bytes(data if damage == "flipped" else data[:damage])
    again, third = njit(cached), njit(cached)
    assert again(1.0) == 2.0
    assert not again.stats.cache_hits
    assert caplog.text.count(f"the kernel cache in {tmp_path}") == 1
    assert third(1.0) == 2.0
    assert third.stats.cache_hits


def test_two_processes_that_compile_at_once_keep_two_entries(cached, tmp_path, monkeypatch):
    """Each has read an empty index; numba alone would give both the same file."""
    with monkeypatch.context() as patch:
        patch.setattr(_kernel_cache.CheckedFile, "_load_index", lambda self: {})
        for given in (1, 1.0):
            assert njit(cached)(given) == 2
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    later = njit(cached)
    assert later(1.0) == 2.0
    assert later.stats.cache_hits
    assert later(1) == 2
    assert later.stats.cache_misses  # its entry was lost with the first index, and is made again


def test_a_full_disk_is_said_and_done_without(cached, caplog, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_kernel_cache.CheckedFile, "_save_data", full)
    for _ in range(2):
        assert njit(cached)(1.0) == 2.0
    assert caplog.text.count("No space left") == 1


def test_no_folder_at_all_is_said_once(cached, tmp_path, caplog, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "probe.py"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "probe.py"))
    (tmp_path / "__pycache__").touch()
    with caplog.at_level(logging.INFO, logger="fast"):
        for _ in range(2):
            assert njit(cached)(1.0) == 2.0
    assert caplog.text.count("no writable cache folder") == 1


def test_importing_the_package_does_not_import_numba(tmp_path):
    code = "import sys, fast; fast.errors; dir(fast); print('numba' in sys.modules)"
    assert run(code, tmp_path) == ["False"]


def test_lazy_names():
    assert fast.sets.topk_simplex_alpha is topk_simplex_alpha
    assert {"TopKSVC", "warmup", "sets", "losses"} <= set(dir(fast))
    assert {"simplex", "topk_cone"} <= set(dir(fast.sets))
    for package in (fast, fast.sets, fast.losses):
        with pytest.raises(AttributeError, match="no_such_name"):
            package.no_such_name  # noqa: B018


def test_compilation_is_announced_once(caplog, monkeypatch):
    monkeypatch.setattr(_numba, "_listening", True)
    with caplog.at_level(logging.INFO, logger="fast"):
        for _ in range(2):
            probe = njit(eval("lambda x: x + 1", {"__name__": "fast.probe"}), cache=False)
            assert probe(1.0) == 2.0
    assert caplog.text.count("compiling kernels") == 1


def test_warmup_readies_every_module_with_kernels():
    ready = fast.warmup()
    assert {"fast.sets.simplex", "fast.losses.topk_hinge_beta"} <= set(ready)
    assert simplex.project_all.signatures


def test_an_allocating_kernel_is_refused():
    with pytest.raises(numba.TypingError):
        kernel(eval("lambda n: np.zeros(n)", {"np": np, "__name__": "probe"}), cache=False)(3)


@kernel(cache=False)
def call_kernels(scores, y, costs, k, z, x, work):
    hinges.others(scores, y, costs, z)
    p = hinges.BETA, k, 0.0
    return hinges.value_row(p, z, x, work), 1.0 - hinges.gradient_row(p, z, x, work)


def test_row_kernels_are_callable_from_other_kernels(rng):
    scores, costs = rng.standard_normal(6), np.ones(6)
    z, x, work = np.empty((3, 5))
    total, s = call_kernels(scores, 2, costs, 3, z, x, work)
    assert total == topk_hinge_beta.value(scores, 2, 3)
    np.testing.assert_array_equal(x, np.delete(topk_hinge_beta.gradient(scores, 2, 3), 2))
    assert s == pytest.approx(x.sum())


class Forgetful(dict):
    def __setitem__(self, key, value):
        pass


def larger_by(a, b, shift):
    total = 0.0
    for i in range(a.shape[0]):
        if i != a.shape[0] - 1:
            total += max(a[i], b[i]) + shift[0]
    return total


def code_of(text, arguments, **options):
    """What Python's call ends in, with names that do not depend on what was compiled before."""
    made = kernel(text, cache=False, **options)
    made(*arguments)
    code = made.inspect_llvm(made.signatures[0])
    body = code[code.index("\ndefine") :].split("\ndefine")[1].split("\n}")[0]
    return re.sub(r"!.*|#[0-9]+|@[\w.$]+|0x[0-9a-f]+", "", body)


@pytest.mark.skipif(not _numba.WHOLES, reason="another numba compiles in its own way")
def test_passes_left_out_and_types_remembered_change_no_code(monkeypatch, rng):
    """Also that of numba's own functions, compiled anew for other flags of the caller."""
    from fast import _compiler

    a = rng.standard_normal((3, 6))
    columns = a[0], a[1], np.ones(1)
    row = a[0], 2, 1.0, 0.5, a[1], a[2]
    cases = [
        (larger_by, columns, {}),
        (larger_by, columns, {"fastmath": {"nnan", "nsz"}}),
        (larger_by, columns, {}),
        (topk_simplex_alpha.project_row.py_func, row, {}),
    ]
    quick = [code_of(text, arguments, **options) for text, arguments, options in cases]
    assert quick[0] == quick[2] != quick[1]
    monkeypatch.setattr(_compiler, "IDLE", set())
    monkeypatch.setattr(_compiler.Typing, "known", Forgetful())
    monkeypatch.setattr(_compiler.Typing, "attributes", Forgetful())
    assert quick == [code_of(text, arguments, **options) for text, arguments, options in cases]


def test_returned_sum_is_that_of_the_projection(rng):
    for d in (3, 100):
        a = rng.standard_normal(d)
        x, work = np.empty(d), np.empty(d)
        for k in (1, 2, 3):
            s = topk_simplex_alpha.project_row(a, k, 1.0, 0.5, x, work)
            assert s == pytest.approx(x.sum())


KERNELS_OF_FITS = """
import warnings
import fast
from fast._compiler import KernelDispatcher
from fast import OneVsAllClassifier, TopKLogisticRegression, TopKSVC
from fast.datasets import load_letter

warnings.simplefilter("ignore")
fast.warmup()
compile = KernelDispatcher.compile
KernelDispatcher.compile = lambda self, types: print(self, types) or compile(self, types)
X, y = load_letter(subset="validation")
for model in (
    TopKSVC(),
    TopKSVC(k=3, gamma=1.0),
    TopKSVC(k=3, variant="beta"),
    TopKLogisticRegression(),
    TopKLogisticRegression(k=3),
    TopKLogisticRegression(k=3, truncated=True),
    OneVsAllClassifier(),
    OneVsAllClassifier("logistic"),
):
    for C in (0.01, 1.0):
        model.set_params(C=C, tol=1e-4, max_iter=60, random_state=0).fit(X / 7.5 - 1.0, y)
"""


def test_warmup_leaves_nothing_to_compile() -> None:
    """Fits on dense float64 data find every kernel ready."""
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-c", KERNELS_OF_FITS]
    assert subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout == ""


@pytest.mark.parametrize(
    ("estimator", "most"), [("TopKSVC()", 31), ("TopKLogisticRegression()", 8)]
)
def test_a_first_fit_compiles_few_kernels(estimator: str, most: int, tmp_path: Path) -> None:
    """Each costs a fifth of a second: a type more of an argument, or a path that is not taken, shows here."""
    compiled = cold_start.first_fit(estimator, str(tmp_path), NUMBA_OPT="0")[3]
    assert 0 < len(compiled) <= most, compiled


def test_an_unknown_numba_compiles_in_its_own_way(tmp_path: Path) -> None:
    """Nothing of `fast._compiler` is touched, and a projection is one."""
    code = """
import sys, numba
numba.version_info = numba.version_info._replace(short=(9, 0))
from fast.sets import simplex
print(simplex.project([3.0, 1.0]), "fast._compiler" in sys.modules)
"""
    words = [sys.executable, "-c", code]
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}
    done = subprocess.run(words, env=settings, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[1.", "0.]", "False"]
