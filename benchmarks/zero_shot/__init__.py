from .ranking import by_encoder, by_name, names_first
from .tables import as_markdown
from .unseen_world import UnseenWorld

__all__ = ["UnseenWorld", "as_markdown", "by_encoder", "by_name", "names_first"]
