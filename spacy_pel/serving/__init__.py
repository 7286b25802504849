"""A local web page and JSON API to try, inspect and correct a pipeline. Needs the extra ``serve``."""

from .app import listen, make_app, make_server
from .guard import Limits, is_local
from .review import Review
from .service import Service
