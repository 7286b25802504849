"""Tables and figures of the studies."""
