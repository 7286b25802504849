from .readers.jsonl_corpus import read_corpus, read_gold, read_links, to_record, write_corpus
from .split import read_ids, split_by_hash
