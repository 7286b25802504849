"""Small inputs from the field, with the right values."""
