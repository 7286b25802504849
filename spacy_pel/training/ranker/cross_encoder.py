"""The cross-encoder: one transformer reads the mention and a candidate together."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ...encoders import pretrained
from ...encoders.backend import Backend, TorchBackend, encode_batches
from ...encoders.tower import Pooling, pool
from ...errors import Errors, PelError
from ...linking.reranker import read_ranker
from ...registry import registry
from ...types import RankingTask, Scores
from ...util.config import check_range
from ...util.saved_folder import damaged, write_part
from .mention_entity_pair import MentionEntityPair

Reduction = Literal["mean", "cls"]
_HEAD = "head.safetensors"


@registry.pel_rankers("spacy-pel.CrossEncoder.v1")
class CrossEncoder:
    """score = linear(mean(T([mention input ; entity input]))) (Wiatrak et al. 2022, Appendix B).

    ``tower`` is the torch module that a trainer updates; after an update call ``changed()``.

    Args:
        name: initial weights: folder, "package:NAME", hub id, "HUB ID@REVISION" or
            "random:SIZES".
        length: word pieces of a pair.
        top_k: number of candidates to rerank.
        mix: weight of the logarithm of the combiner's score relative to the ranker's; 0 =
            the ranker alone, None = both weights learned by ``calibrate``.
        pooling: "mean" over the real tokens (Wiatrak et al. 2022), or "cls".
        mention_template, entity_template: what is read of each side; None = a MarkedContext of half the
            length, and an EntityCard for what remains.
        backend: runs inference, torch by default.
        batch_size: pairs in one inference batch.
        store: "float32" or "float16", how ``to_disk`` writes the weights.
    """

    registered_name = "spacy-pel.CrossEncoder.v1"

    def __init__(
        self,
        *,
        name: str | None = None,
        length: int = 256,
        top_k: int = 16,
        mix: float | None = None,
        pooling: Reduction = "mean",
        mention_template: Any | None = None,
        entity_template: Any | None = None,
        backend: Backend | None = None,
        batch_size: int = 64,
        store: pretrained.Store = "float32",
    ):
        for setting, value, minimum in (("top_k", top_k, 1), ("mix", mix, 0), ("batch_size", batch_size, 1)):
            check_range(setting, value, least=minimum)
        self.name = name
        self.template = MentionEntityPair(
            max_length=length, mention_template=mention_template, entity_template=entity_template
        )
        self.top_k = top_k
        self.mix = mix
        self.pooling: Reduction = pooling
        self.backend: Backend = backend or TorchBackend()
        self.batch_size = batch_size
        self.store: pretrained.Store = store
        self.tokenizer: Any = None
        self.tower: Any = None
        self._prepared: Any = None
        self._fingerprint: str | None = None

    # -- weights ---------------------------------------------------------------------------

    def initialize(self) -> None:
        """Load the pretrained weights named by ``name``, unless there are weights already.

        Raises:
            PelError: if no name is set, there is no such model, or it reads shorter texts.
        """
        if self.tower is not None:
            return
        if self.name is None:
            raise PelError(Errors.E431)
        self._set_tower(*pretrained.load_pretrained(self.name, self.template.special_tokens))

    def _set_tower(self, tokenizer: Any, transformer: Any) -> None:
        pretrained.check_lengths(transformer.config, self.template.max_length)
        self.tokenizer = tokenizer
        self.tower = CrossTower(transformer, pooling=self.pooling, sep_id=tokenizer.sep_token_id)
        self.changed()

    def changed(self) -> None:
        """Drop what was derived from the weights; call it after every update of them."""
        self._prepared = None
        self._fingerprint = None

    def _ready(self) -> Any:
        if self.tower is None:
            raise PelError(Errors.E431)
        return self.tower

    @property
    def settings(self) -> dict[str, Any]:
        """What determines the scores, apart from the weights."""
        return {"pooling": self.pooling, "template": self.template.settings}

    @property
    def fingerprint(self) -> str:
        """Changes with weights, config, tokenizer and templates; not with ``top_k`` and
        ``mix``."""
        if self._fingerprint is None:
            self._fingerprint = pretrained.weights_fingerprint(
                self._ready(), self.tokenizer, self.settings, self.store, transformers=[self.tower.transformer]
            )
        return self._fingerprint

    # -- scoring ---------------------------------------------------------------------------

    def score(self, task: RankingTask, *, show_progress: bool = False) -> Scores:
        """(n, k), NaN where there is no candidate; the higher the better."""
        tower = self._ready()
        if self._prepared is None:
            self._prepared = self.backend.prepare(tower)
        tokens = self.template.tokenize(self.tokenizer, task.mentions, task.entities, *task.pairs)
        scores = np.zeros(len(tokens), dtype=np.float32)
        how: Any = {"batch_size": self.batch_size, "pad_id": self.tokenizer.pad_token_id, "description": "Ranking"}
        for rows, _, values in encode_batches(self._prepared, tokens, show_progress=show_progress, **how):
            scores[rows] = values[:, 0]
        return task.spread(scores)

    # -- disk ------------------------------------------------------------------------------

    def to_disk(self, path: Path) -> None:
        """Write a model folder: a plain Hugging Face folder, the linear layer and ``ranker.json``."""
        tower = self._ready()
        dtype = pretrained.DTYPES[self.store]
        more = {**self.settings, "store": self.store, "fingerprint": self.fingerprint}
        with write_part(path, kind="ranker", name=self.registered_name, **more) as part:
            pretrained.save_tower(tower.transformer, self.tokenizer, part, dtype)
            head = {key: tensor.detach().to(dtype).cpu() for key, tensor in tower.head.state_dict().items()}
            save_file(head, str(part / _HEAD), metadata={"format": "pt"})

    def from_disk(self, path: Path) -> "CrossEncoder":
        """Read a model folder. The saved templates and pooling replace the current ones.

        Raises:
            PelError: if the folder is missing or damaged.
        """
        path = Path(path)
        saved = read_ranker(path, self.registered_name)
        try:
            self.pooling, self.store = saved["pooling"], saved["store"]
            self.template = MentionEntityPair.from_settings(saved["template"])
            fingerprint = saved["fingerprint"]
        except (KeyError, TypeError) as err:
            raise damaged(path, "ranker", "ranker.json with all settings", f"one without {err}") from err
        self._set_tower(*pretrained.load_tower(path))
        try:
            head = load_file(str(path / _HEAD))
            self.tower.head.load_state_dict(head)
        except Exception as err:  # safetensors raises its own type
            raise damaged(path, "ranker", f"a linear layer in {_HEAD}", str(err).splitlines()[0]) from err
        if self.fingerprint != fingerprint:
            raise damaged(path, "ranker", "the model that was saved", "weights, config or tokenizer that have changed")
        return self

    # -- pickling: without the compiled backend -------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}


class CrossTower(nn.Module):
    """ids, mask -> one score a pair: the linear layer on the mean over the real tokens (Wiatrak et
    al. 2022, Appendix B).

    The linear layer starts at zero: before training all candidates score the same, and the order
    stays the retriever's.

    Args:
        transformer: any Hugging Face encoder.
        pooling: "mean" or "cls".
        sep_id: id of [SEP]; what follows the first one is the entity.
    """

    def __init__(self, transformer: Any, *, pooling: Pooling, sep_id: int):
        super().__init__()
        self.transformer = transformer
        self.pooling: Pooling = pooling
        self.sep_id = sep_id
        self.head = nn.Linear(transformer.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, mask: Tensor, embeddings: Tensor | None = None) -> Tensor:
        """Args:
            ids, mask: (batch, length), int64.
            embeddings: (batch, length, width) to read instead of the word
                embeddings of the ids; position and segment embeddings are added as usual.

        Returns:
            (batch, 1).
        """
        inputs = {"input_ids": ids} if embeddings is None else {"inputs_embeds": embeddings}
        if getattr(self.transformer.config, "type_vocab_size", 0) > 1:
            inputs["token_type_ids"] = self.entity_part(ids, mask)
        tokens = self.transformer(**inputs, attention_mask=mask).last_hidden_state
        # the mean of many tokens loses digits in half precision
        pooled = pool(tokens.to(torch.float32), mask, self.pooling)
        with torch.autocast(ids.device.type, enabled=False):
            return self.head(pooled)  # type: ignore[no-any-return]

    def embed(self, ids: Tensor) -> Tensor:
        """(batch, length, width), the word embeddings that ``forward`` would read."""
        return self.transformer.get_input_embeddings()(ids)  # type: ignore[no-any-return]

    def entity_part(self, ids: Tensor, mask: Tensor) -> Tensor:
        """(batch, length) int64, 1 = a real token of the entity."""
        is_sep = (ids == self.sep_id).to(torch.int64)
        after_sep = (is_sep.cumsum(dim=1) - is_sep) > 0
        return after_sep.to(torch.int64) * mask
