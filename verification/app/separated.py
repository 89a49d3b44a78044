"""Text files with other separators than commas, or compressed, as the CSV files that they stand for."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any

from verification.errors import DataFileError, InvalidArgumentError

#: Suffixes of tables in text, and what separates their fields where nothing else is said.
SEPARATORS = {".csv": ",", ".tsv": "\t", ".csv.gz": ",", ".tsv.gz": "\t"}


def kind_of(path: Path) -> str:
    """The suffix in lower case, of a compressed table both, as in .csv.gz."""
    two = "".join(path.suffixes[-2:]).lower()
    return two if two in SEPARATORS else path.suffix.lower()


def is_text(path: Path) -> bool:
    """Whether it is a table in text."""
    return kind_of(path) in SEPARATORS


class Commas(type(Path())):  # type: ignore[misc]
    """A path whose text is read with commas between the fields; its name, and its lines, are those of the file."""

    separator = ","
    text: bytes | None = None

    def read_bytes(self) -> bytes:
        """The whole text."""
        if self.text is None:
            self.text = _commas(Path(self), self.separator)
        return self.text

    def open(self, mode: str = "r", *rest: Any, **options: Any) -> IO[Any]:
        """The same to be read line by line."""
        stream = io.BytesIO(self.read_bytes())
        if "b" in mode:
            return stream
        return io.TextIOWrapper(stream, options.get("encoding"), newline=options.get("newline"))


def as_csv(source: Path, separator: str | None) -> Path:
    """The file itself, or as one with commas.

    Raises
    ------
    InvalidArgumentError
        A separator that is no single character.
    """
    separator = {"tab": "\t", "\\t": "\t"}.get(separator or "", separator)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise InvalidArgumentError(
            f"separator is {separator!r}; expected one character, or tab: --separator ';'"
        )
    own = separator or SEPARATORS.get(kind_of(source), ",")
    if own == "," and not kind_of(source).endswith(".gz"):
        return source
    found = Commas(source)
    found.separator = own
    return found


def _commas(source: Path, separator: str) -> bytes:
    text = source.read_bytes()
    if kind_of(source).endswith(".gz"):
        try:
            text = gzip.decompress(text)
        except (OSError, EOFError, zlib.error) as error:
            raise DataFileError(
                f"cannot read {source}: {error}; expected a table that gzip compressed"
            ) from None
    if separator == ",":
        return text
    written = io.StringIO(newline="")
    try:
        rows = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), delimiter=separator)
        csv.writer(written, lineterminator="\n").writerows(rows)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataFileError(
            f"cannot read {source}: {error}; expected text in UTF-8, with {separator!r} between the fields"
        ) from None
    return written.getvalue().encode()
