"""Small helpers without knowledge of entity linking."""

from .console import logger, now, progress
from .files import PathLike, Place, ending_of, fingerprint, first_bytes, raw_lines, read_lines, read_text, unexpected
from .names import PLAIN_WORDS, counted_form, hash_strings, normalize_alias
from .parsing import guarded, numbered_jsonl, plain, read_cells, read_elements, read_json, read_jsonl, read_rows
from .processes import machine_note
from .writing import atomic_path, locked, write_json, write_jsonl, write_text
