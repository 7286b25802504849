"""Why a mention is linked as it is: the evidence for each candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from ..candidates.evidence import NAMED
from ..errors import one_line
from ..index.annotated_text import FormsInText
from ..index.embed import names_of
from ..index.row_table import NAME_KINDS, hash_texts
from ..types import NIL, CandidateTable, Entity, Vectors
from ..types.semantic_types import type_name
from ..util import normalize_alias
from ..util.console import EMPTY, aligned, first_sentence, words_around
from .corrections import Learned
from .corrections.matching import LISTED
from .query import MentionQuery

if TYPE_CHECKING:
    from .linker import Linker


_PARTS = 4  # contributions in the text
_LISTED = 8  # names, forms and codes of a candidate in the text
_AROUND = 40  # characters of context on each side in the text
_CLOSE = 1e-4  # cosines that differ by less are of the same row: codes are rounded


@dataclass(frozen=True)
class CandidateEvidence:
    """Evidence for a candidate.

    Attributes:
        id: of the entity.
        name: its canonical name.
        types: its types, e.g. semantic type ids.
        definition: a gloss, or None.
        aliases: its other names.
        forms: what annotated text calls it; None without an index.
        xrefs: its ids in other vocabularies, e.g. "MESH:D001249".
        score: the final score, as in ``span._.pel_candidates``.
        nearest_name: the name of the entity that is nearest to the mention, by cosine if there
            are vectors, otherwise by spelling.
        name_cosine: the best cosine over the rows of its names; None without vectors.
        mention_cosine: the best cosine over the rows of its annotated mentions that were found;
            None if there is none.
        nearest_mention: that mention in its context, if it was learned (see ``learned``); the
            text of other mentions is not stored.
        learned: the entry of that mention in the memory.
        features: all features of the candidate, see FEATURES of ``candidates/evidence.py``.
        contributions: what each input of the combiner adds to the score, before the softmax if
            there is one. Empty for a combiner that cannot say.
        ranker_score: of the reranker, as a logit; None if it did not read the candidate.
    """

    id: str
    name: str
    types: tuple[str, ...]
    definition: str | None
    aliases: tuple[str, ...]
    forms: FormsInText | None
    xrefs: tuple[str, ...]
    score: float
    nearest_name: str | None
    name_cosine: float | None
    mention_cosine: float | None
    nearest_mention: str | None
    learned: int | None
    features: dict[str, float]
    contributions: dict[str, float]
    ranker_score: float | None


@dataclass(frozen=True)
class Explanation:
    """The answer for a mention, and why. Printed, it is a table.

    Attributes:
        text: the mention as the linker reads it: the long form of an abbreviation, the name without words around it.
        written: the mention as it is written.
        context: the mention, and whole words of up to 40 characters before and after it.
        context_start: where the mention begins in the context.
        label: the NER label.
        kb_id: the answer: an id, or "NIL".
        name: its canonical name; None for NIL.
        relation: of the mention to it, see ``Link.relation``.
        probability: P(right) of the answer.
        nil_score: the number that is compared with the threshold; P(NIL) after calibration.
        threshold: a higher nil_score is NIL. Before calibration it is the mention's own, above
            which NIL is more probable than the first candidate. None = NIL only for lack of candidates.
        threshold_is_own: whether the threshold is the mention's own.
        id_set: with the setting ``coverage`` and a calibration, the answers among which the
            right one is at that rate.
        learned: the corrected mention that decides the answer, whatever the scores say; None
            = none does.
        listed: the list of short forms that decides the answer; None = none does.
        record: how often the first candidate was "first" for annotated mentions of the
            calibration, how often it was "right" then, and how often the mention was "nil"; None without
            candidates, and for NIL models that do not read it. P(NIL) reads the record of the other candidates
            as well, and that of the mention's words.
        candidates: best first, as many as the linker returns.
        in_context: whether the mention was read in its context, and not by its surface form alone.
    """

    text: str
    written: str
    context: str
    context_start: int
    label: str
    kb_id: str
    name: str | None
    relation: str | None
    probability: float
    nil_score: float
    threshold: float | None
    threshold_is_own: bool
    id_set: list[str] | None
    learned: Learned | None
    listed: str | None
    record: dict[str, int] | None
    candidates: list[CandidateEvidence]
    in_context: bool

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, n: int = 5) -> str:
        """Some lines and a table of the n best candidates."""
        label = f" ({self.label})" if self.label else ""
        mention = self.text if self.text == self.written else f"{self.written}, read as {self.text}"
        answer = self.kb_id if self.name is None else f"{self.kb_id} {self.name}"
        answer += ", broader than the mention" if self.relation == "broader" else ""
        threshold = "no threshold" if self.threshold is None else f"threshold {self.threshold:.3f}"
        threshold += " of this mention" if self.threshold_is_own else ""
        how = "read in context" if self.in_context else "by the surface form alone"
        lines = [
            f"{mention}{label} in: {' '.join(self.context.split())}",
            f"answer, {how}: {answer}, P(right) {self.probability:.3f}; P(NIL) {self.nil_score:.3f}, {threshold}",
        ]
        if self.learned is not None:
            lines.append(f"decided by what was learned: {described(self.learned)}")
        if self.listed is not None:
            lines.append(f"decided by the list of short forms '{self.listed}'")
        if self.id_set is not None:
            lines.append(f"set: {', '.join(self.id_set)}")
        rows = [self.shown(candidate) for candidate in self.candidates[:n]]
        lines += ["", *aligned(HEAD, rows)] if rows else ["no candidates"]
        if more := len(self.candidates) - len(rows):
            lines.append(f"and {more} more")
        lines += [line for one in self.candidates[:n] for line in _about(one)]
        if against := self.difference:
            largest = [f"{name} {value:+.2f}" for name, value in list(against.items())[:_PARTS]]
            first, second = self.candidates[:2]
            total = sum(first.contributions.values()) - sum(second.contributions.values())
            parts = ", ".join([*largest, "…"] if len(against) > _PARTS else largest)
            lines.append(f"the combiner's evidence for {first.id} over {second.id}: {total:+.2f} ({parts})")
        if self.record is not None:
            came_first, right, nil = (self.record[name] for name in ("first", "right", "nil"))
            counts = f"first {came_first:,}, right {right:,}, NIL {nil:,}"
            lines.append(f"track record of {self.candidates[0].id} (mentions in the calibration): {counts}")
        return "\n".join(lines)

    @property
    def difference(self) -> dict[str, float]:
        """What each contribution adds to the lead of the first candidate over the
        second one, the largest first; empty if there are no contributions to compare."""
        if len(self.candidates) < 2:
            return {}
        first, second = (candidate.contributions for candidate in self.candidates[:2])
        parts = {name: first[name] - second[name] for name in first if name in second}
        ordered = sorted(parts.items(), key=lambda part: -abs(part[1]))
        return {name: value for name, value in ordered if abs(value) >= 0.005}

    @staticmethod
    def shown(candidate: CandidateEvidence) -> list[str]:
        """The cells of a candidate, see HEAD."""
        features = candidate.features
        # the counts of an unseen form tell nothing
        prior = features.get("prior") if features.get("seen", 1.0) else None
        learned = f" (learned {candidate.learned})" if candidate.learned else ""
        return [
            candidate.id,
            candidate.name,
            _number(candidate.score),
            candidate.nearest_name or EMPTY,
            _number(candidate.name_cosine),
            _number(candidate.mention_cosine) + learned,
            next((name for name in (*NAMED, "abbreviation") if features.get(name)), EMPTY),
            *map(_number, (prior, features.get("edit"), candidate.ranker_score)),
        ]


HEAD = (*("id", "name", "score", "nearest name", "cosine", "mention cosine", "named by", "prior", "spelling"), "ranker")


def explain(linker: "Linker", query: MentionQuery, *, written: str | None = None) -> Explanation:
    """Link a mention and keep the evidence.

    Args:
        linker: any.
        query: the mention, as the linker is given it.
        written: the mention as it is written; None = as in the query.

    Returns:
        With the answer of ``linker.link``.
    """
    decider, ranked = linker.decider, linker.rank([query], linker.top_k)
    table, link, written = ranked.table, linker.decide(ranked, linker.top_k)[0], written or query.surface
    [query] = ranked.queries
    read = None
    if decider.reranker is not None:
        read = decider.reranker.read(linker.kb, [query], table, decider.combiner(table))[0]
    ids = linker.kb.ids_at(table.kb_rows[table.filled])
    positions = {entity_id: position for position, entity_id in enumerate(ids)}
    chosen = [positions[entity_id] for entity_id in link.ids]
    contributions = getattr(decider.combiner, "contributions", None)
    parts: dict[str, Any] = {} if contributions is None else dict(contributions(table))
    nearest = _NearestRows(linker, table, query)
    candidates = []
    for position, entity_id, score in zip(chosen, link.ids, link.scores, strict=True):
        features = {name: float(values[0, position]) for name, values in table.features.items()}
        entity, kb_row = linker.kb[entity_id], int(table.kb_rows[0, position])
        learned = nearest.learned(kb_row, features)
        candidates.append(
            CandidateEvidence(
                id=entity_id,
                name=entity.canonical_name,
                types=entity.types,
                definition=entity.definition,
                aliases=entity.aliases,
                forms=None if linker.index is None else FormsInText.of(linker.index.priors, linker.kb, entity),
                xrefs=entity.xrefs,
                score=score,
                nearest_name=nearest.name(kb_row, entity),
                name_cosine=features["name"] if table.vectors is not None else None,
                mention_cosine=features["mention"] if features["vote"] > 0 else None,
                nearest_mention=None if learned is None else learned.context,
                learned=None if learned is None else learned.id,
                features=features,
                contributions={name: float(values[0, position]) for name, values in parts.items()},
                ranker_score=None if read is None or np.isnan(read[position]) else float(read[position]),
            )
        )
    record = getattr(decider.nil_model, "record", None) if chosen else None
    left, right = words_around(query.text, query.start, query.end, _AROUND)
    entries = {entry.id: entry for entry in linker.memory.learned}
    return Explanation(
        text=query.surface,
        written=written,
        context=query.text[left:right],
        context_start=query.start - left,
        label=query.label,
        kb_id=link.kb_id,
        name=None if link.kb_id == NIL else linker.kb[link.kb_id].canonical_name,
        relation=link.relation,
        probability=link.probability,
        nil_score=link.nil_score,
        threshold=link.threshold,
        threshold_is_own=link.threshold is not None and decider.threshold_of(query.label, linker.threshold) is None,
        id_set=link.id_set,
        learned=None if link.learned is None else entries[link.learned],
        listed=query.sense.source if query.sense and ranked.matches and ranked.matches.entries[0] == LISTED else None,
        record=None if record is None else record.of_entity(int(table.kb_rows[0, chosen[0]]), linker.kb),
        in_context=linker.reads_context,
        candidates=candidates,
    )


class _NearestRows:
    """Which rows of the candidates are nearest to the mention."""

    def __init__(self, linker: "Linker", table: CandidateTable, query: MentionQuery):
        self.form = normalize_alias(query.surface)
        self.vector: Any = None if table.vectors is None else table.vectors[0]
        self.index = linker.index
        self.mentions = linker.learned_mentions
        self.of_entity: dict[int, list[int]] = {}
        if self.index is not None and self.vector is not None:
            mask = self.index.rows.mask(NAME_KINDS)
            wanted = np.isin(self.index.kb_rows, table.kb_rows)
            for row in np.flatnonzero(wanted if mask is None else wanted & mask).tolist():
                self.of_entity.setdefault(int(self.index.kb_rows[row]), []).append(row)

    def name(self, kb_row: int, entity: Entity) -> str | None:
        """The nearest name of an entity."""
        names = names_of(entity)
        if rows := self.of_entity.get(kb_row):
            vectors: Vectors = np.concatenate([self.index.vectors.vectors(row, row + 1) for row in rows])  # type: ignore[union-attr]
            nearest = rows[int((vectors @ self.vector).argmax())]
            texts = self.index.rows.texts  # type: ignore[union-attr]
            hashes = [*hash_texts("alias", names), *hash_texts("card", [entity])]
            same = [number for number, value in enumerate(hashes) if value == texts[nearest]]  # type: ignore[index]
            if same:
                return [*names, entity.canonical_name][same[0]]
        forms = list(map(normalize_alias, names))
        best = process.extractOne(self.form, forms, scorer=Indel.normalized_similarity)
        return None if best is None else names[best[2]]

    def learned(self, kb_row: int, features: Mapping[str, float]) -> Learned | None:
        """The nearest annotated mention of an entity, if it was learned."""
        if self.vector is None or self.mentions.vectors is None or not features["vote"] > 0:
            return None
        of_entity = np.flatnonzero((self.mentions.kb_rows == kb_row) & self.mentions.settled)
        if not len(of_entity):
            return None
        cosines = self.mentions.vectors[of_entity] @ self.vector
        best = int(cosines.argmax())
        is_nearest = abs(float(cosines[best]) - features["mention"]) <= _CLOSE
        return self.mentions.learned[int(of_entity[best])] if is_nearest else None


def described(entry: Learned) -> str:
    """An entry of the memory in a line."""
    who = f" by {entry.by}" if entry.by else ""
    where = f" in {entry.doc}" if entry.doc else ""
    after = f"{entry.after}, always" if entry.always else entry.after
    return one_line(f"{entry.id}: {entry.text} = {after} (before: {entry.before}){where}, {entry.at}{who}")


def _about(candidate: CandidateEvidence) -> list[str]:
    """Types by name, the gist of the definition, some names, what annotated text calls it, and some codes."""
    types, gist = " · ".join(map(type_name, candidate.types)), first_sentence(candidate.definition or "")
    parts = {
        "names": _listed((candidate.name, *candidate.aliases)),
        "in annotated text": str(candidate.forms or ""),
        "codes": _listed(candidate.xrefs),
    }
    about = "; ".join(filter(None, (types, gist)))
    return [f"{candidate.id}: {about}".rstrip(), *(f"  {title}: {text}" for title, text in parts.items() if text)]


def _listed(texts: Sequence[str]) -> str:
    return " · ".join([*texts[:_LISTED], *(["…"] if len(texts) > _LISTED else [])])


def _number(value: Any) -> str:
    return EMPTY if value is None else f"{value:.3f}"
