"""The HPO gold standard corpus (GSC, GSC+): a folder of texts and a folder of annotations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...corpora.formats.base import CorpusReaderBase, wrong_format
from ...corpora.policy import split_ids
from ...errors import quoted
from ...registry import registry
from ...types import Document
from ...util import read_lines, read_text

_LINE = re.compile(r"\[(\d{1,15})::(\d{1,15})\]\s+(\S+)\s*\|\s?(.*)")
_UNDERSCORE_ID = re.compile(r"(?<![A-Za-z])([A-Za-z]+)_(\w+)")  # from the first letter, or it takes quadratic time


@registry.pel_corpus_readers("spacy-pel.GscCorpus.v1")
@dataclass(kw_only=True, eq=False)
class GscCorpus(CorpusReaderBase):
    """Reads folders with ``Text/`` and ``Annotations/`` (one file per document, with the same name).

    An annotation is ``[start::end]``, a tab, ``HP_0000110 | renal dysplasia``. Ids are written as in
    ontologies: ``HP:0000110``.

    Args:
        label: the label of every mention (the corpus has none).
        strip_prefix: taken off the ids that have it.
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    label: str | None = "PHENOTYPE"

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            texts = _files(_folder(path, "text"))
            annotations = _files(_folder(path, "annotations"))
            for stem in annotations:
                if stem not in texts:
                    raise wrong_format("gsc", str(annotations[stem]), f"a text named {stem}", "none")
            for stem, file in texts.items():
                document = Document(stem, read_text(file))
                if stem in annotations:
                    self._annotate(document, annotations[stem])
                else:
                    self.count("without_annotations")
                yield document

    def _annotate(self, document: Document, path: Path) -> None:
        for number, line in read_lines(path):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            match = _LINE.fullmatch(line)
            if match is None:
                raise wrong_format("gsc", where, "[start::end], a tab and HP_0000110 | text", quoted(line))
            start, end, field, surface = match.groups()
            ids, _ = split_ids(_UNDERSCORE_ID.sub(r"\1:\2", field), strip_prefix=self.strip_prefix)
            self.add(document, [(int(start), int(end))], surface, label="", ids=ids, where=where)


def _folder(path: Path, name: str) -> Path:
    for folder in sorted(path.iterdir()) if path.is_dir() else []:
        if folder.is_dir() and folder.name.casefold() == name:
            return folder
    raise wrong_format("gsc", str(path), "the folders Text and Annotations", "neither")


def _files(folder: Path) -> dict[str, Path]:
    """The documents' files by id: the name without .txt or .ann, in order."""
    return {
        file.name.removesuffix(".txt").removesuffix(".ann"): file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith(".")
    }
