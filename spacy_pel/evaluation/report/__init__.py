from .links import NOTE, PROBABILITY, LinkRow, entity_url, link_row, render_links
