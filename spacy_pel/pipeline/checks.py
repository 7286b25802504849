"""Check that the parts of a component are compatible."""

from typing import Any

from ..errors import Errors, PelError

# setting -> registry, methods that are needed, an example, whether it may be null
_INTERFACES: dict[str, tuple[str, tuple[str, ...], str, bool]] = {
    "encoder": ("pel_encoders", ("encode_mentions", "encode_names"), "spacy-pel.BiEncoder.v1", True),
    "index": ("pel_indexes", ("add", "search_groups"), "spacy-pel.FaissIVF.v1", True),
    "combiner": ("pel_combiners", ("__call__", "fit"), "spacy-pel.LinearCombiner.v1", False),
    "nil_model": ("pel_nil", ("__call__", "fit"), "spacy-pel.LogisticNil.v1", False),
}


def check_parts(generator: Any, encoder: Any, index: Any) -> None:
    """Check that encoder and index are set if, and only if, the generator needs vectors.

    Args:
        generator: the setting; None = candidates near the mention's vector.
        encoder: the setting.
        index: the setting.

    Raises:
        PelError: if the generator is of another type, if encoder or index are missing, or if they
            would have no effect.
    """
    if generator is not None and not (
        callable(getattr(generator, "find_candidates", None)) and hasattr(generator, "needs_encoder")
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


def check_interfaces(**parts: Any) -> None:
    """Check that parts can be what they are set as; a name alone, for one, cannot.

    Args:
        parts: by setting: "encoder", "index" (both may be None), "combiner" and "nil_model".

    Raises:
        PelError: if one is something else.
    """
    for setting, part in parts.items():
        registry, needed, example, optional = _INTERFACES[setting]
        if part is None and optional:
            continue
        if isinstance(part, type) or not all(callable(getattr(part, name, None)) for name in needed):
            expected = f"{setting} to be {'null or ' if optional else ''}a part of the registry {registry}"
            raise PelError(
                Errors.E518.format(expected=expected, got=repr(part), name=setting, registry=registry, example=example)
            )
