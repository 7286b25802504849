"""A local web page and JSON API to try, inspect and correct a pipeline. Needs the extra ``serve``."""

from .app import make_app
from .limits import Limits
from .server import Server, listen
from .service import Service
