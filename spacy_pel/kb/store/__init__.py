"""The Arrow files of a knowledge base, its alias map, and the changes on top of them."""
