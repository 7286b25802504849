"""The names of several knowledge bases, by entity."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kb import KnowledgeBase
from ...util import normalize_alias
from ...util.ragged import offsets_of
from ..members import MembersByLabel

Numbers = NDArray[np.int64]


@dataclass
class Synonyms:
    """Entities of several knowledge bases, numbered through, and their names.

    texts: the names; of names of an entity with the same normal form, the first one.
    kb: (n_entities,) which knowledge base, from 0 on.
    n_kbs: how many there are.
    names_of: the numbers of each entity's names.
    owner: (n_names,) the entity of each name.
    form: (n_names,) the number of each name's normal form.
    with_form: the entities that have each form, of any knowledge base.
    """

    texts: list[str]
    kb: Numbers
    n_kbs: int
    names_of: MembersByLabel
    owner: Numbers
    form: Numbers
    with_form: MembersByLabel

    @classmethod
    def of(cls, kbs: Mapping[str, KnowledgeBase]) -> "Synonyms":
        """Args:
        kbs: the knowledge bases; retired entities are left out.
        """
        texts: list[str] = []
        forms: dict[str, int] = {}
        form: list[int] = []
        lengths: list[int] = []
        kb: list[int] = []
        for number, base in enumerate(kbs.values()):
            for entity in base.entities():
                own: dict[int, str] = {}
                for name in (entity.canonical_name, *entity.aliases):
                    own.setdefault(forms.setdefault(normalize_alias(name), len(forms)), name)
                texts += own.values()
                form += own
                lengths.append(len(own))
                kb.append(number)
        names_of = MembersByLabel(np.arange(len(texts)), offsets_of(np.array(lengths, dtype=np.int64)))
        labels = np.array(form, dtype=np.int64)
        with_form = MembersByLabel.from_labels(labels, len(forms))
        owner = names_of.owners
        with_form.values = owner[with_form.values]
        return cls(texts, np.array(kb, dtype=np.int64), len(kbs), names_of, owner, labels, with_form)

    @property
    def n_entities(self) -> int:
        return len(self.kb)

    def namesakes(self, entities: Numbers) -> MembersByLabel:
        """For each entity all that share a name with it, itself included; one that
        shares several is repeated."""
        names = self.names_of.take(entities)
        found = self.with_form.take(self.form[names.values])
        ends = found.offsets[names.offsets]
        return MembersByLabel(found.values, ends)

    def related(self, entities: Numbers) -> NDArray[np.bool_]:
        """Find which entities may be the same thing: their names meet in one entity of some knowledge base,
        as "flu" and "grippe" do.

        Args:
            entities: (n,).

        Returns:
            (n, n), symmetric; True on the diagonal.
        """
        namesakes = self.namesakes(entities)
        _, column = np.unique(namesakes.values, return_inverse=True)
        has = np.zeros((len(entities), int(column.max(initial=-1)) + 1), dtype=np.float32)
        has[namesakes.owners, column] = 1.0
        return (has @ has.T) > 0  # type: ignore[no-any-return]

    def draw_pairs(self, entities: Numbers, rng: np.random.Generator) -> Numbers:
        """Draw two names of each entity.

        Args:
            entities: (n,), with two names or more.

        Returns:
            (n, 2) numbers of names.
        """
        first, size = self.names_of.offsets[entities], self.names_of.lengths[entities]
        one = (rng.random(len(entities)) * size).astype(np.int64)
        other = (rng.random(len(entities)) * (size - 1)).astype(np.int64)
        other += other >= one
        return first[:, None] + np.stack([one, other], axis=1)
