#!/usr/bin/env python3
"""Check what is in the wheels: every file of the package and of the pipeline, licences, no path of this machine.

python3 .ci/check_wheels.py dist/*.whl
"""

import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
FOLDERS = {"spacy_pel": "spacy_pel", "en_pel_medmentions": "assets/pel_medmentions"}  # wheel -> what it holds
# "Ginger Rhizome/root Extract" is a drug, and no home directory
MACHINE = {
    path: re.compile(rb"(?<!\w)%b(?!\w)|%b/" % (re.escape(name), re.escape(name)))
    for path in (ROOT, Path.home())
    if len(path.parts) > 1 and (name := str(path).encode())
}


def complaints(wheel):
    """A line for each thing that is wrong with a wheel."""
    name, version = wheel.name.split("-")[:2]
    folder = FOLDERS[name]
    inside = "" if folder == name else f"{name}/{name}-{version}/"
    tracked = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = {inside + path.removeprefix(f"{folder}/" if inside else "") for path in tracked.stdout.splitlines()}
    with ZipFile(wheel) as archive:
        files = set(archive.namelist())
        yield from (f"{wheel.name} lacks {path}" for path in sorted(expected - files))
        if not inside:
            yield from (f"{wheel.name} has {path}" for path in sorted(files - expected) if ".dist-info/" not in path)
        if not any(path.endswith(".dist-info/licenses/LICENSE") for path in files):
            yield f"{wheel.name} lacks its licence"
        for path in sorted(files):
            content = archive.read(path)
            yield from (f"{wheel.name}: {path} names {one}" for one, name in MACHINE.items() if name.search(content))


if __name__ == "__main__":
    found = [line for wheel in sys.argv[1:] for line in complaints(Path(wheel))]
    sys.exit("\n".join(found) or 0)
