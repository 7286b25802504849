"""The types of this package: the data that its parts exchange, and the interfaces of the parts."""

from .arrays import FUSED, LABEL_TYPE, NIL, TOPIC, CandidateTable, RankedRows, RankingTask, Rows, Scores, Vectors
from .parts import CandidateGenerator, Combiner, Encoder, NilModel, Ranker, VectorIndex
from .texts import (
    TITLE_LENGTH,
    Candidate,
    CorpusReader,
    Document,
    EncodedMention,
    Entity,
    KBReader,
    Mention,
    MentionInText,
)

__all__ = [
    "Candidate",
    "CandidateGenerator",
    "CandidateTable",
    "Combiner",
    "CorpusReader",
    "Document",
    "EncodedMention",
    "Encoder",
    "Entity",
    "FUSED",
    "LABEL_TYPE",
    "TOPIC",
    "KBReader",
    "Mention",
    "MentionInText",
    "NIL",
    "NilModel",
    "RankedRows",
    "Ranker",
    "RankingTask",
    "Rows",
    "Scores",
    "TITLE_LENGTH",
    "VectorIndex",
    "Vectors",
]
