"""A test world: its knowledge base, its mentions, and how many of their names are new."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from spacy_pel.corpora import read_corpus
from spacy_pel.errors import Errors, PelError
from spacy_pel.evaluation import Prediction
from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.compare import no_known_id
from spacy_pel.types import MentionInText
from spacy_pel.util import normalize_alias

from .ranking import Ranking


class UnseenWorld:
    """The mentions of a test world whose gold entity is in its knowledge base.

    Args:
        name: of the world and its folder.
        folder: has the folders of all worlds.
        split: the mentions are in NAME/SPLIT.jsonl.
        n: of its documents; 0 = all.

    Raises:
        PelError: if a file is missing, or the KB has none of the gold ids.
    """

    def __init__(self, name: str, folder: Path, split: str, *, n: int = 0):
        self.name = name
        self.path = folder / name / f"{split}.jsonl"
        self.kb = KnowledgeBase.from_disk(folder / name / "kb")
        self.blank: list[Prediction] = []  # without candidates
        self.mentions: list[MentionInText] = []
        self.n_outside = self.n_nil = 0
        example = ""
        for document in islice(read_corpus(self.path), n or None):
            for one in document.mentions:
                resolved = (self.kb.resolve(entity_id) for entity_id in one.ids)
                gold = list(dict.fromkeys(entity_id for entity_id in resolved if entity_id is not None))
                self.n_nil += not one.ids
                self.n_outside += bool(one.ids) and not gold
                if not gold:
                    example = example or next(iter(one.ids), "")
                    continue
                surface = document.text[one.start : one.end]
                where = (document.id, one.start, one.end, surface, one.label)
                self.blank.append(Prediction(*where, gold, "", composite=one.composite))
                self.mentions.append(MentionInText(document.text, one.start, one.end))
        if not self.blank:
            if not example:
                raise PelError(Errors.E620)
            raise no_known_id(self.kb, n=self.n_outside, example=example)

    @property
    def surfaces(self) -> list[str]:
        """The surface form of each mention."""
        return [prediction.text for prediction in self.blank]

    def predictions(self, rankings: Sequence[Ranking]) -> list[Prediction]:
        """The mentions with their candidates."""
        made = []
        for blank, ranking in zip(self.blank, rankings, strict=True):
            candidates = list(zip(self.kb.ids_at(list(ranking)), ranking.values(), strict=True))
            best = candidates[0][0] if candidates else ""
            made.append(replace(blank, candidates=candidates, kb_id=best))
        return made

    def coverage(self) -> dict[str, Any]:
        """Counts of entities, documents and mentions."""
        return {
            "entities": len(self.kb),
            "mentions": len(self.blank) + self.n_outside + self.n_nil,
            "in_kb": len(self.blank),
            "outside_kb": self.n_outside,
            "nil": self.n_nil,
            "documents": len({prediction.doc for prediction in self.blank}),
            "gold_entities": len({entity_id for prediction in self.blank for entity_id in prediction.gold}),
        }

    def known(self, names: Collection[str]) -> list[bool]:
        """For each mention, is its surface form one of these names?

        Args:
            names: normalised.
        """
        return [normalize_alias(surface) in names for surface in self.surfaces]
