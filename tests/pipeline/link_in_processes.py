"""Links texts with saved pipelines in every kind of worker process, after the parent has linked:

    python tests/pipeline/link_in_processes.py SECONDS METHOD PIPELINE...

SECONDS is the limit for all of it. METHOD is "fork" or "spawn". It prints a line for each
pipeline and kind of worker: "same" or "differs".
"""

import faulthandler
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ONE = ["Aspirin."]  # one mention: FAISS starts no threads of OpenMP
MANY = [
    "Aspirin after a heart attack relieves headache.",
    "Aspirin for a cold, and zzyzx for Huntington disease.",
    "HD. " * 40,
]
_pipelines = {}


def links(doc):
    """What is found. Of candidates with equal scores, the order may differ; there are many."""
    return [
        [ent.kb_id_, ent._.pel_candidates[0][0], [round(float(one[1]), 3) for one in ent._.pel_candidates]]
        for ent in doc.ents
    ]


def link(path, text):
    return links(_pipelines[path](text))


def take(pipelines):
    _pipelines.update(pipelines)


def use_threads():
    """Of both OpenMP libraries, as anyone who has linked something larger."""
    import faiss
    import torch

    torch.randn(600, 600) @ torch.randn(600, 600)
    flat = faiss.IndexFlatIP(64)
    flat.add(torch.randn(5000, 64).numpy())
    flat.search(torch.randn(500, 64).numpy(), 5)


def in_pools(method):
    """Ways to link all texts with a pipeline of a path."""
    context = multiprocessing.get_context(method)
    arguments = (_pipelines,) if method == "spawn" else ({},)  # forked workers have them
    with ProcessPoolExecutor(2, mp_context=context, initializer=take, initargs=arguments) as futures:
        yield "ProcessPoolExecutor", lambda path: list(futures.map(link, [path] * len(MANY), MANY))
    if method == "fork":
        with context.Pool(2) as pool:
            yield "Pool", lambda path: pool.starmap(link, [(path, text) for text in MANY])


def in_pipe(method):
    """One way."""

    def run(path):
        multiprocessing.set_start_method(method, force=True)
        return [links(doc) for doc in _pipelines[path].pipe(MANY, n_process=2, batch_size=2)]

    yield "nlp.pipe", run


def main(seconds, method, *paths):
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    import spacy

    expected = {}
    for path in paths:
        nlp = _pipelines[path] = spacy.load(path)
        expected[path] = [links(nlp(text)) for text in [*MANY, *ONE]][: len(MANY)]
        assert any(map(any, expected[path]))
    use_threads()
    for path in paths:  # the last call before the fork
        link(path, ONE[0])
    for way in (in_pipe(method), in_pools(method)):
        for name, run in way:
            # a spawned worker takes seconds to start; nlp.pipe starts two for each call
            for path in paths[:1] if (name, method) == ("nlp.pipe", "spawn") else paths:
                said = "same" if run(path) == expected[path] else "differs"
                sys.stdout.write(f"{Path(path).name:22}{name:25}{said}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
