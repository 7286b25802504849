from .entity_urls import entity_url
from .links import NOTE, PROBABILITY, LinkRow, link_row, render_links
