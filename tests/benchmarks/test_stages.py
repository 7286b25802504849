"""The stopwatch of the benchmark of stages, and its errors."""

import pytest
import spacy
import typer

from benchmarks.stages import Stopwatch, main


def test_a_stage_inside_another_counts_for_itself_only():
    ticks = iter([0.0, 1.0, 3.0, 7.0, 8.0, 9.0, 14.0])
    watch = Stopwatch(clock=lambda: next(ticks))
    with watch.stage("outer"):  # at 0
        assert watch.around("inner", lambda x, y: x + y)(1, y=2) == 3  # from 1 to 3
        with pytest.raises(ZeroDivisionError):
            watch.around("inner", lambda: 1 / 0)()  # from 7 to 8
    # until 9
    assert watch.seconds == {"outer": 1.0 + 4.0 + 1.0, "inner": 2.0 + 1.0}


def test_a_corpus_that_cannot_be_read_is_one_line(tmp_path, capsys):
    spacy.blank("en").to_disk(tmp_path / "pipeline")
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"pmid": "1"}\n', encoding="utf8")
    with pytest.raises(typer.Exit) as stopped:
        main(tmp_path / "pipeline", corpus)
    assert stopped.value.exit_code == 2
    assert capsys.readouterr().err.startswith("Error: [PEL-E202]")
