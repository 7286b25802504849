"""Corpora: E200-E299."""


class CorpusErrors:
    E201 = "{where}: expected {expected!r} at characters {spans}, got {got!r}. Fix the offsets, or omit --strict."
    E202 = (
        '{where}: expected a document {{"id", "text", "mentions": [{{"start", "end", "label", "ids": []}}]}}, got '
        "{got}. Create the file with `spacy-pel convert`."
    )
    E204 = "Expected a share of development documents between 0 and 1, got {got}."
    E205 = "{where}: expected a PubTator line of document {pmid}, with bars or with tabs, got {got!r}."
    E206 = "Expected documents in {paths}, got none. Check the files and the reader."
    E207 = "{where}: expected {expected}, got {got}. Check that '{reader}' is the right reader for these files."
    E208 = "'{reader}' has no setting {got}{hint}. Its settings: {known}."
    E209 = "Expected the setting {name} of '{reader}' to be {expected}, got {got}. Write lists and objects as JSON."
    E210 = "Expected both --dev-share and --dev-out or neither, got only {got}."
    E211 = "Expected a setting as NAME=VALUE, got {got!r}. Example: --set strip_prefix=MESH:"
    E214 = (
        "Expected ids or cross references of the KB, got none among {n:,} mentions, whose ids look like {example!r}. "
        "Pass a KB with xrefs, and name the vocabulary of ids without a prefix, e.g. --vocabulary MESH."
    )
    E215 = "Expected --ids-by KB with {got}, got none. Pass a KB with cross references, or omit {got}."
    E219 = (
        "{path} is an output of `link`, whose ids are answers, not annotation. If you have corrected them (the key "
        '"ids"; an empty list = NIL), make a corpus with: spacy-pel convert GOLD.jsonl --reader jsonl {path}'
    )
    E218 = "Expected at least as many documents as folds ({n}), got {got}. Use fewer folds."
    E212 = "None of the {n} ids in {path} is in the corpus. Check that the list belongs to this corpus."
    E213 = "Expected {expected}, got {got!r}. Check {option}, or install the package that has it."
    E238 = 'Expected meta "original" as preprocessing writes it, got {got}. Preprocess again, or rename the key.'
    E239 = "Expected a span within {length} characters, got {start} to {end}. Use the corpus of these offsets."
    E240 = "{path} has no document with the id '{document}'. Pass the corpus that {what}."
    E241 = "{path}: characters {start} to {end} are outside '{document}'. Pass the corpus before preprocessing."
    E242 = "Expected a setting of one of the steps {known}, got '{got}'{hint}. Name the step with --preprocess."
    E243 = "Expected each preprocessing step once, got {got}. Name each step once, in the order of use."
    E248 = "{path} has another text of '{document}' ({length} characters). Pass the corpus before preprocessing."
    E249 = "Expected the lines of '{document}' together, but others come between. Keep the order of preprocessing."
    E250 = (
        "{n:,} of {total:,} ({share:.0%}) mentions of {paths} are not at their offsets. {examples}. Check the reader, "
        "its settings and the source, or write the other mentions with --keep-going."
    )
    E251 = (
        "{path}: expected one base for all offsets, but of {n:,} that match the text, {counts}; {example}. Count all "
        "characters from the start of the document."
    )


class CorpusWarnings:
    W250 = "{n:,} of {total:,} mentions ({share:.0%}) are left out, as the text at their offsets differs. {examples}."
    W251 = (
        "{path}: offsets are read as {base}: this way {n:,} of {total:,} match the text, but only {standard:,} as "
        "characters from the start of the document."
    )
    W203 = "{path} is an output of `link` without a correction in {n:,} mentions: its ids count as annotation."
    W202 = "{path}: {n:,} mentions have other ids than the kb_id that `link` gave. The ids count, as corrections."
    W201 = "{path}: of {mentions} mentions, {misaligned} cut tokens and {overlapping} overlap; doc.ents lacks them."
