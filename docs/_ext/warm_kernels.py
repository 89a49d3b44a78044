"""Kernels forked from a process that has imported what most pages import, seconds of CPU for each.

What Jupyter starts is then a small program that asks for a fork, passes signals on, and ends with it.
"""

import json
import os
import signal
import socket
import sys
from contextlib import suppress

ASK = "REFSOLVE_WARM_KERNELS"
COMMON = (
    "cvxpy", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell", "matplotlib.pyplot",
    "matplotlib.backends.backend_agg", "numba", "pandas", "scipy.optimize", "scipy.special",
    "sklearn.linear_model", "sklearn.svm",
)  # fmt: skip


def ask(connection: str) -> None:
    """Be the kernel of this connection file, as far as Jupyter can see."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[ASK])
        wanted = {"file": connection, "folder": os.getcwd(), "environment": dict(os.environ)}
        data = json.dumps(wanted).encode() + b"\n"
        line.sendall(data[socket.send_fds(line, [data], [0, 1, 2]) :])
        kernel = int(line.recv(32))

        def pass_on(number: int, _: object) -> None:
            with suppress(ProcessLookupError):  # it may have ended since
                os.kill(kernel, number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, pass_on)
        line.recv(1)  # nothing comes: the kernel holds the other end until it ends


def serve(address: str) -> None:
    """Fork kernels until the input ends."""
    import importlib
    import select

    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    for name in COMMON:
        importlib.import_module(name)
    sys.modules["numpy"].random.seed(0)  # for estimators without a random_state
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(64)
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            line = server.accept()[0]
            data, streams, _, _ = socket.recv_fds(line, 1 << 20, 3)
            while not data.endswith(b"\n"):
                data += line.recv(1 << 20)
            if (kernel := os.fork()) == 0:
                server.close()
                be(json.loads(data), streams, line)
            line.sendall(str(kernel).encode())
            for stream in (*streams, line.detach()):
                os.close(stream)


def be(wanted: dict, streams: list[int], line: socket.socket) -> None:
    """The kernel, in a fork; it ends when nobody holds the line."""
    import threading

    from ipykernel.kernelapp import launch_new_instance

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.chdir(wanted["folder"])
    threading.Thread(target=lambda: line.recv(1) or os._exit(1), daemon=True).start()
    try:
        launch_new_instance(["-f", wanted["file"], f"--IPKernelApp.parent_handle={os.getppid()}"])
    finally:
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    {"ask": ask, "serve": serve}[sys.argv[1]](sys.argv[2])
