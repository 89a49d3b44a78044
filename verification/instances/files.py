"""What a reader may open: regular files of a size. Others need not end, or wait for somebody to write."""

import errno
import os
import stat

#: Bytes of a file that is read as a whole.
LONGEST = 2**27


def check_regular(path: str | os.PathLike[str]) -> None:
    """OSError, whose words readers put into their own errors, for a device, a pipe or a folder."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        said = "a device or a pipe, which need not end: write what it says to a regular file first"
        raise OSError(errno.EINVAL, said, os.fspath(path))


def text(path: str | os.PathLike[str], longest: int = LONGEST) -> str:
    """The whole of a regular file of UTF-8; OSError if there is more of it than ``longest`` bytes."""
    check_regular(path)
    with open(path, "rb") as stream:
        data = stream.read(longest + 1)  # some of /proc are regular, of size 0, and do not end
    if len(data) > longest:
        raise OSError(errno.EFBIG, f"it has more than {longest} bytes", os.fspath(path))
    return data.decode("utf-8")
