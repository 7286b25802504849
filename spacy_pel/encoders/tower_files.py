"""Files of a bi-encoder's towers, and their fingerprint."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

from ..registry import registry
from ..similarities import Similarity
from ..similarities.cosine import Cosine
from ..templates import EntityTemplate, MentionTemplate
from ..util import read_json
from ..util.saved_folder import damaged
from .tower import Pooling

FILE = "bi_encoder.json"  # the settings of a bi-encoder
_COSINE: Tuple[str, Dict[str, Any]] = (Cosine.registered_name, {})  # where a folder names no similarity


def weights_fingerprint(towers: Any, tokenizer: Any, settings: Dict[str, Any], store: str) -> str:
    """A hash that is the same before saving and after loading.

    towers (ModuleDict): the weights, hashed in the precision in which they are stored.
    tokenizer (PreTrainedTokenizerBase): its vocabulary is hashed.
    settings (dict): templates, pooling, tying, similarity.
    store (str): "float32" or "float16".
    RETURNS (str): 32 hexadecimal digits.
    """
    import torch

    dtype = torch.float16 if store == "float16" else torch.float32
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(settings, sort_keys=True).encode("utf8"))
    digest.update(json.dumps(tokenizer.get_vocab(), sort_keys=True).encode("utf8"))
    for name, tensor in sorted(towers.state_dict().items()):
        if tensor.is_floating_point():
            digest.update(name.encode("utf8"))
            digest.update(memoryview(tensor.detach().to("cpu", dtype).contiguous().numpy()).cast("B"))
    return digest.hexdigest()


@dataclass(frozen=True)
class SavedEncoder:
    """What the folder of a bi-encoder holds.

    tied, pooling, entity_pooling, store, similarity, mention_template, entity_template: as for BiEncoder.
    tokenizer (PreTrainedTokenizerBase): of both towers.
    mention, entity (PreTrainedModel): the transformers, in float32; the same object where they are tied.
    fingerprint (str): of the encoder when it was saved.
    """

    tied: bool
    pooling: Pooling
    entity_pooling: Optional[Pooling]
    store: str
    similarity: Similarity
    mention_template: MentionTemplate
    entity_template: EntityTemplate
    tokenizer: Any
    mention: Any
    entity: Any
    fingerprint: str


def read_encoder(path: Path) -> SavedEncoder:
    """Read a folder whose manifest was checked.

    path (Path): the folder of a bi-encoder.
    RETURNS (SavedEncoder): its settings and weights.
    RAISES (PelError): if a file is missing or damaged.
    """
    from .pretrained import load_tower

    if not (path / FILE).is_file():
        raise damaged(path, "encoder", FILE, "no such file")
    saved = read_json(path / FILE)
    tokenizer, mention = load_tower(path / "mention")
    try:
        return SavedEncoder(
            tied=saved["tied"],
            pooling=saved["pooling"],
            entity_pooling=saved.get("entity_pooling"),
            store=saved["store"],
            similarity=_made(registry.pel_similarities, saved.get("similarity", _COSINE)),
            mention_template=_made(registry.pel_templates, saved["mention_template"]),
            entity_template=_made(registry.pel_templates, saved["entity_template"]),
            tokenizer=tokenizer,
            mention=mention,
            entity=mention if saved["tied"] else load_tower(path / "entity")[1],
            fingerprint=saved["fingerprint"],
        )
    except (KeyError, TypeError) as err:
        raise damaged(path, "encoder", f"{FILE} with all settings", f"one without {err}") from err


def _made(table: Any, saved: Tuple[str, Dict[str, Any]]) -> Any:
    name, settings = saved
    return table.get(name)(**settings)


def save_tower(transformer: Any, tokenizer: Any, path: Path, dtype: Any) -> None:
    """Plain Hugging Face files, so that ``AutoModel.from_pretrained`` reads them."""
    from safetensors.torch import save_file

    config, architecture = _config(transformer)
    config.torch_dtype = dtype
    config.architectures = [architecture]
    config.save_pretrained(path)
    state = {name: tensor.detach().to(dtype).cpu().contiguous() for name, tensor in _named(transformer)}
    save_file(state, str(path / "model.safetensors"), metadata={"format": "pt"})
    tokenizer.save_pretrained(path)


def _config(transformer: Any) -> Tuple[Any, str]:
    from .bert import ARCHITECTURE, Bert

    if isinstance(transformer, Bert):
        from transformers import BertConfig

        return BertConfig.from_dict(vars(transformer.config)), ARCHITECTURE
    return type(transformer.config).from_dict(transformer.config.to_dict()), type(transformer).__name__


def _named(transformer: Any) -> Any:
    return ((name, tensor) for name, tensor in transformer.state_dict().items() if tensor.is_floating_point())
