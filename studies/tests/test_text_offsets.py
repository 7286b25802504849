"""OffsetMap against lists that say for each character where it comes from."""

import numpy as np
import pytest
from spacy_pel_studies.text_offsets import as_json, joined, new_span, replaced

from spacy_pel.training.offset_map import OffsetMap

Sources = list[tuple[int, int]]  # of each character of the new text: a stretch of the original


def random_step(text: str, rng: np.random.Generator) -> tuple[str, OffsetMap, Sources]:
    """Replace or cut something at random; the sources are those of the text given."""
    if rng.random() < 0.3 and text:
        start, end = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        return text[start:end], OffsetMap.cut(start, end), [(i, i + 1) for i in range(start, end)]
    places = sorted(rng.integers(0, len(text) + 1, 2 * int(rng.integers(0, 4))).tolist())
    changes, new, sources, done = [], "", [], 0
    for start, end in zip(places[::2], places[1::2], strict=True):
        size = int(rng.integers(0, 5))
        changes.append((start, end, size))
        new += text[done:start] + "*" * size
        sources += [(i, i + 1) for i in range(done, start)] + [(start, end)] * size
        done = end
    new += text[done:]
    sources += [(i, i + 1) for i in range(done, len(text))]
    return new, replaced(len(text), changes), sources


@pytest.mark.parametrize("seed", range(40))
def test_steps_lead_back_to_the_original(seed):
    rng = np.random.default_rng(seed)
    original = text = "".join(rng.choice(list("abcdefgh"), 30))
    offsets, sources = OffsetMap.cut(0, 30), [(i, i + 1) for i in range(30)]
    for _ in range(4):
        text, step, taken = random_step(text, rng)
        ends = [0, *(end for _, end in sources)]
        # what was put in between two characters comes from the place behind the first one
        sources = [(sources[a][0], sources[b - 1][1]) if b > a else (ends[a], ends[a]) for a, b in taken]
        offsets = joined(offsets, step)
        assert len(offsets) == len(text) == len(sources)
        assert OffsetMap.from_json(as_json(offsets)).pieces == offsets.pieces
        for start in range(len(text)):
            for end in range(start + 1, len(text) + 1):
                expected = (sources[start][0], sources[end - 1][1])
                assert offsets.original_span(start, end) == expected
            if text[start] != "*":
                assert original[slice(*offsets.original_span(start, start + 1))] == text[start]
        for start in range(30):
            for end in range(start + 1, 31):
                touched = [i for i, (a, b) in enumerate(sources) if a < end and b > start]
                expected = (touched[0], touched[-1] + 1) if touched else None
                assert new_span(offsets, start, end) == expected


def test_by_hand():
    offsets = replaced(len("the AR gene"), [(4, 6, len("androgen receptor"))])
    assert len(offsets) == len("the androgen receptor gene")
    assert new_span(offsets, 4, 6) == (4, 21) and new_span(offsets, 4, 11) == (4, 26)
    assert new_span(offsets, 5, 6) == (4, 21)  # a part of it has no other place
    assert offsets.original_span(13, 21) == (4, 6) and offsets.original_span(22, 26) == (7, 11)
    assert as_json(offsets) == [[4, 0], [17, 4, 2], [5, 6]]
    window = joined(offsets, OffsetMap.cut(4, 21))
    assert as_json(window) == [[17, 4, 2]] and new_span(window, 0, 4) is None
