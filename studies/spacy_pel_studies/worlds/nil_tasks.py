"""Linking tasks without annotated text, with mentions whose entity the knowledge base lacks.

A world is a knowledge base with a corpus. Of each, distinct surface forms and a part of the entities are
drawn. The knowledge base of a task lacks a third of the entities that the corpus names, or is small, like
somebody's own list of codes. A quarter as many mentions as it can link have an entity that it lacks, and as
many belong to other worlds, so that a third of a task's mentions are NIL.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.corpora import read_corpus
from spacy_pel.errors import Errors, PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.compare import no_known_id
from spacy_pel.types import CandidateGenerator, CandidateTable, MentionInText, Rows
from spacy_pel.util import normalize_alias

REMOVED = 1 / 3  # of the entities that the corpus names
SMALL = 200  # entities; at most half of them are named by the corpus
_NIL = 1 / 4  # NIL mentions per linkable one: this share from removed entities, and again from other worlds
_DEPTH = 128  # candidates, as the linker requests


class NilWorld(NamedTuple):
    """A part of a world.

    Attributes:
        name: of the world.
        kb: the entities that the mentions name, and others.
        mentions: one for each surface form.
        gold: the KB rows that each of them names.
    """

    name: str
    kb: KnowledgeBase
    mentions: list[MentionInText]
    gold: list[Rows]


class NilTask(NamedTuple):
    """Mentions to link to the allowed entities of a world.

    Attributes:
        world: name of the world.
        size: number of entities.
        allowed: by row of the world's KB.
        mentions: linkable ones first.
        gold: the KB rows of each; empty = NIL.
    """

    world: str
    size: int
    allowed: NDArray[np.bool_]
    mentions: list[MentionInText]
    gold: list[Rows]

    @property
    def is_nil(self) -> NDArray[np.bool_]:
        """By mention."""
        return np.array([len(rows) == 0 for rows in self.gold], dtype=np.bool_)

    def table(self, kb: KnowledgeBase, generator: CandidateGenerator) -> CandidateTable:
        """The candidates of the mentions.

        Args:
            kb: of the world.
            generator: built from it.
        """
        return generator.find_candidates(kb, self.mentions, allowed=[self.allowed] * len(self.mentions), top_k=_DEPTH)


def draw_world(name: str, kb_path: Path, corpus: Path, *, n_mentions: int, n_entities: int, seed: int) -> NilWorld:
    """Draw mentions and entities.

    Args:
        name: of the world.
        kb_path: KB folder.
        corpus: JSON lines; mentions of several entities at once, and those whose entities the KB
            lacks, are left out.
        n_mentions: at most; each surface form once, in a context drawn at random.
        n_entities: at least those that the mentions name; the others at random.
        seed: random seed.

    Returns:
        With a knowledge base in memory.

    Raises:
        PelError: if a file is missing, or the KB has none of the gold ids.
    """
    source, rng = KnowledgeBase.from_disk(kb_path), np.random.default_rng(seed)
    documents = list(read_corpus(corpus))
    found: dict[str, tuple[MentionInText, Rows]] = {}
    outside: list[str] = []
    for number in rng.permutation(len(documents)).tolist():
        text = documents[number].text
        for one in documents[number].mentions:
            rows = np.unique(source.rows(list(one.ids))) if one.ids else np.full(1, -1)
            if rows[0] < 0:
                outside += one.ids[:1]
            elif not one.composite:
                form = normalize_alias(text[one.start : one.end])
                found.setdefault(form, (MentionInText(text, one.start, one.end), rows))
    if not found:
        raise no_known_id(source, n=len(outside), example=outside[0]) if outside else PelError(Errors.E620)
    forms = sorted(found)
    drawn = [found[forms[i]] for i in sorted(rng.permutation(len(forms))[:n_mentions].tolist())]
    named = np.unique(np.concatenate([rows for _, rows in drawn]))
    others = np.setdiff1d(source.live_rows, named)
    more = rng.choice(others, min(len(others), max(0, n_entities - len(named))), replace=False)
    kept = np.union1d(named, more)
    kb = KnowledgeBase([source.entity_at(int(row)) for row in kept])
    return NilWorld(name, kb, [one for one, _ in drawn], [np.searchsorted(kept, rows) for _, rows in drawn])


def nil_tasks(worlds: Mapping[str, NilWorld], name: str, *, seed: int) -> list[NilTask]:
    """The two tasks of a world: with most of its entities, and with SMALL of them.

    Args:
        worlds: by name. A mention of another world is NIL in this one if no name of
            its entities is a name in this one's KB.
        name: the world.
        seed: random seed.

    Returns:
        The mentions of one world are in the same order in all of its tasks.
    """
    world, rng = worlds[name], np.random.default_rng(seed)
    kb = world.kb
    named = np.unique(np.concatenate(world.gold))
    shuffled = rng.permutation(named)
    kept = shuffled[round(REMOVED * len(named)) :]
    few = kept[: SMALL // 2]
    unnamed = np.setdiff1d(kb.live_rows, named)
    rest = rng.choice(unnamed, min(len(unnamed), SMALL - len(few)), replace=False)
    foreign = _foreign(worlds, name)
    tasks = []
    for linkable, others in ((kept, unnamed), (few, rest)):
        allowed = np.zeros(kb.n_rows, dtype=np.bool_)
        allowed[linkable] = allowed[others] = True
        is_in = np.array([allowed[rows].any() for rows in world.gold])
        n_nil = round(_NIL * int(is_in.sum()))
        nil = [world.mentions[i] for i in rng.permutation(np.flatnonzero(~is_in))[:n_nil]]
        nil += [foreign[i] for i in rng.permutation(len(foreign))[:n_nil]]
        mentions = [world.mentions[i] for i in np.flatnonzero(is_in)]
        gold = [world.gold[i][allowed[world.gold[i]]] for i in np.flatnonzero(is_in)]
        none = np.zeros(0, dtype=np.int64)
        tasks.append(NilTask(name, int(allowed.sum()), allowed, mentions + nil, gold + [none] * len(nil)))
    return tasks


def _foreign(worlds: Mapping[str, NilWorld], name: str) -> list[MentionInText]:
    own = _names(worlds[name].kb, worlds[name].kb.live_rows.tolist())
    found: list[MentionInText] = []
    for other in worlds.values():
        if other.name != name:
            for mention, rows in zip(other.mentions, other.gold, strict=True):
                if not own & (_names(other.kb, rows.tolist()) | {normalize_alias(mention.surface)}):
                    found.append(mention)
    return found


def _names(kb: KnowledgeBase, rows: Sequence[int]) -> set[str]:
    entities = (kb.entity_at(row) for row in rows)
    return {normalize_alias(name) for one in entities for name in (one.canonical_name, *one.aliases)}
