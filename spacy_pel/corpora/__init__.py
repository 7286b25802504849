from .readers.jsonl_corpus import read_corpus, read_gold, read_links, to_record, write_corpus
from .split import carve, read_ids

__all__ = ["carve", "read_corpus", "read_gold", "read_ids", "read_links", "to_record", "write_corpus"]
