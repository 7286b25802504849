"""The folder of an EntityIndex: vectors, what they stand for, counts, and where they came from."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import Encoder, VectorIndex
from ..util import atomic_path, read_json, write_json
from .checks import damaged
from .priors import AliasPriors
from .row_table import RowTable

if TYPE_CHECKING:
    from .entity_index import EntityIndex

FORMAT = 1
LIMIT = 2 << 30  # msgpack, pickle and pipes to other processes get into trouble beyond
_META = "meta.json"


def write_folder(index: "EntityIndex", path: Path) -> None:
    """Write an index to a folder; what was there is replaced once all is written.

    RAISES (PelError): if there is no room.
    """
    with atomic_path(path) as part:
        part.mkdir()
        index.vectors.to_disk(part)
        index.rows.to_disk(part)
        index.priors.to_disk(part)
        files = {file.name: file.stat().st_size for file in sorted(part.iterdir())}
        write_json(part / _META, {"format": FORMAT, **index.meta, "files": files})


def read_folder(path: Path) -> Tuple[Dict[str, Any], VectorIndex, RowTable, AliasPriors]:
    """Open the parts of an index, memory-mapped.

    RETURNS (Tuple): meta, vectors, rows, priors.
    RAISES (PelError): if a file is missing, cut off or does not belong to the others.
    """
    meta = _read_meta(path)
    for name, size in meta["files"].items():
        file = path / name
        came = f"{file.stat().st_size} bytes" if file.is_file() else "no such file"
        if came != f"{size} bytes":
            raise PelError(Errors.E400.format(expected=f"{name} with {size} bytes", path=path, came=came))
    make = registry.resolve_short("pel_indexes", meta["index"]["name"])
    try:
        vectors = make(**meta["index"]["settings"]).from_disk(path)
        rows, priors = RowTable.from_disk(path), AliasPriors.from_disk(path)
    except (OSError, ValueError, KeyError, TypeError) as err:  # pyarrow's errors are ValueErrors
        if isinstance(err, PelError):
            raise
        raise damaged(path, "readable files", err) from err
    sizes = (vectors.width, len(vectors), len(rows))
    if sizes != (meta["width"], meta["rows"], meta["rows"]):
        expected = f"{meta['rows']} rows of width {meta['width']}"
        came = f"{sizes[1]} vectors of width {sizes[0]} and {sizes[2]} row entries"
        raise PelError(Errors.E400.format(expected=expected, path=path, came=came))
    return meta, vectors, rows, priors


def check_origin(
    meta: Dict[str, Any], path: Path, kb: Optional[KnowledgeBase], encoder: Optional[Encoder]
) -> None:
    """RAISES (PelError): if the index was built from another KB or with another encoder."""
    parts = (("knowledge base", "kb_fingerprint", kb), ("encoder", "encoder_fingerprint", encoder))
    for what, key, part in parts:
        if part is not None and meta[key] != part.fingerprint:
            raise PelError(Errors.E401.format(path=path, what=what, theirs=meta[key], ours=part.fingerprint))


def pack_folder(path: Path) -> bytes:
    """RETURNS (bytes): the files of an index folder: a line of JSON with sizes, then the contents.

    RAISES (PelError): if they are larger than 2 GiB.
    """
    sizes = {file.name: file.stat().st_size for file in sorted(path.iterdir())}
    if sum(sizes.values()) > LIMIT:
        raise PelError(Errors.E408.format(n_bytes=sum(sizes.values())))
    return b"".join(
        [json.dumps(sizes).encode("utf8"), b"\n", *((path / name).read_bytes() for name in sizes)]
    )


def unpack_folder(data: bytes, path: Path) -> None:
    """Write the files of ``pack_folder`` to a new folder.

    RAISES (PelError): if these are other bytes.
    """
    start = data.find(b"\n") + 1
    try:
        sizes = {str(name): int(size) for name, size in json.loads(data[:start]).items()}
    except (ValueError, AttributeError) as err:
        raise PelError(Errors.E409) from err
    if start + sum(sizes.values()) != len(data) or any(Path(name).name != name for name in sizes):
        raise PelError(Errors.E409)
    path.mkdir()
    for name, size in sizes.items():
        (path / name).write_bytes(data[start : start + size])
        start += size


def temporary_folder() -> "tempfile.TemporaryDirectory[str]":
    """RETURNS (TemporaryDirectory): mapped files stay readable when it is gone, except that Windows
    cannot delete them then and leaves them to the system's cleaning."""
    return tempfile.TemporaryDirectory(prefix="spacy_pel_index_", ignore_cleanup_errors=True)


def _read_meta(path: Path) -> Dict[str, Any]:
    if not (path / _META).is_file():
        came = f"it lacks {_META}" if path.is_dir() else "there is no folder"
        raise PelError(Errors.E400.format(expected="an index folder", path=path, came=came))
    meta = read_json(path / _META)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        came = f"version {meta.get('format')}" if isinstance(meta, dict) else "no meta data"
        raise PelError(
            Errors.E400.format(expected=f"{_META} of format version {FORMAT}", path=path, came=came)
        )
    needed = {
        "files",
        "index",
        "width",
        "rows",
        "kinds",
        "kb_fingerprint",
        "encoder_fingerprint",
        "fingerprint",
    }
    if not needed <= set(meta):
        came = f"without {', '.join(sorted(needed - set(meta)))}"
        raise PelError(Errors.E400.format(expected=f"a complete {_META}", path=path, came=came))
    return meta
