from .formats.jsonl import read_corpus, read_gold, read_links, to_record, write_corpus
from .original import read_ids, split_by_hash
