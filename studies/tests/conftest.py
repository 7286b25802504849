"""The fixtures of the product's tests."""

from conftest import tiny_bert, tokenizer  # noqa: F401
