"""Writes token sequences, or mentions, to a folder in chunks, without holding all of them in memory."""

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from typing_extensions import Self

from ...util.arrays import offsets_of
from .token_arrays import MentionTokens, MentionWindows

SPANS = "spans.npy"
_MANY = 10**15  # an upper bound, so that the header fits any count


class RaggedWriter:
    """Appends to the files that ``RaggedTokens.from_disk`` maps; ``spans.npy`` holds the spans of mentions that
    share windows.

    Args:
        path: the folder; made here.
    """

    def __init__(self, path: Path):
        path.mkdir(parents=True)
        self.path = path
        self._lengths: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        self._spans: list[NDArray[np.int64]] = []
        self._windows = 0
        self._file: Any = (path / "ids.npy").open("wb")
        self._header = self._write_header(_MANY)

    def append(self, tokens: MentionTokens) -> None:
        """Args:
        tokens: the next sequences, or mentions.
        """
        if isinstance(tokens, MentionWindows):
            self._spans.append(tokens.spans + np.array([self._windows, 0, 0]))
            tokens = tokens.windows
            self._windows += len(tokens)
        self._file.write(np.ascontiguousarray(tokens.values, dtype="<i4").data)
        self._lengths.append(tokens.lengths)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lengths = np.concatenate(self._lengths)
        self._file.seek(0)
        if self._write_header(int(lengths.sum())) != self._header:
            raise RuntimeError("numpy wrote a header of another length")
        self._file.close()
        np.save(self.path / "offsets.npy", offsets_of(lengths))
        if self._spans:
            np.save(self.path / SPANS, np.concatenate(self._spans))

    def _write_header(self, count: int) -> int:
        npy.write_array_header_1_0(self._file, {"descr": "<i4", "fortran_order": False, "shape": (count,)})
        return int(self._file.tell())
