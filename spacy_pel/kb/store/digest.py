"""The content fingerprint of a knowledge base, which small changes update without a full pass.

It is the sum, modulo 2^128, of one BLAKE2b hash per row (row number, state and all fields) and
per redirect. Equal content in equal rows gives an equal fingerprint, whether it was built
at once, changed in memory, or saved and opened again.
"""

from hashlib import blake2b

from ...types import Entity

_MODULUS = 1 << 128


def row_digest(row: int, entity: Entity, live: bool) -> int:
    """What a row adds to the sum."""
    counts = f"{row} {live} {len(entity.aliases)} {len(entity.types)}"
    fields = (counts, entity.concept_id, entity.canonical_name, *entity.aliases, *entity.types)
    links = (str(len(entity.xrefs)), *entity.xrefs, *entity.parents) if entity.xrefs or entity.parents else ()
    return _hash("\n".join((*fields, entity.definition or "", *links)))


def redirect_digest(old: str, new: str) -> int:
    """What a redirect adds to the sum."""
    return _hash(f"redirect\n{old}\n{new}")


def to_fingerprint(total: int) -> str:
    """32 hexadecimal digits."""
    return f"{total % _MODULUS:032x}"


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf8"), digest_size=16).digest(), "little")
