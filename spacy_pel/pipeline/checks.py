"""Do the parts of a component go together?"""

from typing import Any

from ..errors import Errors, PelError


def check_parts(generator: Any, encoder: Any, index: Any) -> None:
    """Encoder and index are there for a generator that works on vectors, and for no other.

    generator (Optional[CandidateGenerator]): the setting; None = candidates near the mention's vector.
    encoder (Optional[Encoder]): the setting.
    index (Optional[VectorIndex]): the setting.
    RAISES (PelError): if the generator is none, if it lacks what it works on, or if an encoder or an
        index would do nothing.
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


def check_vector_loaders(component: Any, encoder_loader: Any, index_loader: Any) -> None:
    """RAISES (PelError): if there is a loader for an encoder or an index that the component has not."""
    loaders = {"encoder_loader": encoder_loader, "index_loader": index_loader}
    given = [name for name, loader in loaders.items() if loader is not None]
    if component.encoder is None and given:
        raise PelError(Errors.E513.format(name=component.name, given=" and ".join(given)))
