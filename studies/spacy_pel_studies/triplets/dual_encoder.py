"""The dual encoder as a ranker: mention and candidates as vectors, compared by a similarity."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from spacy_pel.encoders.backend import Backend, empty_vectors
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.similarities import Encoded, Similarity, TokenVectors, each
from spacy_pel.errors import PelError
from spacy_pel.linking.reranker import is_encoder, read_ranker
from spacy_pel.registry import registry
from spacy_pel.types import RankingTask, Rows, Scores, Vectors
from spacy_pel.util.arrays import numbered, offsets_of, take_pieces
from spacy_pel.util.config import check_range
from spacy_pel.util.saved_folder import write_part

from ..errors import StudyErrors

_ENCODER = "encoder"
_PAIRS = 1 << 22  # numbers of each side's vectors in one comparison: 16 MB


@registry.pel_rankers("spacy-pel.DualEncoder.v1")
class DualEncoder:
    """score = s(f_m(mention), f_e(entity)) of a bi-encoder (Le & Nguyen 2023, section 3.2). Each distinct
    mention and entity of a call is encoded once.

    Any bi-encoder works: one trained by ``train`` finds candidates and orders them too, and one trained
    by ``ranker train`` only orders them. ``encoder.towers`` is what a trainer updates; after an update
    call ``changed()``.

    Args:
        encoder: towers, templates, poolings and similarity; None = to be filled by ``from_disk``.
        top_k: number of candidates to rerank.
        mix: weight of the logarithm of the combiner's score relative to the ranker's; 0 =
            the ranker alone, None = both weights learned by ``calibrate``.
        backend: runs inference; None = the encoder's.
    """

    registered_name = "spacy-pel.DualEncoder.v1"

    def __init__(
        self,
        *,
        encoder: Any | None = None,  # not BiEncoder: the message below says more than a config's
        top_k: int = 64,
        mix: float | None = None,
        backend: Backend | None = None,
    ):
        if encoder is not None and not isinstance(encoder, BiEncoder):
            raise PelError(StudyErrors.E433.format(got=type(encoder).__name__))
        check_range("top_k", top_k, least=1)
        check_range("mix", mix, least=0)
        self.encoder = encoder or BiEncoder()
        if backend is not None:
            self.encoder.backend = backend
        self.top_k = top_k
        self.mix = mix

    # -- weights ---------------------------------------------------------------------------

    def initialize(self) -> None:
        """Load the pretrained weights named by the encoder, unless there are weights already.

        Raises:
            PelError: if no name is set or there is no such model.
        """
        self.encoder.initialize()

    def changed(self) -> None:
        """Drop what was derived from the weights; call it after every update of them."""
        self.encoder.changed()

    @property
    def settings(self) -> dict[str, Any]:
        """What determines the scores, apart from the weights."""
        return self.encoder.settings

    @property
    def fingerprint(self) -> str:
        """The encoder's; does not change with ``top_k`` and ``mix``."""
        return self.encoder.fingerprint

    # -- scoring ---------------------------------------------------------------------------

    def score(self, task: RankingTask, *, show_progress: bool = False) -> Scores:
        """(n, k), NaN where there is no candidate; the higher the better."""
        self.encoder.tower("mention")  # names what is missing
        owner, entity_of = task.pairs
        if not len(owner):
            return task.spread(np.zeros(0, dtype=np.float32))
        asked, rows = numbered(task.mentions[i] for i in owner.tolist())
        mentions = represented(self.encoder, "mention", asked, show_progress=show_progress)
        entities = represented(self.encoder, "entity", task.entities, show_progress=show_progress)
        device = next(self.encoder.towers.parameters()).device
        return task.spread(pair_scores(self.encoder.similarity, mentions, entities, rows, entity_of, device=device))

    # -- disk ------------------------------------------------------------------------------

    def to_disk(self, path: Path) -> None:
        """Write a model folder: the encoder's own in ``encoder``, and ``ranker.json``."""
        self.encoder.tower("mention")
        name = self.registered_name
        with write_part(path, kind="ranker", name=name, fingerprint=self.fingerprint) as part:
            self.encoder.to_disk(part / _ENCODER)

    def from_disk(self, path: Path) -> "DualEncoder":
        """Read a model folder of a ranker or of a bi-encoder. The saved encoder replaces the current one.

        Raises:
            PelError: if the folder is missing or damaged.
        """
        path = Path(path)
        read_ranker(path, self.registered_name)
        self.encoder.from_disk(path if is_encoder(path) else path / _ENCODER)
        return self


