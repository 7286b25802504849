"""BioC. Read as XML or JSON: BC5CDR, NLM-Chem, PubTator exports and others. Written as XML: a passage per document, an
annotation per mention."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from ...errors import PelError
from ...registry import registry
from ...types import NIL, Document
from ...util import numbered_jsonl, read_text
from ...util.files import Place, open_bytes
from ...util.parsing import JSON_ERRORS, check_unicode, read_elements
from ...util.writing import write_text
from ..policy import split_ids
from .base import NO_ID, CorpusReaderBase, id_text, text_or_empty, whole_number, wrong_format

_MAX_GAP = 1_000_000  # characters between two passages: a wrong offset would fill the memory with blanks
# infons that hold the concept id, in this order; case, blanks and underscores do not matter
ID_KEYS = ("identifier", "conceptid", "cui", "mesh", "meshid", "omim", "ncbigene", "ncbitaxonomy", "chebi", "hpo", "id")
Shift = tuple[int, int]  # the offset of a passage or sentence in the file, and by how much its text was moved


@registry.pel_corpus_readers("spacy-pel.BiocCorpus.v1")
@dataclass(kw_only=True, eq=False)
class BiocCorpus(CorpusReaderBase):
    """Reads .xml files, and .json files of a collection, of a list of collections or documents, or of one of
    them a line.

    A document's text is its passages (or their sentences) at their offsets, the gaps filled with
    blanks. A passage whose offset lies before the end of the text so far is moved after it, its
    annotations with it, and counted as "moved_passages". Several locations of an annotation
    are a discontinuous mention. Relations are left out and counted. Offsets count characters from the start of the
    document, as the standard has it.

    Args:
        id_key: the infon that holds the concept id; None = the first present of
            identifier, concept_id, cui, MeSH, OMIM, NCBI Gene and a few more.
        label: the label of every mention; None = the infon "type".
        strip_prefix: taken off the ids that have it, e.g. "MESH:".
        strict: a mention whose text differs from the text at its offsets is an error.
        annotations: whether to read them; without them, nothing in them is an error.
    """

    id_key: str | None = None
    annotations: bool = True

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            is_xml = path.name.lower().removesuffix(".gz").endswith(".xml")
            for number, record in enumerate(_xml_documents(path) if is_xml else _json_documents(path), start=1):
                where = f"{path}, document {number}"
                if not is_xml:
                    check_unicode(record, where)
                try:
                    document = self._document(record, where)
                except PelError:
                    raise
                except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as err:
                    expected = "passages with offset, text and annotations"
                    raise wrong_format("bioc", where, expected, repr(err)) from err
                yield document

    def _document(self, record: dict[str, Any], where: str) -> Document:
        document = Document(id_text(record["id"]), "")
        annotations: list[tuple[dict[str, Any], list[Shift]]] = []  # each with the shifts of the text that it is in
        shifts: list[Shift] = []
        for passage in record["passages"]:
            shifts += self._passage(document, passage, annotations)
        self._note(record, shifts, annotations)
        for annotation, of_text in annotations:
            self._mention(document, annotation, of_text, f"{where} ({document.id})")
        return document

    def _passage(
        self, document: Document, passage: dict[str, Any], annotations: list[tuple[dict[str, Any], list[Shift]]]
    ) -> list[Shift]:
        """Append a passage, or its sentences if it has no text of its own."""
        sentences = passage.get("sentences") or []
        has_text = bool(passage.get("text")) or not sentences
        shifts = [self._append(document, passage)] if has_text and passage.get("text") is not None else []
        for sentence in sentences:
            if not has_text:
                shifts.append(self._append(document, sentence))
            self._note(sentence, shifts[-1:], annotations)
        self._note(passage, shifts, annotations)
        return shifts

    def _append(self, document: Document, passage: dict[str, Any]) -> Shift:
        offset, text = whole_number(passage.get("offset") or 0), text_or_empty(passage.get("text"))
        gap = offset - len(document.text)
        if gap > _MAX_GAP:
            raise ValueError(f"an offset of {offset} after {len(document.text)} characters of text")
        if gap < 0:
            gap = 1
            self.count("moved_passages")
        document.text += " " * gap
        shift = len(document.text) - offset
        document.text += text
        return offset, shift

    def _note(
        self, holder: dict[str, Any], shifts: list[Shift], annotations: list[tuple[dict[str, Any], list[Shift]]]
    ) -> None:
        """Keep the annotations of a document, passage or sentence until the text is whole."""
        if self.annotations:
            self.count("relations", len(holder.get("relations") or []))
            annotations += [(annotation, shifts) for annotation in holder.get("annotations") or []]

    def _mention(self, document: Document, annotation: dict[str, Any], shifts: list[Shift], where: str) -> None:
        spans = []
        for location in annotation.get("locations") or []:
            start, length = whole_number(location["offset"]), whole_number(location["length"])
            earlier = [shift for offset, shift in shifts if offset <= start] or [shift for _, shift in shifts[:1]]
            start += earlier[-1] if earlier else 0
            spans.append((start, start + length))
        if not spans:
            self.count("without_location")
            return
        infons = {_plain(key): value for key, value in (annotation.get("infons") or {}).items()}
        id_keys = ID_KEYS if self.id_key is None else (_plain(self.id_key),)
        key = next((key for key in id_keys if infons.get(key) is not None), None)
        if key is None:
            self.count("without_id_infon")
        ids, composite = split_ids(id_text(infons[key]) if key else "", strip_prefix=self.strip_prefix)
        label = text_or_empty(infons.get("type"))
        surface = text_or_empty(annotation.get("text"))
        self.add(document, spans, surface, label=label, ids=ids, composite=composite, where=where)


def _plain(key: str) -> str:
    return "".join(char for char in key.casefold() if char.isalnum())


def _json_documents(path: Path) -> Iterator[dict[str, Any]]:
    text = read_text(path)
    try:
        data = json.loads(text)
    except JSON_ERRORS:
        # not one JSON value: perhaps one document per line, as PubTator sends them
        data = [record for _, record in numbered_jsonl(path)]
    for record in data if isinstance(data, list) else [data]:  # PubMed Central sends a list of collections
        documents: Any = [record]
        if isinstance(record, dict) and "passages" not in record:
            documents = record.get("documents", record.get("PubTator3", [record]))
        if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
            raise wrong_format("bioc", path, "a collection with documents", type(record).__name__)
        yield from documents


_BLOCK = 1 << 20


def _xml_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the documents of a BioC XML file, plain or gzipped.

    Args:
        path: the file.

    Yields:
        With "id", "passages", "annotations" and "relations", as BioC JSON has them.

    Raises:
        PelError: if the file is not XML, or a damaged .gz.
    """
    with open_bytes(path) as file:
        # the bytes, not the text: the XML declaration names the encoding; no lines: a file may have only one
        blocks = ((Place(path), block) for block in iter(partial(file.read, _BLOCK), b""))
        for _, _, element in read_elements(path, blocks, expected="BioC XML"):
            if element.tag == "document":
                yield _document(element)


