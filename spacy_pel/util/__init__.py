"""Small helpers without knowledge of entity linking."""

from .console import logger, progress
from .files import fingerprint, read_lines, read_text
from .names import PLAIN_WORDS, counted_form, hash_strings, normalize_alias
from .parsing import numbered_jsonl, read_json, read_jsonl
from .processes import machine_note
from .writing import atomic_path, locked, write_json, write_jsonl
