"""BioC, XML and JSON: BC5CDR, NLM-Chem, PubTator exports and others."""

import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ...errors import Errors, PelError
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl, read_text
from ...util.files import JSON_ERRORS, check_unicode
from ..policy import split_ids
from .bioc_xml import xml_documents
from .reader_base import CorpusReaderBase
from .values import id_text, text_or_empty, whole_number

# infons that hold the concept id, in this order; case, blanks and underscores do not matter
ID_KEYS = (
    "identifier",
    "conceptid",
    "cui",
    "mesh",
    "meshid",
    "omim",
    "ncbigene",
    "ncbitaxonomy",
    "chebi",
    "hpo",
    "id",
)

_MAX_GAP = 1_000_000  # characters between two passages: a wrong offset would fill the memory with blanks


@registry.pel_corpus_readers("spacy-pel.BiocCorpus.v1")
class BiocCorpus(CorpusReaderBase):
    """Reads .xml files, and .json files of a collection, of a list of collections or documents, or of one of
    them a line.

    A document's text is its passages (or their sentences) at their offsets, the gaps filled with
    blanks. A passage whose offset lies before the end of the text so far is moved after it, its
    annotations with it, and counted as "moved_passages". Several locations of an annotation
    are a discontinuous mention; ``|``, ``;`` and ``,`` join alternative ids. Relations are left out.

    id_key (Optional[str]): the infon that holds the concept id; None = the first present of
        identifier, concept_id, cui, MeSH, OMIM, NCBI Gene and a few more.
    label (Optional[str]): the label of every mention; None = the infon "type".
    strip_prefix (str): taken off the ids that have it, e.g. "MESH:".
    strict (bool): a mention whose text differs from the text at its offsets is an error.
    annotations (bool): whether to read them; without them, nothing in them is an error.
    """

    def __init__(
        self,
        *,
        id_key: Optional[str] = None,
        label: Optional[str] = None,
        strip_prefix: str = "",
        strict: bool = False,
        annotations: bool = True,
    ) -> None:
        super().__init__(label=label, strip_prefix=strip_prefix, strict=strict)
        self.id_keys = ID_KEYS if id_key is None else (_plain(id_key),)
        self.annotations = annotations

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            is_xml = path.name.lower().removesuffix(".gz").endswith(".xml")
            for number, record in enumerate(
                xml_documents(path) if is_xml else _json_documents(path), start=1
            ):
                where = f"{path}, document {number}"
                if not is_xml:
                    check_unicode(record, where)
                try:
                    yield self._document(record, where)
                except PelError:
                    raise
                except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as err:
                    raise _unexpected(where, "passages with offset, text and annotations", repr(err)) from err

    def _document(self, record: Dict[str, Any], where: str) -> Document:
        document = Document(id_text(record["id"]), "")
        where = f"{where} ({document.id})"
        found: List[Tuple[int, Dict[str, Any]]] = []
        for passage in record["passages"]:
            pieces = [passage] if passage.get("text") is not None else passage.get("sentences") or []
            shift = 0
            for piece in pieces:
                shift = self._append(document, piece)
                found += [(shift, annotation) for annotation in piece.get("annotations") or []]
            if pieces != [passage]:  # annotations of the passage, text in its sentences
                found += [(shift, annotation) for annotation in passage.get("annotations") or []]
        for shift, annotation in found if self.annotations else ():
            self._mention(document, annotation, shift, where)
        return document

    def _append(self, document: Document, piece: Dict[str, Any]) -> int:
        """Put a passage at its offset; returns how far it was moved."""
        offset, length = whole_number(piece.get("offset") or 0), len(document.text)
        if offset > length + _MAX_GAP:
            raise ValueError(f"an offset of {offset} after {length} characters of text")
        at = offset if offset >= length else length + 1
        if at != offset:
            self.count("moved_passages")
        document.text = document.text.ljust(at) + text_or_empty(piece.get("text"))
        return at - offset

    def _mention(self, document: Document, annotation: Dict[str, Any], shift: int, where: str) -> None:
        infons = {_plain(key): value for key, value in (annotation.get("infons") or {}).items()}
        given = next((id_text(infons[key]) for key in self.id_keys if infons.get(key) is not None), "")
        ids, composite = split_ids(given, strip_prefix=self.strip_prefix)
        spans = []
        for location in annotation.get("locations") or []:
            start = whole_number(location["offset"]) + shift
            spans.append((start, start + whole_number(location["length"])))
        label = text_or_empty(infons.get("type"))
        surface = text_or_empty(annotation.get("text"))
        if spans:
            self.add(document, spans, surface, label=label, ids=ids, composite=composite, where=where)
        else:
            self.count("without_location")


def _plain(key: str) -> str:
    return "".join(char for char in key.casefold() if char.isalnum())


def _json_documents(path: Path) -> Iterator[Dict[str, Any]]:
    text = read_text(path)
    try:
        data = json.loads(text)
    except JSON_ERRORS:
        # not one JSON value: perhaps one document per line, as PubTator sends them
        for _, record in numbered_jsonl(path):
            yield from _documents_in(record, path)
        return
    for record in data if isinstance(data, list) else [data]:  # PubMed Central sends a list of collections
        yield from _documents_in(record, path)


def _documents_in(record: Any, path: Path) -> Iterator[Dict[str, Any]]:
    """YIELDS (Dict[str, Any]): the documents of a collection, or the record itself, which is one."""
    documents = [record]
    if isinstance(record, dict) and "passages" not in record:
        lists = [value for key, value in record.items() if key in ("documents", "PubTator3")]
        documents = lists[0] if lists else documents
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise _unexpected(str(path), "a collection with documents", type(record).__name__)
    yield from documents


def _unexpected(where: str, expected: str, got: str) -> PelError:
    return PelError(Errors.E207.format(where=where, expected=expected, got=got, reader="bioc"))
