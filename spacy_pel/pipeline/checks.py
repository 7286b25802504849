"""Check that the parts of a component are compatible."""

from typing import Any, Tuple

from ..errors import Errors, PelError


def check_parts(generator: Any, encoder: Any, index: Any) -> None:
    """Check that encoder and index are set if, and only if, the generator needs vectors.

    generator (Optional[CandidateGenerator]): the setting; None = candidates near the mention's vector.
    encoder (Optional[Encoder]): the setting.
    index (Optional[VectorIndex]): the setting.
    RAISES (PelError): if the generator is of another type, if encoder or index are missing, or if they
        would have no effect.
    """
    if generator is not None and not (
        callable(getattr(generator, "generate", None)) and hasattr(generator, "needs_encoder")
    ):
        raise PelError(Errors.E510.format(got=repr(generator)))
    parts = {"encoder": encoder, "index": index}
    if generator is None or generator.needs_encoder:
        missing = [name for name, part in parts.items() if part is None]
        if missing:
            kind = "no generator" if generator is None else f"the generator {generator.registered_name}"
            raise PelError(Errors.E511.format(kind=kind, missing=" and ".join(missing)))
    else:
        idle = [name for name, part in parts.items() if part is not None]
        if idle:
            raise PelError(Errors.E512.format(kind=generator.registered_name, idle=" and ".join(idle)))


def check_loaders(name: str, **loaders: Tuple[Any, Any]) -> None:
    """Check that there is a part for each loader.

    name (str): the component's name.
    loaders (Tuple[Any, Any]): by the setting: the part and its loader, or None.
    RAISES (PelError): if there is a loader for a part that is null.
    """
    for setting, (part, loader) in loaders.items():
        if part is None and loader is not None:
            raise PelError(Errors.E513.format(name=name, setting=setting))
