"""What all generators share: settings, fingerprint, the built data and its folder. No pickle."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import Rows
from ..util import fingerprint
from ..util.saved_folder import damaged
from ..util.saved_part import read_part, write_part


class HasRows(Protocol):
    """What a generator is built into."""

    @property
    def n_rows(self) -> int: ...  # the knowledge base must have at least this many rows


Built = TypeVar("Built", bound=HasRows)
Self = TypeVar("Self", bound="GeneratorBase")  # type: ignore[type-arg]


class GeneratorBase(Generic[Built]):
    """A candidate generator. A subclass has at least ``registered_name`` and ``generate``, and overrides what
    else differs: most set ``_built`` and ``_kb_fingerprint`` in ``build`` and have ``settings``,
    ``_write`` and ``_read``.
    """

    registered_name: str
    _built: Built | None = None
    _kb_fingerprint: str = ""

    @property
    def needs_encoder(self) -> bool:
        """Whether it needs the component's encoder and index."""
        return False

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that affect the result, as JSON."""
        return {}

    @property
    def fingerprint(self) -> str:
        """Changes with the settings and the knowledge base."""
        return fingerprint(self.registered_name, self.settings, self._kb_fingerprint)

    def bind(self, encoder: Any, index: Any) -> None:
        """Set the component's encoder and index; a generator without vectors ignores them."""

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Prepare the generator for a knowledge base."""
        self._kb_fingerprint = kb.fingerprint

    def built(self, kb: KnowledgeBase | None = None) -> Built:
        """What the generator was built into.

        Args:
            kb: the one to search; its rows never move.

        Returns:
            As ``build`` or ``from_disk`` left it.

        Raises:
            PelError: if it has not been built, or from a knowledge base with more rows.
        """
        if self._built is None:
            raise PelError(Errors.E444.format(generator=self.registered_name))
        least = self._built.n_rows
        if kb is not None and kb.n_rows < least:
            raise PelError(Errors.E448.format(generator=self.registered_name, least=least, n=kb.n_rows))
        return self._built

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Update after a change of the knowledge base: rebuild, unless the generator can add entities.

        Args:
            kb_rows: rows that were added, updated or retired.
        """
        self.built(kb)
        self.build(kb)

    def to_disk(self, path: Path) -> None:
        """Write a folder: ``generator.json`` and the generator's own files.

        Raises:
            PelError: if the generator has not been built, or the folder cannot be written.
        """
        meta = {"settings": self.settings, "fingerprint": self.fingerprint}
        name, kb_fingerprint = self.registered_name, self._kb_fingerprint
        with write_part(path, kind="generator", name=name, **meta, kb_fingerprint=kb_fingerprint) as part:
            self._write(part)

    def from_disk(self: Self, path: Path) -> Self:
        """Read a folder. The saved settings replace the current ones.

        Raises:
            PelError: if it is missing, damaged, or another generator's.
        """
        path = Path(path)
        meta = read_part(path, kind="generator", name=self.registered_name)
        with reading(path):
            settings, kb_fingerprint = dict(meta["settings"]), str(meta["kb_fingerprint"])
            self._read(path, settings)
        self._kb_fingerprint = kb_fingerprint
        return self

    def _write(self, path: Path) -> None:
        """Write the generator's own files to a folder."""

    def _read(self, path: Path, settings: dict[str, Any]) -> None:
        """Read what ``_write`` wrote and take over the saved settings; after an error nothing has changed."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raises:
    PelError: if what is read from the folder inside cannot be read, or does not fit.
    """
    try:
        yield
    except PelError:
        raise
    except (OSError, ValueError, LookupError, TypeError, EOFError, AttributeError, BadZipFile) as err:
        got = (str(err) or type(err).__name__).strip().splitlines()[0]
        raise damaged(path, "generator", "readable files that belong together", got) from err


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as an .npz file."""
    with path.open("wb") as file:
        np.savez(file, **arrays)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file; pickled ones are refused."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def write_strings(path: Path, strings: list[str]) -> None:
    """Write strings as one JSON list."""
    path.write_text(json.dumps(strings, ensure_ascii=False), encoding="utf8", errors="surrogatepass")


def read_strings(path: Path) -> list[str]:
    """From what ``write_strings`` wrote.

    Raises:
        ValueError: if the file holds something else.
    """
    strings = json.loads(path.read_text(encoding="utf8", errors="surrogatepass"))
    if not isinstance(strings, list) or not all(isinstance(one, str) for one in strings):
        raise ValueError(f"{path.name} holds no list of strings")
    return strings
