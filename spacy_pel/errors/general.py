"""What concerns all parts: E000-E099."""


class GeneralErrors:
    E001 = (
        "[PEL-E001] No part named '{name}' in the registry '{registry}'. Known: {known}. "
        "Check the spelling, or register the part with an entry point."
    )
    E002 = "[PEL-E002] Expected {expected} at {path}, but {came}. {todo}"
    E003 = (
        "[PEL-E003] '{feature}' needs the package '{package}', which is not installed. "
        "Install it with: pip install 'spacy-pel[{extra}]'"
    )
