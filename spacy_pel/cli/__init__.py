"""The command line. The order of these imports is the order of the commands in --help."""

# isort: off
from ._app import main, pel_cli
from . import quickstart, link, terms, info, teach, serve  # noqa: F401
from . import kb_changes, kb_facts  # noqa: F401
from . import index, calibrate  # noqa: F401
from . import evaluate  # noqa: F401

__all__ = ["main", "pel_cli"]
