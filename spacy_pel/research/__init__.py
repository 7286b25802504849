"""The papers' studies. Nothing in the product imports this folder."""
