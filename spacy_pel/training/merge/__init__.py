"""Several sources merged into one knowledge base."""
