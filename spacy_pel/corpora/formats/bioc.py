"""BioC. Read as XML or JSON: BC5CDR, NLM-Chem, PubTator exports and others. Written as XML: a passage per document, an
annotation per mention."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, quoteattr

from ...errors import Errors, PelError, Warnings, quoted
from ...registry import registry
from ...types import NIL, Document
from ...util import Place, logger, numbered_jsonl, read_elements, read_text, write_text
from ...util.files import check_format, open_bytes
from ...util.parsing import JSON_ERRORS, check_unicode
from ..offsets import fits
from ..policy import split_ids
from .base import NO_ID, CorpusReaderBase, id_text, text_or_empty, whole_number, wrong_format

_MAX_GAP = 1_000_000  # characters between two passages: a wrong offset would fill the memory with blanks
_BLOCK = 1 << 20  # bytes read at a time


# what holds no annotation; XML has one name for one element
_KNOWN = {"passages", "sentences", "annotations", "relations", "relations_display"}
_KNOWN |= {"id", "infon", "offset", "text", "passage", "sentence", "annotation", "relation"}


class Base(NamedTuple):
    """What offsets count, and from where."""

    from_passage: bool = False
    in_bytes: bool = False

    def __str__(self) -> str:
        start = "passage" if self.from_passage else "document"
        return f"{'UTF-8 bytes' if self.in_bytes else 'characters'} from the start of the {start}"


STANDARD = Base()
BASES = (STANDARD, Base(from_passage=True), Base(in_bytes=True), Base(from_passage=True, in_bytes=True))


class BiocText:
    """The passages of a document, or their sentences, at their offsets, with blanks between them. A passage
    whose offset lies before the end of the text so far is moved after it, its annotations with it.

    Args:
        record: the document, as BioC JSON has it.
        base: of its offsets.
        annotations: whether to read them.
    """

    def __init__(self, record: dict[str, Any], base: Base, *, annotations: bool = True) -> None:
        self.base = base
        self.reads_annotations = annotations
        self.text = ""
        self.n_moved = self.n_relations = 0
        self.unread: list[str] = []  # keys of what may be annotation
        self.mentions: list[tuple[list[tuple[int, int]], dict[str, Any]]] = []
        self._size = 0  # of the text, in what the base counts
        pieces: list[_Piece] = []
        for passage in record["passages"]:
            pieces += self._passage(passage)
        self._annotate(record, pieces)

    def _passage(self, passage: dict[str, Any]) -> list["_Piece"]:
        sentences, has_text = passage.get("sentences") or [], bool(passage.get("text"))
        pieces = [self._append(passage)] if has_text or (passage.get("text") is not None and not sentences) else []
        for sentence in sentences:
            if not has_text:
                pieces.append(self._append(sentence))
            self._annotate(sentence, [pieces[0].sentence(sentence)] if has_text else pieces[-1:])
        self._annotate(passage, pieces)
        return pieces

    def _append(self, passage: dict[str, Any]) -> "_Piece":
        offset, text = whole_number(passage.get("offset") or 0), text_or_empty(passage.get("text"))
        gap = offset - self._size
        if gap > _MAX_GAP:
            raise ValueError(f"an offset of {offset} after {self._size} characters of text")
        if gap < 0:
            gap = 1
            self.n_moved += 1
        piece = _Piece(text, at=len(self.text) + gap, offset=offset, in_bytes=self.base.in_bytes)
        self.text += " " * gap + text
        self._size += gap + (len(text.encode("utf8")) if self.base.in_bytes else len(text))
        return piece

    def _annotate(self, holder: dict[str, Any], pieces: Sequence["_Piece"]) -> None:
        """The annotations of a document, passage or sentence, whose text is in these pieces."""
        if not self.reads_annotations:
            return
        self.n_relations += len(holder.get("relations") or [])
        if not holder.get("annotations"):
            others = ((key, value) for key, value in holder.items() if key not in _KNOWN and isinstance(value, list))
            self.unread += [f"it under '{key}'" for key, value in others if any(isinstance(one, dict) for one in value)]
        for annotation in holder.get("annotations") or []:
            spans = []
            for location in annotation.get("locations") or []:
                start, length = whole_number(location["offset"]), whole_number(location["length"])
                earlier = [] if self.base.from_passage else [piece for piece in pieces if piece.offset <= start]
                piece = (earlier[-1:] or pieces[:1] or [_Piece("", at=0, offset=0)])[0]
                start += piece.offset if self.base.from_passage else 0
                spans.append((piece.place(start), piece.place(start + length)))
            self.mentions.append((spans, annotation))


@dataclass
class _Piece:
    """A passage or sentence: where its text is in that of the document, and its offset in the file."""

    text: str
    at: int
    offset: int
    in_bytes: bool = False

    def place(self, offset: int) -> int:
        """The character of the document at an offset of the file."""
        inside = offset - self.offset
        if self.in_bytes and inside > 0 and not self.text.isascii():
            inside = bisect_right(self._ends, inside) + max(inside - self._ends[-1], 0)
        return self.at + inside

    def sentence(self, sentence: dict[str, Any]) -> "_Piece":
        """A sentence of a passage that has its own text."""
        offset = whole_number(sentence.get("offset") or 0)
        at = self.place(offset)
        return _Piece(self.text[max(at - self.at, 0) :], at, offset, self.in_bytes)

    @cached_property
    def _ends(self) -> list[int]:
        """The byte at which each character ends."""
        return list(accumulate(len(char.encode("utf8")) for char in self.text))


# infons that hold the concept id, in this order; case, blanks and underscores do not matter
ID_KEYS = ("identifier", "conceptid", "cui", "mesh", "meshid", "omim", "ncbigene", "ncbitaxonomy", "chebi", "hpo", "id")

_MOST = 0.95  # of the mentions that match the text in any base, for a base to be that of the file


@registry.pel_corpus_readers("spacy-pel.BiocCorpus.v1")
@dataclass(kw_only=True, eq=False)
class BiocCorpus(CorpusReaderBase):
    """Reads .xml files, and .json files of a collection, of a list of collections or documents, or of one of
    them a line.

    A document's text is its passages (or their sentences) at their offsets, the gaps filled with
    blanks. A passage whose offset lies before the end of the text so far is moved after it, its
    annotations with it, and counted as "moved_passages". Several locations of an annotation
    are a discontinuous mention. Relations are left out and counted.

    The standard counts offsets in characters from the start of the document. Some files count from the start
    of the passage, or in UTF-8 bytes: of these bases, the one in which most mentions of the file match the
    text is used, and a warning says so.

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
            base = self._base(path) if self.annotations else STANDARD
            for where, record in _records(path):
                with _named(where):
                    document = self._document(record, base, where)
                yield document

    def _base(self, path: Path) -> Base:
        """The base of a file's offsets: the standard, unless more mentions match the text in another one."""
        if all(fitting for _, fitting in _fitting(path, (STANDARD,))):
            return STANDARD
        counts: Counter[tuple[Base, ...]] = Counter()  # of mentions, by the bases in which they match
        examples: dict[tuple[Base, ...], str] = {}
        for mention, fitting in _fitting(path, BASES):
            counts[fitting] += 1
            examples.setdefault(fitting, mention)
        matching = {base: sum(n for fitting, n in counts.items() if base in fitting) for base in BASES}
        best, n_any = max(BASES, key=matching.__getitem__), counts.total() - counts[()]
        if matching[best] < _MOST * n_any:
            shown = ", ".join(f"{n} do as {base}" for base, n in matching.items())
            example = next(f"{text} as {used[0]}" for used, text in examples.items() if used and best not in used)
            raise PelError(Errors.E251.format(path=path, n=n_any, counts=shown, example=example))
        if best != STANDARD:
            self.count(f"files_with_offsets_as_{best}".replace(" ", "_"))
            of = {"n": matching[best], "total": counts.total(), "standard": matching[STANDARD]}
            logger.warning(Warnings.W251.format(path=path, base=best, **of))
        return best

    def _document(self, record: dict[str, Any], base: Base, where: str) -> Document:
        text = BiocText(record, base, annotations=self.annotations)
        document = Document(id_text(record["id"]), text.text)
        self.count("moved_passages", text.n_moved)
        self.count("relations", text.n_relations)
        self.unread.update(text.unread)
        for spans, annotation in text.mentions:
            self._mention(document, spans, annotation, f"{where} ({document.id})")
        return document

    def _mention(
        self, document: Document, spans: list[tuple[int, int]], annotation: dict[str, Any], where: str
    ) -> None:
        if not spans:
            self.count("without_location")
            self.unread["annotations without locations"] += 1
            return
        infons = {_plain(key): value for key, value in (annotation.get("infons") or {}).items()}
        id_keys = ID_KEYS if self.id_key is None else (_plain(self.id_key),)
        key = next((key for key in id_keys if infons.get(key) is not None), None)
        if key is None:
            self.count("without_id_infon")
        ids, composite = split_ids(id_text(infons[key]) if key else "", strip_prefix=self.strip_prefix)
        label, surface = text_or_empty(infons.get("type")), text_or_empty(annotation.get("text"))
        self.add(document, spans, surface, label=label, ids=ids, composite=composite, where=where)


