"""Text files as a stream of clean UTF-8, whatever they are encoded or compressed in."""

from __future__ import annotations

import codecs
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from lzma import LZMAError
from pathlib import Path
from typing import IO, Any, BinaryIO

from .. import _refuse_files, _refuse_formats
from .dialect import WHITESPACE

CHUNK = 1 << 20
BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
PACKED = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "xz": b"\xfd7zXZ"}
_COMMENT = re.compile(rb"^[ \t]*[#%][^\r\n]*", re.MULTILINE)


class NotUtf8(Exception):
    """A byte that is no UTF-8, and the line it stands on."""

    def __init__(self, line: int) -> None:
        self.line = line


def open_bytes(path: Path, compression: str | None) -> tuple[Any, BinaryIO]:
    """The file's bytes, unpacked, and the file below them, whose position is the progress."""
    try:
        raw = open(path, "rb")  # noqa: SIM115  # closed by whoever closes the stream
    except OSError as error:
        raise _refuse_files.unreadable(path, error) from None
    if compression is None:
        return raw, raw
    start = raw.read(6)
    raw.seek(0)
    if start and not start.startswith(PACKED[compression]):
        raw.close()
        raise _refuse_formats.not_compressed(path, path.suffix)
    if compression == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=raw), raw
    if compression == "bz2":
        import bz2

        return bz2.BZ2File(raw), raw
    import lzma

    return lzma.LZMAFile(raw), raw


class Stream(io.RawIOBase):
    """The UTF-8 text of a file, read in order, checked as it goes by.

    Attributes
    ----------
    size, position : int
        Bytes of the file on disk, in all and read so far.
    quotes, comments : int
        How many quotes, and lines of comments, went by.
    last : bytes
        The last byte that went by.
    line : int
        The line that has been reached.
    error : Exception or None
        What ended the stream: whoever reads it through other libraries finds the cause here.
    """

    def __init__(
        self,
        path: Path,
        compression: str | None,
        encoding: str | None,
        memory_limit: int,
        separator: str = ",",
        edges: bool = False,
        comments: bool = False,
    ) -> None:
        self.path = path
        self._edges = edges
        self.size = os.path.getsize(path) if path.exists() else 0
        self._bytes, self._raw = open_bytes(path, compression)
        self._limit = memory_limit
        self._whole_lines = comments or separator == WHITESPACE
        self._blanks = separator == WHITESPACE
        self.quotes = self.comments = 0
        self.last = b""
        self.error: Exception | None = None
        self.line = 1
        start = self._take()
        self.bom = next((bom for bom in BOMS if start.startswith(bom)), b"")
        _refuse_formats.check_no_other_format(path, start)
        self.guessed = encoding is None
        self.encoding = encoding or BOMS.get(self.bom, "utf-8")
        # Without its mark: the decoder of "utf-8" would keep it, that of "utf-16" would want it.
        if codecs.lookup(self.encoding).name in ("utf-8-sig", "utf-16") and self.bom:
            self.encoding = BOMS[self.bom]
        chunks = self._decoded(start[len(self.bom) :])
        self._chunks = self._cleaned(chunks) if self._whole_lines else chunks
        self._rest = b""

    @property
    def position(self) -> int:
        return 0 if self._raw.closed else self._raw.tell()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._bytes.close()
        self._raw.close()
        super().close()

    def push_back(self, text: bytes) -> None:
        """Put text in front of what is still to be read."""
        self._rest = text + self._rest

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for, unless the file ends; a chunk if that is not said."""
        parts, length = [self._rest], len(self._rest)
        try:
            while length < max(size, 1):
                parts.append(next(self._chunks))
                length += len(parts[-1])
        except StopIteration:
            pass
        except Exception as error:
            self.error = error
            raise
        text = b"".join(parts)
        size = length if size < 0 else size
        self._rest = text[size:]
        return text[:size]

    def _take(self) -> bytes:
        try:
            return self._bytes.read(CHUNK)
        except (OSError, EOFError, zlib.error, LZMAError) as error:
            raise _refuse_files.unreadable(self.path, error) from None

    def _decoded(self, chunk: bytes) -> Iterator[bytes]:
        decoder: Any = codecs.getincrementaldecoder(self.encoding)()
        plain = self.encoding == "utf-8"
        total = 0
        while True:
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(self.encoding, "replace")
                line = self.line + before.count("\n")
                if self.guessed and plain and not self.bom:
                    raise NotUtf8(line) from None
                bad = error.object[error.start : error.start + 1]
                raise _refuse_files.undecodable(
                    self.path, line, bad, self.encoding, self._edges
                ) from None
            if not chunk and not text:
                return
            # UTF-8 passes as it is, unless a character was cut in two at either end of the chunk.
            uncut = plain and not pending and not decoder.getstate()[0]
            clean = chunk if uncut else text.encode()
            if b"\0" in clean:
                line = self.line + clean[: clean.index(b"\0")].count(b"\n")
                raise _refuse_files.binary_file(self.path, line, self._edges)
            total += len(clean)
            if total > self._limit:
                raise _refuse_files.too_large(self.path, self._limit)
            self.line += clean.count(b"\n")
            self.quotes += clean.count(b'"')
            if clean:
                self.last = clean[-1:]
                yield clean
            chunk = self._take()

    def _cleaned(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Whole lines, comments made blank lines, and every run of blanks one tab."""
        rest = b""
        for chunk in chunks:
            lines, newline, rest = (rest + chunk).rpartition(b"\n")
            yield self._clean(lines + newline)
        yield self._clean(rest)

    def _clean(self, lines: bytes) -> bytes:
        if b"#" in lines or b"%" in lines:
            lines, count = _COMMENT.subn(b"", lines)
            self.comments += count
        return squeeze(lines) if self._blanks else lines


def squeeze(lines: bytes) -> bytes:
    r"""Every run of blanks as one tab, none at either end of a line.

    >>> squeeze(b" 1  2 ")
    b'1\t2'
    """
    lines = lines.replace(b" ", b"\t")
    while b"\t\t" in lines:  # each turn halves the runs; a regular expression is far slower
        lines = lines.replace(b"\t\t", b"\t")
    for end in (b"\n", b"\r"):
        lines = lines.replace(b"\t" + end, end).replace(end + b"\t", end)
    return lines.strip(b"\t")


@contextmanager
def compressed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Pack what is written as the ending of the name says."""
    packed: Any = file
    if path.suffix.lower() == ".gz":
        import gzip

        # Without name and time: the same table gives the same bytes.
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=6)
    elif path.suffix.lower() == ".bz2":
        import bz2

        packed = bz2.BZ2File(file, "wb")
    elif path.suffix.lower() == ".xz":
        import lzma

        packed = lzma.LZMAFile(file, "wb")  # noqa: SIM115
    try:
        yield packed
    except BaseException:
        with suppress(Exception):  # the first error is the one to tell
            packed.close()
        raise
    if packed is not file:
        packed.close()
