"""The fingerprint of a model of transformers: a hash of its weights and the settings known to matter."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import torch

# What is known to change the answers of an encoder of transformers and its weights do not show. Names, not
# the whole config: versions of transformers add keys to that.
_CONFIG_KEYS = (
    *("model_type", "is_decoder", "pad_token_id"),
    *("hidden_act", "hidden_activation", "activation", "dense_act_fn", "feed_forward_proj"),
    *("layer_norm_eps", "layer_norm_epsilon", "norm_eps"),
    *("num_attention_heads", "num_key_value_heads", "n_heads", "num_heads"),
    *("num_hidden_layers", "num_hidden_groups", "inner_group_num"),  # ALBERT's layers share weights
    *("position_embedding_type", "position_biased_input", "position_buckets", "pos_att_type"),
    *("relative_attention", "relative_attention_num_buckets", "relative_attention_max_distance"),
    *("max_relative_positions", "share_att_key", "norm_rel_ebd"),
    *("rope_theta", "rope_scaling", "global_rope_theta", "local_rope_theta"),
    *("attention_window", "sliding_window", "local_attention", "global_attn_every_n_layers"),
    *("attention_type", "block_size", "num_random_blocks", "use_bias", "rescale_embeddings"),  # BigBird
    *("conv_act", "conv_kernel_size", "conv_groups"),  # DeBERTa
)
_RULES = ("normalizer", "pre_tokenizer", "model", "added_tokens")  # of a tokenizer; templates do the rest


def weights_fingerprint(
    towers: Any, tokenizer: Any, settings: dict[str, Any], store: str, *, transformers: Sequence[Any]
) -> str:
    """A hash that is the same before saving and after loading.

    Args:
        towers: the weights, hashed in the precision in which they are stored.
        tokenizer: its vocabulary is hashed, and how it cuts texts.
        settings: templates, pooling, tying, similarity.
        store: "float32" or "float16".
        transformers: those in the towers; their configs are hashed.

    Returns:
        32 hexadecimal digits.
    """
    dtype = torch.float16 if store == "float16" else torch.float32
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(settings, sort_keys=True).encode("utf8"))
    digest.update(json.dumps(tokenizer.get_vocab(), sort_keys=True).encode("utf8"))
    configs = [{key: getattr(model.config, key, None) for key in _CONFIG_KEYS} for model in transformers]
    reading = _without_defaults([configs, _tokenizer_rules(tokenizer)])
    digest.update(json.dumps(reading, sort_keys=True).encode("utf8"))
    for name, tensor in sorted(towers.state_dict().items()):
        if tensor.is_floating_point():
            digest.update(name.encode("utf8"))
            digest.update(memoryview(tensor.detach().to("cpu", dtype).contiguous().numpy()).cast("B"))
    return digest.hexdigest()


def _tokenizer_rules(tokenizer: Any) -> list[Any]:
    """What decides on the word pieces of a text, apart from the vocabulary."""
    special = [getattr(tokenizer, f"{kind}_token_id", None) for kind in ("cls", "sep", "pad", "unk")]
    if getattr(tokenizer, "backend_tokenizer", None) is None:  # a slow one: its rules are code
        return [special]
    return [special, _written_rules(tokenizer.backend_tokenizer.to_str())]


def _written_rules(serialized: str) -> dict[str, Any]:
    """The same for all versions of ``tokenizers`` that wrote them."""
    rules = json.loads(serialized)
    model = rules["model"]
    if isinstance(model.get("vocab"), dict):  # elsewhere it is a list of pieces and scores
        del model["vocab"]
    if "merges" in model:  # "a b" up to 0.19, ["a", "b"] from 0.20 on
        model["merges"] = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    return {name: rules.get(name) for name in _RULES}


def _without_defaults(value: Any) -> Any:
    """Without the null and false values of objects: a new version of a library writes its new
    options as such."""
    if isinstance(value, list):
        return [_without_defaults(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_defaults(item) for key, item in value.items() if item is not None and item is not False}
    return value
