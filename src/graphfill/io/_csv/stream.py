"""Text files as a stream of clean UTF-8, whatever they are encoded or compressed in."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import IO, Any, Literal

from ...errors import InputError, option
from .._path import COMPRESSIONS, open_or_refuse, other_format, unreadable
from .._sheet import Options
from .dialect import WHITESPACE

CHUNK = 1 << 20
TEXT_TIMES = 5  # the memory that text takes while it is read, typed and kept, as a multiple
BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_COMMENT = re.compile(rb"^[ \t]*[#%][^\r\n]*", re.MULTILINE)


class NotUtf8(Exception):
    """A byte that is no UTF-8; the argument is the line it stands on."""


def _packed(file: Any, path: Path, mode: Literal["rb", "wb"]) -> Any:
    """What packs or unpacks a file as the ending of its name says; the file itself if not."""
    ending = path.suffix.lower()
    if ending == ".gz":
        # Without name and time: the same table gives the same bytes.
        return gzip.GzipFile("", mode, fileobj=file, mtime=0, compresslevel=6)
    if ending == ".bz2":
        return bz2.BZ2File(file, mode)
    return lzma.LZMAFile(file, mode) if ending == ".xz" else file


class Stream(io.RawIOBase):
    """The UTF-8 text of a file, read in order, checked as it goes by."""

    def __init__(
        self, path: Path, options: Options, separator: str = ",", comments: bool = False
    ) -> None:
        self.path, self._options = path, options
        self._raw = open_or_refuse(path)
        self.size = path.stat().st_size  # in bytes on disk
        magic = COMPRESSIONS.get(path.suffix.lower(), b"")
        if self.size and self._raw.read(len(magic)) != magic:
            self._raw.close()
            raise InputError(
                f'{path} is not compressed as its name says: take "{path.suffix}" off its name, or '
                "copy or export it again."
            )
        self._raw.seek(0)
        self._bytes = _packed(self._raw, path, "rb")
        self._blanks = separator == WHITESPACE
        self.quotes = self.comments = 0  # how many quotes, and lines of comments, went by
        self.last = b""  # the last byte that went by
        self.line = 1  # the line that has been reached
        self.left: int | None = None  # bytes still to give out, where not all are wanted
        # What ended the stream, for a caller that reads it through another library.
        self.error: Exception | None = None
        start = self._take()
        self.bom = next((bom for bom in BOMS if start.startswith(bom)), b"")
        other = other_format(start)
        if other is not None:
            raise InputError(f"{path} is no text but {other}.")
        self.encoding = options.encoding or BOMS.get(self.bom, "utf-8")
        # Without its mark: the decoder of "utf-8" would keep it, that of "utf-16" would want it.
        if codecs.lookup(self.encoding).name in ("utf-8-sig", "utf-16") and self.bom:
            self.encoding = BOMS[self.bom]
        chunks = self._decoded(start[len(self.bom) :])
        self._chunks = self._cleaned(chunks) if comments or self._blanks else chunks
        self._rest = b""
        self._context = copy_context()  # Arrow reads in another thread, which words nothing

    @property
    def position(self) -> int:
        """How many bytes on disk have been read."""
        return 0 if self._raw.closed else self._raw.tell()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._bytes.close()
        self._raw.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """As many bytes as asked for, unless the file ends; a chunk by default."""
        parts, length = [self._rest], len(self._rest)
        try:
            while length < max(size, 1):
                parts.append(self._context.run(next, self._chunks))
                length += len(parts[-1])
        except StopIteration:
            pass
        except Exception as error:
            self.error = error
            raise
        text = b"".join(parts)
        size = length if size < 0 else size
        if self.left is not None:
            size = min(size, self.left)
            self.left -= min(size, len(text))
        self._rest = text[size:]
        return text[:size]

    def _take(self) -> bytes:
        try:
            chunk: bytes = self._bytes.read(CHUNK)
            return chunk
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise unreadable(self.path, error) from None

    def _decoded(self, chunk: bytes) -> Iterator[bytes]:
        decoder: Any = codecs.getincrementaldecoder(self.encoding)()
        plain = self.encoding == "utf-8"
        total = 0
        while True:
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                raise self._undecodable(error) from None
            except UnicodeError:  # of utf-16 and utf-32, whose first bytes tell the order of bytes
                name = codecs.lookup(self.encoding).name
                raise InputError(
                    f"{self.path} does not begin with a byte order mark, which {name} needs: name "
                    f"the order of its bytes with {option('encoding', self._options.edges)}, as "
                    f"{name}-le or {name}-be."
                ) from None
            if not chunk and not text:
                return
            # UTF-8 passes as it is, unless a character was cut in two at either end of the chunk.
            uncut = plain and not pending and not decoder.getstate()[0]
            clean = chunk if uncut else text.encode()
            if b"\0" in clean:
                line = self.line + clean[: clean.index(b"\0")].count(b"\n")
                raise InputError(
                    f"{self.path} is no text, or not in the encoding assumed (a NUL byte in line "
                    f"{line}): name its encoding with {option('encoding', self._options.edges)}, "
                    "such as utf-16-le, or export it as CSV again."
                )
            total += len(clean)
            self._options.check_size(self.path, total, TEXT_TIMES)
            self.line += clean.count(b"\n")
            self.quotes += clean.count(b'"')
            if clean:
                self.last = clean[-1:]
                yield clean
            chunk = self._take()

    def _undecodable(self, error: UnicodeDecodeError) -> Exception:
        before = error.object[: error.start].decode(self.encoding, "replace")
        line = self.line + before.count("\n")
        if self._options.encoding is None and not self.bom:
            return NotUtf8(line)
        byte = error.object[error.start : error.start + 1].hex()
        return InputError(
            f"{self.path}, line {line} has the byte 0x{byte}, which is no {self.encoding}: name "
            f"the file's encoding with {option('encoding', self._options.edges)}, such as latin-1."
        )

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
    packed = _packed(file, path, "wb")
    try:
        yield packed
    except BaseException:
        with suppress(Exception):  # the first error is the one to tell
            packed.close()
        raise
    if packed is not file:
        packed.close()
