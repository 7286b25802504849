"""The types of this package: the data that its parts exchange, and the interfaces of the parts."""

from .data import (
    DOC_ID,
    LABEL_TYPE,
    MENTION_TYPE,
    NIL,
    ORIGINAL,
    TITLE_LENGTH,
    TOPIC,
    UNRELATED,
    Candidate,
    CandidateTable,
    Document,
    Entity,
    Flags,
    Floats,
    Mask,
    Mention,
    MentionInText,
    RankedRows,
    RankingTask,
    Rows,
    Scores,
    Vectors,
    best_cosines,
    is_original,
)
from .parts import CandidateGenerator, Combiner, Encoder, KBReader, NilModel, Ranker, VectorIndex
