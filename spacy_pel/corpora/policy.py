"""One policy for mentions that are not just one span with one id. All readers follow it.

* **No id** (empty, ``-1``, ``-``, ``NIL``, ``CUI-less``, ``null``): a NIL mention, ``ids`` is empty. Such a
  part among real ids is left out.
* **Several ids**: alternatives joined by ``|`` (or ``;`` or ``,`` where a format uses them) are all in
  ``ids``; any of them is right. Ids joined by ``+``, and those of mentions that the corpus itself
  marks as composite (NCBI Disease's type CompositeMention, the seventh column of BC5CDR), are all
  meant: ``composite`` is true.
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

from typing import Dict, Iterable, List, Set, Tuple

from ..types import Mention

NO_ID = {"", "-1", "-", "nil", "none", "null", "cui-less", "cuiless", "n/a"}


def split_ids(
    given: str, *, alternatives: str = "|", composite: str = "+", strip_prefix: str = ""
) -> Tuple[Tuple[str, ...], bool]:
    """Read an id field.

    given (str): e.g. "D001943|D010051", "D007153+D040181", "-1".
    alternatives, composite (str): the characters that join alternative ids and the ids of a
        composite mention.
    strip_prefix (str): taken off the ids that have it, e.g. "MESH:".
    RETURNS (Tuple[Tuple[str, ...], bool]): the distinct ids and whether all of them are meant.
    """
    parts = [given]
    for joiner in alternatives + composite:
        parts = [piece for part in parts for piece in part.split(joiner)]
    ids = []
    for part in parts:
        entity_id = part.strip()
        if strip_prefix and entity_id.startswith(strip_prefix):
            entity_id = entity_id[len(strip_prefix) :]
        if entity_id.casefold() not in NO_ID and entity_id not in ids:
            ids.append(entity_id)
    return tuple(ids), len(ids) > 1 and any(joiner in given for joiner in composite)


def tidy(mentions: Iterable[Mention], report: Dict[str, int]) -> List[Mention]:
    """Merge mentions of the same span and label, and order them.

    mentions (Iterable[Mention]): the mentions of a document in the order of the source.
    report (Dict[str, int]): counts "same_span" (mentions merged into another one).
    RETURNS (List[Mention]): by start, the longest first.
    """
    merged: Dict[Tuple[int, int, str], Mention] = {}
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


def without_overlaps(mentions: Iterable[Mention]) -> List[Mention]:
    """Keep the longest of overlapping mentions, the first of equals, as ``spacy.util.filter_spans`` does.

    mentions (Iterable[Mention]): of one document, in any order.
    RETURNS (List[Mention]): those kept, in the given order.
    """
    given = list(mentions)
    kept: List[int] = []
    taken: Set[int] = set()  # characters
    for place in sorted(range(len(given)), key=lambda i: (given[i].start - given[i].end, given[i].start)):
        span = range(given[place].start, given[place].end)
        # longer ones come first, so one that overlaps this one contains its first or last character
        if span.start not in taken and span.stop - 1 not in taken:
            kept.append(place)
            taken.update(span)
    return [given[place] for place in sorted(kept)]
