"""Small helpers without knowledge of entity linking."""

from .files import atomic_path, numbered_jsonl, read_json, read_jsonl, read_lines, read_text, write_json, write_jsonl
from .hashing import fingerprint
from .log import logger
from .machine import machine_note
from .names import hash_strings, normalize_alias
from .progress import progress
