"""The largest values that make sense in a loss, whatever the similarity."""

LARGEST_SCALE = 10_000  # of similarities
LARGEST_OFFSET = 1000  # a similarity; dot products of pretrained encoders reach hundreds
