from .entity_urls import entity_url
from .link_rows import NOTE, LinkRow, link_row
from .links_html import render_links

__all__ = ["NOTE", "LinkRow", "entity_url", "link_row", "render_links"]
