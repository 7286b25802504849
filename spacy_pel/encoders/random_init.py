"""A small transformer with random weights, made from its name: for tests and dry runs."""

import string
from typing import Any

from ..errors import Errors, PelError

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
    import torch
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
