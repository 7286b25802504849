"""Files of a bi-encoder's towers."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from .bert import ARCHITECTURE, SCALES, WORDS, Bert

_MOST = 127  # of 8 bits
FILE = "bi_encoder.json"  # the settings of a bi-encoder


def save_tower(transformer: Any, tokenizer: Any, path: Path, dtype: Any, *, small_words: bool = False) -> None:
    """Plain Hugging Face files, so that ``AutoModel.from_pretrained`` reads them, unless ``small_words``: then the word
    embeddings of a BERT have 8 bits, and a scale for each word, which ``read_bert`` reads."""
    config, architecture = _config(transformer)
    config.torch_dtype = dtype
    config.architectures = [architecture]
    config.save_pretrained(path)
    state = {
        name: tensor.detach().to(dtype).cpu().contiguous()
        for name, tensor in transformer.state_dict().items()
        if tensor.is_floating_point()
    }
    if small_words and architecture == ARCHITECTURE:
        scales = state[WORDS].abs().amax(dim=1, keepdim=True).float().clamp(min=1e-6) / _MOST
        state |= {WORDS: (state[WORDS] / scales).round().to(torch.int8), SCALES: scales.half()}
    save_file(state, str(path / "model.safetensors"), metadata={"format": "pt"})
    tokenizer.save_pretrained(path)


def _config(transformer: Any) -> tuple[Any, str]:
    if isinstance(transformer, Bert):
        from transformers import BertConfig

        return BertConfig.from_dict(vars(transformer.config)), ARCHITECTURE
    return type(transformer.config).from_dict(transformer.config.to_dict()), type(transformer).__name__
