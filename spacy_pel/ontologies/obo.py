r"""Terms of an OBO file, read line by line.

fastobo (and pronto, which is based on it) refuses a whole file at the first line that
breaks the grammar, and real releases break it: unescaped commas in dbxref lists, bare
braces, URLs with blanks. Version 0.14 refuses four of seven releases of CL, UBERON, DOID,
HPO and SYMP. This reader is therefore written by hand: it takes the tags that identify a
term and ignores the rest.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ..util import Place, read_lines, unexpected
from .term import SCOPES, Term

_REST = rf"(?:{'|'.join(SCOPES).upper()})\b|\["  # of a value after its text
# as the format has it, and as releases have it: with quotation marks in the text that are not escaped
_TEXT = r'"((?:[^"\\]|\\.)*)"\s*'
_QUOTED = [
    re.compile(one, re.DOTALL)
    for one in (rf"{_TEXT}((?:{_REST}).*|$)", rf'"(.*)"\s*((?:{_REST}).*|$)', rf"{_TEXT}(.*)")
]
_UNQUOTED = re.compile(rf"\s(?={_REST})")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|.)")
# Each begins where the white space does (or after an escaped blank), so that a long run of blanks is scanned
# once, not once from each of its blanks.
_COMMENT = re.compile(r"(?:(?<![\s\\])|(?<=\\\s))\s+!.*$")
# {xref="HPO:curator", comment="x"}; not the braces in the name of a chemical: N(4)-{alpha-D-Xyl-(1->2)}-Asn
_QUALIFIER = r'[^\s{}="]+\s*=\s*"(?:[^"\\]|\\.)*"'
_QUALIFIERS = re.compile(rf"(?<!\\)\{{\s*{_QUALIFIER}(?:\s*,\s*{_QUALIFIER})*\s*\}}\s*(?:!.*)?$")
_STANZA = re.compile(r"\[\s*(\w+)\s*\]\s*(?:!.*)?$")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_MODIFIERS = re.compile(r"(?<!\s)\s+\{[^{}]*\}\s*$")
_ESCAPES = {"n": " ", "t": " ", "W": " "}
_ID_LISTS = {"replaced_by": "replaced_by", "consider": "consider", "alt_id": "alt_ids", "is_a": "parents"}  # of Term
# "dcterms:license", "terms-license", "http://purl.org/dc/terms/license", and the licence, quoted or not
_LICENCE = re.compile(r'\S*license "?([^"]*?)"?(?: xsd:\w+)?$')


def read_obo(path: Path) -> Iterator[Term]:
    """Stream the [Term] stanzas of an OBO file.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order, obsolete ones included.

    Raises:
        PelError: at a stanza without an id and at a file without any stanza; names the line.
    """
    namespace, version, licence, term, stanza, start = "", "", "", None, "", 0
    for number, raw in chain(_joined(read_lines(path)), [(0, "[End]")]):
        line = raw.strip()
        if found := _STANZA.match(line):
            if stanza == "[Term]":
                if term is None:
                    raise unexpected(Place(path, start), "a [Term] with an id", "no id")
                yield term
            if not stanza and not number:
                raise unexpected(path, "an OBO file", "a file without stanzas")
            term, stanza, start = None, f"[{found[1].capitalize()}]", number
            continue
        tag, colon, value = line.partition(":")
        if not colon or line.startswith("!"):
            continue
        value = (_QUALIFIERS.sub("", value) if "{" in value else value).strip()
        if not stanza:
            if tag == "default-namespace" or (tag == "ontology" and not namespace):
                namespace = value
            elif tag == "data-version":
                version = value
            elif tag == "property_value" and (found := _LICENCE.match(value)):
                licence = found[1]
        elif stanza == "[Term]":
            if tag == "id":
                term = Term(id=_bare(value), namespace=namespace, version=version, licence=licence, line=start)
            elif term is not None:
                _take(term, tag, value)


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines; those that end in a backslash go on in the next."""
    start = 0
    parts: list[str] = []
    for number, line in chain(lines, [(0, "")]):
        start = start if parts else number
        if line.endswith("\\") and _CONTINUED.search(line):
            parts.append(line[:-1])
            continue
        yield start, "".join([*parts, line])
        parts = []


def _take(term: Term, tag: str, value: str) -> None:
    """Put one tag's value into the term."""
    if tag == "name":
        term.name = unescape(value)
    elif tag == "def":
        term.definition = _quoted(value)[0] or None
    elif tag == "synonym":
        text, rest = _quoted(value)
        scope = (rest.split(None, 1) or [""])[0].lower()
        # OBO 1.2: "If the scope is not given, RELATED is assumed"
        term.synonyms.append((text, scope if scope in SCOPES else "related"))
    elif tag in ("exact_synonym", "related_synonym", "narrow_synonym", "broad_synonym"):  # OBO 1.0
        term.synonyms.append((_quoted(value)[0], tag.split("_")[0]))
    elif tag in ("xref", "xref_analog", "xref_unk"):  # the latter two: OBO 1.0
        term.xrefs += _bare(value.split('"')[0].strip()).split()[:1]
    elif tag == "namespace":
        term.namespace = _bare(value)
    elif tag == "is_obsolete":
        term.obsolete = value.lower().startswith(("true", "1"))
    elif tag in _ID_LISTS:
        getattr(term, _ID_LISTS[tag]).append(_bare(value))
    elif tag == "comment":
        term.comments.append(unescape(value))


def _quoted(value: str) -> "tuple[str, str]":
    for pattern in _QUOTED:
        if match := pattern.match(value):
            return unescape(match[1]), match[2]
    text, *rest = _UNQUOTED.split(value, maxsplit=1)
    return unescape(text.strip()), "".join(rest).strip()


def unescape(text: str) -> str:
    def unescaped(match: "re.Match[str]") -> str:
        escape = match[1]
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)

    return _ESCAPED.sub(unescaped, text) if "\\" in text else text


def _bare(value: str) -> str:
    """Without trailing modifiers and comment."""
    return unescape(_COMMENT.sub("", _MODIFIERS.sub("", _COMMENT.sub("", value)))).strip()