@dataclass
class Representations:
    """n texts.

    vectors: (n, width), or (tokens of all texts, width). Not prepared for an index.
    offsets: (n + 1,) int64, tokens of text i are ``offsets[i]:offsets[i + 1]``; None = pooled.
    """

    vectors: Vectors
    offsets: Rows | None = None

    @classmethod
    def empty(cls, lengths: Rows, width: int) -> "Representations":
        """Arrays for tokens of texts of these lengths, to be filled by ``put``."""
        offsets = offsets_of(lengths)
        return cls(empty_vectors(int(offsets[-1]), width), offsets)

    def __len__(self) -> int:
        return len(self.vectors) if self.offsets is None else len(self.offsets) - 1

    @property
    def longest(self) -> int:
        """Tokens of the longest text; 1 where they are pooled."""
        return 1 if self.offsets is None else int(np.diff(self.offsets).max(initial=1))

    def put(self, rows: Rows, mask: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Fill in a batch of what ``empty`` made, see ``encode_batches``.

        Args:
            rows: which texts.
            mask: (batch, length), 1 = a real token.
            vectors: (batch, length, width).
        """
        positions = take_pieces(np.arange(len(self.vectors)), self.offsets, rows)  # type: ignore[arg-type]
        self.vectors[positions] = vectors[mask > 0]

    def take(self, rows: Rows) -> Encoded:
        """Of these texts, as a similarity reads it: (k, width), or TokenVectors."""
        if self.offsets is None:
            return torch.from_numpy(self.vectors[rows])
        lengths = np.diff(self.offsets)[rows]
        mask = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
        vectors = np.zeros((*mask.shape, self.vectors.shape[1]), dtype=np.float32)
        vectors[mask] = take_pieces(self.vectors, self.offsets, rows)
        return TokenVectors(torch.from_numpy(vectors), torch.from_numpy(mask))


def represented(encoder: BiEncoder, side: str, texts: Sequence[Any], *, show_progress: bool = False) -> Representations:
    """(n,), what the encoder's similarity reads of mentions, or of entities' cards.

    Args:
        side: "mention" or "entity".
        texts: n mentions or entities.
    """
    tokens = encoder.tokens(side, texts)
    if not encoder.similarity.token_level:
        return Representations(encoder.pooled(side, tokens, show_progress))
    result = Representations.empty(tokens.lengths, int(encoder.tower(side).transformer.config.hidden_size))
    for batch in encoder.batches(side, tokens, show_progress, token_level=True):
        result.put(*batch)
    return result


def pair_scores(
    similarity: Similarity,
    mentions: Representations,
    entities: Representations,
    mention_rows: Rows,
    entity_rows: Rows,
    *,
    device: Any = "cpu",
) -> Scores:
    """Score pairs of mentions and entities, in chunks.

    Args:
        similarity: any registered one; it reads what ``represented`` gave.
        mention_rows, entity_rows: (p,), the two sides of each pair.
        device: where to compute.

    Returns:
        (p,), the higher the better.
    """
    scores = np.empty(len(mention_rows), dtype=np.float32)
    longest = max(mentions.longest, entities.longest)
    block = max(1, _PAIRS // (longest * mentions.vectors.shape[1]))
    with torch.inference_mode():
        for start in range(0, len(scores), block):
            piece = slice(start, start + block)
            ours = each(mentions.take(mention_rows[piece]), lambda part: part.to(device))
            theirs = each(entities.take(entity_rows[piece]), lambda part: part.to(device).unsqueeze(1))
            scores[piece] = similarity.paired(ours, theirs)[:, 0].float().cpu().numpy()
    return scores