def _document(element: Element) -> dict[str, Any]:
    passages = list(map(_passage, element.findall("passage")))
    return {"id": element.findtext("id", "").strip(), "passages": passages, **_annotations(element)}


def _passage(element: Element) -> dict[str, Any]:
    """A passage or a sentence: both have an offset, text and annotations."""
    sentences = list(map(_passage, element.findall("sentence")))
    passage = {"offset": element.findtext("offset", "0"), "sentences": sentences, **_annotations(element)}
    text = element.findtext("text")
    if text is not None:
        passage["text"] = text
    return passage


def _annotations(element: Element) -> dict[str, Any]:
    """Those of a document, passage or sentence itself; its relations are counted only."""
    annotations = list(map(_annotation, element.findall("annotation")))
    return {"annotations": annotations, "relations": [{} for _ in element.findall("relation")]}


def _annotation(element: Element) -> dict[str, Any]:
    infons = {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}
    locations = [dict(location.attrib) for location in element.findall("location")]
    return {"infons": infons, "text": element.findtext("text", ""), "locations": locations}


_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection>
<source>spacy_pel</source>
<date></date>
<key></key>
"""
_TAIL = "</collection>\n"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML 1.0, also as references


def write_bioc(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as BioC XML, atomically; gzipped if the name ends in .gz.

    A document is one passage at offset 0. Offsets and lengths count characters (Unicode code points). An
    annotation has the infons "identifier" (the id, or ``-`` for NIL; none if the linker did not look at the
    mention), "type" (the label), "name" (the entity's), "score" and, where it has codes in a vocabulary, e.g. "codes
    MESH". Control characters that XML does not allow become blanks.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        file.write(_HEAD)
        for record in records:
            file.writelines(f"{line}\n" for line in _lines(record))
        file.write(_TAIL)


def _lines(record: dict[str, Any]) -> Iterator[str]:
    text = record["text"]
    yield f"<document>\n<id>{_escaped(record['id'])}</id>"
    yield f"<passage>\n<offset>0</offset>\n<text>{_escaped(text)}</text>"
    for number, mention in enumerate(record["mentions"], start=1):
        start, end = mention["start"], mention["end"]
        yield f'<annotation id="T{number}">'
        for key, value in _infons(mention).items():
            yield f"<infon key={quoteattr(key)}>{_escaped(value)}</infon>"
        yield f'<location offset="{start}" length="{end - start}"/>'
        yield f"<text>{_escaped(text[start:end])}</text>\n</annotation>"
    yield "</passage>\n</document>"


def _infons(mention: dict[str, Any]) -> dict[str, str]:
    kb_id = mention["kb_id"]
    infons = {"identifier": NO_ID if kb_id == NIL else kb_id} if kb_id else {}
    infons["type"] = mention["label"]
    if mention.get("name") is not None:
        infons["name"] = mention["name"]
    if mention.get("score") is not None:
        infons["score"] = str(mention["score"])
    codes = mention.get("codes", {})
    return infons | {f"codes {name}": ", ".join(some) for name, some in codes.items() if some}


def _escaped(text: str) -> str:
    # a parser turns a bare \r into \n
    return escape(_FORBIDDEN.sub(" ", text), {"\r": "&#13;"})
