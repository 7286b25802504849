"""Lists of terms and codes as files: terms of rows and the text around them; answers as tables, SSSOM and for Usagi."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..corpora.formats.tables import write_rows
from ..errors import Errors, PelError, Warnings, quoted
from ..kb import KnowledgeBase
from ..linking import MentionQuery
from ..pipeline.gold import query_maker
from ..pipeline.saved import LoadedPipeline
from ..pipeline.terms import NO_PREFIX, TermMatch, find_term, match_terms
from ..types import NIL, Document, Mention
from ..util import atomic_path, logger, numbered_jsonl, write_jsonl
from ..util.files import ending_of
from ..util.parsing import check_unicode
from ..util.writing import write_text
from ..util.xrefs import split_id
from .corpus import find_column

TERM_COLUMNS = ("term", "text", "name", "label", "subject_label")  # those that are read unless one is named
Row = dict[str, Any]
Review = dict[tuple[str, str], Row]  # what was decided, by id and term of the row
REVIEW = "review"
_ALTERNATIVES = "alternatives"
NO_TERM = "sssom:NoTermFound"
_PREDICATES = {"exact": "skos:exactMatch", "broader": "skos:broadMatch", "close": "skos:closeMatch"}
_BY_HAND = "semapv:ManualMappingCuration"
_JUSTIFIED = {"vector": "semapv:SemanticSimilarityThresholdMatching", "correction": _BY_HAND, REVIEW: _BY_HAND}
_LEXICAL = "semapv:LexicalMatching"
_EQUIVALENCES = {"exact": "EQUAL", "broader": "WIDER", "close": "INEXACT"}
_PREFIXES = {
    "UMLS": "https://uts.nlm.nih.gov/uts/umls/concept/",
    "MESH": "http://id.nlm.nih.gov/mesh/",
    "SNOMEDCT": "http://snomed.info/id/",
    "ORPHA": "http://www.orpha.net/ORDO/Orphanet_",
    "TERM": "https://example.org/terms/",
    NO_PREFIX: "https://example.org/ids/",
}


@dataclass(frozen=True)
class TermSettings:
    """How terms are mapped.

    Attributes:
        type_column: has the types, or ids above, that the entity of a term may have; None = any.
        context_column: has a text that the term is in; None = there is none.
        always: never answer NIL.
        reviewed: what was decided is the answer.
    """

    type_column: str | None = None
    context_column: str | None = None
    always: bool = False
    reviewed: Review = field(default_factory=dict)

    def read(self, document: Document) -> tuple[str, str, str]:
        """Term, types and context of a row. RAISES (PelError): if it lacks a column."""
        check_unicode({"term": document.text}, f"the row of term {document.id}")  # answers repeat it
        cells = [document.text.strip()]
        for name, option in ((self.type_column, "--type-column"), (self.context_column, "--context-column")):
            key = find_column(document.meta, name or "")
            if name and key is None:
                where, got = f"The row of term {document.id}", ", ".join(document.meta) or "none"
                raise PelError(Errors.E641.format(where=where, name=name, got=got, option=option))
            cells.append(str(document.meta[key] or "").strip() if key else "")
        return cells[0], cells[1], cells[2]


def term_queries(pipeline: LoadedPipeline, documents: Iterable[Document]) -> list[MentionQuery]:
    """A query for each mention; one that is all of its text is read alone."""
    ask, queries = query_maker(pipeline.nlp, name=pipeline.name), list[MentionQuery]()
    for document in documents:
        places = [(mention.start, mention.end) for mention in document.mentions]
        queries += ask(document, alone=places == [(0, len(document.text))])
    return queries


def term_document(term: str, label: str = "", context: str = "") -> Document:
    """A term where a text has it first, or alone where that has it nowhere."""
    start = next(iter(find_term(term, context) if term else []), None)
    text, start = (term, 0) if start is None else (context, start)
    return Document("", text, [Mention(start, start + len(term), label)])


def map_documents(
    pipeline: LoadedPipeline, documents: Sequence[Document], settings: TermSettings, *, top_k: int
) -> Iterator[dict[str, Any]]:
    """Map documents that are terms.

    Yields:
        A record for each, with one mention, whose "kb_id" is the answer.

    Raises:
        PelError: if a column is missing, or the knowledge base lacks a type.
    """
    rows = list(map(settings.read, documents))
    keys = [(document.id, term) for document, (term, _, _) in zip(documents, rows, strict=True)]
    left = [row for key, row in zip(keys, rows, strict=True) if key not in settings.reviewed]
    with pipeline.nlp.memory_zone():
        queries = term_queries(pipeline, starmap(term_document, left))
        types = [types for _, types, _ in left]
        matches = iter(match_terms(pipeline.component.linker, queries, types, top_k=top_k, always=settings.always))
    for document, key in zip(documents, keys, strict=True):
        decision = settings.reviewed.get(key)
        yield term_record(document, next(matches) if decision is None else decided(decision, pipeline.component.kb))


def term_record(document: Document, match: TermMatch) -> Row:
    """What a row is mapped to, as a record of ``link``."""
    term = document.text.strip()
    mention = {"kb_id": match.id, **asdict(match), "term": term}
    return {"id": document.id, "text": term, "mentions": [mention], "meta": document.meta}


def read_review(path: Path) -> Review:
    """What was decided on the page of ``serve --terms``. RAISES (PelError): at a line that is no decision."""
    review: Review = {}
    for number, decision in numbered_jsonl(path):
        if not all(isinstance(decision.get(key), str) for key in ("id", "term", "kb_id")):
            raise PelError(Errors.E689.format(where=f"{path}, line {number}", got=quoted(decision)))
        review[decision["id"], decision["term"]] = decision
    return review


def usable_review(review: Review, rows: Collection[tuple[str, str]], kb: KnowledgeBase) -> Review:
    """The decisions on rows that the list has, for entities that the knowledge base has; a warning counts others."""
    ids = {key: decision["kb_id"] for key, decision in review.items()}
    known = {key: review[key] for key in ids if key in rows and (ids[key] == NIL or kb.resolve(ids[key]))}
    if n := len(review) - len(known):
        logger.warning(Warnings.W607.format(n=n, of=len(review)))
    return known


def decided(decision: Row, kb: KnowledgeBase) -> TermMatch:
    """The answer of a usable decision."""
    key = kb.resolve(decision["kb_id"])
    if key is None:
        return TermMatch(decision["term"], NIL, None, 1.0, None, REVIEW, [])
    relation = next((one for one in _PREDICATES if one == decision.get("relation")), "exact")
    return TermMatch(decision["term"], key, kb[key].canonical_name, 1.0, relation, REVIEW, [])


def write_terms(path: Path, records: Iterable[dict[str, Any]], to: str) -> None:
    """Write mapped terms, a row for each, atomically.

    Args:
        path: the file.
        records: of ``map_documents``.
        to: "jsonl", "parquet", "csv", "tsv", "sssom" or "usagi".

    Raises:
        PelError: if the file cannot be written.
    """
    rows = list(map(_term_row, records))
    if to == "sssom":
        rows = list(map(_sssom_row, rows))
    elif to == "usagi":
        rows = list(map(_usagi_row, rows))
    write_records(path, rows, about=_sssom_head(rows) if to == "sssom" else [])


def _term_row(record: Mapping[str, Any]) -> Row:
    [match] = record["mentions"]
    row = {"row": record["id"], **{key: value for key, value in match.items() if key != "kb_id"}}
    return row | {f"meta_{key}" if key in row else key: value for key, value in record["meta"].items()}


def _sssom_row(row: Row) -> Row:
    return {
        "subject_id": _curie(row["row"], "TERM"),
        "subject_label": row["term"],
        "predicate_id": _PREDICATES.get(row["relation"], "skos:exactMatch"),
        "object_id": NO_TERM if row["id"] == NIL else _curie(row["id"], NO_PREFIX),
        "object_label": row["name"],
        "mapping_justification": _JUSTIFIED.get(row["rests_on"], _LEXICAL),
        "confidence": row["probability"],
        "mapping_tool": "spacy_pel",
    }


def _curie(key: str, prefix: str) -> str:
    """An id with a prefix: for codes of the UMLS and MeSH theirs."""
    key = "_".join(key.split())
    return key if ":" in key else f"{split_id(key)[0] or prefix}:{key}"


def _sssom_head(rows: Sequence[Row]) -> list[str]:
    used = {row[key].partition(":")[0] for row in rows for key in ("subject_id", "object_id")} - {"sssom"}
    prefixes = {prefix: _PREFIXES.get(prefix, f"http://purl.obolibrary.org/obo/{prefix}_") for prefix in sorted(used)}
    return [
        "#mapping_set_id: https://example.org/mappings",
        "#license: https://w3id.org/sssom/license/unspecified",
        "#curie_map:",
        *(f"#  {prefix}: {json.dumps(address)}" for prefix, address in prefixes.items()),
    ]


def _usagi_row(row: Row) -> Row:
    """What Usagi imports; concept ids are those of a knowledge base made of OMOP's CONCEPT.csv."""
    ids = (row["id"], *(one["id"] for one in row[_ALTERNATIVES]))
    return {
        "sourceCode": row["row"],
        "sourceName": row["term"],
        "sourceFrequency": 1,
        "sourceAutoAssignedConceptIds": ";".join(one for one in ids if one != NIL),
        "matchScore": row["probability"],
        "equivalence": _EQUIVALENCES.get(row["relation"], "UNMATCHED"),
    }


