"""Files of a bi-encoder's towers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..registry import registry
from ..util import read_json
from ..util.saved_folder import damaged
from .fingerprint import read_version
from .similarities import Similarity
from .similarities.cosine import Cosine
from .templates import EntityTemplate, MentionTemplate
from .tower import Pooling

FILE = "bi_encoder.json"  # the settings of a bi-encoder
_COSINE: tuple[str, dict[str, Any]] = (Cosine.registered_name, {})  # where a folder names no similarity


@dataclass(frozen=True)
class SavedEncoder:
    """What the folder of a bi-encoder holds.

    tied, pooling, entity_pooling, store, similarity, mention_template, entity_template: as for BiEncoder.

    Attributes:
        tokenizer: of both towers.
        mention, entity: the transformers, in float32; the same object where they are tied.
        fingerprint: of the encoder when it was saved.
        version: of that fingerprint.
    """

    tied: bool
    pooling: Pooling
    entity_pooling: Pooling | None
    store: str
    similarity: Similarity
    mention_template: MentionTemplate
    entity_template: EntityTemplate
    tokenizer: Any
    mention: Any
    entity: Any
    fingerprint: str
    version: int


def read_encoder(path: Path) -> SavedEncoder:
    """Read a folder whose manifest was checked.

    Args:
        path: the folder of a bi-encoder.

    Returns:
        Its settings and weights.

    Raises:
        PelError: if a file is missing or damaged.
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
            version=read_version(saved, path, "encoder"),
        )
    except (KeyError, TypeError) as err:
        raise damaged(path, "encoder", f"{FILE} with all settings", f"one without {err}") from err


def _made(table: Any, saved: tuple[str, dict[str, Any]]) -> Any:
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


def _config(transformer: Any) -> tuple[Any, str]:
    from .bert import ARCHITECTURE, Bert

    if isinstance(transformer, Bert):
        from transformers import BertConfig

        return BertConfig.from_dict(vars(transformer.config)), ARCHITECTURE
    return type(transformer.config).from_dict(transformer.config.to_dict()), type(transformer).__name__


def _named(transformer: Any) -> Any:
    return ((name, tensor) for name, tensor in transformer.state_dict().items() if tensor.is_floating_point())
