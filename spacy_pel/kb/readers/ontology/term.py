"""A term of an ontology, before it has an id in the knowledge base."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ..repair import unescape

_LITERAL_ESCAPE = re.compile(r"(?<!\\)\\+[ntr]")  # a match begins where the backslashes do
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
        namespace: the ontology's name or the term's branch of it.
        types: semantic types; empty if the ontology has none.
        obsolete: no longer in use.
        replaced_by: the ids to use instead; the first one is the successor.
        consider: ids that may be used instead, none of them for sure.
        alt_ids: retired ids that mean this term.
        version: the ontology's release; "" if the file does not say.
        line: where the term begins in its file; 0 for formats without meaningful lines.
    """

    id: str
    name: str = ""
    synonyms: list[tuple[str, str]] = field(default_factory=list)
    definition: str | None = None
    xrefs: list[str] = field(default_factory=list)
    namespace: str = ""
    types: list[str] = field(default_factory=list)
    obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)
    consider: list[str] = field(default_factory=list)
    alt_ids: list[str] = field(default_factory=list)
    version: str = ""
    line: int = 0
    _known: dict[str, tuple[set[Any], int]] | None = field(default=None, init=False, repr=False, compare=False)

    def names(self, scopes: Collection[str]) -> list[str]:
        """The label and the synonyms of these scopes."""
        return [self.name, *(text for text, scope in self.synonyms if scope in scopes)]

    def absorb(self, other: "Term") -> None:
        """Add what another file says about the same term; existing values take precedence.

        Another file's name for the term becomes an exact synonym.
        """
        self.name = self.name or other.name
        if other.name not in ("", self.name):
            self.synonyms.append((other.name, "exact"))
        self.definition = self.definition or other.definition
        self.namespace = self.namespace or other.namespace
        self.obsolete = self.obsolete or other.obsolete
        for key in ("synonyms", "xrefs", "types", "replaced_by", "consider", "alt_ids"):
            self._extend(key, getattr(other, key))

    def _extend(self, key: str, new: list[Any]) -> None:
        """Add the values that a list lacks. What it has is kept as a set too: a term on many lines would take
        time by the square of them."""
        if not new:
            return
        if self._known is None:
            self._known = {}
        values: list[Any] = getattr(self, key)
        known, n = self._known.get(key, (set(), 0))
        known.update(values[n:])  # added since the last time
        missing = [value for value in new if value not in known]
        known.update(missing)
        values += missing
        self._known[key] = known, len(values)


def clean_text(text: str) -> str:
    r"""Repair a string that was escaped once too often.

    Literal ``\n``, ``\t`` and ``\r`` and runs of white space become one blank, ``\"``
    becomes a quotation mark, XML entities their characters.

    Args:
        text: a name, synonym or definition.

    Returns:
        The string without those marks.

    Raises:
        ValueError: at a character reference to no character.
    """
    if "&" in text and _ENTITY.search(text):
        text = unescape(text)
    if "\\" in text:
        text = _LITERAL_ESCAPE.sub(" ", text).replace('\\"', '"').replace("\\'", "'")
    return _BLANKS.sub(" ", text).strip()
