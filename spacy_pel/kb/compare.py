"""A knowledge base compared with a later one, and with the ids of old results, of annotations and of users."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import Errors, PelError, Warnings
from ..types import NIL
from ..util import logger, progress
from .edits import State, Update
from .knowledge_base import KnowledgeBase

_BATCH = 4096
_N_NAMED = 3
_CUTOFF = 0.7  # similarity: "HP:118" finds HP:0000118
_KEYS = ("ids", "kb_id", "gold", "id_set", "candidates")  # of a mention


def diff(old: KnowledgeBase, new: KnowledgeBase, *, show_progress: bool = False) -> Update:
    """Compare live entities by id. Memory grows with the differences, not with the entities.

    Returns:
        Ids in the order of the rows.
    """
    update = Update()
    if old.fingerprint == new.fingerprint:
        return update
    for ids in _ids_in_batches(new, "Comparing new entities", show_progress):
        for entity_id, before, after in zip(ids, old.states(ids), new.states(ids), strict=True):
            if not before.live or before.entity != after.entity:
                update.note(entity_id, before, after)
    for ids in _ids_in_batches(old, "Comparing old entities", show_progress):
        for entity_id in ids:
            successor = new.resolve(entity_id)
            if successor != entity_id:
                update.note(entity_id, State(live=True), State(successor=successor))
    update.changed = {entity_id: fields for entity_id, fields in update.changed.items() if fields}
    return update


def _ids_in_batches(kb: KnowledgeBase, description: str, show_progress: bool) -> Iterator[list[str]]:
    ids = progress(iter(kb), description=description, total=len(kb), show=show_progress)
    return iter(lambda: list(islice(ids, _BATCH)), [])


class Migration:
    """Replaces retired ids in linked documents, or in lines of predictions.jsonl, by their successors.

    Args:
        old: the one of the ids; its redirects count where the new one does not know an id.
        new: the one to use.
    """

    def __init__(self, old: KnowledgeBase, new: KnowledgeBase):
        self.old, self.new = old, new
        self.n_documents = self.n_mentions = self.n_changed = 0
        self.replaced: dict[str, str] = {}  # by their successors
        self.retired: Counter[str] = Counter()  # mentions with an id that has no successor ...
        self.unknown: Counter[str] = Counter()  # or that neither knowledge base has
        self._successors: dict[str, str | None] = {}

    def __call__(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The records, changed in place. An id without a successor stays."""
        for record in records:
            self.n_documents += 1
            # a prediction is a mention, and a document that failed has none
            for mention in record.get("mentions", [record] if {*_KEYS} & record.keys() else ()):
                self.migrate(mention)
            yield record

    def rows(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """The header and the rows of a table of links, likewise."""
        header = next(rows, [])
        if not {"document", "id", "name"} <= {*header}:
            raise PelError(Errors.E691.format(got=", ".join(header[:8]) or "none"))
        yield header
        vocabularies, documents = [name for name in header if name in self.new.vocabularies()], set[str]()
        for cells in rows:
            row = dict(zip(header, cells, strict=True))
            codes = {name: list(filter(None, row[name].split("|"))) for name in vocabularies}
            mention: dict[str, Any] = {"kb_id": row["id"], "name": row["name"], "codes": codes}
            self.migrate(mention)
            row |= {"id": mention["kb_id"], "name": mention["name"]}
            row |= {name: "|".join(of_name) for name, of_name in mention["codes"].items()}
            self.n_documents += row["document"] not in documents
            documents.add(row["document"])
            yield list(row.values())

    def migrate(self, mention: dict[str, Any]) -> None:
        """Replace the ids of a mention in place."""
        before = {key: mention[key] for key in _KEYS if mention.get(key)}
        after = {key: self._value(value) for key, value in before.items()}
        self.n_mentions += 1
        self.n_changed += after != before
        mention.update(after)
        if after.get("kb_id") != before.get("kb_id"):
            if mention.get("name") is not None:  # a cell may be empty
                mention["name"] = self.new[after["kb_id"]].canonical_name
            if codes := mention.get("codes"):
                mention["codes"] = {name: self.new.codes(after["kb_id"], name) for name in codes}
        for entity_id in {entity_id for value in after.values() for entity_id in _ids(value)}:
            if self._successors.get(entity_id, entity_id) is None:
                is_retired = any(kb.resolve(entity_id) or kb.is_retired(entity_id) for kb in (self.old, self.new))
                (self.retired if is_retired else self.unknown)[entity_id] += 1

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._successor(value)
        distinct: dict[str, Any] = {}
        for item in value:  # an id, or a candidate with its score
            successor = self._successor(*_ids([item]))
            distinct.setdefault(successor, successor if isinstance(item, str) else [successor, *item[1:]])
        return list(distinct.values())

    def _successor(self, entity_id: str) -> str:
        if entity_id == NIL:
            return NIL
        if entity_id not in self._successors:
            successor = self.new.resolve(entity_id)
            if successor is None and (in_old := self.old.resolve(entity_id)) is not None:
                successor = self.new.resolve(in_old)
            self._successors[entity_id] = successor
            if successor not in (None, entity_id):
                self.replaced[entity_id] = str(successor)
        return self._successors[entity_id] or entity_id


def _ids(value: Any) -> list[str]:
    """The ids in a value of a mention."""
    return [item if isinstance(item, str) else item[0] for item in ([value] if isinstance(value, str) else value)]


def did_you_mean_id(kb: KnowledgeBase, text: str) -> str:
    """A question to append to a clause about an unknown id: the entities with that name or code, ids spelled
    like it, or names that contain it; empty if there are none."""
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    ids = (kb.ids(text) or kb.ids_of_xref(text))[:_N_NAMED]
    if not ids:
        how: Any = {"processor": str.casefold, "limit": _N_NAMED, "score_cutoff": _CUTOFF}
        matches = process.extract(text, list(kb), scorer=Indel.normalized_similarity, **how)
        ids = [entity_id for entity_id, _, _ in matches] or [entity_id for entity_id, _ in kb.search(text, _N_NAMED)]
    named = [f"'{entity_id}', {kb[entity_id].canonical_name}" for entity_id in ids]
    return f" (did you mean {'; '.join(named)}?)" if named else ""


def warn_of_other_ids(kb: KnowledgeBase, *, n_outside: int, n: int, example: str) -> None:
    """Log a warning if more than half of the mentions with ids have none that the knowledge base has: often
    it is another knowledge base than that of the annotation, or the ids lack a prefix.

    Args:
        kb: the entities.
        n_outside: mentions none of whose ids is in it.
        n: mentions that are annotated with ids.
        example: an id that it lacks.
    """
    if 2 * n_outside > n and len(kb):
        facts = {"example": example, "own": _own_id(kb), "hint": prefix_hint(kb, example)}
        logger.warning(Warnings.W103.format(n_outside=n_outside, n=n, **facts))


def no_known_id(kb: KnowledgeBase, *, n: int, example: str) -> PelError:
    """The error where no annotated mention has an id that the knowledge base has.

    Args:
        kb: the entities.
        n: mentions that are annotated with ids.
        example: one of these ids.

    Returns:
        To raise.
    """
    if not len(kb):
        return PelError(Errors.E624)
    return PelError(Errors.E621.format(n=n, example=example, own=_own_id(kb), hint=prefix_hint(kb, example)))


def prefix_hint(kb: KnowledgeBase, example: str) -> str:
    """A sentence, after a blank, where ids may differ only in a prefix such as "MESH:".

    Args:
        example: an annotated id that the knowledge base lacks; "" = there is none.
    """
    own = _own_id(kb)
    given, known = _prefix(example), _prefix(own)
    if given and not known:
        return f" If '{given}' is all that differs, convert the corpus with --set strip_prefix={given}"
    if known and example and not given:
        return f" If '{known}' is all that differs, put it before the ids of the corpus."
    return ""


def _own_id(kb: KnowledgeBase) -> str:
    return kb.id_at(int(kb.live_rows[0])) if len(kb) else "none"


def _prefix(entity_id: str) -> str:
    """ "MESH:" of "MESH:D009369"; "" = none."""
    return "".join(entity_id.partition(":")[:2]) if ":" in entity_id else ""
