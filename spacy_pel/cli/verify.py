"""The command ``verify``: every file of a pipeline against its manifests."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import pel_cli
from ._output import JSON, emit, message


@pel_cli.command("verify")
def verify(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A pipeline, or the folder of a knowledge base, encoder, index, generator."
        ),
    ],
    as_json: bool = JSON,
) -> None:
    """Read every file and compare its size and SHA-256 hash with the manifest.

    Opening a folder checks the same, except that a large file is not read again while its time
    stamp stays. The files of spaCy's own components have no manifest.

    Example: spacy-pel verify assets/pel_medmentions
    """
    from ..util.saved_folder import is_hidden, verify_folders

    folders = verify_folders(path)
    covered = {Path(one["folder"]) for one in folders}
    files = (file for file in path.rglob("*") if file.is_file() and not is_hidden(file, path))
    others = [file for file in files if not covered.intersection(file.parents)]
    if others:
        message(f"{len(others)} files of spaCy's own have no manifest.")
    emit({"folders": folders, "files_without_manifest": len(others)}, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    return "\n".join(
        f"{one['folder']}: {one['kind']}, {one['files']} files, {one['bytes'] / 1e6:,.1f} MB, as saved"
        for one in result["folders"]
    )
