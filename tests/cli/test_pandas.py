"""What pandas writes is linked, and what `link` writes is read with pandas."""

import pytest

from .conftest import done

pytestmark = pytest.mark.slow

pd = pytest.importorskip("pandas", reason="needs pandas")
TEXTS = pd.DataFrame(
    {
        "pmid": [101, 102, 103],
        "abstract": ["We studied aspirin in asthma.", "No entity, ein Wörtchen.", "A zebra fish had fever."],
        "journal": pd.Series(["BMJ", None, "NA"], dtype="string"),
        "date": pd.to_datetime(["2024-01-31", "2025-06-01", None]),
    }
)
LINKS = [
    ("101", 11, 18, "aspirin", "C0"),
    ("101", 22, 28, "asthma", "C6"),
    ("103", 2, 12, "zebra fish", "NIL"),
    ("103", 17, 22, "fever", "C5"),
]


def table(path):
    separator = "\t" if path.suffix == ".tsv" else ","
    return pd.read_csv(path, sep=separator, keep_default_na=False, dtype={"document": "string"})


def of_documents(frame):
    """A row for each mention."""
    rows = frame.explode("mentions").dropna(subset="mentions")
    mentions = pd.json_normalize(rows["mentions"].tolist()).rename(columns={"kb_id": "id"})
    return mentions.assign(document=rows["id"].astype("string").tolist())


READ = {
    "csv": table,
    "tsv": table,
    "jsonl": lambda path: of_documents(pd.read_json(path, lines=True)),
    "parquet": lambda path: of_documents(pd.read_parquet(path)),
}


@pytest.mark.parametrize(
    ("given", "kind"), [("parquet", "parquet"), ("csv", "csv"), ("parquet", "tsv"), ("jsonl", "jsonl")]
)
def test_tables(folder, tmp_path, given, kind):
    source, target = tmp_path / f"in.{given}", tmp_path / f"out.{kind}"
    if given == "csv":
        TEXTS.to_csv(source, index=False)
    elif given == "jsonl":
        TEXTS.to_json(source, orient="records", lines=True, force_ascii=False, date_format="iso")
    else:
        TEXTS.to_parquet(source)
    done("link", folder / "pipeline", source, target, "--text-column", "abstract", "--id-column", "pmid")
    links = READ[kind](target)
    columns = ["document", "start", "end", "text", "id"]
    assert list(links[columns].itertuples(index=False, name=None)) == LINKS


@pytest.mark.parametrize("dtype", ["str", "object", "string[python]", "string[pyarrow]", "category"])
def test_every_kind_of_strings(folder, tmp_path, dtype):
    TEXTS.assign(abstract=TEXTS["abstract"].astype(dtype))[["abstract"]].to_parquet(tmp_path / "in.parquet")
    done("link", folder / "pipeline", tmp_path / "in.parquet", tmp_path / "out.jsonl", "--text-column", "abstract")
    assert [row.text for row in READ["jsonl"](tmp_path / "out.jsonl").itertuples()] == [row[3] for row in LINKS]
