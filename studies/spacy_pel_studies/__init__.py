"""Studies of the papers. Nothing outside this folder imports it."""
