"""Vectors of mentions from the states of an upstream transformer, which other components share."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from thinc.util import to_numpy

from ...encoders.templates import DocumentWindows
from ...errors import Errors, PelError
from ...linking import MentionQuery
from ...types import Encoder, Vectors

_DATA = "trf_data"  # the extension in which spacy-transformers leaves the states of a Doc
_SAMPLE = "Aspirin relieves a headache."
_LEAST = 0.999  # mean cosine; half precision alone gives 0.9999, other weights 0.7


class TransformerStates:
    """Pools mentions from ``doc._.trf_data``, as an encoder with the template DocumentWindows would from
    windows of its own: a mention is the mean over its word pieces, in the window that has most of them and,
    of several, the most context on both sides.

    The windows are those of the upstream component (its ``get_spans``), so the vectors of a text that fits
    one window of both are the same, and in longer texts differ by the context of each window.

    Args:
        encoder: whose mention tower the upstream component runs.
        name: of the component that links.
        transformer: of the upstream component.

    Raises:
        PelError: if the encoder does not read documents in windows.
    """

    def __init__(self, encoder: Encoder | None, *, name: str, transformer: str):
        template = getattr(encoder, "mention_template", None)
        if not isinstance(template, DocumentWindows):
            got = getattr(template or encoder, "registered_name", "no encoder")
            raise PelError(Errors.E516.format(name=name, transformer=transformer, got=got))
        self._encoder: Any = encoder
        self._name, self._transformer = name, transformer
        self._checked = False

    def encode(self, doc: Doc, queries: Sequence[MentionQuery]) -> list[MentionQuery]:
        """Give queries their vectors.

        Args:
            doc: that the upstream component has read.
            queries: of its mentions.

        Returns:
            With vectors. Without one, and left to the encoder, are those whose
            text is not the document's own (an abbreviation was expanded), that end inside of tokens, or have
            no word pieces.

        Raises:
            PelError: if the document has no states, or not those of the encoder.
        """
        if not queries:
            return []
        data = self._data(doc)
        if len(data.align.lengths) != len(doc):  # windows that leave out tokens: which ones is not known
            return list(queries)
        ends = np.cumsum(data.align.lengths)
        encoded, rows, pooled = list(queries), [], []
        text, states = doc.text, None
        for row, query in enumerate(queries):
            span = doc.char_span(query.start, query.end) if query.text == text else None
            if span is None:
                continue
            first = int(ends[span.start - 1]) if span.start else 0
            pieces = data.align.dataXd[first : int(ends[span.end - 1])].ravel()
            if not len(pieces):
                continue
            if states is None:
                states = self._states(doc)
            window, start, end = best_window(pieces, states.shape[1], data.wordpieces.lengths)
            rows.append(row)
            pooled.append(states[window, start:end].mean(axis=0, dtype=np.float32))
        if rows:
            for row, vector in zip(rows, self._encoder.encode_pooled(np.stack(pooled)), strict=True):
                encoded[row] = replace(queries[row], vector=vector)
        return encoded

    def upstream(self, nlp: Language) -> list[Callable[[Doc], Doc]]:
        """The components that a document needs for its states.

        Args:
            nlp: the pipeline.

        Returns:
            The upstream component, and all that come before it.

        Raises:
            PelError: if there is no such component before the one that links, or it is disabled.
        """
        names = nlp.pipe_names
        before = names[: names.index(self._name)] if self._name in names else names
        if self._transformer not in before:
            got = "one that comes later" if self._transformer in names else f"only {', '.join(names)}"
            raise PelError(Errors.E514.format(name=self._name, transformer=self._transformer, got=got))
        return [pipe for _, pipe in nlp.pipeline[: before.index(self._transformer) + 1]]

    def check_upstream(self, nlp: Language) -> None:
        """Check the upstream component of a pipeline on a short text.

        Args:
            nlp: the pipeline.

        Raises:
            PelError: as ``upstream`` and ``check``.
        """
        doc = nlp.make_doc(_SAMPLE)
        for pipe in self.upstream(nlp):
            doc = pipe(doc)
        self.check(doc)

    def check(self, doc: Doc) -> None:
        """Check that the states are those of the encoder's mention tower, in the first window.

        Args:
            doc: that the upstream component has read; not empty.

        Raises:
            PelError: if they are not: the weights differ.
        """
        data, states = self._data(doc), _in_memory(doc)
        pieces = to_numpy(data.wordpieces.input_ids)[0, : data.wordpieces.lengths[0]]
        expected = self._encoder.mention_states(pieces.astype(np.int64))
        got = _mean_cosine(states[0, : len(pieces)].astype(np.float32), expected)
        if not got >= _LEAST:
            names = {"name": self._name, "transformer": self._transformer}
            raise PelError(Errors.E515.format(**names, least=_LEAST, got=got))

    def _data(self, doc: Doc) -> Any:
        data = doc._.get(_DATA) if Doc.has_extension(_DATA) else None
        if data is None or not hasattr(data, "model_output"):
            got = "a document without states" if data is None else type(data).__name__
            raise PelError(Errors.E514.format(name=self._name, transformer=self._transformer, got=got))
        return data

    def _states(self, doc: Doc) -> Vectors:
        if not self._checked:
            self.check(doc)
            self._checked = True
        return _in_memory(doc)


def _in_memory(doc: Doc) -> Vectors:
    """(windows, length, hidden size), the states, also if they are on a GPU."""
    states: Vectors = to_numpy(doc._.get(_DATA).model_output.last_hidden_state)
    return states


def best_window(pieces: NDArray[np.int32], length: int, lengths: Sequence[int]) -> tuple[int, int, int]:
    """Choose the window to read a mention in.

    Args:
        pieces: where its word pieces are in the windows, one after the other.
        length: of each window, padding included.
        lengths: of each window, without padding.

    Returns:
        Number of the window, first piece in it, and end.
    """
    windows = []
    for window in np.unique(pieces // length).tolist():
        inside = np.unique(pieces[pieces // length == window]) - window * length
        start, end = int(inside[0]), int(inside[-1]) + 1
        windows.append((end - start, min(start, lengths[window] - end), -window, start, end))
    _, _, window, start, end = max(windows)
    return -window, start, end


def _mean_cosine(states: Vectors, expected: Vectors) -> float:
    """Of rows; -1 if the widths differ."""
    if states.shape != expected.shape:
        return -1.0
    lengths = np.linalg.norm(states, axis=1) * np.linalg.norm(expected, axis=1)
    return float(((states * expected).sum(axis=1) / np.maximum(lengths, 1e-12)).mean())
