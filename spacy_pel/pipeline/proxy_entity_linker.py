"""The component: links the mentions of documents to a knowledge base, or to NIL."""

import copy
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copyreg import __newobj__  # type: ignore[attr-defined]
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from spacy.language import Language
from spacy.pipeline.pipe import Pipe
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..corpora.document_stream import by_mentions
from ..errors import Errors, PelError, Warnings
from ..index import TEXT_KINDS, EntityIndex
from ..kb import KnowledgeBase
from ..kb.sources import not_of, pipeline_entries
from ..linking import Correction, Learned, Link, Linker, Memory, MentionQuery, Reranker
from ..linking.calibration import collect, fit
from ..linking.decider import Decider
from ..linking.explanation import Explanation, explain
from ..types import NIL, CandidateGenerator, Combiner, Document, Encoder, Entity, NilModel, Ranker, Rows, VectorIndex
from ..types.semantic_types import label_names
from ..util import logger, read_json, write_json
from ..util.config import load_config
from ..util.files import PathLike
from ..util.parsing import json_object
from ..util.saved_folder import check_folder, pack_files, read_whole, unpack_files
from .gold import corrected_mentions, documents_of, query_maker, reference_of, term_reader
from .linker_data import (
    CALIBRATION,
    KIND,
    MEMORY,
    VERSION,
    LinkerData,
    learned_state,
    load_learned_state,
    update_linker_folder,
    warn_of_other_reading,
)
from .mentions import PHRASE, add_extensions, mention_spans, span_queries, write_groups, write_links
from .settings import LinkerSettings, check_parts
from .terms import PairCheck, TermMatch, check_pairs, match_terms

Links = list[list[Link | None]]
_CONFIG = "config.cfg"  # of a pipeline
_KEPT = 20_000  # entities whose names, types and cross references are kept
AnswerT = TypeVar("AnswerT", Link, Explanation)
WeightsT = TypeVar("WeightsT", Encoder, Ranker)
# settings that the linker has, too
_IN_LINKER = ("top_k", "threshold", "batch_size", "coverage", "nil_share", "read_context")


