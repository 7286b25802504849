"""Training on the rows of an index, names and annotated mentions, as the linker reads them."""
