"""The files of a knowledge base as one string of bytes, and back."""

import json
from typing import Any, Dict, List, Tuple, Union

import pyarrow as pa

from ...errors import Errors, PelError
from .arrow_store import check_meta
from .store_writer import FILES

LIMIT = 2 << 30  # msgpack, pickle and pipes to other processes get into trouble beyond
_MAGIC = b"spacy-pel-kb\x00\x01"
_ALIGN = 64  # Arrow reads in place what is aligned


def pack(meta: Dict[str, Any], buffers: Dict[str, pa.Buffer]) -> bytes:
    """RETURNS (bytes): magic, length of the header, header (JSON), then the files, aligned.

    RAISES (PelError): if they are too large.
    """
    n_bytes = sum(buffer.size for buffer in buffers.values())
    if n_bytes > LIMIT:
        raise PelError(Errors.E107.format(n_bytes=n_bytes))
    header = json.dumps(meta).encode("utf8")
    parts: List[Union[bytes, memoryview]] = [_MAGIC, len(header).to_bytes(8, "little"), header]
    size = len(_MAGIC) + 8 + len(header)
    for name in FILES:
        padding = bytes(-size % _ALIGN)
        parts += [padding, memoryview(buffers[name])]
        size += len(padding) + buffers[name].size
    return b"".join(parts)


def unpack(data: bytes) -> Tuple[Any, Dict[str, pa.Buffer]]:
    """RETURNS (Tuple[Any, Dict[str, Buffer]]): meta and the files, as views of the bytes.

    RAISES (PelError): if these are no bytes of a knowledge base, or not all of them.
    """
    if not data.startswith(_MAGIC):
        raise PelError(Errors.E108.format(got="other bytes"))
    position = len(_MAGIC) + 8
    length = int.from_bytes(data[len(_MAGIC) : position], "little")
    if len(data) < position + length:
        raise PelError(Errors.E108.format(got="truncated bytes"))
    meta = check_meta(json.loads(data[position : position + length]), "the given bytes")
    position += length
    whole, buffers = pa.py_buffer(data), {}
    for name in FILES:
        position += -position % _ALIGN
        size = meta["files"][name]
        if position + size > len(data):
            raise PelError(Errors.E108.format(got="truncated bytes"))
        buffers[name] = whole.slice(position, size)
        position += size
    return meta, buffers
