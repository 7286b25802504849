"""The repair layer: checks entities, repairs faults and counts the repairs by kind.

Readers use it to name the file and the line of a fault, and the build of a knowledge base uses it
for entities from anywhere. Both count and repair in the same way, but only readers ask what names mean:

* ``empty_id``, ``reserved_id`` ("NIL"), ``nameless``: the entity is left out.
* ``empty_name``: the first alias becomes the name.
* ``blank_alias``, ``blank_type``, ``blank_xref``, ``blank_parent``: it is left out.
* ``control_character``: becomes a blank (a definition keeps its line ends and tabs); U+0080 to U+009F
  become the characters of Windows-1252 that were read as Latin-1, as in HTML.
* ``bad_unicode``: a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD.
* ``markup``: entities and tags as of HTML, "&amp;", "<i>", in a name or definition; ``mojibake``: UTF-8 in a name that
  was read as Windows-1252, "MÃ©niÃ¨re". They become the characters that are meant.
* ``semantic_tag``: a name with a tag, "(disorder)" of SNOMED CT, ", NOS", "[D]", is an alias without it, too.
* ``obsolete_label``: an entity whose name says that it is obsolete is left out, and so is such an alias.
* ``duplicate_id``: the first entity stays and takes over names, types, xrefs and parents of the later ones.
  Readers, which stream, pass later ones on; the build merges them.

White space at the ends of a field is dropped and repeated items of a list are kept once,
without counting.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, dropwhile

from ..errors import Errors, PelError
from ..types import NIL, Entity
from ..util.reading import ENTITY, TAG
from ..util.xrefs import normalize_xref

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_CONTROL_BUT_LAYOUT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_C1 = range(0x80, 0xA0)  # five of these have no character in Windows-1252
_WINDOWS_1252 = {code: char for code in _C1 if (char := bytes([code]).decode("cp1252", "ignore"))}
_CP1252 = "".join(_WINDOWS_1252.values())
_BYTES = {ord(char): code for code, char in _WINDOWS_1252.items()}
_NEXT = f"[\x80-\xbf{_CP1252}]"
_MOJIBAKE = re.compile(
    f"(?:[\xc2-\xc4\xce-\xd1]|\xc5(?![\xb2\xb3])|\xc3){_NEXT}|[\xe0-\xef]{_NEXT}{{2}}|[\xf0-\xf4]{_NEXT}{{3}}"
    "|[√¬Œœ][^\x00-\x7f]|‚[^\x00-\x7f]{2}"  # read as Mac OS Roman
)
_TAGS = """administrative concept|assessment scale|attribute|basic dose form|body structure|cell|cell structure|
(?:real |virtual )?clinical drug|context-dependent category|diagnosis|disease|disorder|disposition|dose form|
environment|ethnic group|event|finding|foundation metadata concept|geographic location|life style|link assertion|
medicinal product(?: form)?|morphologic abnormality|navigational concept|observable entity|occupation|organism|person|
physical force|physical object|procedure|product|qualifier value|racial group|record artifact|regime/therapy|
religion/philosophy|role|situation|social concept|special concept|specimen|staging scale|substance|tumou?r staging|
unit of presentation""".replace("\n", "")
_READ_TAG = r"\[(?:[A-Z]|SO|EDTA|NOS)\]"  # of the Read codes, before a name or after it
_MED_RT_TAG = r"\[(?:EPC|MoA|PE|PK|TC|(?:Disease/Finding|Chemical/Ingredient)(?:, NOS)?)\]"
_LAST_TAGS = rf"(?i:,? \((?:NOS|{_TAGS})\)|, NOS)|(?<!al)(?<!ve)(?<!ible)(?<!brain)(?<!hage) NOS| {_READ_TAG}"
_TAGGED = re.compile(rf"(?:{_READ_TAG}\s*(?=\w)|NON RARE IN EUROPE: )?(.*?)(?:{_LAST_TAGS}|,? {_MED_RT_TAG}){{0,3}}")
_WRAPPED = re.compile(r"""\s*(?:'((?:[^']|'(?=\w))*)'|"([^"]*)"|“([^“”]*)”)\s*""")  # quoted twice: "'A00'"
NO_FAULTS = ("semantic_tag", "obsolete_label")  # these repairs are counted by strict readers, too
_MAYBE_TAGGED = (")", "]", "NOS", "nos")
# "obsolete" and "deprecated" say it of a name in any case; other words may be a part of it, as in "inactive virus",
# unless brackets or a colon set them apart
_SURE = r"obsoleted?|deprecated"
_WHAT = r"[ _](?:class|code|concept|entry|name|record|term)"
_APART = (
    rf"(?:{_SURE}|retired|withdrawn|removed|deleted|superseded)(?:{_WHAT})?|inactive{_WHAT}"
    r"|do not use|not in use|no longer (?:used|in use|valid)"
)
_OBSOLETE = re.compile(
    rf"[\W_]*(?i:(?:to be )?(?:{_SURE})(?![a-z])[\W_]*[^\W_]|(?:inactive|{_APART})[:)\]]|do not use\s*[-:]"
    r"|(?-i:INACTIVE|RETIRED|WITHDRAWN|REMOVED|DELETED) (?-i:(?=.*[a-z]))|(?:symbol|entry) withdrawn).*"
    r"|(?:.*, )?MOVED TO (?:\w+:)?\d+\b.*|REMOVED FROM .*"
    rf"|.*(?i:(?:, | - |(?-i: (?=[A-Z]{{8}})))(?:{_SURE})|[(\[](?:{_APART})[)\]]|\[inactive\])\s*"
)
Count = Callable[[str, str], None]  # takes the kind of a fault and the entity's id


