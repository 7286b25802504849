from benchmarks.zero_shot.ranking import by_encoder, by_name, names_first
from benchmarks.zero_shot.tables import as_markdown
from benchmarks.zero_shot.unseen_world import UnseenWorld

__all__ = ["UnseenWorld", "as_markdown", "by_encoder", "by_name", "names_first"]
