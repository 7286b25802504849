"""The dual encoder as a ranker: mention and candidates as vectors, compared by a similarity."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...encoders.backend import Backend
from ...encoders.bi_encoder import BiEncoder
from ...encoders.representations import Representations, pair_scores
from ...encoders.similarities import Euclidean
from ...encoders.templates import SynonymCard
from ...errors import Errors, PelError
from ...linking.reranker import is_encoder, read_ranker
from ...registry import registry
from ...types import Entity, RankingTask, Scores, Vectors
from ...util.arrays import numbered
from ...util.config import check_range
from ...util.saved_folder import write_part

_ENCODER = "encoder"
EncodeEntities = Callable[[list[Entity]], Representations]


@registry.pel_rankers("spacy-pel.DualEncoder.v1")
class DualEncoder:
    """score = s(f_m(mention), f_e(entity)) of a bi-encoder (Le & Nguyen 2023, section 3.2). Each distinct
    mention and entity is encoded once; the vectors of recent entities are cached.

    Any bi-encoder works: one trained by ``train`` finds candidates and orders them too, and one trained
    by ``ranker train`` only orders them. ``encoder.towers`` is what a trainer updates; after an update
    call ``changed()``.

    Args:
        encoder: towers, templates, poolings and similarity; None = the paper's (mean of
            the markers; [CLS] of types and synonyms; Euclidean distance), to be filled by ``from_disk``.
        top_k: number of candidates to rerank.
        mix: weight of the logarithm of the combiner's score relative to the ranker's; 0 =
            the ranker alone, None = both weights learned by ``calibrate``.
        backend: runs inference; None = the encoder's.
        cache_size: vectors of entities kept between calls; where tokens are compared, those of tokens.
    """

    registered_name = "spacy-pel.DualEncoder.v1"

    def __init__(
        self,
        *,
        encoder: Any | None = None,  # not BiEncoder: the message below says more than a config's
        top_k: int = 64,
        mix: float | None = None,
        backend: Backend | None = None,
        cache_size: int = 20_000,
    ):
        if encoder is not None and not isinstance(encoder, BiEncoder):
            raise PelError(Errors.E433.format(got=type(encoder).__name__))
        for name, value, minimum in (("top_k", top_k, 1), ("mix", mix, 0), ("cache_size", cache_size, 0)):
            check_range(name, value, least=minimum)
        self.encoder = encoder or BiEncoder(
            pooling="markers", entity_pooling="cls", entity_template=SynonymCard(), similarity=Euclidean()
        )
        if backend is not None:
            self.encoder.backend = backend
        self.top_k = top_k
        self.mix = mix
        self._cache = VectorCache(cache_size)

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
        self._cache.clear()

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
        mentions = self.encoder.represent_mentions(asked, show_progress=show_progress)

        def encode(entities: list[Entity]) -> Representations:
            return self.encoder.represent_entities(entities, show_progress=show_progress)

        entities = self._cache.represent(task.entities, encode)
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
        self._cache.clear()
        return self

    # -- pickling: without what can be recomputed ---------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": VectorCache(self._cache.size)}


class VectorCache:
    """Representations of the most recently used entities. An entity whose names change counts as a new one.

    Args:
        size: vectors at most; an entity has one, or one for each of its tokens. 0 = nothing is kept.
    """

    def __init__(self, size: int):
        self.size = size
        self.n_vectors = 0
        self._vectors: OrderedDict[Entity, Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    def clear(self) -> None:
        """Empty the cache: the weights have changed."""
        self._vectors.clear()
        self.n_vectors = 0

    def represent(self, entities: Sequence[Entity], encode: EncodeEntities) -> Representations:
        """Represent entities; only new ones are encoded.

        Args:
            entities: n distinct ones, at least one.
            encode: represents some entities.

        Returns:
            (n,), in the order of the entities.
        """
        missing = [entity for entity in entities if entity not in self._vectors]
        fresh = dict(zip(missing, encode(missing).texts(), strict=True)) if missing else {}
        vectors = [fresh[entity] if entity in fresh else self._vectors[entity] for entity in entities]
        for entity in entities:
            if entity in fresh:
                self._vectors[entity] = fresh[entity].copy()  # a view would keep the whole batch
                self.n_vectors += _count(fresh[entity])
            self._vectors.move_to_end(entity)
        while self.n_vectors > self.size:
            self.n_vectors -= _count(self._vectors.popitem(last=False)[1])
        return Representations.of(vectors)


def _count(vectors: Vectors) -> int:
    return 1 if vectors.ndim == 1 else len(vectors)
