"""Run mutants: a warm parent knows which test reaches which statement; every mutant is a fork of it."""

import gc
import os
import pickle
import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.mutation import twins
from tests.mutation.live import Live, Probes
from tests.mutation.operators import ROOT, Mutant, files, mutants
from tests.mutation.record import KILLED, SURVIVED, TIMEOUT, UNREACHED

TESTS = ("tests/fast", "tests/sets", "tests/losses", "tests/functions")


Say = Callable[[str], None]


@dataclass(frozen=True)
class Budget:
    """CPU seconds of one test (a slower one is left out), a test function, and a mutant's tests."""

    test: float
    function: float
    mutant: float


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    mutant: Mutant
    status: str
    test: str = ""  # which killed it
    tried: int = 0


class _TooSlow(BaseException):
    pass


def _too_slow(*_: Any) -> None:
    raise _TooSlow


def _passes(item: Any) -> bool:
    """Whether a test passes or skips, by itself with all its fixtures."""
    from _pytest.runner import runtestprotocol

    try:
        return not any(r.failed for r in runtestprotocol(item, log=False, nextitem=None))
    except Exception:  # what was changed breaks the report itself
        return False


class Runner:
    """A pytest plugin that takes the place of the loop over tests."""

    def __init__(self, chosen: list[Mutant], interpreted: bool, budget: Budget, say: Say) -> None:
        self.chosen, self.interpreted, self.budget, self.say = chosen, interpreted, budget, say
        self.cost: dict[int, float] = {}
        self.reached_by: dict[tuple[str, int], list[int]] = {}
        self.outcomes: list[Outcome] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let hypothesis look for failures only, not for small ones."""
        from hypothesis import Phase, settings  # not before pytest, which rewrites its assertions

        settings.register_profile(
            "mutants", settings.get_profile("refsolve"), phases=(Phase.explicit, Phase.generate), database=None,
            max_examples=30,
        )  # fmt: skip
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: Any) -> bool:
        """Find out what each test reaches, then fork once per mutant."""
        if session.testsfailed:
            raise pytest.UsageError("the tests could not be collected")
        if self.interpreted:
            twins.of_every_loss()
        items = list(session.items)
        random.Random(0).shuffle(
            items
        )  # where time ends, every test function had some of its cases
        live = Live(files())
        self._baseline(items, live)
        live.restore()
        gc.collect()
        gc.freeze()
        for mutant in self.chosen:
            start = time.perf_counter()
            self.outcomes.append(found := self._judge(mutant, items, live))
            taken = f"{time.perf_counter() - start:5.1f} s {found.tried:4}"
            self.say(f"{found.status:9} {taken} {mutant.name} {found.test}")
        return True

    def _baseline(self, items: list[Any], live: Live) -> None:
        wanted: dict[str, set[str]] = {}  # the functions of the files that anything is changed in
        for file in dict.fromkeys(m.file for m in self.chosen):
            wanted[file] = {m.function for m in mutants(file) if m.interpreted == self.interpreted}
        probes = Probes(live, wanted)
        spent: dict[str, float] = {}
        signal.signal(signal.SIGPROF, _too_slow)
        for number, item in enumerate(items):
            name = item.nodeid.split("[")[0]
            if spent.get(name, 0.0) > self.budget.function:
                continue
            start, ended = time.process_time(), False
            signal.setitimer(signal.ITIMER_PROF, self.budget.test)
            try:
                ended = _passes(item)
            except _TooSlow:
                item.session._setupstate.teardown_exact(None)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            taken = time.process_time() - start
            spent[name] = spent.get(name, 0.0) + taken
            reached = probes.take()
            if not ended:
                self.say(f"left out  {taken:5.1f} s {item.nodeid}")
                continue
            self.cost[number] = taken
            for i in reached:
                self.reached_by.setdefault(probes.statements[i], []).append(number)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        self.say(f"{len(self.cost)} of {len(items)} tests, {sum(self.cost.values()):.0f} s")

    def _selected(self, mutant: Mutant, items: list[Any]) -> list[int]:
        """The tests that reach a mutant: the cheapest of every function first, as many as are paid for."""
        places = (
            [(mutant.file, mutant.statement)]
            if mutant.statement
            else [key for key in self.reached_by if key[0] == mutant.file]
        )
        reaching = {n for place in places for n in self.reached_by.get(place, ())}
        if not (mutant.statement or places):  # a constant of a file without functions of its own
            reaching = set(self.cost)
        found = sorted(reaching, key=self.cost.__getitem__)
        rank: dict[str, int] = {}
        turn = {}
        for n in found:
            name = items[n].nodeid.split("[")[0]
            turn[n] = rank[name] = rank.get(name, -1) + 1
        kept, spent = [], 0.0
        for n in sorted(found, key=lambda n: (turn[n], self.cost[n])):
            spent += self.cost[n]
            if kept and spent > self.budget.mutant:
                break
            kept.append(n)
        return kept

    def _judge(self, mutant: Mutant, items: list[Any], live: Live) -> Outcome:
        selected = self._selected(mutant, items)
        if not selected:
            return Outcome(mutant, UNREACHED)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            self._child(mutant, [(n, items[n]) for n in selected], live, write)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            late = os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
            return Outcome(mutant, TIMEOUT if late else KILLED, f"signal {os.WTERMSIG(status)}")
        test, tried = pickle.loads(said) if said else ("the process ended", 0)
        return Outcome(mutant, KILLED if test else SURVIVED, test, tried)

    def _child(
        self, mutant: Mutant, selected: list[tuple[int, Any]], live: Live, write: int
    ) -> None:
        """Run the tests with the mutant in place, up to the first failure; never returns."""
        verdict: tuple[str, int] = ("the change does not compile", 0)
        try:
            if live.mutate(mutant):
                verdict = ("", len(selected))
                for tried, (n, item) in enumerate(selected):
                    signal.setitimer(signal.ITIMER_PROF, 3 * self.cost[n] + 1)  # ends the process
                    signal.setitimer(signal.ITIMER_REAL, 60 * self.cost[n] + 60)
                    if not _passes(item):
                        verdict = (item.nodeid, tried + 1)
                        break
        except BaseException as error:
            verdict = (repr(error), 0)
        finally:
            os.write(write, pickle.dumps(verdict))
            os._exit(0)


def run(
    chosen: list[Mutant], interpreted: bool, budget: Budget, say: Say, tests: Sequence[str] = TESTS
) -> list[Outcome]:
    """Run mutants of one kind in this process, which must have been started for it.

    Interpreted, ``NUMBA_DISABLE_JIT`` is set and the twins of the intrinsics are installed before
    anything of `fast` is imported.
    """
    if interpreted:
        twins.install()
        twins.unbox()
        np.seterr(all="ignore")  # as compiled code does
    else:
        from fast._numba import warmup

        warmup()
    os.chdir(ROOT)
    runner = Runner(chosen, interpreted, budget, say)
    options = ["-q", "--tb=native", "-p", "no:cacheprovider", "-p", "no:xdist"]
    code = pytest.main([*options, *tests], plugins=[runner])
    if len(runner.outcomes) != len(chosen):
        raise RuntimeError(f"pytest ended with {code}")
    return runner.outcomes
