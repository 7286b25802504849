"""The bi-encoder: a mention tower and an entity tower into one vector space."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Entity, MentionInText, Vectors
from ..util import read_json, write_json
from ..util.config import check_range
from ..util.saved_folder import damaged, read_part, reading, write_part
from .backend import Backend, EncodedBatch, TorchBackend, empty_vectors, encode_batches
from .pretrained import DTYPES, Store, check_lengths, load_pretrained, load_tower, save_tower, weights_fingerprint
from .similarities import Cosine, IndexSide, Similarity
from .templates import EntityCard, EntityTemplate, MarkedContext, MentionTemplate
from .token_arrays import RaggedTokens
from .tower import Pooling, TokenTower, Tower

_FILE = "bi_encoder.json"  # the settings
_PARTS = {  # settings that are parts, and their registries
    "mention_template": "pel_templates",
    "entity_template": "pel_templates",
    "similarity": "pel_similarities",
}


@registry.pel_encoders("spacy-pel.BiEncoder.v1")
class BiEncoder:
    """Two transformers T1 (mentions) and T2 (entities), pooled (Wiatrak et al. 2022, section 5.2). Where
    the similarity is the cosine, vectors are scaled to length 1: their inner product is the cosine.

    ``towers`` is the torch module that a trainer updates; after an update call ``changed()``.

    Args:
        name: initial weights of both towers: folder, "package:NAME", hub id, "HUB ID@REVISION" or
            "random:SIZES".
        tied: one tower reads both sides.
        pooling: "mean" (Wiatrak et al. 2022), "cls", "mention": the mean over the tokens between the
            markers, or "markers": over the markers (Le & Nguyen 2023); where there are none, over all tokens.
        mention_template, entity_template: what each side reads.
        backend: runs inference; None = TorchBackend.
        batch_size: sequences in one inference batch.
        store: "float32" or "float16", how ``to_disk`` writes the weights.
        similarity: of mentions and entities, the cosine by default.
        entity_pooling: of the entity side; None = as the mention side.

    Raises:
        PelError: if a setting is unknown.
    """

    registered_name = "spacy-pel.BiEncoder.v1"

    def __init__(
        self,
        *,
        name: str | None = None,
        tied: bool = False,
        pooling: Pooling = "mean",
        mention_template: MentionTemplate | None = None,
        entity_template: EntityTemplate | None = None,
        backend: Backend | None = None,
        batch_size: int = 64,
        store: Store = "float32",
        similarity: Similarity | None = None,
        entity_pooling: Pooling | None = None,
    ):
        if similarity is not None and not isinstance(similarity, Similarity):
            raise PelError(Errors.E308.format(value=type(similarity).__name__))
        check_range("batch_size", batch_size, least=1)
        self.name = name
        self.tied = tied
        self.pooling: Pooling = pooling
        self.entity_pooling: Pooling | None = entity_pooling
        self.mention_template: MentionTemplate = mention_template or MarkedContext()
        self.entity_template: EntityTemplate = entity_template or EntityCard()
        self.backend: Backend = backend or TorchBackend()
        self.batch_size = batch_size
        self.store: Store = store
        self.similarity: Similarity = similarity or Cosine()
        self.tokenizer: Any = None
        self.towers: Any = None
        self._prepared: dict[str, Any] = {}
        self._fingerprint: str | None = None

    # -- weights ---------------------------------------------------------------------------

    def initialize(self) -> None:
        """Load the pretrained weights named by ``name``, unless there are weights already.

        Raises:
            PelError: if no name is set, there is no such model, or it reads shorter texts than the templates give.
        """
        if self.towers is not None:
            return
        if self.name is None:
            raise PelError(Errors.E302)
        special = self.mention_template.special_tokens + self.entity_template.special_tokens
        self.tokenizer, mention = load_pretrained(self.name, special)
        # a template of entities may have no limit of its own
        lengths = self.mention_template.max_length, getattr(self.entity_template, "max_length", 0)
        check_lengths(mention.config, *lengths)
        entity = mention if self.tied else load_pretrained(self.name, special)[1]
        self._set_towers(mention, entity)

    def _set_towers(self, mention: Any, entity: Any) -> None:
        # a text without markers, such as a card, is pooled over all of its tokens
        start, end = self.tokenizer.convert_tokens_to_ids(self.mention_template.special_tokens)
        markers = (start, end)
        pooling = self.entity_pooling or self.pooling
        bare = pooling if self.tied else None  # a tied tower recognises mentions by their markers
        towers = {"mention": Tower(mention, pooling=self.pooling, markers=markers, bare_pooling=bare)}
        if not self.tied:
            towers["entity"] = Tower(entity, pooling=pooling, markers=markers)
        self.towers = nn.ModuleDict(towers)
        self.changed()

    def tower(self, side: str) -> Any:
        """The tower of one side; shared where tied.

        Args:
            side: "mention" or "entity".

        Raises:
            PelError: before there are weights.
        """
        if self.towers is None:
            raise PelError(Errors.E302)
        return self.towers["mention" if self.tied else side]

    def changed(self) -> None:
        """Drop what was derived from the weights; call it after every update of them."""
        self._prepared.clear()
        self._fingerprint = None

    @property
    def width(self) -> int:
        """Dimensions of the vectors for an index."""
        return self.similarity.index_width(int(self.tower("mention").transformer.config.hidden_size))

    @property
    def fingerprint(self) -> str:
        """Changes with weights, config, tokenizer and templates; not with the backend."""
        if self._fingerprint is None:
            self.tower("mention")
            self._fingerprint = weights_fingerprint(
                self.towers,
                self.tokenizer,
                self.settings,
                self.store,
                transformers=[tower.transformer for tower in self.towers.values()],
            )
        return self._fingerprint

    @property
    def settings(self) -> dict[str, Any]:
        """What determines the vectors and their similarity, apart from the weights."""
        parts = {name: getattr(self, name) for name in _PARTS}
        return {
            "tied": self.tied,
            "pooling": self.pooling,
            "entity_pooling": self.entity_pooling,
            **{name: [part.registered_name, part.settings] for name, part in parts.items()},
        }

    # -- encoding --------------------------------------------------------------------------

    # ``encode_…`` gives vectors for an index of inner products, ``pooled`` what the similarity reads.

    def encode_mentions(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), the queries of an index; of length 1 for the cosine."""
        return self.encode_tokens("mention", self.tokens("mention", mentions), show_progress=show_progress)

    def encode_mention_rows(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of an index: mentions as rows of their entities."""
        pooled = self.pooled("mention", self.tokens("mention", mentions), show_progress)
        return self.similarity.index_vectors(pooled, "entity")

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of an index, of the cards; of length 1 for the cosine."""
        return self.encode_tokens("entity", self.tokens("entity", entities), show_progress=show_progress)

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors:
        """(n, width), rows of an index; of length 1 for the cosine; of bare names, by the
        entity tower."""
        self.tower("entity")
        tokens = self.entity_template.tokenize_names(self.tokenizer, names)
        return self.encode_tokens("entity", tokens, show_progress=show_progress)

    def encode_tokens(self, side: IndexSide, tokens: RaggedTokens, *, show_progress: bool = False) -> Vectors:
        """Encode what is tokenised already, in batches of similar length.

        Args:
            side: "mention" or "entity".
            tokens: n sequences.

        Returns:
            (n, width), of length 1 for the cosine, in the order of the sequences.
        """
        return self.similarity.index_vectors(self.pooled(side, tokens, show_progress), side)

    def tokens(self, side: str, texts: Sequence[Any]) -> RaggedTokens:
        """What a side reads of mentions, or of entities' cards."""
        self.tower(side)
        template: Any = self.mention_template if side == "mention" else self.entity_template
        return template.tokenize(self.tokenizer, texts)  # type: ignore[no-any-return]

    def pooled(self, side: str, tokens: RaggedTokens, show_progress: bool) -> Vectors:
        """(n, width), what a similarity of pooled vectors reads."""
        vectors = empty_vectors(len(tokens), int(self.tower(side).transformer.config.hidden_size))
        for rows, _, batch in self.batches(side, tokens, show_progress):
            vectors[rows] = batch
        return vectors

    def batches(
        self, side: str, tokens: RaggedTokens, show_progress: bool, *, token_level: bool = False
    ) -> Iterator[EncodedBatch]:
        """Vectors of the sequences, or of their tokens, batch by batch; see ``encode_batches``."""
        key = f"{'mention' if self.tied else side}{' tokens' if token_level else ''}"
        if key not in self._prepared:
            tower = self.tower(side)
            self._prepared[key] = self.backend.prepare(TokenTower(tower) if token_level else tower)
        return encode_batches(
            self._prepared[key],
            tokens,
            batch_size=self.batch_size,
            pad_id=self.tokenizer.pad_token_id,
            show_progress=show_progress,
        )

    # -- disk ------------------------------------------------------------------------------

    def to_disk(self, path: Path) -> None:
        """Write a model folder: a Hugging Face folder per tower, and the settings in ``bi_encoder.json``."""
        self.tower("mention")
        with write_part(path, kind="encoder", name=self.registered_name) as part:
            for side, tower in self.towers.items():
                save_tower(tower.transformer, self.tokenizer, part / side, DTYPES[self.store])
            write_json(part / _FILE, {**self.settings, "store": self.store, "fingerprint": self.fingerprint})

    def from_disk(self, path: Path) -> "BiEncoder":
        """Read a model folder. The saved templates, pooling, tying and similarity replace the current ones.

        Raises:
            PelError: if the folder is missing or damaged.
        """
        path = Path(path)
        read_part(path, kind="encoder", name=self.registered_name)
        with reading(path, "encoder", f"{_FILE} with all settings"):
            saved = read_json(path / _FILE)
            self.tied, self.store = saved["tied"], saved["store"]
            self.pooling, self.entity_pooling = saved["pooling"], saved["entity_pooling"]
            for name, table in _PARTS.items():
                registered_name, settings = saved[name]
                setattr(self, name, getattr(registry, table).get(registered_name)(**settings))
            fingerprint = saved["fingerprint"]
        self.tokenizer, mention = load_tower(path / "mention")
        self._set_towers(mention, mention if self.tied else load_tower(path / "entity")[1])
        if self.fingerprint != fingerprint:
            raise damaged(path, "encoder", "the model that was saved", "weights, config or tokenizer that have changed")
        return self

    # -- pickling: without the compiled backends ------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}
