"""What a server does with a pipeline: link, explain, look up, search, learn. Knows nothing of HTTP."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from ..corpora.document_stream import process_documents
from ..errors import Errors, PelError
from ..evaluation.links import entity_url
from ..index.annotated_text import FormsInText
from ..linking import Correction, Learned, Memory
from ..linking.explanation import explain
from ..pipeline.detectors.name_finder import read_names
from ..pipeline.gold import queries_of, query_maker, term_reader
from ..pipeline.linker_data import save_memory, saved_memory
from ..pipeline.mentions import document_record
from ..types import NIL, Document, Entity, Mention
from ..types.semantic_types import SEMANTIC_GROUPS, TYPE_LABELS, label_group, type_group, type_name
from ..util import normalize_alias
from .guard import RequestError

_BATCH = 8  # texts that are linked together; between two batches the work can be stopped
Record = dict[str, Any]


class Service:
    """A loaded pipeline that answers.

    ``link``, ``explain``, ``similar``, ``learn`` and ``unlearn`` need the model: call them in one thread.
    ``entity``, ``entities`` and ``search`` only read the knowledge base, which does not change.

    Args:
        nlp: the pipeline.
        name: of the component that links.
        title: what the page calls the pipeline.
        folder: of the component; corrections are saved there. None = they are kept in memory.
    """

    def __init__(self, nlp: Any, name: str, *, title: str, folder: Path | None = None):
        self.nlp = nlp
        self.component: Any = nlp.get_pipe(name)
        self.title = title
        self.folder = folder
        self._ask = query_maker(nlp, name=name)
        read_names(nlp)
        self.learned = self._learned_records()  # the corrections in effect, as they were after the last change

    @property
    def saves(self) -> bool:
        """Whether corrections are saved."""
        return self.folder is not None

    # -- linking -----------------------------------------------------------------------------

    def link(self, documents: Sequence[Document], n_candidates: int, is_wanted: Callable[[], bool]) -> list[Record]:
        """Link documents.

        Args:
            documents: without mentions.
            n_candidates: how many candidates of each mention to keep.
            is_wanted: asked between batches.

        Returns:
            The records that the command ``link`` writes; one without mentions has
            an "error" where the pipeline failed.

        Raises:
            PelError: if the result is no longer wanted, or the pipeline failed on all documents.
        """
        records: list[Record] = []
        for start in range(0, len(documents), _BATCH):
            if not is_wanted():
                raise RequestError(Errors.E725, status=503)
            batch = documents[start : start + _BATCH]
            # without a memory zone the vocabulary keeps each word that it has seen
            with self.nlp.memory_zone():
                for processed in process_documents(self.nlp, batch, batch_size=_BATCH):
                    unlinked = {"text": processed.document.text, "mentions": [], "meta": processed.document.meta}
                    records.append(unlinked | document_record(self.component, processed, n_candidates))
        if all("error" in record for record in records):
            raise RequestError(Errors.E606.format(id=records[0]["id"], got=records[0]["error"]))
        return records

    def explain(self, text: str, start: int, end: int, label: str, n_candidates: int) -> Record:
        """Explain the answer to a mention.

        Args:
            text: the document.
            start, end: the mention's offsets.
            label: its NER label, "" = none.
            n_candidates: how many candidates to show.

        Returns:
            An ``Explanation`` as JSON data, and ``difference``: what puts the first
            candidate ahead of the second one.

        Raises:
            PelError: if there is no mention at these offsets.
        """
        if not 0 <= start < end <= len(text) or not text[start:end].strip():
            raise RequestError(Errors.E736.format(last=len(text), start=start, end=end))
        with self.nlp.memory_zone():
            (query,) = self._ask(Document("", text, [Mention(start, end, label)]))
            explanation = explain(self.component.linker, query, written=text[start:end])
        difference = explanation.difference
        record = asdict(replace(explanation, candidates=explanation.candidates[:n_candidates]))
        for candidate in record["candidates"]:
            candidate["type_names"] = list(map(type_name, candidate["types"]))
        if explanation.learned is not None:
            record["learned"] = self._with_names(explanation.learned)
        return to_jsonable_python({**record, "difference": difference}, inf_nan_mode="null")  # type: ignore[no-any-return]

    # -- the knowledge base ------------------------------------------------------------------

    def entity(self, entity_id: str) -> Record:
        """An entity, of a retired id its successor.

        Raises:
            RequestError: if there is none.
        """
        entities = self.entities([entity_id])
        if not entities:
            raise RequestError(Errors.E734.format(got=repr(entity_id[:100])), status=404)
        return entities[0]

    def entities(self, ids: Iterable[str]) -> list[Record]:
        """The entities that there are, once each, in order."""
        kb, index = self.component.kb, self.component.linker.index
        live = [kb[entity_id] for entity_id in dict.fromkeys(map(kb.resolve, ids)) if entity_id is not None]
        forms = [None if index is None else asdict(FormsInText.of(index.priors, kb, entity)) for entity in live]
        return [{**_entity_record(entity), "forms": of} for entity, of in zip(live, forms, strict=True)]

    def search(self, text: str, n: int) -> list[Record]:
        """Id, name, types of the entities with such a name, best first, and
        ``match``, the name that was found."""
        kb = self.component.kb
        return [_match_record(kb[entity_id], match=name) for entity_id, name in kb.search(text, n)]

    def similar(self, text: str, n: int) -> list[Record]:
        """As ``search``: the candidates that the linker finds for a text."""
        if not text.strip():
            return []
        kb = self.component.kb
        with self.nlp.memory_zone():
            (link,) = self.component.linker.link([term_reader(self.nlp, self.component)(text)], top_k=n)
        return [_match_record(kb[entity_id], match=None) for entity_id in link.ids[:n]]

    # -- corrections -------------------------------------------------------------------------

    def learn(self, corrections: Sequence[Correction], by: str) -> list[Record]:
        """Make corrections count from now on, and save them, if that was asked for.

        Args:
            corrections: mentions with their right answers.
            by: who corrected them.

        Returns:
            The new entries; none for what was known.

        Raises:
            PelError: if one cannot be learned, in which case none is, or another process changed the saved
                memory at the same time.
        """

        def change() -> list[Learned]:
            with self.nlp.memory_zone():
                queries = queries_of(corrections, self._ask)
                return self.component.linker.learn(queries, corrections, by=by)  # type: ignore[no-any-return]

        return list(map(self._with_names, self._changed(change)))

    def unlearn(self, ids: Sequence[int], by: str) -> list[Record]:
        """The corrections that are undone.

        Raises:
            PelError: if one is unknown or undone, in which case none is undone, or another process changed the
                saved memory at the same time.
        """
        return list(map(self._with_names, self._changed(lambda: self.component.unlearn(ids, by=by))))

    def _changed(self, change: Callable[[], list[Learned]]) -> list[Learned]:
        """What ``change`` did to the memory; the same is on disk, if it is saved."""
        if self.folder is not None:
            self._use_if_changed(saved_memory(self.folder))
        n_lines = len(self._memory.log)
        entries = change()
        if self.folder is not None and entries:
            try:
                save_memory(self.folder, self._memory, n_lines=n_lines)
            except BaseException as err:
                before = saved_memory(self.folder)
                self._use_if_changed(before)
                if len(before.log) != n_lines:
                    raise RequestError(Errors.E735, status=409) from err
                if isinstance(err, PelError):
                    raise RequestError(str(err), status=507) from err
                raise
        self.learned = self._learned_records()
        return entries

    @property
    def _memory(self) -> Memory:
        return self.component.linker.memory  # type: ignore[no-any-return]

    def _use_if_changed(self, memory: Memory) -> None:
        """Replace the memory by the saved one, which counts, also where ``teach`` changed it."""
        if memory.log == self._memory.log:
            return
        memory.check_made_with(self.component.encoder)
        self.component.data = replace(self.component.data, memory=memory)
        self.component.linker.memory = memory
        self.component.linker.refresh()
        self.learned = self._learned_records()

    def _learned_records(self) -> list[Record]:
        return list(map(self._with_names, self.component.learned))

    def _with_names(self, entry: Learned) -> Record:
        record = asdict(entry) | asdict(self.component.linker.learned_mentions.reach(entry.id))
        return record | {f"{key}_name": self._name_of(record[key]) for key in ("before", "after", "rival")}

    def _name_of(self, entity_id: str | None) -> str | None:
        kb = self.component.kb
        row = -1 if entity_id in (NIL, None) else kb.row(entity_id)
        return kb.name_at(row) if row >= 0 else None

    # -- what it is --------------------------------------------------------------------------

    def facts(self) -> Record:
        """What the page says about the pipeline."""
        linker = self.component.linker
        facts: Record = {"pipeline": self.title, "entities": len(linker.kb)}
        facts["calibrated"] = linker.decider.is_calibrated
        facts["label_groups"] = {label: _group(label_group(label)) for label in TYPE_LABELS}
        return {**facts, "saves": self.saves, "corrections": len(self.learned)}


def _entity_record(entity: Entity) -> Record:
    return {
        "id": entity.concept_id,
        "name": entity.canonical_name,
        "aliases": list(entity.aliases),
        **_types(entity),
        **_group(type_group(entity.types)),
        "definition": entity.definition,
        "xrefs": [{"id": xref, "url": entity_url(xref)} for xref in entity.xrefs],
        "url": entity_url(entity.concept_id),
    }


def _group(group: str) -> Record:
    return {"group": group, "group_name": SEMANTIC_GROUPS.get(group, "")}


def _types(entity: Entity) -> Record:
    return {"types": list(entity.types), "type_names": list(map(type_name, entity.types))}


def _match_record(entity: Entity, *, match: str | None) -> Record:
    names = (entity.canonical_name, *entity.aliases)
    written = next((name for name in names if normalize_alias(name) == match), match)
    return {"id": entity.concept_id, "name": entity.canonical_name, **_types(entity), "match": written}
