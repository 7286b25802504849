"""corpus folds on the tiny corpus."""

from spacy_pel.corpora import read_corpus

from .conftest import done, refused


def test_each_document_is_in_one_fold_and_in_the_rest_of_all_others(folder, tmp_path):
    output = done("corpus", "folds", folder / "dev.jsonl", tmp_path / "folds", "--n", 4, "--json")
    whole = list(read_corpus(folder / "dev.jsonl"))
    seen = []
    for number, size in enumerate(output.json["documents"]):
        held = list(read_corpus(tmp_path / "folds" / f"fold_{number}.jsonl"))
        rest = list(read_corpus(tmp_path / "folds" / f"without_{number}.jsonl"))
        assert len(held) == size and rest == [one for one in whole if one not in held]
        seen += held
    assert sorted(one.id for one in seen) == sorted(one.id for one in whole)
    assert len(list((tmp_path / "folds").iterdir())) == 8


def test_more_folds_than_documents(folder, tmp_path):
    refused("E218", "corpus", "folds", folder / "dev.jsonl", tmp_path / "folds", "--n", 1000)
    assert not (tmp_path / "folds").exists()
