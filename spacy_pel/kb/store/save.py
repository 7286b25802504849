"""Saving a knowledge base: as it lies, or with its changes merged."""

from pathlib import Path

from ...errors import Errors, PelError
from ...util import atomic_path, write_json
from .arrow_store import ArrowStore
from .merged_store import MergedStore
from .store_writer import META, StoreWriter


def check_target(path: Path) -> None:
    """RAISES (PelError): if saving there would replace something that is no knowledge base."""
    if path.is_dir() and not (path / META).is_file() and any(path.iterdir()):
        raise PelError(Errors.E111.format(path=path, got="a folder with other files"))
    if path.exists() and not path.is_dir():
        raise PelError(Errors.E111.format(path=path, got="a file"))


def copy_store(store: ArrowStore, path: Path) -> None:
    """Write a store's files to a folder, unless that is where they are."""
    if store.is_at(path):
        return
    check_target(path)
    with atomic_path(path) as part:
        part.mkdir()
        for name, buffer in store.buffers.items():
            with (part / name).open("wb") as file:
                file.write(buffer)
        write_json(part / META, store.meta)


def merge_store(merged: MergedStore, path: Path) -> None:
    """Write a folder with the changes merged; every row stays where it is."""
    check_target(path)
    with atomic_path(path) as part:
        part.mkdir()
        writer = StoreWriter(part)
        for entity, live in merged.items():
            writer.append(entity, live=live)
        meta = merged.store.meta
        writer.finish(
            writer.finish_entities(),
            redirects=merged.redirects(),
            source=meta["source"],
            report=meta["report"],
        )
