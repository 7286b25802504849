"""Knowledge base readers, one source format per file."""