def repaired(entity: Entity, count: Count) -> Entity | None:
    """Check one entity and repair it where needed.

    Args:
        entity: from a reader or the user.
        count: called with the kind of each fault and the entity's id.

    Returns:
        The entity, repaired where needed; None = it cannot be kept.

    Raises:
        PelError: if a field is not text.
    """
    try:
        if _is_clean(entity) and entity.concept_id != NIL:
            return entity
    except TypeError as err:
        raise PelError(Errors.E105.format(entity=entity)) from err
    given = entity.concept_id
    entity_id = _repaired_text(given, given, _CONTROL, count)
    name = _repaired_text(entity.canonical_name, given, _CONTROL, count)
    aliases = _repaired_list(entity.aliases, entity, "blank_alias", count)
    types = _repaired_list(entity.types, entity, "blank_type", count)
    if entity_id in ("", NIL):
        count("reserved_id" if entity_id else "empty_id", given)
        return None
    if not name:
        count("empty_name" if aliases else "nameless", entity_id)
        if not aliases:
            return None
        name, aliases = aliases[0], aliases[1:]
    definition = entity.definition and _repaired_text(entity.definition, given, _CONTROL_BUT_LAYOUT, count)
    xrefs = _repaired_list(entity.xrefs, entity, "blank_xref", count)
    parents = _repaired_list(entity.parents, entity, "blank_parent", count)
    return Entity(entity_id, name, aliases, types, definition or None, xrefs, parents)


def with_plain_names(entity: Entity, count: Count) -> Entity:
    """What names and the definition mean, without markup and mojibake, and names without semantic tags, too.

    Args:
        entity: as its file has it.
        count: as of ``repaired``.
    """

    def plain(text: str, *, is_name: bool = True) -> str:
        found = text if "&" not in text and "<" not in text else without_markup(text)
        if found != text:
            count("markup", entity.concept_id)
        text = found if found.isascii() or not is_name else without_mojibake(found)
        if text != found:
            count("mojibake", entity.concept_id)
        return text

    names = [_tidied(plain(name)) for name in (entity.canonical_name, *entity.aliases)]
    for name in list(filter(is_obsolete, names[1:])):
        count("obsolete_label", entity.concept_id)
        names.remove(name)
    for name in list(names):
        if (untagged := without_tags(name)) not in names:
            count("semantic_tag", entity.concept_id)
            names.append(untagged)
    definition = entity.definition and plain(entity.definition, is_name=False)
    return replace(entity, canonical_name=names[0], aliases=tuple(names[1:]), definition=definition)


def bare(text: str) -> str:
    """Without the quotation marks around it."""
    found = _WRAPPED.fullmatch(text)
    return found[found.lastindex or 0] if found else text


def without_markup(text: str) -> str:
    """Without entities and tags as of HTML; a line break is a blank."""
    for _ in range(3):  # "&amp;alpha;"
        text = ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return TAG.sub(lambda tag: " " * tag[0].lower().startswith("<br"), text)


def without_tags(name: str) -> str:
    """Without semantic tags; the name itself if nothing would be left."""
    match = _TAGGED.fullmatch(name) if name.startswith(("[", "NON RARE ")) or name.endswith(_MAYBE_TAGGED) else None
    return (match and match[1].strip()) or name


def without_mojibake(text: str) -> str:
    """With the characters whose bytes in UTF-8 were read as Windows-1252 or Mac OS Roman."""

    def decoded(match: "re.Match[str]") -> str:
        try:
            is_mac = match[0][0] in "√¬Œœ‚"
            raw = match[0].encode("mac_roman") if is_mac else match[0].translate(_BYTES).encode("latin1")
            char = raw.decode("utf8")
        except UnicodeError:
            return match[0]
        return char if char.isalnum() or unicodedata.category(char)[0] in "PSZ" else match[0]

    again = _MOJIBAKE.sub(decoded, text)
    return again if again == text else without_mojibake(again)  # it may have happened twice


