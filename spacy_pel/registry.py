"""Our registries: one per kind of part, filled from the entry points in ``pyproject.toml``."""

import re
from importlib.metadata import entry_points
from typing import Any

import catalogue
from spacy.util import registry as spacy_registry

from .errors import Errors, PelError, did_you_mean


class registry:
    """The registries of spacy_pel. A part is found by its registered name,
    e.g. ``registry.pel_losses.get("spacy-pel.ProxySoftplus.v1")``, whether or not
    its module was imported before: the entry points name the module.
    """

    pel_kb_readers = catalogue.create("spacy", "pel_kb_readers", entry_points=True)
    pel_corpus_readers = catalogue.create("spacy", "pel_corpus_readers", entry_points=True)
    pel_preprocessors = catalogue.create("spacy", "pel_preprocessors", entry_points=True)
    pel_templates = catalogue.create("spacy", "pel_templates", entry_points=True)
    pel_encoders = catalogue.create("spacy", "pel_encoders", entry_points=True)
    pel_backends = catalogue.create("spacy", "pel_backends", entry_points=True)
    pel_similarities = catalogue.create("spacy", "pel_similarities", entry_points=True)
    pel_losses = catalogue.create("spacy", "pel_losses", entry_points=True)
    pel_regularizers = catalogue.create("spacy", "pel_regularizers", entry_points=True)
    pel_negatives = catalogue.create("spacy", "pel_negatives", entry_points=True)
    pel_mixing = catalogue.create("spacy", "pel_mixing", entry_points=True)
    pel_anchors = catalogue.create("spacy", "pel_anchors", entry_points=True)
    pel_indexes = catalogue.create("spacy", "pel_indexes", entry_points=True)
    pel_candidates = catalogue.create("spacy", "pel_candidates", entry_points=True)
    pel_combiners = catalogue.create("spacy", "pel_combiners", entry_points=True)
    pel_nil = catalogue.create("spacy", "pel_nil", entry_points=True)
    pel_rankers = catalogue.create("spacy", "pel_rankers", entry_points=True)
    pel_rank_recipes = catalogue.create("spacy", "pel_rank_recipes", entry_points=True)
    pel_engines = catalogue.create("spacy", "pel_engines", entry_points=True)

    @classmethod
    def names(cls) -> list[str]:
        """The names of all registries, e.g. "pel_losses"."""
        return sorted(name for name in vars(cls) if name.startswith("pel_"))

    @classmethod
    def parts(cls, registry_name: str) -> dict[str, str]:
        """Short names of a registry's parts, for the command line.

        The short name of "spacy-pel.MeshKB.v1" in "pel_kb_readers" is "mesh": the
        class name in lower case without the registry's suffix.

        Args:
            registry_name: e.g. "pel_kb_readers".

        Returns:
            Short name -> newest registered name.
        """
        suffixes = {
            "pel_kb_readers": "KB",
            "pel_corpus_readers": "Corpus",
            "pel_candidates": "Candidates",
            "pel_engines": "Engine",
        }
        table = getattr(cls, registry_name)
        # asking for the names alone must not import every part's module
        published = {point.name for point in entry_points(group=table.entry_point_namespace)}
        written = {path[-1] for path in catalogue.REGISTRY if path[:-1] == table.namespace}
        names = sorted(published | written)
        short = {}
        for name in names:
            class_name = name.split(".")[1]
            short[class_name.removesuffix(suffixes.get(registry_name, "")).lower()] = name
        return short

    @classmethod
    def did_you_mean(cls, message: str) -> str:
        """Suggest a registry or part for an unknown one.

        Args:
            message: an error's text, with the unknown name in quotation marks.

        Returns:
            Words to append, e.g. " (did you mean 'pel_losses'?)"; empty if nothing is close.
        """
        known = [*cls.names(), *(full for name in cls.names() for full in cls.parts(name).values())]
        for word in re.findall(r"'([\w.-]+)'", message):
            if word not in known and (hint := did_you_mean(word, known, cutoff=0.8)):
                return hint
        return ""

    @classmethod
    def resolve_short(cls, registry_name: str, name: str) -> Any:
        """Get the function of a part by its short or its full name.

        Args:
            registry_name: e.g. "pel_kb_readers".
            name: e.g. "mesh" or "spacy-pel.MeshKB.v1".

        Returns:
            The registered function.

        Raises:
            PelError: if no such part is registered; names the known ones.
        """
        known = cls.parts(registry_name)
        full = known.get(name, name)
        table = getattr(cls, registry_name)
        if full not in table:
            hint = did_you_mean(name.lower(), known) or did_you_mean(name, known.values())
            names = ", ".join(sorted(known))
            raise PelError(Errors.E001.format(name=name, registry=registry_name, hint=hint, known=names))
        return table.get(full)


# spaCy resolves "@pel_losses" in a config by the attribute of this name on its own registry
for _name in registry.names():
    setattr(spacy_registry, _name, getattr(registry, _name))
