"""The types of this package: the data that its parts exchange, and the interfaces of the parts."""

from .arrays import (
    LABEL_TYPE,
    MENTION_TYPE,
    NIL,
    TOPIC,
    UNRELATED,
    CandidateTable,
    Flags,
    Floats,
    Mask,
    RankedRows,
    RankingTask,
    Rows,
    Scores,
    Vectors,
    best_cosines,
)
from .parts import CandidateGenerator, Combiner, Encoder, NilModel, Ranker, VectorIndex
from .texts import (
    DOC_ID,
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