class ProxyEntityLinker(Pipe):
    """Sets ``kb_id_`` of the mentions, and ``span._.pel_id``, ``pel_name``, ``pel_types``,
    ``pel_xrefs``, ``pel_candidates``, ``pel_nil_score``, ``pel_probability``, ``pel_relation`` and ``pel_set``.

    Its settings are attributes, see LinkerSettings, and checked whenever they are set. They may be changed at any
    time, except the parts, and ``entity_types``, ``form_cache``, ``max_length`` and ``precision``, which are read with
    the data. What was set is saved.

    Attributes:
        nlp: the pipeline, whose lists of short forms count for terms without a text.
        configs: the configs of the pipeline's components, by name; settings are written to its own.

    Args:
        name: the component's name in the pipeline.
        encoder, index, combiner, nil_model, reranker, generator: the parts, without data; encoder and index are
            None for a generator that needs no vectors.
        scorer: called by ``nlp.evaluate``.
        settings: of LinkerSettings.

    Raises:
        PelError: if a setting cannot be used.
    """

    _linker: Linker | None = None  # once there is data
    _has_warned = False  # of documents that no detector has read
    nlp: Any = None
    configs: Mapping[str, dict[str, Any]] = {}  # of no pipeline

    def __init__(
        self,
        name: str = "proxy_entity_linker",
        *,
        encoder: Encoder | None,
        index: VectorIndex | None,
        combiner: Combiner,
        nil_model: NilModel,
        reranker: Ranker | None = None,
        generator: CandidateGenerator | None = None,
        scorer: Callable | None = None,
        **settings: Any,
    ):
        parts = {"encoder": encoder, "index": index, "combiner": combiner, "nil_model": nil_model, "scorer": scorer}
        check_parts(**parts, generator=generator)
        self.name = name
        self.settings = LinkerSettings(**settings)
        set_precision(self.settings.precision, [encoder, reranker])
        self.data = LinkerData(encoder=encoder, generator=generator, ranker=reranker)
        self.vector_index = index
        self.combiner = combiner
        self.nil_model = nil_model
        self.reranker = None if reranker is None else Reranker(reranker)
        self.scorer = scorer
        self.pipeline_meta: dict[str, Any] = {}  # of the nlp object; its sources are kept true
        add_extensions(self.settings.extension_prefix)

    def __getattr__(self, name: str) -> Any:
        if name not in LinkerSettings.model_fields or "settings" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.settings, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in LinkerSettings.model_fields:
            super().__setattr__(name, value)
            return
        setattr(self.settings, name, value)
        if self.name in self.configs:
            self.configs[self.name][name] = self.settings.model_dump()[name]
        if name in _IN_LINKER and self._linker is not None:
            setattr(self._linker, name, getattr(self.settings, name))
        if name == "read_context" and self._linker is not None:
            warn_of_other_reading(self._linker, name=self.name)
        if name == "extension_prefix":
            add_extensions(self.settings.extension_prefix)

    # -- what the component holds ------------------------------------------------------------

    @property
    def linker(self) -> Linker:
        """Links mentions, independently of spaCy.

        Raises:
            PelError: if the component is not initialised.
        """
        if self._linker is None:
            raise PelError(Errors.E502.format(name=self.name, missing="knowledge base, weights and index"))
        return self._linker

    @property
    def kb(self) -> KnowledgeBase:
        """The entities. RAISES (PelError): if the component is not initialised."""
        return self.linker.kb

    @property
    def index(self) -> EntityIndex | None:
        """Their vectors; None for a generator that needs none.

        Raises:
            PelError: if the component is not initialised.
        """
        return self.linker.index

    @property
    def encoder(self) -> Encoder | None:
        """As it is saved; ``linker.encoder`` may read another length."""
        return self.data.encoder

    @property
    def is_initialized(self) -> bool:
        """Whether data was loaded."""
        return self._linker is not None

    @property
    def _fitted(self) -> Decider | None:
        """What decides, with its calibration; None without data."""
        return None if self._linker is None else self._linker.decider

    def _use(self, data: LinkerData, fitted: Decider | None = None) -> None:
        """Link with this data from now on.

        Args:
            data: knowledge base and parts.
            fitted: from ``_fitted``; None = nothing is fitted.

        Raises:
            PelError: if something is missing, or ``entity_types`` or ``max_length`` do not suit it.
        """
        if data.kb is None:
            raise PelError(Errors.E502.format(name=self.name, missing="knowledge base"))
        set_precision(self.settings.precision, [data.encoder, data.ranker])
        if self.reranker is not None and data.ranker is not None:
            self.reranker.ranker = data.ranker
        settings = self.settings
        encoder = None if data.encoder is None else _with_max_length(data.encoder, settings.max_length)
        linker = Linker(
            data.kb,
            encoder,
            data.index,
            self.combiner,
            self.nil_model,
            entity_types=settings.entity_types,
            form_cache=settings.form_cache,
            reranker=self.reranker,
            generator=data.generator,
            memory=Memory() if data.memory is None else data.memory,
            **{name: getattr(settings, name) for name in _IN_LINKER},
        )
        if fitted is not None:
            linker.decider = fitted
        self._linker = linker
        self.data = replace(data, memory=linker.memory)
        data.kb.on_change(self._on_kb_change)
        self._tell_sources()

    def _tell_sources(self) -> None:
        """Write what the knowledge base has now into meta.json of the pipeline."""
        meta, kb, pipes = self.pipeline_meta, self.kb, dict(getattr(self.nlp, "_components", ()))
        if not pipes:  # of no pipeline, or of one that is being unpickled, whose meta.json is true
            return
        name = next((key for key, pipe in pipes.items() if pipe is self), self.name)  # nlp.rename_pipe tells no pipe
        counted = meta.get("knowledge_bases", {})
        others = {key: counts for key, counts in counted.items() if key in pipes and key != name}
        own = pipeline_entries(kb.sources, name)
        meta["sources"] = [*not_of({name, *counted} - others.keys(), meta.get("sources")), *own]
        meta["knowledge_bases"] = {**others, name: {key: kb.meta["counts"][key] for key in ("entities", "aliases")}}

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        kb_loader: Callable[[], KnowledgeBase] | None = None,
        encoder_loader: Callable[[Encoder], Encoder] | None = None,
        index_loader: Callable[[KnowledgeBase, Encoder], EntityIndex] | None = None,
        reranker_loader: Callable[[Ranker], Ranker] | None = None,
        generator_loader: Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator] | None = None,
    ) -> None:
        """Load or build what the component needs.

        Args:
            get_examples: linked examples, for an index with rows of kind "mention".
            nlp: not used.
            kb_loader: "spacy-pel.KBFromDisk.v1". None = keep the current KB.
            encoder_loader: "spacy-pel.EncoderFromDisk.v1". None = the weights
                that the encoder's own settings name.
            index_loader: "spacy-pel.IndexFromDisk.v1". None = embed the KB now.
            reranker_loader: "spacy-pel.RankerFromDisk.v1". None = the weights that
                the reranker's own settings name, if there is a reranker.
            generator_loader: "spacy-pel.GeneratorFromDisk.v1". None = build the
                generator for the KB now, if there is one.

        Raises:
            PelError: if there is no KB, a loader has nothing to load, or the parts are not compatible.
        """
        if kb_loader is None and not self.is_initialized:
            raise PelError(Errors.E502.format(name=self.name, missing="kb_loader, so no knowledge base"))
        encoder, generator, ranker = self.data.encoder, self.data.generator, self.data.ranker
        loaded = {"encoder": encoder_loader, "index": index_loader, "reranker": reranker_loader}
        parts = {"encoder": encoder, "index": self.vector_index, "reranker": ranker, "generator": generator}
        for setting, loader in {**loaded, "generator": generator_loader}.items():
            if parts[setting] is None and loader is not None:
                raise PelError(Errors.E513.format(name=self.name, setting=setting))
        kb = self.kb if kb_loader is None else kb_loader()
        if encoder is not None:
            encoder = _with_weights(encoder, encoder_loader)
        if ranker is not None:
            ranker = _with_weights(ranker, reranker_loader)
        index = None
        if encoder is not None and self.vector_index is not None:
            if index_loader is not None:
                index = index_loader(kb, encoder)
            else:
                documents = documents_of(get_examples()) if set(self.settings.row_kinds) & set(TEXT_KINDS) else []
                index = EntityIndex.build(
                    kb, encoder, index=self.vector_index, kinds=self.settings.row_kinds, documents=documents
                )
        if generator is not None and generator_loader is not None:
            generator = generator_loader(kb, generator)
        elif generator is not None:
            generator.build(kb)
        memory = self.data.memory
        if memory and kb_loader is not None:
            logger.warning(Warnings.W509.format(name=self.name, n=len(memory)))
            memory = None
        if memory is not None:
            memory.check_made_with(encoder)
        self._use(LinkerData(kb, encoder, index, generator, ranker, memory))

    def add_entities(self, entities: Iterable[Entity]) -> None:
        """Add entities, or replace those whose ids the KB has. They are linkable at once,
        without training, and saved by ``nlp.to_disk``.

        Args:
            entities: new or changed entities, each id once.

        Raises:
            PelError: if one is not a valid entity, or an id is given twice; nothing is changed then.
        """
        self.kb.put(entities)

    def retire(self, ids: Iterable[str], successor: Mapping[str, str] | None = None) -> None:
        """Retire entities: they are no longer linked. ``nlp.to_disk`` saves them as retired.

        Args:
            ids: live ids.
            successor: id -> the id that replaces it.

        Raises:
            PelError: if an id or a successor is not live; nothing is changed then.
        """
        self.kb.retire(ids, successor)

    def rename(self, names: Mapping[str, str], *, keep_old: bool = True) -> None:
        """Give entities other canonical names, which are linkable at once and saved by ``nlp.to_disk``. Ids
        stay; to replace an id, add an entity with the new one and retire the old one with that as successor.

        Args:
            names: live id -> its new name.
            keep_old: keep the old name as an alias; otherwise the entity loses it.

        Raises:
            PelError: if an id is not live or a name is empty; nothing is changed then.
        """
        self.kb.rename(names, keep_old=keep_old)

    def _on_kb_change(self, kb: KnowledgeBase, rows: Rows) -> None:
        """Bring index and generator up to date after a change of the knowledge base, whoever made it."""
        if self._linker is None or kb is not self._linker.kb:
            return
        if self.index is not None and self.encoder is not None:
            self.index.add_entities(kb, self.encoder, rows)
        self._linker.generator.add_entities(kb, rows)
        self._linker.refresh()
        self._tell_sources()

    def calibrate(self, nlp: Language, documents: Iterable[Document]) -> None:
        """Fit combiner, NIL model and threshold on gold mentions, prepared as at inference. A ``threshold``
        in the settings takes precedence over the fitted one.

        Args:
            nlp: the pipeline with this component.
            documents: a development set with NIL mentions.
        """
        ask = query_maker(nlp, name=self.name)
        documents = list(documents)
        queries = [query for document in documents for query in ask(document)]
        fit(self.linker, [collect(self.linker, queries, documents)])

    # -- memory ------------------------------------------------------------------------------

    def learn(self, docs: Iterable[Doc | Example], *, by: str = "", always: bool = False) -> list[Learned]:
        """Make corrected mentions count from now on, without training. A mention of the same surface form in
        a similar context gets the same answer, see ``linking/corrections/matching.py``; in addition, corrections are
        evidence, like annotated mentions in the index. ``nlp.to_disk`` saves them.

        Args:
            docs: documents whose mentions have the right id, or "NIL", as
                ``kb_id_``; of an Example the reference. Mentions without an id do not count, nor do mentions that
                still have the id that this component gave them. If the document does not tell which id that was,
                mentions with the id that the component gives them now do not count. A document's id in the log
                is ``doc.user_data["id"]``, if there is one.
            by: who corrected them, for the log.
            always: their surface forms have these answers in all texts, whatever annotated text says.

        Returns:
            The new entries of the log; a correction that is in it already adds none.

        Raises:
            PelError: if there is no corrected mention, or an id is not that of a live entity; nothing is
                learned then.
        """
        if isinstance(docs, (Doc, Example)):
            docs = [docs]
        queries: list[MentionQuery] = []
        corrections: list[Correction] = []
        for doc in map(reference_of, docs):
            spans, of_doc = corrected_mentions(doc, self.settings.spans_key)
            queries += self._queries(doc, spans) if spans else []
            corrections += [replace(correction, always=always) for correction in of_doc]
        if not corrections:
            raise PelError(Errors.E532)
        return self.linker.learn(queries, corrections, by=by)

    def unlearn(self, ids: int | Iterable[int], *, by: str = "") -> list[Learned]:
        """Undo corrections: links are again exactly what they are without them.

        Args:
            ids: of entries of ``learned``.
            by: who undoes them, for the log.

        Returns:
            These entries.

        Raises:
            PelError: if an entry is unknown or undone already; nothing is undone then.
        """
        return self.linker.unlearn(ids if isinstance(ids, Iterable) else [ids], by=by)

    def forget(self) -> None:
        """Forget all corrections, and delete their log with its texts: ``to_disk`` saves none of it.

        Raises:
            PelError: if the component is not initialised.
        """
        self._use(replace(self.data, memory=None), self._fitted)

    @property
    def learned(self) -> list[Learned]:
        """The corrections in effect; ``linker.memory.log`` has also what was undone.

        Raises:
            PelError: if the component is not initialised.
        """
        return self.linker.memory.learned

    def explain(self, span: Span) -> Explanation:
        """Why is a mention linked as it is?

        Args:
            span: a mention, linked or not, of a document that the components before this one have
                processed. Its label counts as in linking.

        Returns:
            The answer that the pipeline gives, with the evidence for each candidate.

        Raises:
            PelError: if this is not a span of text.
        """
        if not isinstance(span, Span):
            raise PelError(Errors.E011.format(expected="a Span, such as doc.ents[0]", got=type(span).__name__))
        (query,) = self._queries(span.doc, [span])
        return self._as_phrase(span, explain(self.linker, query, written=span.text))

    # -- lists of terms ----------------------------------------------------------------------

    def map(
        self, terms: Iterable[str | Span], *, types: Sequence[str] = (), top_k: int = 5, always: bool = False
    ) -> list[TermMatch]:
        """What do terms mean that stand alone, as in a table?

        Args:
            terms: texts, or spans, which are read in their documents.
            types: of each term the types that its entity may have, or ids with all that is below them, with "|" between
                several; "" = any. Empty = none has any.
            top_k: alternatives of each.
            always: never answer NIL, but for want of candidates, or because a correction or a list says so.

        Returns:
            One for each, in order; a term that comes again is linked once.

        Raises:
            PelError: if the knowledge base lacks a type.
        """
        matches = match_terms(self.linker, self._read(terms := [*terms]), types, top_k=top_k, always=always)
        return [replace(match, term=str(term)) for match, term in zip(matches, terms, strict=True)]

    def check(self, pairs: Iterable[tuple[str | Span, str]]) -> list[PairCheck]:
        """Do ids mean what texts say?

        Args:
            pairs: a text, or a span, which is read in its document; and an id, or a code in another vocabulary. "|"
                stands between several of which any is right.

        Returns:
            One for each, in order.
        """
        texts, ids = zip(*pairs, strict=True) if (pairs := list(pairs)) else ((), ())
        return check_pairs(self.linker, texts, self._read(texts), ids, [""] * len(ids))

    def _read(self, terms: Sequence[str | Span]) -> list[MentionQuery]:
        read = term_reader(self.nlp, self)
        return [self._queries(one.doc, [one])[0] if isinstance(one, Span) else read(one) for one in terms]

    # -- use ---------------------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Link the mentions of a document in place."""
        return next(self._linked([doc]), doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link a stream of documents; mentions of several documents are batched.

        Args:
            stream: documents.
            batch_size: maximum number of documents held; they are linked as soon as they have as
                many mentions as the component's own ``batch_size``.

        Yields:
            In order.
        """

        def count(doc: Doc) -> int:
            return len(mention_spans(doc, self.settings.spans_key))

        for docs in by_mentions(stream, count, n_mentions=self.settings.batch_size, n_docs=batch_size):
            yield from self._linked(docs)

    def _linked(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        """Linked; where a batch fails, one by one, without those that fail on their own."""
        try:
            self.set_annotations(docs, self.predict(docs))
        except Exception as err:
            if len(docs) == 1:  # spaCy's contract: the handler decides
                self.get_error_handler()(self.name, self, list(docs), err)
                return
            for doc in docs:
                yield from self._linked([doc])
            return
        yield from docs

    def predict(self, docs: Iterable[Doc]) -> Links:
        """Link without writing.

        Args:
            docs: documents with mentions.

        Returns:
            For each mention of each document; None = skipped.
        """
        docs = list(docs)
        spans = [mention_spans(doc, self.settings.spans_key) for doc in docs]
        if not self._has_warned and not all(map(self._is_annotated, docs)):
            self._has_warned = True
            key = self.settings.spans_key
            what = "no component before it has set doc.ents" if key is None else f"doc.spans has no group '{key}'"
            warnings.warn(Warnings.W512.format(name=self.name, what=what), stacklevel=2)
        wanted = [[span for span in mentions if self._wants(span)] for mentions in spans]
        queries = chain.from_iterable(self._queries(mentions[0].doc, mentions) for mentions in wanted if mentions)
        links = iter(self.linker.link(list(queries)))
        return [
            [self._as_phrase(span, next(links)) if self._wants(span) else None for span in mentions]
            for mentions in spans
        ]

    def _is_annotated(self, doc: Doc) -> bool:
        """Whether a detector has read it, and perhaps found no mention."""
        if self.settings.spans_key is not None:
            return self.settings.spans_key in doc.spans
        return not len(doc) or doc.has_annotation("ENT_IOB")

    def _as_phrase(self, span: Span, answer: AnswerT) -> AnswerT:
        """The answer. Before calibration, P(right) of a mention that was
        found without reading its context includes the probability that it is one."""
        phrase = span._.get(PHRASE)
        if phrase is None or answer.kb_id == NIL or answer.learned is not None:
            return answer
        if self.linker.decider.confidence.is_fitted:
            return answer
        return replace(answer, probability=answer.probability * phrase)

    def _queries(self, doc: Doc, spans: list[Span]) -> list[MentionQuery]:
        expand = self.settings.expand_abbreviations
        return span_queries(doc, spans, expand_abbreviations=expand, kb=self.linker.kb)

    def _wants(self, span: Span) -> bool:
        settings, names = self.settings, label_names(span.label_)
        is_kept = settings.labels_keep is None or not names.isdisjoint(settings.labels_keep)
        return is_kept and names.isdisjoint(settings.labels_discard) and (settings.overwrite or not span.kb_id_)

    def set_annotations(self, docs: Iterable[Doc], links: Links) -> None:
        """Write what ``predict`` returned.

        Args:
            docs: the same documents.
            links: their links; None = not changed.
        """
        ids = {link.kb_id for of_doc in links for link in of_doc if link is not None and link.kb_id != NIL}
        settings, entities = self.settings, self._entities(sorted(ids)) if ids else {}
        for doc, of_doc in zip(docs, links, strict=True):
            write_links(doc, of_doc, settings.spans_key, entities=entities, prefix=settings.extension_prefix)
            if settings.group_labels:
                write_groups(doc, settings.spans_key, prefix=settings.extension_prefix)

    def _entities(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """What is written of each entity that the knowledge base has; read once for the last thousands of them."""
        kb = self.linker.kb
        entities: dict[str, dict[str, Any]] = kb.memo.get("written", {})  # another memo after each change
        if not entities or len(entities) > _KEPT:
            entities = kb.memo["written"] = {}
        if unread := [entity_id for entity_id in ids if entity_id not in entities]:
            rows = kb.rows(unread)
            present = np.flatnonzero(rows >= 0)
            cells = zip(*kb.cells_at(rows[present], "canonical_name", "types", "xrefs"), strict=True)
            for number, (name, types, xrefs) in zip(present.tolist(), cells, strict=True):
                entities[unread[number]] = {"name": name, "types": tuple(types), "xrefs": tuple(xrefs)}
        return entities

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's; gold ids that the KB lacks count as NIL."""
        if self.scorer is None:
            return {}
        shared = {name: getattr(self.settings, name) for name in ("spans_key", "extension_prefix")}
        return self.scorer(examples, **{**shared, "resolve": self.kb.resolve, **kwargs})

    # -- disk, bytes, pickle -----------------------------------------------------------------

    def to_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> None:
        """Write a folder for the KB and for each part, ``cfg.json`` with the calibration, and the manifest.

        Args:
            exclude: any of "kb", "encoder", "index", "generator", "reranker", "memory", "cfg":
                what is there of them stays as it is.

        Raises:
            PelError: if the component is not initialised, or the files cannot be written.
        """
        linker, exclude = self.linker, set(exclude)
        self._tell_sources()
        rewritten = {*self.data.parts, MEMORY} - exclude
        if "cfg" not in exclude:
            rewritten.add(CALIBRATION)
        with update_linker_folder(Path(path), rewritten=rewritten) as part:
            self.data.to_disk(part, exclude=exclude)
            if "cfg" not in exclude:
                write_json(
                    part / CALIBRATION, {**learned_state(linker), **self._unlike_config(Path(path))}, indent=None
                )

    def from_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> "ProxyEntityLinker":
        """Read what ``to_disk`` wrote; KB and index are memory-mapped. Excluded parts are not changed.

        Raises:
            PelError: if something is missing or damaged, or the parts do not belong together.
        """
        path = Path(path)

        def read() -> None:
            check_folder(path, kind=KIND, version=VERSION)
            saved = {} if "cfg" in exclude else read_json(path / CALIBRATION)
            is_alone = not (path.parent / _CONFIG).is_file()
            for name, (in_config, value) in saved.get("settings", {}).items():
                if is_alone or getattr(self, name) == in_config:  # else it was given to spacy.load
                    setattr(self, name, value)
            self._use(self.data.load(path, exclude=exclude), self._fitted if "cfg" in exclude else None)
            if saved:
                load_learned_state(self.linker, saved, name=self.name)

        read_whole(path, read)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """What ``to_disk`` would write.

        Raises:
            PelError: if the component is not initialised, or holds more than 2 GiB.
        """
        linker = self.linker
        files: dict[str, bytes] = self.data.to_bytes(exclude=exclude)
        if "cfg" not in exclude:
            state = {**learned_state(linker), "settings": self.settings.model_dump()}
            files[CALIBRATION] = json.dumps(state).encode("utf8")
        return pack_files(files, kind=KIND)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ProxyEntityLinker":
        """Read what ``to_bytes`` returned. Parts excluded here or there are not changed.

        Raises:
            PelError: if the bytes are not from ``to_bytes``.
        """
        files = {name: part for name, part in unpack_files(data, kind=KIND).items() if name not in exclude}
        has_calibration = CALIBRATION in files and "cfg" not in exclude
        saved: dict[str, Any] = {}
        if has_calibration:
            saved = json_object(str(files[CALIBRATION], "utf8", "replace"), f"{CALIBRATION} in the given bytes")
            if not isinstance(saved.get("settings"), dict):
                raise PelError(Errors.E008.format(kind=KIND, got=f"{CALIBRATION} without settings"))
            for name, value in saved["settings"].items():
                setattr(self, name, value)
        self._use(self.data.from_bytes(files), None if has_calibration else self._fitted)
        if has_calibration:
            load_learned_state(self.linker, saved, name=self.name)
        return self

    def _unlike_config(self, path: Path) -> dict[str, Any]:
        """The settings that the config beside the component's folder has not as they are, both values of each; all of
        them where there is no config."""
        config, settings = path.parent / _CONFIG, self.settings.model_dump()
        there: dict[str, Any] = {}
        if config.is_file():
            components = load_config(config, {}).get("components", {})
            there = LinkerSettings().model_dump() | components.get(path.name, {})
        unlike = {name: (there.get(name), value) for name, value in settings.items() if there.get(name, ...) != value}
        return {"settings": unlike} if unlike else {}

    def __reduce__(self) -> Any:
        # the base class is C code, whose attribute ``name`` is not in __dict__; a KB or index on disk is
        # pickled as its path
        attributes = {**self.__dict__, "_linker": None}
        return __newobj__, (type(self),), (self.name, attributes, self._fitted)

    def __setstate__(self, state: Any) -> None:
        self.name, attributes, fitted = state
        self.__dict__.update(attributes)
        add_extensions(self.settings.extension_prefix)
        if fitted:  # there is data
            self._use(self.data, fitted)


def set_precision(precision: str | None, parts: Iterable[Any]) -> None:
    """Set the precision of the backends of parts; None, and parts without such a choice, change nothing."""
    for part in parts:
        backend: Any = getattr(part, "backend", None)
        if precision is not None and hasattr(backend, "precision"):
            backend.precision = precision


def _with_weights(part: WeightsT, loader: Callable[[WeightsT], WeightsT] | None) -> WeightsT:
    """An encoder or ranker with weights: those of the loader, or of its own settings."""
    if loader is not None:
        return loader(part)
    part.initialize()
    return part


def _with_max_length(encoder: Encoder, max_length: int | None) -> Encoder:
    """An encoder that reads more or less context than it was trained with: the given one, or a copy that shares its
    weights. The vectors of entities do not change, so the index stays valid, and the given encoder is saved unchanged.

    Args:
        encoder: with its weights.
        max_length: word pieces, special tokens included; None = as in training.

    Raises:
        PelError: if the encoder has no template with such a limit.
    """
    if max_length is None:
        return encoder
    template: Any = getattr(encoder, "mention_template", None)
    if not hasattr(template, "max_length"):
        raise PelError(Errors.E504.format(encoder=type(encoder).__name__))
    reader: Any = copy.copy(encoder)
    reader.mention_template = type(template)(**{**template.settings, "max_length": max_length})
    return reader  # type: ignore[no-any-return]
