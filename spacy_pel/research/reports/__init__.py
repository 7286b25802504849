"""Tables and pictures of the studies."""
