from .entity_urls import entity_url
from .links import NOTE, PROBABILITY, LinkRow, link_row, render_links

__all__ = ["NOTE", "PROBABILITY", "LinkRow", "entity_url", "link_row", "render_links"]
