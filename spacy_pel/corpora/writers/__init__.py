"""Writers of linked documents, one format per file."""
