"""Rankers: read a mention together with its best candidates and rerank these."""
