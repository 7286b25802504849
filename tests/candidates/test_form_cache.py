"""The cache of surface forms gives what its generator finds, whatever it has kept."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from forks import end_of, in_child

from spacy_pel.candidates.form_cache import FormCache
from spacy_pel.types import CandidateTable

from .conftest import values_of

MEGABYTE = 1e-6 * (3 * 8 + 2 * 3 * 4)  # a table of one form with three candidates and two features


def expected(key):
    """One to three candidates for each key of a filter and a number."""
    name, number = key
    return {number + place: np.float32(number + place / 8 + len(name)) for place in range(1 + number % 3)}


def table_of(keys, width=3):
    kb_rows = np.full((len(keys), width), -1, dtype=np.int64)
    features = {name: np.zeros(kb_rows.shape, np.float32) for name in ("name", "edit")}
    for i, key in enumerate(keys):
        for place, (row, value) in enumerate(expected(key).items()):
            kb_rows[i, place] = row
            features["name"][i, place], features["edit"][i, place] = value, -value
    return CandidateTable(kb_rows, features)


class Asking:
    """A cache, and the keys that it asked for."""

    def __init__(self, n_forms):
        self.cache, self.asked = FormCache((n_forms + 0.5) * MEGABYTE), []

    def __call__(self, *keys, width=3):
        self.asked = []

        def find(positions):
            self.asked = [keys[position] for position in positions]
            return table_of(self.asked, width)

        table = self.cache(keys, find)
        assert values_of(table, "name") == [expected(key) for key in keys]
        assert values_of(table, "edit") == [{row: -value for row, value in expected(key).items()} for key in keys]
        return self.asked


def forms(*numbers):
    return [("", number) for number in numbers]


def test_only_new_forms_are_asked_for_each_once():
    ask = Asking(10)
    assert ask(*forms(3, 1, 3)) == forms(3, 1)
    assert ask(*forms(1, 2, 3, 2, 1)) == forms(2)
    assert ask(*forms(2, 3)) == [] and len(ask.cache) == 3


def test_a_form_with_another_filter_is_another_key():
    ask = Asking(10)
    keys = [("", 4), ("T1", 4), ("T1", 5)]
    assert ask(*keys) == keys
    assert ask(*keys[::-1], ("T1", 6)) == [("T1", 6)]


def test_the_least_recently_used_goes_first():
    ask = Asking(3)
    ask(*forms(1, 2, 3))
    ask(*forms(1))  # 2 is now the oldest
    assert ask(*forms(4)) == forms(4) and len(ask.cache) == 3
    assert ask(*forms(3, 1, 4)) == []
    assert ask(*forms(2)) == forms(2)
    assert ask(*forms(1, 4)) == [] and ask(*forms(3)) == forms(3)


@pytest.mark.parametrize("n_forms", [1, 5])
def test_more_forms_than_there_is_room_for(n_forms):
    ask = Asking(n_forms)
    everything = forms(*range(12))
    assert ask(*everything) == everything and len(ask.cache) == n_forms
    assert ask(*everything[12 - n_forms :]) == []  # the last ones are kept
    assert ask(*everything, *everything) == everything[: 12 - n_forms]


def test_without_room_everything_is_asked_for():
    ask = Asking(0)
    assert ask(*forms(1, 2, 1)) == forms(1, 2) == ask(*forms(1, 2)) and len(ask.cache) == 0


def test_no_memory_beyond_the_limit():
    cache = FormCache(0.5)
    for start in range(0, 40_000, 1000):
        keys = forms(*range(start, start + 1000))
        cache(keys, lambda positions, keys=keys: table_of([keys[position] for position in positions]))
    assert sum(array.nbytes for array in cache._table.arrays) <= 500_000
    assert len(cache) == 500_000 // 48


def test_wider_tables_replace_narrower_ones():
    ask = Asking(10)
    ask(*forms(0, 3))
    assert ask(*forms(0, 5), width=7) == forms(5)  # of different widths in one answer
    assert ask(*forms(5)) == []
    assert ask(*forms(1), width=2) == forms(1)
    assert ask(*forms(5, 1)) == []
    assert len(ask.cache) <= 4  # the limit holds for wide ones, too


def test_threads_share_the_cache():
    cache, interval = FormCache(20 * MEGABYTE), sys.getswitchinterval()

    def link(seed):
        keys = forms(*np.random.default_rng(seed).integers(0, 30, size=8).tolist())
        table = cache(keys, lambda positions: table_of([keys[position] for position in positions], 3 + seed % 2))
        return values_of(table, "name") == [expected(key) for key in keys]

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as pool:
            assert all(pool.map(link, range(400)))
    finally:
        sys.setswitchinterval(interval)
    assert 0 < len(cache) <= 20


def test_answers_and_the_cache_do_not_share_memory():
    ask = Asking(1)
    answers = [ask.cache(forms(1), lambda _: table_of(forms(1))) for _ in range(2)]
    ask(*forms(2))  # in place of the other one
    assert all(values_of(table, "name") == [expected(("", 1))] for table in answers)
    for _ in range(2):  # found, then remembered
        ask.cache(forms(3), lambda _: table_of(forms(3))).kb_rows[:] = 99
        assert ask(*forms(3)) == []


def test_a_fork_does_not_wait_for_a_thread_that_it_lacks():
    cache = FormCache(1.0)
    with cache._lock:  # as another thread may hold it
        process = multiprocessing.get_context("fork").Process(target=lambda: cache._lock.acquire())
        process.start()
        process.join(20)
        process.kill()
    assert process.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_nor_for_one_that_has_just_been_given_the_lock():
    """Python says that a lock is taken only when the thread that waited for it goes on."""
    cache, interval = FormCache(1.0), sys.getswitchinterval()
    cache._lock.acquire()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cache._lock.acquire)
        time.sleep(0.5)
        sys.setswitchinterval(60)  # it does not go on
        cache._lock.release()
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end:
            pass
        child = in_child(lambda: cache._lock.acquire(timeout=5))
        sys.setswitchinterval(interval)
        assert end_of(child) == 0 and waiting.result()
