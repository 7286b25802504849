"""The wing: what trains linkers, merges ontologies and reads corpora of research. Linking never imports it."""