def is_obsolete(name: str) -> bool:
    """Whether a name says that nothing is called so any longer: "obsolete x", "OBSOLETE: x", "x [deprecated]"."""
    return _OBSOLETE.fullmatch(name) is not None


def counts_text(report: Mapping[str, int]) -> str:
    """Counts of repairs by kind, in a line; "none" if there are none."""
    return ", ".join(f"{kind} {count}" for kind, count in sorted(report.items())) or "none"


def repaired_redirects(redirects: Mapping[str, str], count: Count) -> dict[str, str]:
    """Repair the ids of redirects as those of entities; an id that nothing is left of is left out.

    Args:
        redirects: retired id -> successor.
        count: called with the kind of each fault and the retired id.

    Returns:
        The first of several that are equal then.
    """
    repaired: dict[str, str] = {}
    for old, new in redirects.items():
        ids = [_repaired_text(one, old, _CONTROL, count) for one in (old, new)]
        if all(ids):
            repaired.setdefault(*ids)
        else:
            count("empty_id", old)
    return repaired


def ends_of_chains(redirects: Mapping[str, str], live: Container[str]) -> dict[str, str]:
    """Where each redirected id leads: to the first live id, or the last one if none is live; in a circle to itself, and
    into a circle to where it enters. A chain is followed once, whatever its length."""
    ends: dict[str, str] = {}
    for old in redirects:
        passed: dict[str, None] = {}
        new = old
        while new in redirects and new not in ends and new not in passed and not (passed and new in live):
            passed[new] = None
            new = redirects[new]
        is_end = new in passed or new in live
        ends.update((one, new if is_end else ends.get(new, new)) for one in reversed(passed))
        if new in passed and new not in live:  # a circle
            ends.update((one, one) for one in dropwhile(new.__ne__, passed))
    return {old: ends[old] for old in redirects}


def _is_clean(entity: Entity) -> bool:
    """A quick test that most entities pass, so that their fields need not be checked one by one.

    Returns:
        True = nothing needs repair: no field has control characters, surrogates, white space
        other than blanks, or blanks at its ends, and no item of a list is blank or repeated.

    Raises:
        TypeError: if a field is not text.
    """
    lists = (entity.aliases, entity.types, entity.xrefs, entity.parents)
    texts = (entity.concept_id, entity.canonical_name, *chain.from_iterable(lists), entity.definition or ".")
    fields = "|".join(("", *texts, ""))
    return (
        fields.isprintable()  # so it has no white space but blanks
        and not ("||" in fields or "| " in fields or " |" in fields)
        and all(len(set(texts)) == len(texts) for texts in lists)
        and entity.definition != ""
    )


def _repaired_list(texts: Sequence[str], entity: Entity, kind: str, count: Count) -> tuple[str, ...]:
    repaired = [_repaired_text(text, entity.concept_id, _CONTROL, count) for text in texts]
    for _ in range(repaired.count("")):
        count(kind, entity.concept_id)
    return _distinct(repaired)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _repaired_text(text: str, owner: str, control: "re.Pattern[str]", count: Count) -> str:
    """owner: the id that the text belongs to."""
    if control.search(text.strip()):
        count("control_character", owner)
        text = control.sub(" ", text.translate(_WINDOWS_1252))
    if _SURROGATE.search(text):
        count("bad_unicode", owner)
        text = _SURROGATE.sub("\ufffd", text)
    return text.strip()


def merge_duplicates(entities: Sequence[Entity]) -> Entity:
    """Join entities of one id under the first one's name and definition.

    Args:
        entities: at least one, in the order of the source.

    Returns:
        With the names of all as aliases, the types, xrefs and parents of all, and the first definition.
    """
    first = entities[0]
    names = [name for entity in entities for name in (entity.canonical_name, *entity.aliases)]
    others = [*first.aliases, *(name for name in names if name != first.canonical_name)]
    of_all = ([text for entity in entities for text in getattr(entity, name)] for name in ("types", "xrefs", "parents"))
    types, xrefs, parents = map(_distinct, of_all)
    definition = next((entity.definition for entity in entities if entity.definition), None)
    return replace(first, aliases=_distinct(others), types=types, definition=definition, xrefs=xrefs, parents=parents)


def tidied(entity: Entity) -> Entity:
    """An entity of a file, with single blanks, cross references in their usual spelling, and each text of a list
    once."""
    name = _tidied(entity.canonical_name)
    aliases = dict.fromkeys(alias for alias in map(_tidied, entity.aliases) if alias not in ("", name))
    types, parents = (_distinct(map(str.strip, texts)) for texts in (entity.types, entity.parents))
    xrefs = _distinct(map(normalize_xref, entity.xrefs))
    definition = _tidied(entity.definition or "") or None
    return Entity(entity.concept_id.strip(), name, tuple(aliases), types, definition, xrefs, parents)


def _tidied(name: str) -> str:
    return " ".join(name.split())
