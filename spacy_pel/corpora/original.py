"""What a preprocessed document records about its original."""

from typing import Any, NamedTuple

from ..errors import Errors, PelError
from ..types import Document, Mention
from ..util import fingerprint
from .offset_map import OffsetMap

KEY = "original"  # in the meta of a document whose text or id was changed


class Original(NamedTuple):
    """Where a document comes from.

    Attributes:
        id: of the document before any preprocessing.
        offsets: from its text to the current one.
        text_hash: of its text, see ``hash_of``.
    """

    id: str
    offsets: OffsetMap
    text_hash: str

    @classmethod
    def of(cls, document: Document) -> "Original":
        """The original of a document; itself, if it was not preprocessed.

        Raises:
            PelError: if its meta holds something else under our key.
        """
        if KEY not in document.meta:
            return cls(document.id, OffsetMap.cut(0, len(document.text)), hash_of(document.text))
        record = document.meta[KEY]
        if not _is_record(record):
            raise PelError(Errors.E238.format(got=str(record)[:80]))
        offsets = OffsetMap.from_json(record["offsets"])
        if len(offsets) != len(document.text):
            got = f"offsets of a text of {len(offsets)} characters for one of {len(document.text)}"
            raise PelError(Errors.E238.format(got=got))
        return cls(str(record["id"]), offsets, str(record["text_hash"]))

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "offsets": self.offsets.to_json(), "text_hash": self.text_hash}


def _is_record(value: Any) -> bool:
    """Whether a value may be what ``to_json`` gave."""
    return isinstance(value, dict) and {"id", "offsets", "text_hash"} <= value.keys()


def hash_of(text: str) -> str:
    """A hash that identifies an original text."""
    return fingerprint(text.encode("utf8", errors="surrogatepass"))


def original_id(document: Document) -> str:
    """The id of the document that it was made from, or its own. Whatever is split, drawn or
    grouped by document uses it, so that the parts of a document stay together."""
    record: Any = document.meta.get(KEY)
    return str(record["id"]) if _is_record(record) else document.id


def original_span(document: Document, mention: Mention) -> tuple[int, int]:
    """The position of a mention of a preprocessed document in the original text.

    Args:
        document: as preprocessed, perhaps written and read again.
        mention: in its text.

    Returns:
        Character offsets.
    """
    return Original.of(document).offsets.original_span(mention.start, mention.end)
