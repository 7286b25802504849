"""What Python runs first in each process that a test starts: it hides two plugins of others, which spaCy would import
for every pipeline, 8 s of a processor each time. The processes of pytest itself have them; ``PEL_TEST_PLUGINS`` keeps
them in one that it starts."""

import os
from importlib import metadata

if "PEL_TEST_PLUGINS" not in os.environ:
    _distributions = metadata.distributions
    metadata.distributions = lambda **settings: (
        package for package in _distributions(**settings) if package.name not in ("spacy-transformers", "spacy-llm")
    )
