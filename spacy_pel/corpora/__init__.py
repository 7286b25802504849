from .formats.jsonl import read_corpus, read_gold, read_links, to_record, write_corpus
