"""Errors of all parts: E000-E099."""


class GeneralErrors:
    E001 = "No part named '{name}' in the registry '{registry}'{hint}. Known: {known}. Check the spelling; for a part of your own, add --code FILE."
    E002 = "Expected {expected} at {path}, got {got}. {todo}"
    E003 = "{feature} needs the package '{package}'. Install it with: pip install 'spacy-pel[{extra}]'"
    E004 = "Expected {expected} in the {kind} at {path}, got {got}. The files are damaged: copy or rebuild them."
    E005 = "Expected format version {expected} in the {kind} at {path}, got {got}. Rebuild it with this spacy-pel."
    E006 = "The {kind} holds {size} GiB, but bytes hold at most {limit}. Use to_disk(), which has no limit."
    E007 = "Expected a folder with a saved {kind} at {path}, got {got}. Check the path."
    E008 = "Expected the bytes of a saved {kind}, got {got}. Use what to_bytes() returned, unchanged."
    E009 = "The {kind} at {path} needs '{name}', which is not in the registry '{registry}'. Install its package."
    E010 = "Expected the {kind} {expected} at {path}, got {got}. Name another folder, or set that {kind} in the config."
    E011 = "Expected a folder with saved folders at {path}, got {got}. Check the path."
    E012 = "Expected data for the reader '{reader}' at {place}, got something else ({got}). Check reader and file."
    E013 = "Unexpected {got}. Last file read: {place}. If it is intact, run with --verbose and report the traceback."
    E014 = "Another process has been changing a folder in {path} for {seconds} seconds. Nothing was changed; try again."
    E015 = "Unexpected {got} at {place}. Correct this file; --verbose shows the traceback."
