"""Worker processes of the long runs."""

import os
from multiprocessing import parent_process
from threading import Thread


def end_with_parent() -> None:
    """End this worker when the process that started it is gone, also if that was killed.

    The workers of a pool wait for work on a pipe that each of them keeps open itself: without this
    they wait for ever.
    """
    parent = parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
