"""The tokenizer of a saved folder, read by ``tokenizers`` alone: importing ``transformers`` is slow."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .token_arrays import PLAIN, PLAIN_WITH_OFFSETS

_RULES, _CONFIG = "tokenizer.json", "tokenizer_config.json"
_FILES = (_RULES, _CONFIG, "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt")


# a saved folder runs no code of its own, needs no network, and holds no pickle
SAVED = {"trust_remote_code": False, "local_files_only": True}


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
            return [self._id(token) for token in tokens]
        return self._id(tokens)

    def _id(self, token: str) -> int:
        number = self.backend_tokenizer.token_to_id(token)
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
