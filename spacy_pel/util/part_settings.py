"""Settings of a registered part: the arguments of its constructor, declared once."""

from inspect import signature
from typing import Any, ClassVar


class PartSettings:
    """A part that keeps the arguments of its constructor as attributes of the same names."""

    without_effect: ClassVar[tuple[str, ...]] = ()  # arguments that change no result

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that determine what the part does, as JSON."""
        names = signature(type(self)).parameters
        return {name: getattr(self, name) for name in names if name not in self.without_effect}
