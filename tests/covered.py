"""``python -m tests.covered``: lines and branches that tests reach, by room, in a bounded time.

Two processes: one runs the tests of `fast` with its kernels in Python (numba off, twins of the
intrinsics), the other everything with compiled kernels. Each file of tests has its slice of time, which
it spends on the first case of every function, then on the second; so the figures are lower bounds. What
only the compiler runs (`fast._simd`, `fast.ranking.bits`) is left out.
"""

import argparse
import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn

import coverage
import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("fast", "refsolve", "verification")
KERNELS = ("tests/fast", "tests/sets", "tests/losses", "tests/functions")
OTHERS = (
    "tests/refsolve",
    "tests/verification",
    "tests/paper_statements",
    "tests/cli",
    "tests/benchmarks",
    "tests/fast",
)
ONLY_COMPILED = ("*/fast/_simd.py", "*/fast/ranking/bits.py")


class Slices:
    """A pytest plugin: every file of tests runs for some seconds, watched."""

    def __init__(self, seconds: float, watched: coverage.Coverage) -> None:
        self.seconds, self.watched = seconds, watched

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Few examples of hypothesis, none of which is made smaller."""
        from hypothesis import Phase, settings

        settings.register_profile(
            "covered", settings.get_profile("refsolve"), phases=(Phase.explicit, Phase.generate), database=None,
            max_examples=5,
        )  # fmt: skip
        settings.load_profile("covered")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """A fork for every file: what hangs or breaks there does so alone."""
        gc.collect()
        gc.freeze()
        for _, items in groupby(session.items, lambda item: item.path):
            if not (process := os.fork()):
                self._run(list(items))
            end = time.monotonic() + 4.0 * self.seconds + 10.0
            ended = (
                os.WEXITED | os.WNOHANG | os.WNOWAIT
            )  # not yet reaped: its number is still its own
            try:
                while not os.waitid(os.P_PID, process, ended) and time.monotonic() < end:
                    time.sleep(0.01)
            finally:  # with whatever its tests have started
                with contextlib.suppress(
                    ProcessLookupError
                ):  # it has not got so far as to lead a group
                    os.killpg(process, signal.SIGKILL)
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        return True

    def _run(self, items: list[pytest.Item]) -> NoReturn:
        """The first case of every function, then the second, until time is up."""
        os.setpgrp()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        turn = Counter[str]()
        order = []
        for item in items:
            function = item.nodeid.split("[")[0]
            order.append((turn[function], item))
            turn[function] += 1
        chosen: list[Any] = [item for _, item in sorted(order, key=lambda each: each[0])]
        self.watched.start()  # before time runs: it cannot be stopped half-started
        for number, timer, most in (
            (signal.SIGPROF, signal.ITIMER_PROF, self.seconds),
            (signal.SIGALRM, signal.ITIMER_REAL, 4.0 * self.seconds),  # where it waits for others
        ):
            signal.signal(number, self._end)
            signal.setitimer(timer, most)
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            with contextlib.suppress(BaseException):  # whether it passes is for others to say
                runtestprotocol(item, log=False, nextitem=following)
        self._end()

    def _end(self, *_: Any) -> NoReturn:
        for number in (signal.SIGPROF, signal.SIGALRM):  # the other one would store it twice
            signal.signal(number, signal.SIG_IGN)
        try:
            self.watched.stop()
            self.watched.save()
        finally:
            os._exit(0)


def child(kernels: bool, seconds: float, data: str) -> None:
    """Run tests of one kind in this process and store what they reached."""
    sources = [str(ROOT / room) for room in ROOMS]
    watched = coverage.Coverage(
        data_file=data, data_suffix=True, branch=True, source=sources, omit=ONLY_COMPILED
    )
    watched.start()
    if kernels:
        import numpy as np

        from tests.mutation import twins

        twins.install()
        twins.unbox()
        np.seterr(all="ignore")  # as compiled code does
    for file in sorted(f for room in ROOMS for f in Path(room).rglob("*.py")):
        if (file.parts[0] == "fast" or not kernels) and file.stem != "__main__":
            with contextlib.suppress(ImportError):  # torch and others, which need not be there
                importlib.import_module(
                    ".".join(file.with_suffix("").parts).removesuffix(".__init__")
                )
    watched.stop()  # while tests are collected
    watched.save()  # or every fork would store it again
    off = ("-p", "no:cacheprovider", "-p", "no:xdist")
    options = ["-q", "--no-summary", *off, "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    pytest.main([*options, *(KERNELS if kernels else OTHERS)], [Slices(seconds, watched)])


def main() -> None:
    """Both kinds side by side, and the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.covered", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.4, help="for each file of tests")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and nothing is left behind
    if given.child:
        child(given.child[0] == "kernels", given.seconds, given.child[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for kind in ("kernels", "others"):
            command = [sys.executable, "-m", "tests.covered", "--seconds", str(given.seconds)]
            env = {**os.environ, "NUMBA_DISABLE_JIT": str(int(kind == "kernels"))}
            words = [*command, "--child", kind, f"{folder}/.coverage.{kind}"]
            running.append(subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL))
        try:
            if {each.wait() for each in running} != {0}:
                sys.exit("the tests could not be run")
        finally:
            for each in running:
                each.terminate()
        whole = coverage.Coverage(data_file=f"{folder}/.coverage", branch=True, omit=ONLY_COMPILED)
        whole.combine([folder])
        whole.json_report(outfile=f"{folder}/found.json")
        found = json.loads(Path(folder, "found.json").read_text())
    show({name.replace(os.sep, "/"): each["summary"] for name, each in found["files"].items()})


def show(files: dict[str, dict[str, Any]]) -> None:
    """A row per room, their sums, and the files of which least is reached."""
    rows: dict[str, Counter[str]] = {}
    for name, each in files.items():
        parts = name.split("/")
        for room in {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0], "all"}:
            rows.setdefault(room, Counter()).update(
                {k: v for k, v in each.items() if isinstance(v, int)}
            )
    print(f"{'room':32} {'lines':>7} {'reached':>8} {'branches':>9} {'reached':>8}")
    for room in sorted(rows, key=lambda r: (r == "all", r)):
        print(f"{room:32} {_shares(rows[room])}")
    least = sorted(files, key=lambda n: files[n]["percent_covered"])[:15]
    print("least:")
    for name in least:
        print(f"{name:32} {_shares(Counter(files[name]))}")


def _shares(n: Counter[str]) -> str:
    lines, branches = n["num_statements"], n["num_branches"]
    return (
        f"{lines:7} {n['covered_lines'] / max(lines, 1):8.1%} "
        f"{branches:9} {n['covered_branches'] / max(branches, 1):8.1%}"
    )


if __name__ == "__main__":
    main()