def _fitting(path: Path, bases: Sequence[Base]) -> Iterator[tuple[str, tuple[Base, ...]]]:
    """A mention with its document, and the bases in which it matches
    the text."""
    for where, record in _records(path):
        with _named(where):
            texts = [BiocText(record, base) for base in bases]
            for places in zip(*(text.mentions for text in texts), strict=True):
                surface = text_or_empty(places[0][1].get("text"))
                if places[0][0]:
                    matches = (fits(text.text, place[0], surface) for text, place in zip(texts, places, strict=True))
                    fitting = tuple(base for base, match in zip(bases, matches, strict=True) if match)
                    yield f"{where}: {quoted(surface)}", fitting


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """File and number of each document, and the document."""
    is_xml = path.name.lower().removesuffix(".gz").endswith(".xml")
    check_format(path, of_texts=True)
    for number, record in enumerate(_xml_documents(path) if is_xml else _json_documents(path), start=1):
        where = f"{path}, document {number}"
        if not is_xml:
            check_unicode(record, where)
        yield where, record


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Raises:
    PelError: for a document that does not have the form of BioC; names it.
    """
    try:
        yield
    except PelError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as err:
        got = f"no {err}" if isinstance(err, KeyError) else str(err)
        raise wrong_format("bioc", where, "passages with offset, text and annotations", got) from err


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


def _xml_documents(path: Path) -> Iterator[dict[str, Any]]:
    """Stream the documents of a BioC XML file, plain or gzipped.

    Args:
        path: the file.

    Yields:
        With "id", "passages", "annotations" and "relations", as BioC JSON has them.

    Raises:
        PelError: if the file is not XML, or XML of something else, or a damaged .gz.
    """
    with open_bytes(path) as file:
        # the bytes, not the text: the XML declaration names the encoding; no lines: a file may have only one
        blocks = ((Place(path), block) for block in iter(partial(file.read, _BLOCK), b""))
        for _, root, element in read_elements(path, blocks, expected="BioC XML"):
            if element.tag == "document":
                yield _document(element)
            elif root.tag != "collection":
                raise wrong_format("bioc", path, "BioC XML, a <collection>", f"a <{root.tag.rpartition('}')[2]}>")


def _document(element: Element) -> dict[str, Any]:
    passages = list(map(_passage, element.findall("passage")))
    return {"id": element.findtext("id", "").strip(), "passages": passages, **_annotations(element)}


def _passage(element: Element) -> dict[str, Any]:
    """A passage or a sentence: both have an offset, text and annotations."""
    sentences, text = list(map(_passage, element.findall("sentence"))), element.findtext("text")
    return {"offset": element.findtext("offset", "0"), "text": text, "sentences": sentences, **_annotations(element)}


def _annotations(element: Element) -> dict[str, Any]:
    """Those of a document, passage or sentence itself; its relations are counted only."""
    annotations = list(map(_annotation, element.findall("annotation")))
    others: dict[str, Any] = {child.tag: [{}] for child in element if child.tag not in _KNOWN}
    return {**others, "annotations": annotations, "relations": [{} for _ in element.findall("relation")]}


def _annotation(element: Element) -> dict[str, Any]:
    infons = {infon.get("key", ""): infon.text or "" for infon in element.findall("infon")}
    locations = [dict(location.attrib) for location in element.findall("location")]
    return {"infons": infons, "text": element.findtext("text", ""), "locations": locations}


_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection>\n<source>spacy_pel</source>\n<date></date>\n<key></key>
"""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML 1.0, also as references