def write_records(path: Path, rows: Sequence[Row], *, about: Iterable[str] = ()) -> None:
    """Write rows as JSON lines, Parquet, TSV or else CSV, by the file's name, atomically.

    Args:
        path: the file.
        rows: their keys are the columns, in the order in which they come first.
        about: lines before the header of a CSV or TSV.

    Raises:
        PelError: if the file cannot be written.
    """
    ending = ending_of(path)
    if ending == ".jsonl":
        write_jsonl(path, rows)
        return
    header = list(dict.fromkeys(key for row in rows for key in row))
    if ending == ".parquet":
        columns = {key: [_plain(row.get(key)) for row in rows] for key in header}
        with atomic_path(path) as part:
            pq.write_table(pa.table(columns), part)
        return
    with write_text(path) as file:
        file.writelines(f"{line}\n" for line in about)
        cells = ([_text(row.get(key)) for key in header] for row in rows)
        write_rows(file, chain([header], cells), "\t" if ending == ".tsv" else ",")


def _plain(value: Any) -> Any:
    """As a column of Parquet holds it: what is neither a number nor a list of alternatives is text."""
    is_alternatives = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return value if value is None or isinstance(value, float) or is_alternatives else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict) and "probability" in value[0]:
        return " | ".join("{id} {name} ({probability:.3f})".format(**one) for one in value)
    return value if isinstance(value, str) else "" if value is None or value == [] else json.dumps(value)
