"""The package's logger; silent unless the application configures logging."""

import logging

logger = logging.getLogger("spacy_pel")
logger.addHandler(logging.NullHandler())
