"""The index of a knowledge base: several rows per entity, found by a mention's vector."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import Document, Encoder, Mask, Rows, Scores, VectorIndex, Vectors
from ..util import fingerprint, read_json, write_json
from ..util.arrays import in_range
from ..util.files import PathLike
from ..util.processes import reopened
from ..util.saved_folder import Buffer, check_folder, damaged, load_from_bytes, reading, save_to_bytes, write_folder
from .annotated_text import AliasPriors, unmarked
from .embed import LinkedMentions, embed_entities, embed_forms, embed_mentions
from .faiss_rows import KIND
from .row_table import KINDS, NAME_KINDS, RowTable, sample_rows
from .topics import PAIRS, Topics

VERSION = 2  # of the folder's format; 1 had vectors of texts
META = "meta.json"
_ABBREVIATIONS = "abbreviations.arrow"
_SAMPLE = 4096  # entities, and mentions, that codes are learned from


@dataclass(eq=False, repr=False)
class EntityIndex:
    """Rows of vectors, several per entity: its card, its names, its forms and mentions in annotated text. Also counts
    which surface forms named which entities.

    Args:
        vectors: the vectors.
        rows: the entity and the kind of each of them.
        priors: counts of surface forms and entities in annotated text.
        topics: which entities annotated texts name, by what they are about; None = not known.
        abbreviations: which entities short forms stand for, see ``abbreviations/inventory.py``.
        kb_fingerprint: of the knowledge base that the rows belong to.
        encoder_fingerprint: of the encoder that computed the vectors.
        kinds: kinds of rows that an entity gets.
    """

    vectors: VectorIndex
    rows: RowTable
    priors: AliasPriors
    _: KW_ONLY
    kb_fingerprint: str
    encoder_fingerprint: str
    kinds: Sequence[str]
    topics: Topics | None = None
    abbreviations: AliasPriors = field(default_factory=AliasPriors.empty)
    path: Path | None = field(default=None, init=False)  # a folder with the same content
    _fingerprint: str | None = field(default=None, init=False)  # computed once, until rows change

    @classmethod
    def build(
        cls,
        kb: KnowledgeBase,
        encoder: Encoder,
        *,
        index: VectorIndex,
        kinds: Sequence[str] = NAME_KINDS,
        documents: Iterable[Document] = (),
        max_mentions_per_entity: int | None = None,
        with_topics: bool = True,
        show_progress: bool = False,
    ) -> "EntityIndex":
        """Embed a knowledge base.

        Args:
            kb: the entities.
            encoder: computes the vectors.
            index: holds the vectors; its existing rows are dropped.
            kinds: any of "card", "alias" (canonical name and aliases), "mention" and "form" (surface forms of annotated
                text that are no names of their entities).
            documents: annotated text, for the rows of kinds "mention" and "form", and for
                the priors and topics, which count all of its mentions.
            max_mentions_per_entity: maximum number of mention rows of an entity, drawn at
                random with a fixed seed; None = all.
            with_topics: read the documents for the topics.
            show_progress: show progress bars.

        Returns:
            The index.

        Raises:
            PelError: if the KB is empty, a kind is unknown or there would be no row.
        """
        if not kinds or not set(kinds) <= set(KINDS):
            raise PelError(
                Errors.E016.format(what="kinds of rows", known=", ".join(KINDS), got=list(kinds), setting="kinds")
            )
        if len(kb) == 0:
            raise PelError(Errors.E406)
        linked = LinkedMentions.read(kb, documents)
        priors = AliasPriors.build((mention.surface for mention in linked.mentions), linked.kb_rows)
        priors = priors.merged(unmarked(linked.mentions))
        read, named = linked.by_text()
        forms = embed_forms(kb, encoder, linked, show_progress=show_progress) if "form" in kinds else ()
        linked = linked.capped(max_mentions_per_entity) if "mention" in kinds else linked.sampled(0)
        index.train(_training_sample(kb, encoder, index, kinds, linked))
        rows = RowTable.empty()
        for kind, kb_rows, texts, vectors in chain(
            embed_entities(kb, encoder, kb.live_rows, kinds, show_progress=show_progress),
            forms,
            embed_mentions(encoder, linked, show_progress=show_progress),
        ):
            index.add(vectors)
            rows.append(kb_rows, kind, texts)
        if len(rows) == 0:
            raise PelError(Errors.E407)
        index.finish(rows.searched_apart)
        return cls(
            index,
            rows,
            priors,
            kb_fingerprint=kb.fingerprint,
            encoder_fingerprint=encoder.fingerprint,
            kinds=tuple(kinds),
            topics=Topics.build(read, named) if with_topics and read else None,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.vectors.width

    @property
    def kb_rows(self) -> NDArray[np.int32]:
        """The KB row of each row of the index."""
        return self.rows.kb_rows

    @property
    def fingerprint(self) -> str:
        """Changes with knowledge base, encoder, settings, rows, priors, topics and abbreviations."""
        if self._fingerprint is None:
            columns = [*self.rows.columns().values(), *self.priors.columns().values()]
            if self.topics is not None:
                columns += self.topics.arrays
            if len(self.abbreviations):
                columns += self.abbreviations.columns().values()
            self._fingerprint = fingerprint(
                self.kb_fingerprint,
                self.encoder_fingerprint,
                [self.vectors.name, self.vectors.settings, self.kinds],
                *(column.tobytes() for column in columns),
            )
        return self._fingerprint

    @property
    def meta(self) -> dict[str, Any]:
        """What the index is, as JSON."""
        return {
            "index": {"name": self.vectors.name, "settings": self.vectors.settings},
            "metric": "inner_product",
            "width": self.width,
            "kinds": list(self.kinds),
            "rows": len(self),
            "live_rows": {kind: self.rows.count(kind) for kind in KINDS},
            "priors": len(self.priors),
            "topics": 0 if self.topics is None else len(self.topics),
            "abbreviations": len(np.unique(self.abbreviations.surface_hashes)),
            "kb_fingerprint": self.kb_fingerprint,
            "encoder_fingerprint": self.encoder_fingerprint,
            "fingerprint": self.fingerprint,
        }

    # --- search

    def search_entities(
        self, vectors: Vectors, k: int, allowed_kb_rows: Mask = None, kinds: Collection[str] = KINDS
    ) -> tuple[Scores, Rows]:
        """Find the nearest rows.

        Args:
            vectors: (n, width) unit vectors.
            k: how many rows each.
            allowed_kb_rows: mask over the rows of the KB; None = all.
            kinds: kinds of rows wanted.

        Returns:
            (n, k) cosines and rows of the KB, best first; row -1 where there are fewer. An entity may
            occur several times.
        """
        return self.search_groups(vectors, k, allowed_kb_rows, (kinds,))[0]

    def search_groups(
        self, vectors: Vectors, k: int, allowed_kb_rows: Mask, groups: Sequence[Collection[str]]
    ) -> list[tuple[Scores, Rows]]:
        """Find the nearest rows of several groups of kinds in one pass.

        Args:
            vectors: (n, width) unit vectors.
            k: how many rows each, of each group.
            allowed_kb_rows: mask over the rows of the KB; None = all.
            groups: kinds of rows.

        Returns:
            Of each group what ``search_entities`` finds.
        """
        masks = [self.rows.mask(kinds, allowed_kb_rows) for kinds in groups]
        # where there are no such rows, e.g. of mentions, there is no need to look
        wanted = [number for number, mask in enumerate(masks) if mask is None or mask.any()]
        shape = (len(vectors), k)
        found = [(np.full(shape, -np.inf, np.float32), np.full(shape, -1, np.int64)) for _ in masks]
        results = self.vectors.search_groups(vectors, k, [masks[number] for number in wanted]) if wanted else []
        for number, (scores, rows) in zip(wanted, results, strict=True):
            found[number] = scores, np.where(rows < 0, -1, self.kb_rows[rows].astype(np.int64))
        return found

    # --- changes

    def add_entities(self, kb: KnowledgeBase, encoder: Encoder, kb_rows: Rows) -> None:
        """Update the index after a change of the knowledge base, without rebuilding it.

        Args:
            kb: the knowledge base after the change.
            encoder: the one that the index was built with.
            kb_rows: rows that were added, updated or retired. Cards and names are
                re-embedded; rows of annotated text, counts, topics and short forms stay, or go to a successor.

        Raises:
            PelError: if it is a different encoder.
        """
        if encoder.fingerprint != self.encoder_fingerprint:
            raise PelError(Errors.E410.format(theirs=self.encoder_fingerprint, ours=encoder.fingerprint))
        kb_rows = np.unique(kb_rows)
        live = kb_rows[np.isin(kb_rows, kb.live_rows)]
        embedded = list(embed_entities(kb, encoder, live, self.kinds))  # may fail: nothing has changed yet
        retired = np.setdiff1d(kb_rows, live)
        self._redirect(retired, kb.rows(kb.ids_at(retired)), kb.n_rows)
        self.rows.retire(retired, KINDS)
        self.rows.retire(live, NAME_KINDS)
        for kind, embedded_rows, texts, vectors in embedded:
            self.vectors.add(vectors)
            self.rows.append(embedded_rows, kind, texts)
        self.kb_fingerprint = kb.fingerprint
        self.path = self._fingerprint = None

    def _redirect(self, old: Rows, new: Rows, n_rows: int) -> None:
        """Let what annotated text says of retired entities count for their successors; -1 = there is none."""
        if not (new >= 0).any():
            return
        successors = np.arange(n_rows, dtype=np.int32)
        successors[old[new >= 0]] = new[new >= 0]
        self.rows.redirect(successors)
        self.priors = self.priors.redirected(successors)
        self.abbreviations = self.abbreviations.redirected(successors)
        self.topics = None if self.topics is None else self.topics.redirected(successors)

    def add_abbreviations(self, abbreviations: AliasPriors) -> None:
        """Add what short forms stand for to what is known already."""
        self.abbreviations = self.abbreviations.merged(abbreviations)
        self.path = self._fingerprint = None

    # --- disk, bytes, processes

    def to_disk(self, path: PathLike) -> None:
        """Write the index to a folder; what was there is replaced once everything is written.

        Raises:
            PelError: if the folder cannot be written.
        """
        with write_folder(Path(path), kind=KIND, version=VERSION) as part:
            self.vectors.to_disk(part)
            # not in the protocol: an index of another package may lack it
            self.rows.to_disk(part, with_texts=getattr(self.vectors, "precision", None) is not None)
            self.priors.to_disk(part)
            if self.topics is not None:
                self.topics.to_disk(part)
            if len(self.abbreviations):
                self.abbreviations.to_disk(part, _ABBREVIATIONS)
            write_json(part / META, self.meta)

    @classmethod
    def from_disk(
        cls, path: PathLike, *, kb: KnowledgeBase | None = None, encoder: Encoder | None = None
    ) -> "EntityIndex":
        """Open an index folder, memory-mapped.

        Args:
            path: the folder.
            kb: if given, the index must have been built from it.
            encoder: if given, the index must have been built with it.

        Returns:
            The index.

        Raises:
            PelError: if the folder is damaged or does not belong to ``kb`` and ``encoder``.
        """
        path = Path(path)
        check_folder(path, kind=KIND, version=VERSION)
        meta = read_json(path / META)
        make = registry.resolve_short("pel_indexes", meta["index"]["name"])
        with reading(path, KIND):
            vectors = make(**meta["index"]["settings"]).from_disk(path)
            rows, priors = RowTable.from_disk(path), AliasPriors.from_disk(path)
            topics = Topics.from_disk(path, meta["topics"]) if meta["topics"] else None
            abbreviations = AliasPriors.empty()
            if meta["abbreviations"]:
                abbreviations = AliasPriors.from_disk(path, _ABBREVIATIONS)
        if not (vectors.width, len(vectors), len(rows)) == (meta["width"], meta["rows"], meta["rows"]):
            got = f"{len(vectors)} vectors of width {vectors.width} and {len(rows)} row entries"
            raise damaged(path, KIND, f"{meta['rows']} rows of width {meta['width']}", got)
        index = cls(
            vectors,
            rows,
            priors,
            kb_fingerprint=meta["kb_fingerprint"],
            encoder_fingerprint=meta["encoder_fingerprint"],
            kinds=tuple(meta["kinds"]),
            topics=topics,
            abbreviations=abbreviations,
        )
        index.path, index._fingerprint = path.resolve(), meta["fingerprint"]
        index.check_built_for(kb, encoder)
        return index

    def check_built_for(self, kb: KnowledgeBase | None, encoder: Encoder | None) -> None:
        """Raises:
        PelError: if the index was built from another knowledge base or with another encoder, or names rows that
            the knowledge base has not.
        """
        parts = (("knowledge base", self.kb_fingerprint, kb), ("encoder", self.encoder_fingerprint, encoder))
        for what, theirs, part in parts:
            if part is not None and theirs != part.fingerprint:
                path = self.path or "the given bytes"
                raise PelError(Errors.E401.format(path=path, what=what, theirs=theirs, ours=part.fingerprint))
        if kb is not None:
            counts = {"priors.arrow": self.priors, _ABBREVIATIONS: self.abbreviations}
            # -1: no entity
            rows = {file: np.where(part.kb_rows == -1, 0, part.kb_rows) for file, part in counts.items()}
            rows["rows.arrow"] = self.rows.kb_rows
            rows |= {PAIRS: self.topics.kb_rows} if self.topics else {}
            for file in (file for file, kb_rows in rows.items() if not in_range(kb_rows, kb.n_rows)):
                expected = f"rows of the knowledge base in {file}"
                raise damaged(self.path or "the given bytes", KIND, expected, "other numbers")

    def to_bytes(self) -> bytes:
        """The index folder as bytes.

        Raises:
            PelError: if they are more than 2 GiB.
        """
        return save_to_bytes(self.to_disk, kind=KIND)

    @classmethod
    def from_bytes(cls, data: Buffer) -> "EntityIndex":
        """Raises:
        PelError: if this is not what ``to_bytes`` returned.
        """
        index = load_from_bytes(data, cls.from_disk, kind=KIND)
        index.path = None
        return index

    def __reduce__(self) -> Any:
        with suppress(PelError):
            if self.path is not None and EntityIndex.from_disk(self.path).fingerprint == self.fingerprint:
                # another process can map the same files: nothing is copied
                return reopened, (EntityIndex.from_disk, "index", str(self.path), self.fingerprint)
        return EntityIndex.from_bytes, (self.to_bytes(),)


def _training_sample(
    kb: KnowledgeBase, encoder: Encoder, index: VectorIndex, kinds: Sequence[str], linked: LinkedMentions
) -> Vectors:
    """What an index learns its codes from; none if it needs no training."""
    parts: list[Vectors] = [np.empty((0, encoder.width), dtype=np.float32)]
    if index.needs_training:
        entities = embed_entities(kb, encoder, sample_rows(kb.live_rows, _SAMPLE), kinds)
        mentions = embed_mentions(encoder, linked.sampled(_SAMPLE))
        parts += [chunk.vectors for chunk in chain(entities, mentions)]
    return np.concatenate(parts)
