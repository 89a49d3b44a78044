"""Little programs that answer requests, well or badly."""

import sys

import pytest

# Every program starts with this; `reply` answers a request, `ones` says x = (1/d, ..., 1/d).
PRELUDE = """
import json, os, signal, sys, time

def requests():
    for line in sys.stdin:
        yield json.loads(line)

def reply(request, **fields):
    print(json.dumps({"id": request["id"], **fields}), flush=True)

def ones(request):
    d = len(request["arrays"]["a"]["values"])
    return [1 / d] * d
"""


@pytest.fixture
def program(tmp_path):
    """Write a program from its body and return the command that runs it."""
    count = iter(range(100))

    def write(body: str) -> list[str]:
        path = tmp_path / f"program{next(count)}.py"
        path.write_text(PRELUDE + body, encoding="utf-8")
        return [sys.executable, "-I", "-S", str(path)]

    return write
