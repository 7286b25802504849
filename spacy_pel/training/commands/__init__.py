"""Commands of the wing, published as entry points: the command line imports them when they are called."""
