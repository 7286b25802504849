"""A term of an ontology, before it has an id in the knowledge base."""

import html
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

_LITERAL_ESCAPE = re.compile(r"(?<!\\)\\+[ntr]")  # a match begins where the backslashes do
_LISTS = ("xrefs", "parents", "types", "replaced_by", "consider", "alt_ids")
_BLANKS = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|[A-Za-z]+\d*);")


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
    version: str = ""
    licence: str = ""
    line: int = 0

    def names(self, scopes: Collection[str]) -> list[str]:
        """The label and the synonyms of these scopes."""
        return [self.name, *(text for text, scope in self.synonyms if scope in scopes)]

    @classmethod
    def merged(cls, terms: Sequence["Term"]) -> "Term":
        """What several files or lines say about one term: the first name, definition and namespace, and all values
        of lists. Other names become exact synonyms."""
        first = terms[0]
        if len(terms) == 1:
            return first
        name = next((term.name for term in terms if term.name), "")
        synonyms = list(first.synonyms)
        for term in terms[1:]:
            synonyms += [(term.name, "exact")] if term.name not in ("", name) else []
            synonyms += term.synonyms
        joined: Any = {
            name: list(dict.fromkeys(one for term in terms for one in getattr(term, name))) for name in _LISTS
        }
        return replace(
            first,
            name=name,
            synonyms=list(dict.fromkeys(synonyms)),
            definition=next((term.definition for term in terms if term.definition), None),
            namespace=next((term.namespace for term in terms if term.namespace), ""),
            obsolete=any(term.obsolete for term in terms),
            **joined,
        )


def clean_text(text: str) -> str:
    r"""Repair a string that was escaped once too often.

    Literal ``\n``, ``\t`` and ``\r`` and runs of white space become one blank, ``\"``
    becomes a quotation mark, XML entities their characters.

    Args:
        text: a name, synonym or definition.

    Returns:
        The string without those marks.
    """
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
    if "\\" in text:
        text = _LITERAL_ESCAPE.sub(" ", text).replace('\\"', '"').replace("\\'", "'")
    return _BLANKS.sub(" ", text).strip()
