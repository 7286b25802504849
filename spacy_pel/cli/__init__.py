from ._app import main, pel_cli

__all__ = ["main", "pel_cli"]