def write_bioc(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as BioC XML, atomically; gzipped if the name ends in .gz.

    A document is one passage at offset 0. Offsets and lengths count characters (Unicode code points). An
    annotation has the infons "identifier" (the id, or ``-`` for NIL; none if the linker did not look at the
    mention), "type" (the label), "name" (the entity's), "score", "relation" and, where it has codes in a
    vocabulary, e.g. "codes MESH". Control characters that XML does not allow become blanks.

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
        file.write("</collection>\n")


def _lines(record: dict[str, Any]) -> Iterator[str]:
    text = record["text"]
    yield f"<document>\n<id>{_escaped(record['id'])}</id>"
    yield f"<passage>\n<offset>0</offset>\n<text>{_escaped(text)}</text>"
    for number, mention in enumerate(record["mentions"], start=1):
        start, end = mention["start"], mention["end"]
        yield f'<annotation id="T{number}">'
        yield from (f"<infon key={quoteattr(key)}>{_escaped(text)}</infon>" for key, text in _infons(mention).items())
        yield f'<location offset="{start}" length="{end - start}"/>'
        yield f"<text>{_escaped(text[start:end])}</text>\n</annotation>"
    yield "</passage>\n</document>"


def _infons(mention: dict[str, Any]) -> dict[str, str]:
    kb_id = mention["kb_id"]
    infons = {"identifier": NO_ID if kb_id == NIL else kb_id} if kb_id else {}
    given = {key: mention.get(key) for key in ("name", "score", "relation")}
    infons |= {"type": mention["label"], **{key: str(value) for key, value in given.items() if value is not None}}
    return infons | {f"codes {name}": ", ".join(some) for name, some in mention.get("codes", {}).items() if some}


def _escaped(text: str) -> str:
    # a parser turns a bare \r into \n
    return escape(_FORBIDDEN.sub(" ", text), {"\r": "&#13;"})
