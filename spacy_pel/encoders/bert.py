"""BERT in pure torch, read from its folder: linking starts without the models of ``transformers``.

Importing those takes longer than all else that ``spacy.load`` does, and 180 MB. The weights have the names
that ``transformers`` gives them, and the vectors are the same to the last bit where gradients are kept; a test
compares both. Half of the weights of a small BERT are word embeddings: those saved in half precision stay so, which
takes half the memory, until ``float()`` is called on the module. Call it before training.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

ARCHITECTURE = "BertModel"  # as which transformers reads the folder
_CONFIG, _WEIGHTS = "config.json", "model.safetensors"
WORDS = "embeddings.word_embeddings.weight"
SCALES = "embeddings.word_embeddings.scales"  # of 8 bits
_HALF = (torch.float16, torch.bfloat16)
_META = torch.device("meta")
# without MKL torch calls oneDNN itself; the operator is torch's own, which a version may lack
_HAS_ONEDNN = (
    torch.backends.mkldnn.is_available()
    and torch.backends.mkl.is_available()
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)
_ROWS = 32  # of a product of matrices, or a multiple: for a few rows MKL sums in another order
_AT_ONCE = 32 * _ROWS  # tokens that are widened fourfold at a time: inference takes the most memory there
_EXPECTED = {"model_type": "bert", "hidden_act": "gelu"}
_ABSENT = {"is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute"}


class _Embedding(nn.Embedding):
    """Without weights until they are read: random ones on this device import torch's compiler (2 s)."""

    def __init__(self, n: int, width: int, *, padding_idx: int | None = None):
        super().__init__(n, width, padding_idx=padding_idx, device=_META)

    def reset_parameters(self) -> None:
        """Do nothing."""

    def forward(self, input: Tensor) -> Tensor:
        """The vectors in float32, whatever the weights are."""
        vectors = super().forward(input)
        return vectors.float() if vectors.dtype in _HALF else vectors


class BertOutput(NamedTuple):
    """Attributes:
    last_hidden_state: (batch, length, width), the vectors of the tokens.
    """

    last_hidden_state: Tensor


class _Linear(nn.Linear):
    """Multiplies by oneDNN where nothing is learned: on AMD processors twice as fast as MKL, in float32, too, and the
    same in any batch and with any number of threads."""

    def __init__(self, n_in: int, n_out: int):
        super().__init__(n_in, n_out, device=_META)

    def forward(self, tokens: Tensor) -> Tensor:
        """(..., n_out)"""
        is_other = torch.is_grad_enabled() or torch.is_autocast_enabled("cpu") or torch.jit.is_tracing()
        if is_other or not _HAS_ONEDNN or tokens.device.type != "cpu" or tokens.dtype != torch.float32:
            return super().forward(tokens)
        return torch.ops.mkldnn._linear_pointwise(tokens, self.weight, self.bias, "none", [], "")  # type: ignore[no-any-return]


