"""``python guardian.py PARENT TOKEN``: kills a child of the kit once the kit is gone.

A kit that is killed itself (SIGKILL, out of memory) ends nothing that it started, and what hangs
does not see that its input has ended. So each child has a guardian beside it: a process in a session
of its own, which holds the reading end of a pipe from the kit. On the pipe comes the number of the
child's process group; when the pipe ends, the guardian kills the group, and whatever left the group
with the child's token in its environment. A kit that closes its child kills the guardian after it.

It is run by its path and imports nothing of the package: it starts in some milliseconds.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Collection

TOKEN = "REFSOLVE_CHILD"
# Seconds between looks at whether the parent lives: a fork of it may keep the pipe open.
PULSE = 0.5
# Seconds between looks for what a killed process started meanwhile, and their number.
PAUSE = 0.02
LOOKS = 50


def wait(parent: int) -> bytes:
    """What came through standard input, once it has ended or the parent has."""
    said = b""
    while True:
        ready, _, _ = select.select([0], [], [], PULSE)
        chunk = os.read(0, 64) if ready else b""
        said += chunk
        if not chunk and (ready or os.getppid() != parent):
            return said


def kill_group(number: int) -> None:
    """Kill a process group, if it is there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def kill_marked(token: str, but: Collection[int] = ()) -> bool:
    """Kill the processes that inherited a token; whether there were any."""
    found = with_token(token, but)
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def with_token(token: str, but: Collection[int] = ()) -> list[int]:
    """Processes that inherited a token, where the system tells (/proc); zombies have none."""
    wanted = f"{TOKEN}={token}".encode()
    found = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdecimal() or int(name) in but or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if wanted in file.read().split(b"\0"):
                found.append(int(name))
    return found


def main(arguments: list[str]) -> None:
    """Wait, then kill."""
    parent, token = int(arguments[0]), arguments[1]
    said = wait(parent)
    if said.endswith(b"\n"):
        kill_group(int(said))
    for _ in range(LOOKS):
        if not kill_marked(token):
            return
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1:])
