"""The package's logger. Unless the application configures logging, Python shows its warnings on stderr."""

import logging

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide them
