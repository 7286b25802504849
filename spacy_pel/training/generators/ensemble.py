"""Several generators as one: their candidates are merged, by reciprocal-rank fusion or by the best rank."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...candidates.evidence.evidence import FEATURES, Matches, best_row, laid_out
from ...candidates.generator_base import GeneratorBase
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...registry import registry
from ...types import FUSED, CandidateGenerator, CandidateTable, Mask, MentionInText, Rows
from ...util import fingerprint
from ...util.config import check_range

How = Literal["rrf", "union"]


@registry.pel_candidates("spacy-pel.EnsembleCandidates.v1")
class EnsembleCandidates(GeneratorBase):
    """The candidates of several generators, each asked for the full number of candidates.

    "rrf" (reciprocal-rank fusion, Cormack et al. 2009): score = sum over the generators that found the
    entity of 1 / (constant + rank), ranks from 1. "union": score = 1 / the best rank, so that the first
    candidates of all generators come before the second ones. Equal scores: the better best rank comes
    first, then the generator that is named first.

    This score is the feature "fused", which combiners weigh or order by. "name" and "mention", which may be
    negative, come from the generators that have vectors, as string and vector similarities are not comparable: the
    largest value that these give the candidate, or the lowest that they give any candidate of the mention.
    Where none has vectors, "name" is "fused". The other features are the largest values of all generators,
    and "seen", which speaks of the mention, is the largest for all of its candidates. The mention's vectors
    are those of the first generator that has some.

    Args:
        generators: parts of the registry pel_candidates by names of your own.
        how: how ranks are combined.
        rrf_constant: the constant of reciprocal-rank fusion; "union" does not use it.
    """

    registered_name = "spacy-pel.EnsembleCandidates.v1"

    # not Dict[str, CandidateGenerator]: to check the protocol, a config would compute all fingerprints
    def __init__(self, *, generators: dict[str, Any], how: How = "rrf", rrf_constant: float = 60.0):
        if not generators:
            raise self._wrong("generators", "at least one part of pel_candidates", "none")
        for name, part in generators.items():
            if not hasattr(part, "find_candidates") or not hasattr(part, "registered_name"):
                raise self._wrong(f"generators.{name}", "a part of pel_candidates", type(part).__name__)
            if not name or Path(name).name != name:
                raise self._wrong("generators", "names that are valid folder names", repr(name))
        if how not in ("rrf", "union"):
            raise self._wrong("how", "rrf or union", repr(how))
        check_range("rrf_constant", rrf_constant, least=0)
        self.generators: dict[str, CandidateGenerator] = dict(generators)
        self.how: How = how
        self.rrf_constant = rrf_constant

    @property
    def needs_encoder(self) -> bool:
        """Whether one of the generators needs vectors."""
        return any(part.needs_encoder for part in self.generators.values())

    @property
    def reads_context(self) -> bool:
        """Whether one of the generators does."""
        return any(part.reads_context for part in self.generators.values())

    @property
    def settings(self) -> dict[str, Any]:
        """Those it was made with, the generators' among them."""
        parts = {
            name: {"@pel_candidates": part.registered_name, **part.settings} for name, part in self.generators.items()
        }
        return {"generators": parts, "how": self.how, "rrf_constant": self.rrf_constant}

    @property
    def fingerprint(self) -> str:
        """Changes with the settings and the generators."""
        parts = [[name, part.fingerprint] for name, part in self.generators.items()]
        return fingerprint(self.registered_name, [self.how, self.rrf_constant], FUSED, parts)

    def bind(self, encoder: Any, index: Any) -> None:
        """Hand encoder and index to all generators."""
        for part in self.generators.values():
            part.bind(encoder, index)

    def __copy__(self) -> "EnsembleCandidates":
        # its generators are copied too: they hold what ``bind`` is given
        other = object.__new__(type(self))
        parts = {name: copy(part) for name, part in self.generators.items()}
        other.__dict__.update({**self.__dict__, "generators": parts})
        return other

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Build all generators."""
        for part in self.generators.values():
            part.build(kb, show_progress=show_progress)

    def find_candidates(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> CandidateTable:
        """Candidates of all generators."""
        tables = [part.find_candidates(kb, mentions, allowed=allowed, top_k=top_k) for part in self.generators.values()]
        return self._fuse(tables, kb.n_rows, top_k)

    def _fuse(self, tables: list[CandidateTable], n_rows: int, top_k: int) -> CandidateTable:
        filled = [table.filled for table in tables]
        owners_of, places = zip(*map(np.nonzero, filled), strict=True)
        rows_of = [table.kb_rows[here] for table, here in zip(tables, filled, strict=True)]
        pairs, which = np.unique(
            np.concatenate([owner * n_rows + rows for owner, rows in zip(owners_of, rows_of, strict=True)]),
            return_inverse=True,
        )
        mentions, kb_rows = np.divmod(pairs, max(n_rows, 1))
        ranks = np.concatenate(places) + 1  # tables are sorted, best first
        sizes = list(map(len, rows_of))
        members = np.repeat(np.arange(len(tables)), sizes)

        best = np.full(len(pairs), np.iinfo(np.int64).max)
        np.minimum.at(best, which, ranks)
        first = np.full(len(pairs), len(tables))
        at_best = ranks == best[which]
        np.minimum.at(first, which[at_best], members[at_best])
        scores = self._scores(which, ranks, best)

        columns = {}
        knows = np.repeat([table.vectors is not None for table in tables], sizes)
        for name in FEATURES:
            values = np.concatenate([table.features[name][here] for table, here in zip(tables, filled, strict=True)])
            if name in ("name", "mention"):  # of tables with vectors alone
                known = Matches(mentions[which[knows]], kb_rows[which[knows]], values[knows])
                columns[name] = best_row(known, which[knows], mentions)
            else:
                columns[name] = np.full(len(pairs), -np.inf)
                np.maximum.at(columns[name], which, values)
        columns[FUSED] = scores
        if all(table.vectors is None for table in tables):
            columns["name"] = scores
        order = np.lexsort((kb_rows, first, best, -scores, mentions))
        width = min(top_k, max(1, int(np.bincount(mentions).max(initial=1))))
        ordered = {name: values[order] for name, values in columns.items()}
        table = laid_out(len(tables[0]), width, mentions[order], kb_rows[order], ordered)
        table.features["seen"] = np.where(table.filled, table.features["seen"].max(axis=1, keepdims=True), 0.0)
        for part in tables:
            if part.vectors is not None:
                return replace(table, vectors=part.vectors, of_mentions=part.of_mentions)
        return table

    def _scores(
        self, which: NDArray[np.int64], ranks: NDArray[np.int64], best: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if self.how == "union":
            return 1.0 / best
        shares = 1.0 / (self.rrf_constant + ranks)
        return np.bincount(which, weights=shares, minlength=len(best)).astype(np.float64, copy=False)

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Update all generators after a change of the knowledge base."""
        for part in self.generators.values():
            part.add_entities(kb, kb_rows)

    def _write(self, path: Path) -> None:
        for name, part in self.generators.items():
            part.to_disk(path / name)

    def _with_settings(self, settings: dict[str, Any], path: Path) -> "EnsembleCandidates":
        theirs = {name: part["@pel_candidates"] for name, part in settings["generators"].items()}
        how, rrf_constant = settings["how"], settings["rrf_constant"]
        ours = {name: part.registered_name for name, part in self.generators.items()}
        if theirs != ours:
            expected, got = f"of {_listed(ours)}", f"one of {_listed(theirs)}"
            raise PelError(Errors.E010.format(kind="generator", path=path, expected=expected, got=got))
        return EnsembleCandidates(generators=self.generators, how=how, rrf_constant=rrf_constant)

    def _read(self, path: Path) -> None:
        for name, part in self.generators.items():
            part.from_disk(path / name)


def _listed(parts: dict[str, str]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in parts.items())
