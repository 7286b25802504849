"""The weights of a bi-encoder: their fingerprint and their way back from disk."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict

from ..errors import Errors, PelError
from ..registry import registry
from ..similarities.cosine import Cosine

if TYPE_CHECKING:
    from .bi_encoder import BiEncoder


def weights_fingerprint(towers: Any, tokenizer: Any, settings: Dict[str, Any], store: str) -> str:
    """A hash that is the same before saving and after loading.

    towers (ModuleDict): the weights; they count in the precision in which they are stored.
    tokenizer (PreTrainedTokenizerBase): its vocabulary counts.
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


def load_weights(encoder: "BiEncoder", path: Path, settings: Dict[str, Any]) -> None:
    """Fill an encoder from a model folder.

    encoder (BiEncoder): its settings and weights are replaced.
    path (Path): the folder.
    settings (dict): what ``bi_encoder.json`` holds.
    RAISES (PelError): if a tower is missing or damaged, or the weights are not those that
        the folder was saved with.
    """
    from .pretrained import load_tower

    try:
        tied, pooling, store = settings["tied"], settings["pooling"], settings["store"]
        saved = settings["fingerprint"]
        similarity, values = settings.get("similarity", [Cosine.registered_name, {}])
        templates = {side: settings[side] for side in ("mention_template", "entity_template")}
    except (KeyError, TypeError) as err:
        raise PelError(Errors.E304.format(path=path, came=f"its settings have no {err}")) from err
    tokenizer, mention = load_tower(path / "mention")
    entity = mention if tied else load_tower(path / "entity")[1]
    encoder.tied, encoder.pooling, encoder.store = tied, pooling, store
    encoder.entity_pooling = settings.get("entity_pooling")
    encoder.similarity = registry.pel_similarities.get(similarity)(**values)
    for side, (name, values) in templates.items():
        setattr(encoder, side, registry.pel_templates.get(name)(**values))
    encoder.tokenizer = tokenizer
    encoder._set_towers(mention, entity)
    if encoder.fingerprint != saved:
        raise PelError(Errors.E304.format(path=path, came="its weights were changed after they were saved"))


def save_tower(transformer: Any, tokenizer: Any, path: Path, dtype: Any) -> None:
    """Plain Hugging Face files, so that ``AutoModel.from_pretrained`` reads them."""
    from safetensors.torch import save_file

    config = type(transformer.config).from_dict(transformer.config.to_dict())
    config.torch_dtype = dtype
    config.architectures = [type(transformer).__name__]
    config.save_pretrained(path)
    state = {name: tensor.detach().to(dtype).cpu().contiguous() for name, tensor in _named(transformer)}
    save_file(state, str(path / "model.safetensors"), metadata={"format": "pt"})
    tokenizer.save_pretrained(path)


def _named(transformer: Any) -> Any:
    return ((name, tensor) for name, tensor in transformer.state_dict().items() if tensor.is_floating_point())
