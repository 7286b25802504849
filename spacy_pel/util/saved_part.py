"""Saved folders of registered parts: KIND.json names the part, so that loaders need no list of parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..registry import registry
from .files import read_json, write_json
from .saved_folder import check_folder, damaged, write_folder, write_manifest

_VERSION = 1
_REGISTRIES = {"encoder": "pel_encoders", "ranker": "pel_rankers", "generator": "pel_candidates"}


@contextmanager
def write_part(path: Path, *, kind: str, name: str, **more: Any) -> Iterator[Path]:
    """Provide a temporary folder to fill; add KIND.json and the manifest, and move it to ``path`` on success.

    Args:
        path: the folder; what was there is replaced once everything is written.
        kind: "encoder", "ranker" or "generator".
        name: the registered name of the part.
        more: JSON values to keep in KIND.json.

    Yields:
        A folder.

    Raises:
        PelError: if the folder cannot be written.
    """
    with write_folder(Path(path), kind=kind, version=_VERSION) as part:
        write_json(part / f"{kind}.json", {kind: name, **more})
        yield part


def add_to_part(path: Path, name: str, data: Any, *, kind: str) -> None:
    """Add a JSON file to a saved part.

    Args:
        path: its folder, which is being written (in ``atomic_path``): this takes more than one step.
        name: of the file.
        data: what to write.
        kind: as for ``write_part``.
    """
    write_json(path / name, data)
    write_manifest(path, kind=kind, version=_VERSION)


def read_part(path: Path, *, kind: str, name: str | None = None) -> dict[str, Any]:
    """Check a folder and read which part it holds.

    Args:
        path, kind: as for ``write_part``.
        name: the expected part; None = any that is registered.

    Returns:
        KIND.json; the part's registered name is under the key KIND.

    Raises:
        PelError: if the folder is missing, damaged, or another part's.
    """
    check_folder(path, kind=kind, version=_VERSION)
    saved = read_json(path / f"{kind}.json") if (path / f"{kind}.json").is_file() else None
    if not isinstance(saved, dict) or not isinstance(saved.get(kind), str):
        raise damaged(path, kind, f"{kind}.json with a registered name", "another file")
    if name is not None and saved[kind] != name:
        raise PelError(Errors.E010.format(kind=kind, path=path, expected=name, got=saved[kind]))
    table = _REGISTRIES[kind]
    if saved[kind] not in getattr(registry, table):
        raise PelError(Errors.E009.format(kind=kind, path=path, name=saved[kind], registry=table))
    return saved