class Bert(nn.Module):
    """An encoder of Devlin et al. 2019, section 3, without the pooler of its first token.

    Args:
        settings: what its ``config.json`` holds; ``config`` has them as attributes.
    """

    def __init__(self, settings: dict[str, Any]):
        super().__init__()
        self.config = config = SimpleNamespace(**settings)
        width = config.hidden_size
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": _Embedding(config.vocab_size, width, padding_idx=config.pad_token_id),
                "position_embeddings": _Embedding(config.max_position_embeddings, width),
                "token_type_embeddings": _Embedding(config.type_vocab_size, width),
                "LayerNorm": self._norm(),
            }
        )
        layers = nn.ModuleList(self._layer() for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})

    def _layer(self) -> nn.ModuleDict:
        width, wide = self.config.hidden_size, self.config.intermediate_size
        heads = {name: _Linear(width, width) for name in ("query", "key", "value")}
        after = nn.ModuleDict({"dense": _Linear(width, width), "LayerNorm": self._norm()})
        return nn.ModuleDict(
            {
                "attention": nn.ModuleDict({"self": nn.ModuleDict(heads), "output": after}),
                "intermediate": nn.ModuleDict({"dense": _Linear(width, wide)}),
                "output": nn.ModuleDict({"dense": _Linear(wide, width), "LayerNorm": self._norm()}),
            }
        )

    def _norm(self) -> nn.LayerNorm:
        return nn.LayerNorm(self.config.hidden_size, eps=self.config.layer_norm_eps, device=_META)

    def get_input_embeddings(self) -> Any:
        """Of the word pieces."""
        return self.embeddings["word_embeddings"]

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
    ) -> BertOutput:
        """Args:
            input_ids: (batch, length), int64.
            attention_mask: (batch, length), 1 = a real token; None = all of them.
            token_type_ids: (batch, length), the segments; None = all in segment 0.
            inputs_embeds: (batch, length, width), read instead of the embeddings of the ids.

        Returns:
            The vectors of the tokens.
        """
        words = self.get_input_embeddings()(input_ids) if inputs_embeds is None else inputs_embeds
        if token_type_ids is None:
            token_type_ids = torch.zeros(words.shape[:2], dtype=torch.int64, device=words.device)
        positions = torch.arange(words.shape[1], device=words.device).unsqueeze(0)
        tokens = words + self.embeddings["token_type_embeddings"](token_type_ids)
        tokens = tokens + self.embeddings["position_embeddings"](positions)
        tokens = self._dropout(self.embeddings["LayerNorm"](tokens))
        if attention_mask is None or torch.is_grad_enabled() or torch.jit.is_tracing():
            bias = None if attention_mask is None else _bias(attention_mask, tokens.dtype)
            return BertOutput(self._layers(tokens, [(len(tokens), tokens.shape[1])], bias))
        # without padding, a sequence gets the same vectors whatever stands beside it
        real = attention_mask > 0
        lengths, numbers = torch.unique_consecutive(real.sum(dim=1), return_counts=True)
        packed = tokens[real]
        more = -len(packed) % _ROWS
        shapes = [*zip(numbers.tolist(), lengths.tolist(), strict=True), (1, more)]
        packed = self._layers(functional.pad(packed, (0, 0, 0, more)), shapes, None)
        states = packed.new_zeros(tokens.shape)
        states[real] = packed[: len(packed) - more]
        return BertOutput(states)

    def _layers(self, tokens: Tensor, shapes: Sequence[tuple[int, int]], bias: Tensor | None) -> Tensor:
        """The states of tokens, (..., width), of sequences one after another: of each shape how many, how long."""
        layers: Any = self.encoder["layer"]
        for layer in layers:
            tokens = self._after(layer["attention"]["output"], self._attend(layer, tokens, shapes, bias), tokens)
            widen, parts = layer["intermediate"]["dense"], tokens.split(_AT_ONCE) if tokens.dim() == 2 else [tokens]
            tokens = torch.cat([self._after(layer["output"], functional.gelu(widen(part)), part) for part in parts])
        return tokens

    def _attend(self, layer: Any, tokens: Tensor, shapes: Sequence[tuple[int, int]], bias: Tensor | None) -> Tensor:
        projections = layer["attention"]["self"]
        sides = [projections[name](tokens) for name in ("query", "key", "value")]
        if tokens.dim() == 3:
            return self._read(*sides, bias=bias)
        parts = zip(*(side.split([n * length for n, length in shapes]) for side in sides), strict=True)
        read = [
            self._read(*(side.view(*shape, tokens.shape[1]) for side in part), bias=None).flatten(0, 1)
            for shape, part in zip(shapes, parts, strict=True)
        ]
        return torch.cat(read)

    def _read(self, *sides: Tensor, bias: Tensor | None) -> Tensor:
        """Attention of queries to keys, and its mean of values, (batch, length, width) each."""
        batch, length, width = sides[0].shape
        heads = self.config.num_attention_heads
        query, key, value = (side.view(batch, length, heads, width // heads).transpose(1, 2) for side in sides)
        read = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=bias,
            dropout_p=self.config.attention_probs_dropout_prob if self.training else 0.0,
        )
        return read.transpose(1, 2).reshape(batch, length, width)

    def _after(self, part: Any, tokens: Tensor, residual: Tensor) -> Tensor:
        return part["LayerNorm"](self._dropout(part["dense"](tokens)) + residual)  # type: ignore[no-any-return]

    def _dropout(self, tokens: Tensor) -> Tensor:
        return functional.dropout(tokens, self.config.hidden_dropout_prob, self.training)


def read_bert(path: Path) -> Bert | None:
    """Read a model folder: the weights in float32, except word embeddings saved in half precision or in 8 bits, which
    are in half precision.

    Args:
        path: a Hugging Face folder with ``model.safetensors``.

    Returns:
        None if it holds another kind of model.

    Raises:
        Exception: of whatever type, if its files are damaged.
    """
    from safetensors import safe_open

    settings = json.loads((path / _CONFIG).read_text(encoding="utf8"))
    other = any(settings.get(key) != value for key, value in _EXPECTED.items())
    if other or any(settings.get(key, value) != value for key, value in _ABSENT.items()):
        return None
    model = Bert(settings)
    names = model.state_dict().keys()
    weights = {}
    with safe_open(path / _WEIGHTS, framework="pt") as file:  # mapped: copies, as the file may change
        for name in names & file.keys():
            saved = file.get_tensor(name)
            if saved.dtype == torch.int8:
                saved = (saved * file.get_tensor(SCALES).float()).half()
            stays = name == WORDS and saved.dtype in _HALF
            weights[name] = saved.to(saved.dtype if stays else torch.float32, copy=True)
    model.load_state_dict(weights, assign=True)
    return model.requires_grad_(True).eval()


def _bias(mask: Tensor, dtype: torch.dtype) -> Tensor | None:
    """(batch, 1, length, length), added to attention's logits; None = zero."""
    if not torch.jit.is_tracing() and bool(torch.all(mask == 1)):
        return None  # a faster kernel
    batch, length = mask.shape
    padding = mask[:, None, None, :].expand(batch, 1, length, length) == 0
    return torch.zeros(padding.shape, dtype=dtype, device=mask.device).masked_fill(padding, torch.finfo(dtype).min)
