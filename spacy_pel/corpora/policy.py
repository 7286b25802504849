"""One policy for mentions that are not just one span with one id. All readers follow it.

* **No id** (empty, ``-1``, ``-``, ``NIL``, ``CUI-less``, ``null``, also after a prefix: ``MESH:-1``): a NIL
  mention, ``ids`` is empty. Such a part among real ids is left out.
* **Several ids**: ``|``, ``;`` and ``,`` join alternatives; any of the ids is right. Ids joined by ``+``, and
  those of mentions that the corpus itself marks as composite (NCBI Disease's type CompositeMention, the
  seventh column of BC5CDR), are all meant: ``composite`` is true. ``;`` and ``,`` join ids only where every
  part looks like an id: ``2,4-dinitrophenol`` and ``HGVS:c.[35del;101C>G]`` stay whole.
* **Variants**: ``p|SUB|V|600|E`` is one id. tmVar lists ids and attributes of one variant with ``;``: the ids
  are alternatives, the attributes (``VariantGroup:``, ``CorrespondingGene:``, ...) are left out.
* **The same span twice** with the same label: one mention; ids of separate annotations are
  alternatives. Spans with other labels stay apart.
* **Overlapping and nested** mentions all stay in the corpus file, ordered by start, then longest
  first. ``doc.ents`` cannot hold overlaps: there the longest is kept, the first of equals
  (``spacy.util.filter_spans``), and the others are counted.
* **Discontinuous** mentions become the covering span, from the first character to the last; their
  parts are listed in the document's ``meta["discontinuous"]`` as ``{"start", "end", "spans": [[start,
  end], ...]}``. A reader's setting ``discontinuous = "drop"`` leaves them out and counts them.
* **White space** at the ends of a mention is cut off; a mention of white space only is dropped.
* **Text that differs** from the given string: see ``offsets.py``.
"""

import re
from collections.abc import Iterable

from ..types import Mention

NO_ID = {"", "-1", "-", "nil", "none", "null", "cui-less", "cuiless", "n/a"}

# neither within brackets nor between the locants of a chemical's name
_LIST = re.compile(r"[;,]\s*(?![^\[\](){}]{0,200}[\])}])(?!\d[\d,]{0,20}-[A-Za-z])")
# tmVar's form, and HGVS; their bars and plus signs do not join ids
_VARIANT = re.compile(r"(?:tmVar:)?[a-z]?\|[A-Za-z]{2,}\||(?:[\w.]{1,40}:){0,2}[cgmnpr]\.")
_ATTRIBUTE = re.compile(r"(?:VariantGroup|Corresponding\w+|OriginalGene):")
_ID = re.compile(r"[A-Za-z][\w.#-]*:\S+|(?=\D*\d)(?!.*[a-z]{4})[\w./-]+(?:\(\S*\))?")


def split_ids(id_field: str, *, joiners: str = "|;,+", strip_prefix: str = "") -> tuple[tuple[str, ...], bool]:
    """Read an id field.

    Args:
        id_field: e.g. "D001943|D010051", "D007153+D040181", "-1".
        joiners: the characters that may join ids.
        strip_prefix: taken off the ids that have it, e.g. "MESH:".

    Returns:
        The distinct ids and whether all of them are meant.
    """
    inner = "".join(joiner for joiner in joiners if joiner in "|+")
    fields = _LIST.split(id_field) if ";" in joiners else [id_field]
    if not all(looks_like_id(piece) for field in fields for piece in _split(field, inner)):
        fields = [id_field]
    pieces = (piece for field in fields for piece in _split(field, inner))
    found = (piece.removeprefix(strip_prefix) for piece in pieces if has_id(piece) and not _ATTRIBUTE.match(piece))
    ids = tuple(dict.fromkeys(found))
    plus = "+" in inner and any("+" in field and not _VARIANT.match(field) for field in fields)
    return ids, len(ids) > 1 and plus


def looks_like_id(text: str) -> bool:
    """Whether a text may be an id, and no name: it has a prefix, or a digit and no word."""
    return _ID.fullmatch(text) is not None or _VARIANT.match(text) is not None or not has_id(text)


def has_id(text: str) -> bool:
    """Whether an id field says more than that there is no id."""
    return text.rpartition(":")[2].strip().casefold() not in NO_ID


def _split(part: str, joiners: str) -> list[str]:
    if _VARIANT.match(part) or not joiners:
        return [part.strip()]
    return [piece.strip() for piece in re.split(f"[{joiners}]", part)]


def tidy(mentions: Iterable[Mention], report: dict[str, int]) -> list[Mention]:
    """Merge mentions of the same span and label, and order them.

    Args:
        mentions: the mentions of a document in the order of the source.
        report: counts "same_span" (mentions merged into another one).

    Returns:
        By start, the longest first.
    """
    merged: dict[tuple[int, int, str], Mention] = {}
    for mention in mentions:
        key = (mention.start, mention.end, mention.label)
        if key in merged:
            report["same_span"] = report.get("same_span", 0) + 1
            first = merged[key]
            ids = tuple(dict.fromkeys(first.ids + mention.ids))
            both = first.composite and (mention.composite or not mention.ids)
            merged[key] = Mention(*key, ids=ids, composite=both)
        else:
            merged[key] = mention
    return sorted(merged.values(), key=lambda mention: (mention.start, -mention.end))
