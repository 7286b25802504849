"""A term of an ontology, before it has an id in the knowledge base."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

SCOPES = ("exact", "related", "narrow", "broad")  # of synonyms
_LITERAL_ESCAPE = re.compile(r"(?<!\\)\\+[ntr]")  # a match begins where the backslashes do
_BLANKS = re.compile(r"\s+")
_REPLACED = re.compile(r"(?i)^(?!.*\bconsider).*\b(?:use|replaced?|merged|moved|superseded|same as|duplicate of)\b")
_ID = re.compile(r"\b([A-Za-z][A-Za-z.]*)[_:](\w*\d\w*)")


@dataclass
class Term:
    """One class of an ontology, as its file gives it.

    Attributes:
        id: a compact id with its prefix, e.g. "HP:0000002".
        name: the label; "" if this file does not give one.
        synonyms: (text, scope); scopes are "exact", "related",
            "narrow" and "broad"; formats without scopes give "exact".
        definition: a gloss.
        xrefs: ids of the same thing elsewhere, e.g. "UMLS:C4025901".
        parents: ids of the broader terms (is-a).
        namespace: the ontology's name or the term's branch of it.
        types: semantic types; empty if the ontology has none.
        obsolete: no longer in use.
        replaced_by: the ids to use instead; the first one is the successor.
        consider: ids that may be used instead, none of them for sure.
        alt_ids: retired ids that mean this term.
        comments: what is said of it, such as why it is obsolete.
        version, licence: the ontology's release and licence; "" if the file does not say.
        line: where the term begins in its file; 0 for formats without meaningful lines.
    """

    id: str
    name: str = ""
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    definition: str | None = None
    xrefs: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    namespace: str = ""
    types: list[str] = field(default_factory=list)
    obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)
    consider: list[str] = field(default_factory=list)
    alt_ids: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    version: str = ""
    licence: str = ""
    line: int = 0

    def successors_in_comments(self) -> list[str]:
        """The terms of its ontology that the comments of an obsolete term say to use."""
        own, _, _ = self.id.partition(":")
        ids = chain.from_iterable(_ID.findall(text) for text in self.comments if _REPLACED.search(text))
        found = (f"{own}:{number}" for prefix, number in ids if own.lower().startswith(prefix.lower()))
        return [new for new in dict.fromkeys(found) if new != self.id]

    def names(self, scopes: Collection[str]) -> list[str]:
        """The label and the synonyms of these scopes."""
        return [self.name, *(text for text, scope in self.synonyms if scope in scopes)]


def clean_text(text: str) -> str:
    r"""Repair a string that was escaped once too often.

    Literal ``\n``, ``\t`` and ``\r`` and runs of white space become one blank, ``\"``
    becomes a quotation mark.

    Args:
        text: a name, synonym or definition.

    Returns:
        The string without those marks.
    """
    if "\\" in text:
        text = _LITERAL_ESCAPE.sub(" ", text).replace('\\"', '"').replace("\\'", "'")
    return _BLANKS.sub(" ", text).strip()


def cell_parts(cell: str, separator: str = "|") -> list[str]:
    """The texts of a cell, without blank ones."""
    return [part.strip() for part in cell.split(separator) if part.strip()]
