"""What all generators share: settings, fingerprint, the built data and its folder. No pickle."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import CandidateTable, Masks, MentionInText, Rows
from ..util import fingerprint
from ..util.config import PartSettings
from ..util.saved_folder import read_part, reading, write_part


class HasRows(Protocol):
    """What a generator is built into."""

    @property
    def n_rows(self) -> int: ...  # the knowledge base must have at least this many rows


Built = TypeVar("Built", bound=HasRows)


class GeneratorBase(PartSettings, ABC, Generic[Built]):
    """A candidate generator. Most set ``_built`` and ``_kb_fingerprint`` in ``build`` and have ``_write`` and
    ``_read``.
    """

    registered_name: str
    _built: Built | None = None
    _kb_fingerprint: str = ""

    @property
    def needs_encoder(self) -> bool:
        """Whether it needs the component's encoder and index."""
        return False

    @property
    def reads_context(self) -> bool:
        """Whether the text around a mention counts, not only its surface form."""
        return False

    @property
    def fingerprint(self) -> str:
        """Changes with the settings and the knowledge base."""
        return fingerprint(self.registered_name, self.settings, self._kb_fingerprint)

    def bind(self, encoder: Any, index: Any) -> None:
        """Set the component's encoder and index; a generator without vectors ignores them."""

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Prepare the generator for a knowledge base."""
        self._kb_fingerprint = kb.fingerprint

    @abstractmethod
    def find_candidates(
        self, kb: KnowledgeBase, mentions: Sequence[MentionInText], *, allowed: Masks = None, top_k: int = 64
    ) -> CandidateTable:
        """Find candidates of mentions, and the evidence for each.

        Args:
            kb: the entities.
            mentions: the mentions.
            allowed: for each mention a mask over the rows of the knowledge base, or None.
            top_k: maximum number of candidates per mention.

        Returns:
            Distinct entities per mention, best first.
        """

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

    def from_disk(self, path: Path) -> Self:
        """Read a folder. The saved settings replace the current ones; after an error nothing has changed.

        Raises:
            PelError: if it is missing, damaged, or another generator's.
        """
        path = Path(path)
        meta = read_part(path, kind="generator", name=self.registered_name)
        with reading(path, "generator"):
            loaded = type(self)(**meta["settings"])
            built = loaded._read(path)
            if built is not None:
                loaded._built = built
            loaded._kb_fingerprint = str(meta["kb_fingerprint"])
        self.__dict__.update(loaded.__dict__)
        return self

    def _write(self, path: Path) -> None:
        """Write the generator's own files to a folder."""

    def _read(self, path: Path) -> Built | None:
        """Read what ``_write`` wrote."""
        return None

    @classmethod
    def _wrong(cls, setting: str, expected: str, got: Any) -> PelError:
        return PelError(Errors.E447.format(expected=expected, setting=setting, generator=cls.registered_name, got=got))


def check_origin(path: Path, kb: KnowledgeBase) -> None:
    """Raises:
    PelError: if the generator in a folder was built from another knowledge base.
    """
    saved = read_part(path, kind="generator").get("kb_fingerprint")
    if saved and saved != kb.fingerprint:
        raise PelError(Errors.E443.format(path=path, theirs=saved, ours=kb.fingerprint))


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file; pickled ones are refused."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
