"""The component: links the mentions of documents to a knowledge base, or says NIL."""

from copyreg import __newobj__  # type: ignore[attr-defined]
from itertools import chain
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from spacy.language import Language
from spacy.pipeline.pipe import Pipe
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..errors import Errors, PelError
from ..index import EntityIndex
from ..kb import KnowledgeBase
from ..linking import Link, Linker, Reranker
from ..types import CandidateGenerator, Combiner, Document, Encoder, Entity, NilModel, Ranker, VectorIndex
from .checks import check_parts
from .gold import gold_queries
from .initializing import initialize_component
from .mentions import add_extensions, by_mentions, mention_spans, span_queries, write_links
from .reading_length import with_max_length
from .saving import component_from_bytes, component_from_disk, component_to_bytes, component_to_disk

PathLike = Union[str, Path]
Links = List[List[Optional[Link]]]


class ProxyEntityLinker(Pipe):
    """Writes ``kb_id_`` of the mentions, ``span._.pel_candidates`` and ``span._.pel_nil_score``.

    Settings are plain attributes and may be changed at any time, except ``entity_types``,
    ``max_length``, ``generator`` and ``reranker``, which are read when KB, encoder and index arrive.

    name (str): the component's name in the pipeline.
    encoder, index, combiner, nil_model: the parts, without data; no encoder and index (None) for a
        generator that reads no vectors.
    The other settings are explained at ``factory.make_proxy_entity_linker``.
    RAISES (PelError): if a setting cannot be used.
    """

    def __init__(
        self,
        name: str = "proxy_entity_linker",
        *,
        encoder: Optional[Encoder],
        index: Optional[VectorIndex],
        combiner: Combiner,
        nil_model: NilModel,
        top_k: int = 64,
        threshold: Union[None, float, Dict[str, float]] = None,
        batch_size: int = 256,
        overwrite: bool = True,
        labels_discard: Sequence[str] = (),
        max_length: Optional[int] = None,
        spans_key: Optional[str] = None,
        expand_abbreviations: bool = True,
        entity_types: Optional[Mapping[str, Sequence[str]]] = None,
        row_kinds: Sequence[str] = ("card", "alias"),
        reranker: Optional[Ranker] = None,
        generator: Optional[CandidateGenerator] = None,
        scorer: Optional[Callable] = None,
    ):
        for setting, value in (("top_k", top_k), ("batch_size", batch_size)):
            if value < 1:
                raise PelError(Errors.E507.format(name=setting, least=1, value=value))
        check_parts(generator, encoder, index)
        self.name = name
        self.encoder = encoder
        self.vector_index = index
        self.combiner = combiner
        self.nil_model = nil_model
        self.top_k = top_k
        self.threshold = threshold
        self.batch_size = batch_size
        self.overwrite = overwrite
        self.labels_discard = list(labels_discard)
        self.max_length = max_length
        self.spans_key = spans_key
        self.expand_abbreviations = expand_abbreviations
        self.entity_types = {label: list(types) for label, types in (entity_types or {}).items()}
        self.row_kinds = list(row_kinds)
        self.generator = generator
        self.reranker = None if reranker is None else Reranker(reranker)
        self.scorer = scorer
        self._linker: Optional[Linker] = None
        add_extensions()

    # -- what the component holds ------------------------------------------------------------

    @property
    def linker(self) -> Linker:
        """RETURNS (Linker): with the present settings.

        RAISES (PelError): if the component is not initialised.
        """
        if self._linker is None:
            raise PelError(Errors.E502.format(name=self.name, missing="knowledge base, weights and index"))
        self._linker.top_k = self.top_k
        self._linker.threshold = self.threshold
        self._linker.batch_size = self.batch_size
        return self._linker

    @property
    def kb(self) -> KnowledgeBase:
        """RETURNS (KnowledgeBase): the entities. RAISES (PelError): if the component is not initialised."""
        return self.linker.kb

    @property
    def index(self) -> Optional[EntityIndex]:
        """RETURNS (Optional[EntityIndex]): their vectors; None for a generator that reads none.

        RAISES (PelError): if the component is not initialised.
        """
        return self.linker.index

    @property
    def is_initialized(self) -> bool:
        """RETURNS (bool): is there data?"""
        return self._linker is not None

    def set_data(self, kb: KnowledgeBase, index: Optional[EntityIndex]) -> None:
        """Put KB and index in place; encoder and generator must have their data.

        kb (KnowledgeBase): the entities.
        index (Optional[EntityIndex]): built from ``kb`` with the component's encoder, if there is one.
        RAISES (PelError): if ``entity_types`` or ``max_length`` do not suit them.
        """
        self._linker = Linker(
            kb,
            None if self.encoder is None else with_max_length(self.encoder, self.max_length),
            index,
            self.combiner,
            self.nil_model,
            threshold=self.threshold,
            top_k=self.top_k,
            entity_types=self.entity_types,
            batch_size=self.batch_size,
            reranker=self.reranker,
            generator=self.generator,
        )

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        kb_loader: Optional[Callable[[], KnowledgeBase]] = None,
        encoder_loader: Optional[Callable[[Encoder], Encoder]] = None,
        index_loader: Optional[Callable[[KnowledgeBase, Encoder], EntityIndex]] = None,
        reranker_loader: Optional[Callable[[Ranker], Ranker]] = None,
        generator_loader: Optional[Callable[[KnowledgeBase, CandidateGenerator], CandidateGenerator]] = None,
    ) -> None:
        """Load or make what the component needs.

        get_examples (Callable): linked examples, for an index with rows of kind "mention".
        nlp (Optional[Language]): the pipeline; not needed.
        kb_loader (Optional[Callable]): "spacy-pel.KBFromDisk.v1". None = keep the present KB.
        encoder_loader (Optional[Callable]): "spacy-pel.EncoderFromDisk.v1". None = the weights
            that the encoder's own settings name.
        index_loader (Optional[Callable]): "spacy-pel.IndexFromDisk.v1". None = embed the KB now.
        reranker_loader (Optional[Callable]): "spacy-pel.RankerFromDisk.v1". None = the weights that
            the reranker's own settings name, if there is a reranker.
        generator_loader (Optional[Callable]): "spacy-pel.GeneratorFromDisk.v1". None = build the
            generator for the KB now, if there is one.
        RAISES (PelError): if there is no KB, or what is loaded does not fit together.
        """
        loaders = (kb_loader, encoder_loader, index_loader, reranker_loader, generator_loader)
        initialize_component(self, get_examples, *loaders)

    def add_entities(self, entities: Iterable[Entity]) -> None:
        """Add entities, or replace those whose ids the KB has. They are linkable at once,
        without training, and saved by ``nlp.to_disk``.

        entities (Iterable[Entity]): new or changed entities, each id once.
        """
        entities = list(entities)
        kb, index = self.kb, self.index
        known = [entity.concept_id in kb for entity in entities]
        rows = [
            kb.add(entity for entity, is_known in zip(entities, known, strict=True) if not is_known),
            kb.update(entity for entity, is_known in zip(entities, known, strict=True) if is_known),
        ]
        for changed in rows:
            if len(changed):
                if index is not None and self.encoder is not None:
                    index.add_entities(kb, self.encoder, changed)
                self.linker.generator.add_entities(kb, changed)

    def calibrate(self, nlp: Language, documents: Iterable[Document]) -> None:
        """Fit combiner, NIL model and threshold on gold mentions, asked about as in use. A
        ``threshold`` in the settings still wins over the fitted one.

        nlp (Language): the pipeline with this component.
        documents (Iterable[Document]): a development set with NIL mentions.
        """
        ask = gold_queries(nlp, name=self.name)
        documents = list(documents)
        queries = [query for document in documents for query in ask(document)]
        self.linker.fit_mentions(queries, [m.ids for document in documents for m in document.mentions])

    # -- use ---------------------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Link the mentions of a document in place."""
        error_handler = self.get_error_handler()
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as err:  # spaCy's contract: the handler decides
            error_handler(self.name, self, [doc], err)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link a stream of documents; mentions of several documents go through together.

        stream (Iterable[Doc]): documents.
        batch_size (int): documents held at most; they are linked as soon as they have as
            many mentions as the component's own ``batch_size``.
        YIELDS (Doc): in order.
        """
        error_handler = self.get_error_handler()
        for docs in by_mentions(stream, self.spans_key, n_docs=batch_size, n_mentions=self.batch_size):
            try:
                self.set_annotations(docs, self.predict(docs))
                yield from docs
            except Exception as err:  # spaCy's contract: the handler decides
                error_handler(self.name, self, docs, err)

    def predict(self, docs: Iterable[Doc]) -> Links:
        """Link without writing.

        docs (Iterable[Doc]): documents with mentions.
        RETURNS (List[List[Optional[Link]]]): for each mention of each document; None = not looked at.
        """
        spans = [mention_spans(doc, self.spans_key) for doc in docs]
        wanted = [[span for span in found if self._wants(span)] for found in spans]
        queries = chain.from_iterable(
            span_queries(found[0].doc, found, expand_abbreviations=self.expand_abbreviations)
            for found in wanted
            if found
        )
        links = iter(self.linker.link(list(queries)))
        return [[next(links) if self._wants(span) else None for span in found] for found in spans]

    def _wants(self, span: Span) -> bool:
        return span.label_ not in self.labels_discard and (self.overwrite or not span.kb_id_)

    def set_annotations(self, docs: Iterable[Doc], links: Links) -> None:
        """Write what ``predict`` has found.

        docs (Iterable[Doc]): the same documents.
        links (List[List[Optional[Link]]]): their links; where there is None nothing is changed.
        """
        for doc, found in zip(docs, links, strict=True):
            write_links(doc, found, self.spans_key)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): the scorer's; gold ids that the KB lacks count as NIL."""
        if self.scorer is None:
            return {}
        settings = {"spans_key": self.spans_key, "resolve": self.kb.resolve, **kwargs}
        return self.scorer(examples, **settings)

    # -- disk, bytes, pickle -----------------------------------------------------------------

    def to_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> None:
        """Write a folder for the KB and for each part, and ``cfg.json`` with what was learned."""
        component_to_disk(self, Path(path), exclude)

    def from_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> "ProxyEntityLinker":
        """Read what ``to_disk`` wrote; KB and index are memory-mapped."""
        component_from_disk(self, Path(path), exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): as ``to_disk``. RAISES (PelError): beyond 2 GiB."""
        return component_to_bytes(self, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ProxyEntityLinker":
        """Read what ``to_bytes`` gave."""
        component_from_bytes(self, data, exclude)
        return self

    def __reduce__(self) -> Any:
        # the base class is C code, whose attribute ``name`` is not in __dict__; a KB or index that lies
        # on the disk goes as its path
        linker = self._linker
        held = linker and (linker.kb, linker.index, linker.calibrated_threshold, linker.calibrated_by_label)
        return __newobj__, (type(self),), (self.name, {**self.__dict__, "_linker": None}, held)

    def __setstate__(self, state: Any) -> None:
        self.name, attributes, held = state
        self.__dict__.update(attributes)
        add_extensions()
        if held is not None:
            self.set_data(*held[:2])
            self.linker.calibrated_threshold, self.linker.calibrated_by_label = held[2:]
