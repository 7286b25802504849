"""Errors of all parts: E000-E099."""


class GeneralErrors:
    E001 = (
        "[PEL-E001] No part named '{name}' in the registry '{registry}'.{hint} Known: {known}. "
        "Check the spelling, or register the part with an entry point."
    )
    E002 = "[PEL-E002] Expected {expected} at {path}, got {got}. {todo}"
    E003 = (
        "[PEL-E003] {feature} needs the package '{package}', which is not installed. "
        "Install it with: pip install 'spacy-pel[{extra}]'"
    )
    E004 = (
        "[PEL-E004] Expected {expected} in the {kind} at {path}, got {got}. "
        "The files are incomplete or damaged: copy them again, or rebuild them."
    )
    E005 = (
        "[PEL-E005] Expected format version {expected} in the {kind} at {path}, got {got}. "
        "Rebuild it with this version of spacy-pel."
    )
    E006 = (
        "[PEL-E006] The {kind} holds {size} GiB, but bytes can hold at most {limit} GiB. "
        "Save it with to_disk(): files have no limit and are memory-mapped."
    )
    E007 = "[PEL-E007] Expected a folder with a saved {kind} at {path}, got {got}. Check the path."
    E008 = "[PEL-E008] Expected the bytes of a saved {kind}, got {got}. Use what to_bytes() returned, unchanged."
    E009 = (
        "[PEL-E009] The {kind} at {path} needs the part '{name}', which is not in the registry '{registry}'. "
        "Install the package that registers it."
    )
    E010 = (
        "[PEL-E010] Expected the {kind} {expected} at {path}, got {got}. Name another folder, or set that {kind} "
        "in the config."
    )
    E011 = "[PEL-E011] Expected a folder with saved folders at {path}, got {got}. Check the path."
    E012 = (
        "[PEL-E012] Expected data that '{reader}' can read at {place}, got something else ({got}). Check that this "
        "is the right reader, and fix the file."
    )
    E013 = (
        "[PEL-E013] Unexpected {got}. Last file read: {place}. Check it; if it is as it should be, run the "
        "command with --verbose and report the traceback."
    )
    E014 = (
        "[PEL-E014] Another process has been changing a folder in {path} for more than {seconds} seconds. Nothing was "
        "changed; end that process, or try again."
    )
