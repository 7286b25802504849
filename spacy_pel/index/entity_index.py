"""The index of a knowledge base: several rows per entity, found by a mention's vector."""

from pathlib import Path
from typing import Any, Collection, Dict, Iterable, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..types import Document, Encoder, Rows, Scores, VectorIndex, Vectors
from ..util import fingerprint
from .build import fill_index
from .embed import embed_entities
from .folder import check_origin, pack_folder, read_folder, temporary_folder, unpack_folder, write_folder
from .priors import AliasPriors
from .row_table import KINDS, NAME_KINDS, RowTable

PathLike = Union[str, Path]


class EntityIndex:
    """Rows of vectors, each standing for an entity: its card, one of its names, or one of
    its annotated mentions. Also counts which surfaces named which entities.

    vectors (VectorIndex): the vectors.
    rows (RowTable): what each of them stands for.
    priors (AliasPriors): counts of surfaces and entities in annotated text.
    kb_fingerprint (str): of the knowledge base that the rows belong to.
    encoder_fingerprint (str): of the encoder that made the vectors.
    kinds (Sequence[str]): kinds of rows that an entity gets.
    """

    def __init__(
        self,
        vectors: VectorIndex,
        rows: RowTable,
        priors: AliasPriors,
        *,
        kb_fingerprint: str,
        encoder_fingerprint: str,
        kinds: Sequence[str],
    ):
        self.vectors = vectors
        self.rows = rows
        self.priors = priors
        self.kb_fingerprint = kb_fingerprint
        self.encoder_fingerprint = encoder_fingerprint
        self.kinds = tuple(kinds)
        self._path: Optional[Path] = None  # where the same content lies on disk
        self._fingerprint: Optional[str] = None  # computed once, until rows change

    @classmethod
    def build(
        cls,
        kb: KnowledgeBase,
        encoder: Encoder,
        *,
        index: VectorIndex,
        kinds: Sequence[str] = NAME_KINDS,
        documents: Iterable[Document] = (),
        max_mentions_per_entity: Optional[int] = None,
        show_progress: bool = False,
    ) -> "EntityIndex":
        """Embed a knowledge base.

        kb (KnowledgeBase): the entities.
        encoder (Encoder): makes the vectors.
        index (VectorIndex): holds the vectors; what was in it is dropped.
        kinds (Sequence[str]): any of "card", "alias" (canonical name and aliases) and "mention".
        documents (Iterable[Document]): annotated text, for the rows of kind "mention" and for
            the priors, which count all of its mentions.
        max_mentions_per_entity (Optional[int]): at most so many mention rows for an entity,
            drawn at random but always the same; None = all.
        show_progress (bool): show progress bars.
        RETURNS (EntityIndex): the index.
        RAISES (PelError): if the KB is empty, a kind is unknown or there would be no row.
        """
        rows, priors = fill_index(
            kb,
            encoder,
            index,
            kinds=kinds,
            documents=documents,
            max_mentions_per_entity=max_mentions_per_entity,
            show_progress=show_progress,
        )
        return cls(
            index,
            rows,
            priors,
            kb_fingerprint=kb.fingerprint,
            encoder_fingerprint=encoder.fingerprint,
            kinds=kinds,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.vectors.width

    @property
    def kb_rows(self) -> NDArray[np.int32]:
        """RETURNS (NDArray[int32]): the KB row of each row of the index."""
        return self.rows.kb_rows

    @property
    def path(self) -> Optional[Path]:
        """RETURNS (Optional[Path]): the folder that holds the same content; None = only in memory."""
        return self._path

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): changes with knowledge base, encoder, settings, rows and priors."""
        if self._fingerprint is None:
            columns = [*self.rows.columns().values(), *self.priors.columns().values()]
            self._fingerprint = fingerprint(
                self.kb_fingerprint,
                self.encoder_fingerprint,
                [self.vectors.name, self.vectors.settings, self.kinds],
                *(column.tobytes() for column in columns),
            )
        return self._fingerprint

    @property
    def meta(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): what the index is, as JSON."""
        return {
            "index": {"name": self.vectors.name, "settings": self.vectors.settings},
            "metric": "inner_product",
            "width": self.width,
            "kinds": list(self.kinds),
            "rows": len(self),
            "live_rows": {kind: self.rows.count(kind) for kind in KINDS},
            "priors": len(self.priors),
            "kb_fingerprint": self.kb_fingerprint,
            "encoder_fingerprint": self.encoder_fingerprint,
            "fingerprint": self.fingerprint,
        }

    # --- search

    def search_rows(
        self,
        vectors: Vectors,
        k: int,
        allowed_kb_rows: Optional[NDArray[np.bool_]] = None,
        kinds: Collection[str] = KINDS,
    ) -> Tuple[Scores, Rows]:
        """Find the nearest rows.

        vectors (Vectors): (n, width) unit vectors.
        k (int): how many rows each.
        allowed_kb_rows (Optional[NDArray[bool]]): mask over the rows of the KB; None = all.
        kinds (Collection[str]): kinds of rows wanted.
        RETURNS (Tuple[Scores, Rows]): (n, k) cosines and rows of the index, best first; row -1
            where there are fewer.
        """
        mask = self.rows.mask(kinds, allowed_kb_rows)
        if mask is not None and not mask.any():  # e.g. no mention rows: no need to look
            shape = (len(vectors), k)
            return np.full(shape, -np.inf, dtype=np.float32), np.full(shape, -1, dtype=np.int64)
        return self.vectors.search(vectors, k, mask)

    def search_entities(
        self,
        vectors: Vectors,
        k: int,
        allowed_kb_rows: Optional[NDArray[np.bool_]] = None,
        kinds: Collection[str] = KINDS,
    ) -> Tuple[Scores, Rows]:
        """RETURNS (Tuple[Scores, Rows]): as ``search_rows``, but the KB row of each row found; an
        entity may come several times."""
        scores, rows = self.search_rows(vectors, k, allowed_kb_rows, kinds)
        return scores, np.where(rows < 0, -1, self.kb_rows[rows].astype(np.int64))

    # --- changes

    def add_entities(self, kb: KnowledgeBase, encoder: Encoder, kb_rows: Rows) -> None:
        """Follow a change of the knowledge base without building anew.

        kb (KnowledgeBase): the knowledge base after the change.
        encoder (Encoder): the one that the index was built with.
        kb_rows (NDArray[int64]): rows that were added, updated or retired. Cards and names are
            embedded again; mention rows stay while the entity lives.
        RAISES (PelError): if the encoder is another one.
        """
        if encoder.fingerprint != self.encoder_fingerprint:
            raise PelError(Errors.E410.format(theirs=self.encoder_fingerprint, ours=encoder.fingerprint))
        kb_rows = np.unique(kb_rows)
        live = kb_rows[np.isin(kb_rows, kb.live_rows)]
        self.rows.retire(np.setdiff1d(kb_rows, live), KINDS)
        self.rows.retire(live, NAME_KINDS)
        for kind, found, vectors in embed_entities(kb, encoder, live, self.kinds):
            self.vectors.add(vectors)
            self.rows.append(found, kind)
        self.kb_fingerprint = kb.fingerprint
        self._path = self._fingerprint = None

    # --- disk, bytes, processes

    def to_disk(self, path: PathLike) -> None:
        """Write the index to a folder; what was there is replaced once all is written.

        RAISES (PelError): if there is no room.
        """
        write_folder(self, Path(path))

    @classmethod
    def from_disk(
        cls, path: PathLike, *, kb: Optional[KnowledgeBase] = None, encoder: Optional[Encoder] = None
    ) -> "EntityIndex":
        """Open an index folder, memory-mapped.

        path (Union[str, Path]): the folder.
        kb (Optional[KnowledgeBase]): if given, the index must have been built from it.
        encoder (Optional[Encoder]): if given, the index must have been built with it.
        RETURNS (EntityIndex): the index.
        RAISES (PelError): if the folder is damaged or does not belong to ``kb`` and ``encoder``.
        """
        meta, vectors, rows, priors = read_folder(Path(path))
        check_origin(meta, Path(path), kb, encoder)
        index = cls(
            vectors,
            rows,
            priors,
            kb_fingerprint=meta["kb_fingerprint"],
            encoder_fingerprint=meta["encoder_fingerprint"],
            kinds=meta["kinds"],
        )
        index._path, index._fingerprint = Path(path).resolve(), meta["fingerprint"]
        return index

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): the index folder as bytes.

        RAISES (PelError): if they are more than 2 GiB.
        """
        with temporary_folder() as holder:
            write_folder(self, Path(holder) / "index")
            return pack_folder(Path(holder) / "index")

    @classmethod
    def from_bytes(cls, data: bytes) -> "EntityIndex":
        """RAISES (PelError): if this is not what ``to_bytes`` gave."""
        with temporary_folder() as holder:
            unpack_folder(data, Path(holder) / "index")
            index = cls.from_disk(Path(holder) / "index")
        index._path = None
        return index

    def __reduce__(self) -> Any:
        if self._path is not None and _fingerprint_at(self._path) == self.fingerprint:
            # another process maps the same files: nothing is copied
            return _reopen, (str(self._path), self.fingerprint)
        return EntityIndex.from_bytes, (self.to_bytes(),)


def _fingerprint_at(path: Path) -> Optional[str]:
    try:
        return EntityIndex.from_disk(path).fingerprint
    except PelError:
        return None


def _reopen(path: str, fingerprint: str) -> EntityIndex:
    index = EntityIndex.from_disk(path)
    if index.fingerprint != fingerprint:
        raise PelError(Errors.E411.format(path=path, expected=fingerprint, got=index.fingerprint))
    return index
