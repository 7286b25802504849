"""A world that was not trained on: its knowledge base, its test mentions, and how much of it is new."""

from pathlib import Path
from typing import Any, Collection, Dict, List, Sequence

from benchmarks.zero_shot.ranking import Ranking
from spacy_pel.corpora import read_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation import Prediction
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import MentionInText
from spacy_pel.types import MentionInText
from spacy_pel.util import normalize_alias


class UnseenWorld:
    """The mentions of a test world that its knowledge base can answer.

    name (str): the world's folder.
    folder (Path): holds the folder.
    split (str): NAME/SPLIT.jsonl has the mentions.
    RAISES (PelError): if a file is missing, or the KB knows none of the gold ids.
    """

    def __init__(self, name: str, folder: Path, split: str):
        self.name = name
        self.kb = KnowledgeBase.from_disk(folder / name / "kb")
        path = folder / name / f"{split}.jsonl"
        self.blank: List[Prediction] = []  # without candidates
        self.mentions: List[MentionInText] = []
        self.n_outside = self.n_nil = 0
        for document in read_corpus(path):
            for one in document.mentions:
                resolved = (self.kb.resolve(entity_id) for entity_id in one.ids)
                gold = list(dict.fromkeys(entity_id for entity_id in resolved if entity_id is not None))
                self.n_nil += not one.ids
                self.n_outside += bool(one.ids) and not gold
                if not gold:
                    continue
                surface = document.text[one.start : one.end]
                where = (document.id, one.start, one.end, surface, one.label)
                self.blank.append(Prediction(*where, gold, "", composite=one.composite))
                self.mentions.append(MentionInText(document.text, one.start, one.end))
        if not self.blank:
            raise PelError(
                f"Expected gold ids of the KB of {name} in {path}, but it knows none of them. Use the "
                "KB that the corpus was annotated with."
            )

    @property
    def surfaces(self) -> List[str]:
        return [prediction.text for prediction in self.blank]

    def predictions(self, rankings: Sequence[Ranking]) -> List[Prediction]:
        """RETURNS (List[Prediction]): the mentions with their candidates."""
        made = []
        for blank, ranking in zip(self.blank, rankings, strict=True):
            ids = self.kb.ids_at(list(ranking))
            candidates = list(zip(ids, ranking.values(), strict=True))
            best = candidates[0][0] if candidates else ""
            fields = {**vars(blank), "candidates": candidates, "kb_id": best}
            made.append(Prediction(**fields))
        return made

    def coverage(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): counts of entities, documents and mentions."""
        return {
            "entities": len(self.kb),
            "mentions": len(self.blank) + self.n_outside + self.n_nil,
            "in_kb": len(self.blank),
            "outside_kb": self.n_outside,
            "nil": self.n_nil,
            "documents": len({prediction.doc for prediction in self.blank}),
            "gold_entities": len({entity_id for prediction in self.blank for entity_id in prediction.gold}),
        }

    def known(self, names: Collection[str]) -> List[bool]:
        """names (Collection[str]): normalised. RETURNS (List[bool]): is the mention's surface one of them?"""
        return [normalize_alias(surface) in names for surface in self.surfaces]
