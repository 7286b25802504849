"""Links texts with a saved pipeline alone and in worker processes, in a process of its own."""

import sys

SCRIPT = """
import json
import multiprocessing
import sys

def links(doc):
    return [[e.kb_id_, [c[0] for c in e._.pel_candidates], round(e._.pel_nil_score, 4)] for e in doc.ents]

def main(path, texts, methods):
    import faiss
    import spacy
    import torch

    faiss.omp_set_num_threads(2)
    torch.set_num_threads(2)
    nlp = spacy.load(path)
    # the parent has used the threads of both libraries, as anyone who has linked something before
    torch.randn(2000, 2000) @ torch.randn(2000, 2000)
    flat = faiss.IndexFlatIP(64)
    flat.add(torch.randn(5000, 64).numpy())
    flat.search(torch.randn(500, 64).numpy(), 5)
    found = {"alone": [links(doc) for doc in nlp.pipe(texts)]}
    for method in methods:
        multiprocessing.set_start_method(method, force=True)
        found[method] = [links(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    print(json.dumps(found))

if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:])
"""
METHODS = ["spawn"] if sys.platform == "win32" else ["fork", "spawn"]
