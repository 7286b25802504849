from .readers.jsonl_corpus import read_corpus, to_record, write_corpus
from .split import carve, read_ids

__all__ = ["carve", "read_corpus", "read_ids", "to_record", "write_corpus"]
