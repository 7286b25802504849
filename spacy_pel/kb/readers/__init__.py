"""Knowledge base readers, one source format a file."""
