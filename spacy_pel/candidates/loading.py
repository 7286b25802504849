"""Creating a generator by name, and loading the one in a folder."""

from pathlib import Path
from typing import Any

from catalogue import RegistryError

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateGenerator
from ..util.config import describe_config_error
from ..util.saved_folder import read_part
from .generator_base import reading


def make_generator(name: str, settings: dict[str, Any]) -> CandidateGenerator:
    """Create a registered generator, without building it.

    Args:
        name: its short or its full name, e.g. "tfidf" or "spacy-pel.TfIdf.v1".
        settings: as in a config: a part within it is {"@pel_...": NAME, ...}.

    Returns:
        The generator.

    Raises:
        PelError: if the name or a setting is unknown, or a value does not fit.
    """
    from spacy.util import registry as spacy_registry
    from thinc.api import ConfigValidationError

    registry.resolve_short("pel_candidates", name)
    full = registry.parts("pel_candidates").get(name, name)
    try:
        config = {"generator": {"@pel_candidates": full, **settings}}
        return spacy_registry.resolve(config)["generator"]  # type: ignore[no-any-return]
    except (ConfigValidationError, RegistryError) as err:
        raise PelError(Errors.E445.format(generator=name, got=describe_config_error(err))) from err


def load_generator(path: str | Path, *, kb: KnowledgeBase | None = None) -> CandidateGenerator:
    """Load a generator from its folder.

    Args:
        path: the folder.
        kb: if given, the generator must have been built from it.

    Returns:
        Ready to find candidates, once it is bound to an encoder and an index if it
        needs them.

    Raises:
        PelError: if the folder is damaged, or was built from another knowledge base.
    """
    path = Path(path)
    meta = read_part(path, kind="generator")
    if kb is not None:
        check_origin(path, kb)
    with reading(path):
        generator = make_generator(meta["generator"], dict(meta["settings"]))
    return generator.from_disk(path)


def check_origin(path: Path, kb: KnowledgeBase) -> None:
    """Raises:
    PelError: if the generator in a folder was built from another knowledge base.
    """
    for part in sorted(path.rglob("generator.json")):  # an ensemble has one for each of its generators
        saved = read_part(part.parent, kind="generator").get("kb_fingerprint")
        if saved and saved != kb.fingerprint:
            raise PelError(Errors.E443.format(path=part.parent, theirs=saved, ours=kb.fingerprint))
