"""Evidence is gathered from an index: the same knowledge base, encoder and documents."""

from index.conftest import documents, encoder, kb  # noqa: F401
