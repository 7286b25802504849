"""Small helpers without knowledge of entity linking."""

from .files import (
    atomic_path,
    numbered_jsonl,
    open_text,
    read_json,
    read_jsonl,
    read_lines,
    read_text,
    write_json,
    write_jsonl,
)
from .hashing import fingerprint
from .log import logger
from .machine import machine_note
from .names import hash_strings, normalize_alias
from .progress import progress

__all__ = [
    "atomic_path",
    "fingerprint",
    "hash_strings",
    "logger",
    "machine_note",
    "normalize_alias",
    "numbered_jsonl",
    "open_text",
    "progress",
    "read_json",
    "read_jsonl",
    "read_lines",
    "read_text",
    "write_json",
    "write_jsonl",
]
