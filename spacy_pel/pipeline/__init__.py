"""The spaCy side: the component, its factory, loaders and scorer."""
