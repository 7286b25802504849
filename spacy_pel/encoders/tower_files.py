"""Files of a bi-encoder's towers."""

from pathlib import Path
from typing import Any

FILE = "bi_encoder.json"  # the settings of a bi-encoder


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
