"""OMOP: rows of NOTE_NLP, CDM v5.4. See https://ohdsi.github.io/CommonDataModel/cdm54.html#note_nlp"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...about import __version__
from ...errors import Errors, PelError, quoted
from ...types import NIL
from ...util import now, read_lines, read_rows, unexpected, write_text
from ...util.xrefs import INGREDIENT, RXNORM, dotted
from .base import one_line, whole_number
from .tables import write_rows

COLUMNS = (
    *("note_nlp_id", "note_id", "section_concept_id", "snippet", "offset", "lexical_variant", "note_nlp_concept_id"),
    *("note_nlp_source_concept_id", "nlp_system", "nlp_date", "nlp_datetime", "term_exists", "term_temporal"),
    "term_modifiers",
)
_LONGEST_TEXT, _LONGEST_MODIFIERS = 250, 2000  # characters that a column holds
# ours -> Athena's
_VOCABULARIES = {
    **{"MESH": "MeSH", "SNOMEDCT": "SNOMED", RXNORM: "RxNorm", INGREDIENT: "RxNorm", "NCIT": "NCIt"},
    **{"ICDO": "ICDO3", "MEDDRA": "MedDRA"},
}
_CONCEPTS, _RELATIONSHIPS = "CONCEPT.csv", "CONCEPT_RELATIONSHIP.csv"


@dataclass
class OmopConcepts:
    """The concepts of OMOP for codes.

    Attributes:
        ids: concept ids by vocabulary and code.
        standard: id -> the id of its standard concept, which may be the same.
    """

    ids: dict[tuple[str, str], int] = field(default_factory=dict)
    standard: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, codes: Sequence[str]) -> "OmopConcepts":
        """Read Athena's tables.

        Args:
            path: CONCEPT.csv; if CONCEPT_RELATIONSHIP.csv is beside it, codes that are not standard lead to the
                standard concepts that they map to.
            codes: the vocabularies whose concepts to keep.

        Raises:
            PelError: if a file is not such a table.
        """
        made = cls()
        vocabularies = {_VOCABULARIES.get(name, name) for name in codes}
        columns = ("concept_id", "vocabulary_id", "concept_code", "standard_concept", "invalid_reason")
        for concept_id, vocabulary, code, standard, invalid in _cells(path, columns):
            # a code that was used twice has a concept that is no longer valid, too
            if vocabulary in vocabularies and not (invalid and (vocabulary, code) in made.ids):
                number = made.ids[vocabulary, code] = _number(path, concept_id)
                if standard == "S" and not invalid:
                    made.standard[number] = number
        beside = path.with_name(path.name.replace(_CONCEPTS, _RELATIONSHIPS))
        if beside != path and beside.is_file():
            known = set(made.ids.values())
            fields = ("relationship_id", "concept_id_1", "concept_id_2", "invalid_reason")
            for relationship, source, target, invalid in _cells(beside, fields):
                if relationship == "Maps to" and not invalid and _number(beside, source) in known:
                    made.standard.setdefault(int(source), _number(beside, target))
        return made

    def of(self, codes: dict[str, list[str]]) -> tuple[int, int]:
        """The standard concept of the first code that has one, and that code's own; 0 = none."""
        pairs = [(_VOCABULARIES.get(name, name), dotted(name, code)) for name, some in codes.items() for code in some]
        found = [self.ids[pair] for pair in pairs if pair in self.ids]
        source = next((one for one in found if one in self.standard), found[0] if found else 0)
        return self.standard.get(source, 0), source


def note_id(document_id: str) -> int:
    """The id of a document as a NOTE_ID.

    Raises:
        PelError: if it is no integer.
    """
    try:
        return whole_number(document_id)
    except ValueError:
        raise PelError(Errors.E692.format(got=quoted(document_id))) from None


def write_omop(path: Path, records: Iterable[dict[str, Any]], *, concepts: OmopConcepts | None = None) -> None:
    """Write linked documents as a CSV table NOTE_NLP, a row a mention, atomically; gzipped if the name ends in .gz.

    The date is that of SOURCE_DATE_EPOCH if it is set, otherwise now, in UTC. "term_modifiers" has the id, P(right),
    the relation and the codes. "term_exists" is Y or N where a component looked for negations. What nothing tells
    (section, time) stays empty or 0.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions"; the ids of documents are integers.
        concepts: for the codes; None = no concept ids.

    Raises:
        PelError: if the file cannot be written, or the id of a document is no integer.
    """
    day, _, time = now().removesuffix("Z").partition("T")
    when = {"nlp_date": day, "nlp_datetime": f"{day} {time}"}
    mentions = ((record, mention) for record in records for mention in record["mentions"])
    rows = (
        {"note_nlp_id": number, **_row(record, mention, concepts or OmopConcepts()), **when}
        for number, (record, mention) in enumerate(mentions, start=1)
    )
    with write_text(path) as file:
        write_rows(file, chain([COLUMNS], ([row.get(name, "") for name in COLUMNS] for row in rows)), ",")


def _row(record: dict[str, Any], mention: dict[str, Any], concepts: OmopConcepts) -> dict[str, Any]:
    start, end = mention["start"], mention["end"]
    text = one_line(record["text"])
    margin = max(0, _LONGEST_TEXT - (end - start)) // 2
    concept, source = concepts.of(mention.get("codes", {}))
    return {
        "note_id": note_id(record["id"]),
        "section_concept_id": 0,
        "snippet": text[max(0, start - margin) : end + margin][:_LONGEST_TEXT],
        "offset": start,
        "lexical_variant": record["text"][start:end][:_LONGEST_TEXT],  # raw
        "note_nlp_concept_id": concept,
        "note_nlp_source_concept_id": source,
        "nlp_system": f"spacy-pel {__version__}",
        "term_exists": "NY"[mention["exists"]] if "exists" in mention else "",
        "term_modifiers": _modifiers(mention),
    }


def _modifiers(mention: dict[str, Any]) -> str:
    """As much as the column holds."""
    facts = {"id": mention["kb_id"] or NIL, "p_right": mention.get("probability"), "relation": mention.get("relation")}
    facts |= {name: ",".join(some) for name, some in mention.get("codes", {}).items()}
    parts = [f"{name}={value}" for name, value in facts.items() if value not in (None, "")]
    while len(text := ";".join(parts)) > _LONGEST_MODIFIERS:
        parts.pop()
    return text


def _number(path: Path, cell: str) -> int:
    try:
        return whole_number(cell)
    except ValueError as err:
        raise unexpected(path, "a number in digits", quoted(cell), "Download or write it again.") from err


def _cells(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Of some columns of a table of Athena's."""
    for _, _, row in read_rows(path, read_lines(path), {"Athena's table": columns}):
        yield itemgetter(*columns)(row)
