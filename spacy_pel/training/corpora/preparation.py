"""What `convert` does to a corpus: splits, by lists of ids and by hashes of them, also where a document was made from
another one; and annotation by a knowledge base: ids of another vocabulary become its ids, and its types labels."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ...corpora.formats.jsonl import read_corpus
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...types import Document, Mention
from ...types.semantic_types import st21pv_label
from ...util import read_lines
from ...util.files import unexpected


def read_ids(path: str | Path) -> set[str]:
    """Read the document ids of a corpus (JSON lines), or a list of ids, one per line (e.g. MedMentions' PMID lists).

    Raises:
        PelError: if there is none in the file.
    """
    ids = {line.strip() for _, line in read_lines(path)} - {""}
    if any(line.startswith("{") for line in ids):
        ids = {document.id for document in read_corpus(path)}
    if not ids:
        todo = "Pass the split list of your corpus, or a corpus."
        raise unexpected(path, "document ids, one per line", "an empty file", todo)
    return ids


def split_by_hash(documents: Iterable[Document], share: float) -> tuple[list[Document], list[Document]]:
    """Split off a development set; it does not depend on the order of the documents.

    The documents whose ids have the smallest BLAKE2b hash (64 bits) go to the development
    part, ``round(share * n)`` of the n distinct ids; all documents of an id go together, and so do those that
    were made from one.

    Args:
        documents: the corpus.
        share: between 0 and 1.

    Returns:
        The rest and the development part, in
        the order of the corpus.
    """
    documents = list(documents)
    ids = {document.id for document in documents}
    ranked = sorted(ids, key=lambda name: (hashlib.blake2b(name.encode("utf8"), digest_size=8).digest(), name))
    chosen = set(ranked[: round(share * len(ranked))])
    fit = [document for document in documents if document.id not in chosen]
    dev = [document for document in documents if document.id in chosen]
    return fit, dev


class OwnIds:
    """Replaces ids that a knowledge base lacks by its own, where exactly one entity has them as a cross reference.

    Of alternative ids, those with such a link are kept; a composite mention needs one for each part. A mention
    without a link does not tell whether the knowledge base has its entity, nor does one that is annotated without
    an id: both are left out.

    Args:
        kb: its entities have cross references.
        vocabulary: of ids without a prefix, e.g. "MESH" for "D003924".
        keep: keep mentions without a link as they are.

    Attributes:
        report: counts mentions: "already_in_kb", "mapped", and by the reason why there is no link, "ambiguous"
            (several entities), "no_link" and "no_id".
    """

    def __init__(self, kb: KnowledgeBase, *, vocabulary: str = "", keep: bool = False) -> None:
        self._kb = kb
        self._vocabulary = vocabulary
        self._keep = keep
        self._links: dict[str, list[str]] = {}  # by annotated id
        self.report = dict.fromkeys(("already_in_kb", "mapped", "ambiguous", "no_link", "no_id"), 0)

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Map the ids of documents, which are not changed.

        Raises:
            PelError: at the end, if no mention has an id or a cross reference of the knowledge base.
        """
        example = ""
        for document in documents:
            mentions = [self._mapped(mention) for mention in document.mentions]
            example = example or next((key for mention in document.mentions for key in mention.ids), "")
            yield replace(document, mentions=[mention for mention in mentions if mention])
        counts = self.report
        if example and not counts["already_in_kb"] + counts["mapped"]:
            raise PelError(Errors.E214.format(n=sum(counts.values()) - counts["no_id"], example=example))

    def _mapped(self, mention: Mention) -> Mention | None:
        links = [self._links_of(entity_id) for entity_id in mention.ids]
        sure = [linked[0] for linked in links if len(linked) == 1]
        if not sure or (mention.composite and len(sure) < len(links)):
            several = any(len(linked) > 1 for linked in links)
            self.report["ambiguous" if several else "no_link" if links else "no_id"] += 1
            return mention if self._keep else None
        ids = tuple(dict.fromkeys(sure))
        self.report["already_in_kb" if ids == mention.ids else "mapped"] += 1
        return replace(mention, ids=ids, composite=mention.composite and len(ids) > 1)

    def _links_of(self, entity_id: str) -> list[str]:
        """The ids in the knowledge base that an annotated id may mean."""
        if entity_id not in self._links:
            bare = ":" not in entity_id and self._vocabulary
            xref = f"{self._vocabulary}:{entity_id}" if bare else entity_id
            self._links[entity_id] = [entity_id] if entity_id in self._kb else self._kb.ids_of_xref(xref)
        return self._links[entity_id]


class TypeLabels:
    """Labels each mention with its semantic type, one of the 21 of MedMentions ST21pv (``ST21PV``).

    A corpus that annotates types ("T038", or "T116,T123") has the last word; otherwise the types of the mention's
    entity count. A mention of unknown type gets the label "": a detector does not learn from it, see ``MentionJsonl``.

    Args:
        kb: its entities have types of the UMLS Semantic Network.

    Attributes:
        report: counts mentions: "typed_by_corpus", "typed_by_entity" and "without_type".
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._labels: dict[tuple[str, ...], str] = {}  # by ids
        self.report = dict.fromkeys(("typed_by_corpus", "typed_by_entity", "without_type"), 0)

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Label the mentions of documents, which are not changed."""
        for document in documents:
            yield replace(document, mentions=list(map(self._labelled, document.mentions)))

    def _labelled(self, mention: Mention) -> Mention:
        label = st21pv_label(mention.label.split(","))
        found = "typed_by_corpus" if label else "typed_by_entity"
        label = label or self._label_of(mention.ids)
        self.report[found if label else "without_type"] += 1
        return replace(mention, label=label)

    def _label_of(self, ids: tuple[str, ...]) -> str:
        if ids not in self._labels:
            known = (self._kb[entity_id] for entity_id in ids if entity_id in self._kb)
            self._labels[ids] = st21pv_label(kind for entity in known for kind in entity.types)
        return self._labels[ids]
