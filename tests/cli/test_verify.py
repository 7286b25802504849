"""verify: a pipeline as it was saved, and with one changed byte in any of its files."""

from .conftest import done, refused, run


def test_a_saved_pipeline_is_as_saved(folder):
    result = done("verify", folder / "pipeline", "--json")
    kinds = {one["kind"] for one in result.json["folders"]}
    assert kinds >= {"entity linker", "knowledge base", "index"}
    listed = sum(one["files"] for one in result.json["folders"]) - (len(result.json["folders"]) - 1)
    manifests = len(result.json["folders"])
    files = [file for file in (folder / "pipeline").rglob("*") if file.is_file()]
    assert listed + manifests + result.json["files_without_manifest"] == len(files), "inner manifests count once"
    assert "as saved" in run("verify", folder / "pipeline").out


def test_every_changed_byte_is_found(pipeline):
    changed = 0
    for file in sorted((pipeline / "proxy_entity_linker").rglob("*")):
        if not file.is_file() or not (content := file.read_bytes()):
            continue
        other = bytearray(content)
        other[len(other) // 3] ^= 4
        file.write_bytes(other)
        result = run("verify", pipeline)
        assert result.code == 2 and result.err.count("\n") == 1, file
        assert file.name in result.err or file.name == "manifest.json", result.err
        file.write_bytes(content)
        changed += 1
    assert changed > 10 and run("verify", pipeline).code == 0


def test_nothing_to_verify(tmp_path):
    refused("E007", "verify", tmp_path)
