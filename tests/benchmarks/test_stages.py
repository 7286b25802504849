"""The benchmark of stages, on a made-up knowledge base and a handful of documents."""

import json
import time

import pytest
import spacy

from benchmarks.stages import ENCODE, REST, Stopwatch, main, measure, stages_of
from spacy_pel.index import EntityIndex

pytestmark = pytest.mark.slow


def test_a_stage_inside_another_counts_for_itself_only():
    ticks = iter([0.0, 1.0, 3.0, 7.0, 8.0, 9.0, 14.0])
    watch = Stopwatch(clock=lambda: next(ticks))
    with watch.stage("outer"):  # at 0
        assert watch.around("inner", lambda x, y: x + y)(1, y=2) == 3  # from 1 to 3
        with pytest.raises(ZeroDivisionError):
            watch.around("inner", lambda: 1 / 0)()  # from 7 to 8
    # until 9
    assert watch.seconds == {"outer": 1.0 + 4.0 + 1.0, "inner": 2.0 + 1.0}


def test_every_stage_runs_and_nothing_stays_wrapped(made_up):
    folder, documents = made_up
    nlp = spacy.load(folder / "pipeline")
    before, started = EntityIndex.search_groups, time.process_time()
    n_mentions, seconds = measure(nlp, documents[5:30], warm_up=documents[:5])
    assert n_mentions == 25 and EntityIndex.search_groups is before
    stages = [stage for stage, _, _ in stages_of(nlp.get_pipe("proxy_entity_linker"))]
    assert list(seconds) == [*stages, REST] and "reranker" not in stages
    assert all(spent >= 0 for spent in seconds.values())
    assert 0 < seconds[ENCODE] < sum(seconds.values()) <= time.process_time() - started


def test_the_table_has_a_row_for_each_stage(made_up, tmp_path, run):
    folder, _ = made_up
    options = ["--documents", 12, "--warm-up", 3, "--output", tmp_path / "stages.json"]
    done = run(main, folder / "pipeline", folder / "corpus.jsonl", *options)
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "stages.json").read_text())
    assert written["mentions"] == 12 and "12 mentions in 12 documents" in done.output
    assert all(stage in done.output for stage in [*written["cpu_seconds"], "all but the encoder"])
    done = run(main, folder / "pipeline", folder / "empty.jsonl", "--warm-up", 0)
    assert done.exit_code == 2 and "got none" in done.output
