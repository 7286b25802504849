"""Word pieces: token sequences of different lengths in two arrays, so that texts are tokenised only once; and the
tokenizer of a saved folder, read by ``tokenizers`` alone: importing ``transformers`` is slow."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..util.arrays import Ragged, offsets_of, take_pieces

TokenIds = NDArray[np.int32]
# how a tokenizer is called: word pieces of plain text, and nothing else
PLAIN = {
    "add_special_tokens": False,
    "padding": False,
    "truncation": False,
    "return_attention_mask": False,
    "return_token_type_ids": False,
    "split_special_tokens": True,
    "verbose": False,
}
# and where the pieces are
PLAIN_WITH_OFFSETS = {**PLAIN, "return_offsets_mapping": True}

_RULES, _CONFIG = "tokenizer.json", "tokenizer_config.json"
_FILES = (_RULES, _CONFIG, "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt")
# a saved folder runs no code of its own, needs no network, and holds no pickle
SAVED = {"trust_remote_code": False, "local_files_only": True}


@dataclass
class RaggedTokens(Ragged):
    """Token sequences: sequence i is ``values[offsets[i]:offsets[i + 1]]``. The arrays may be memory-mapped.

    values: (total,) int32, word-piece ids.
    offsets: (n + 1,) int64.
    """

    values: TokenIds
    dtype = np.int32

    @classmethod
    def from_lists(cls, sequences: Sequence[Sequence[int]]) -> "RaggedTokens":
        """Args:
        sequences: word-piece ids of each sequence.
        """
        offsets = offsets_of(np.array([len(sequence) for sequence in sequences], dtype=np.int64))
        ids = np.fromiter(chain.from_iterable(sequences), dtype=np.int32, count=int(offsets[-1]))
        return cls(ids, offsets)

    def padded(
        self, rows: Sequence[int] | NDArray[np.int64], pad_id: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Collate some sequences into a rectangle.

        Args:
            rows: which sequences.
            pad_id: the tokenizer's padding id.

        Returns:
            Ids and attention mask, both (len(rows), longest), int64.
        """
        rows = np.asarray(rows, dtype=np.int64)
        lengths = np.diff(self.offsets)[rows]
        real = np.arange(lengths.max(initial=0)) < lengths[:, None]
        ids = np.full(real.shape, pad_id, dtype=np.int64)
        ids[real] = take_pieces(self.values, self.offsets, rows)
        return ids, real.astype(np.int64)


def piece_lists(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Word pieces of plain texts, without special tokens, padding or truncation.

    Args:
        tokenizer: a Hugging Face tokenizer.
        texts: plain texts.

    Returns:
        Ids of each text; "[SEP]" in a text is treated as plain text.
    """
    return tokenizer(list(texts), **PLAIN)["input_ids"] if texts else []


def pieces_with_offsets(tokenizer: Any, texts: Sequence[str]) -> list[tuple[list[int], NDArray[np.int64]]]:
    """Word pieces of plain texts and where they are.

    Args:
        tokenizer: a Hugging Face tokenizer.
        texts: plain texts.

    Returns:
        Ids of each text, see ``piece_lists``, and (pieces, 2), the start and end of the
        characters of each piece.

    Raises:
        PelError: if the tokenizer gives no offsets.
    """
    if not texts:
        return []
    if not tokenizer.is_fast:
        raise PelError(Errors.E336.format(got=type(tokenizer).__name__))
    encoded = tokenizer(list(texts), **PLAIN_WITH_OFFSETS)
    offsets = [np.array(pairs, dtype=np.int64).reshape(-1, 2) for pairs in encoded["offset_mapping"]]
    return list(zip(encoded["input_ids"], offsets, strict=True))


class SavedTokenizer:
    """A fast tokenizer of Hugging Face with what encoders need; ``AutoTokenizer`` reads the same folder.

    Args:
        files: the tokenizer's files, by name.
    """

    is_fast = True
    unk_token_id: int

    def __init__(self, files: dict[str, bytes]):
        from tokenizers import Tokenizer

        self._files = files
        config: dict[str, Any] = json.loads(files[_CONFIG])
        self.backend_tokenizer = Tokenizer.from_buffer(files[_RULES])
        without_limits(self)
        self.backend_tokenizer.encode_special_tokens = True  # "[SEP]" in a text is plain text
        # cls_token_id and so on
        for kind in ("cls", "sep", "pad", "unk"):
            token = config.get(f"{kind}_token")
            text = token["content"] if isinstance(token, dict) else token
            if text is not None and (number := self.backend_tokenizer.token_to_id(text)) is not None:
                setattr(self, f"{kind}_token_id", number)

    @classmethod
    def read(cls, path: Path) -> "SavedTokenizer | None":
        """Of a folder; None if it holds no fast tokenizer."""
        files = {name: (path / name).read_bytes() for name in _FILES if (path / name).is_file()}
        return cls(files) if _RULES in files and _CONFIG in files else None

    def __call__(self, texts: list[str], **settings: Any) -> Any:
        """For the settings of ``piece_lists`` "input_ids", the word
        pieces of each text; for those of ``pieces_with_offsets`` also "offset_mapping", the start and the end
        of each piece."""
        if settings not in (PLAIN, PLAIN_WITH_OFFSETS):
            raise TypeError(f"Use transformers' AutoTokenizer on the saved folder for the settings {settings}")
        encoded = self.backend_tokenizer.encode_batch(texts, add_special_tokens=False)
        result = {"input_ids": [text.ids for text in encoded]}
        if settings == PLAIN_WITH_OFFSETS:
            result["offset_mapping"] = [text.offsets for text in encoded]
        return result

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size())

    def get_vocab(self) -> dict[str, int]:
        """Ids of all word pieces."""
        return self.backend_tokenizer.get_vocab()

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> int | list[int]:
        """The id of a word piece, or those of several."""
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in tokens]  # type: ignore[misc]
        number = self.backend_tokenizer.token_to_id(tokens)
        return int(self.unk_token_id if number is None else number)

    def save_pretrained(self, path: str | Path) -> None:
        """Write the files as they were read."""
        for name, content in self._files.items():
            (Path(path) / name).write_bytes(content)

    def __getstate__(self) -> dict[str, bytes]:
        return self._files

    def __setstate__(self, files: dict[str, bytes]) -> None:
        self.__init__(files)  # type: ignore[misc]


def without_limits(tokenizer: Any) -> Any:
    """Templates cut and pad themselves; a tokenizer.json may carry settings of its own."""
    tokenizer.model_max_length = int(1e30)
    if tokenizer.is_fast:
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
    return tokenizer
