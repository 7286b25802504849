"""Corpora: E200-E299."""


class CorpusErrors:
    E201 = (
        "[PEL-E201] {where}: expected the mention {expected!r} at characters {spans}, got {got!r}. Fix the "
        "offsets, or convert the source without --strict."
    )
    E202 = (
        '[PEL-E202] {where}: expected a document {{"id", "text", "mentions": [{{"start", "end", "label", '
        '"ids": []}}]}}, got {got}. Create the file with `spacy-pel convert`.'
    )
    E203 = (
        '[PEL-E203] {where}: expected {{"pmid", "sentences": [{{"tokens", "mentions": [{{"start", "end", '
        '"cui", "text"}}]}}]}}, got {got}. Is this the tokenised MedMentions?'
    )
    E204 = "[PEL-E204] Expected a share of development documents between 0 and 1, got {got}."
    E205 = (
        "[PEL-E205] {where}: expected a PubTator line of document {pmid} (PMID|t|title, PMID|a|abstract, "
        "then PMID, start, end, text, type, id with tabs), got {got!r}."
    )
    E206 = "[PEL-E206] Expected documents in {paths}, found none. Check the files and the reader."
    E207 = (
        "[PEL-E207] {where}: expected {expected}, got {got}. Check that '{reader}' is the right reader for these files."
    )
    E208 = "[PEL-E208] '{reader}' has no setting {got}{hint}. Its settings: {known}."
    E209 = "[PEL-E209] Expected {expected} as the setting {name} of '{reader}', got {got}. {todo}"
    E210 = "[PEL-E210] Expected both --dev-share and --dev-out or neither, got only {got}."
    E211 = "[PEL-E211] Expected a setting as NAME=VALUE, got {got!r}. Example: --set strip_prefix=MESH:"
    E219 = (
        "[PEL-E219] Expected annotated text in {path}, got the output of `link`, whose ids are answers of a pipeline. If "
        'you have corrected them (the key "ids" of each mention; an empty list = NIL), make a corpus of it with: '
        "spacy-pel convert GOLD.jsonl --reader jsonl {path}"
    )
    E218 = "[PEL-E218] Expected at least as many documents as folds ({n}), got {got}. Use fewer folds."
    E212 = (
        "[PEL-E212] Expected documents with the ids in {path}, but none of these {n} ids is in the corpus. "
        "Check that the list belongs to this corpus."
    )
    E213 = "[PEL-E213] Expected {expected}, got {got!r}. Check {option}, or install the package that has it."
    E230 = (
        "[PEL-E230] Expected a type of the KB, or the name or id of a UMLS semantic type, got {got!r}. Types "
        "of the KB: {known}."
    )
    E231 = (
        "[PEL-E231] Expected a KB with entities of the types {got}, found none. Types of the KB: {known}. "
        "Pass some of these to --types, or choose by --groups or --share."
    )
    E232 = (
        "[PEL-E232] Expected ids that start with {got!r}, but the KB has none. Its ids start with: {known}. "
        "Fix --groups."
    )
    E233 = (
        "[PEL-E233] Expected a share of the {total} entities in the corpora that removes some and keeps "
        "some, but {share} removes {n}. Change --share."
    )
    E234 = (
        "[PEL-E234] Expected mentions that become NIL, but none refers to one of the {n} entities chosen "
        "by {by}. Choose other entities."
    )
    E235 = (
        "[PEL-E235] Expected a new folder, or one that `spacy-pel research okb` wrote, at {path}, got {got}. Choose "
        "another folder."
    )
    E236 = "[PEL-E236] Expected one of --types, --groups and --share, got several. Pass only one of them."
    E237 = (
        "[PEL-E237] Expected splits as NAME=FILE with different names of letters and digits, got {got!r}. "
        "Example: --corpus train=corpus/train.jsonl"
    )
    E238 = (
        '[PEL-E238] Expected the meta "original" of a document as preprocessing writes it, {{"id", '
        '"offsets", "text_hash"}}, got {got}. Preprocess the corpus again, or rename that key of the source.'
    )
    E239 = (
        "[PEL-E239] Expected a span within a text of {length} characters, got characters {start} to "
        "{end}. Use the corpus that the offsets belong to."
    )
    E240 = (
        "[PEL-E240] Expected the document '{document}' in {path}, but it has no document with this id. "
        "Pass the corpus that {what}."
    )
    E241 = (
        "[PEL-E241] Expected {path} to hold the original of the document '{document}', but characters "
        "{start} to {end} are outside its text. Pass the corpus as it was before preprocessing."
    )
    E242 = (
        "[PEL-E242] Expected a setting of one of the preprocessors {known}, got '{got}'{hint}. Name the "
        "preprocessor with --preprocess."
    )
    E243 = "[PEL-E243] Expected each preprocessing step once, got {got}. Name each step once, in the order of use."
    E244 = (
        "[PEL-E244] Expected at least two worlds with different names, each as NAME=KB,CORPUS, got {got!r}. Example: "
        "--world CL=corpus/worlds/CL/kb,corpus/worlds/CL/dev.jsonl"
    )
    E245 = (
        "[PEL-E245] Expected tasks of at least two worlds, each as WORLD=PIPELINE,CORPUS, got {got!r}. Example: "
        "--task CL=training/worlds/CL/pipeline,corpus/worlds/CL/train.jsonl"
    )
    E248 = (
        "[PEL-E248] Expected the original text of the document '{document}', but {path} has a different "
        "one of {length} characters. Pass the corpus as it was before preprocessing."
    )
    E249 = (
        "[PEL-E249] Expected consecutive lines for the document '{document}', but one of them follows "
        "the lines of another document. Sort the lines by the id of their original, in the order in "
        "which preprocessing wrote them."
    )
    E250 = (
        "[PEL-E250] Expected the mentions of {paths} at their offsets, but {n:,} of {total:,} ({share:.0%}) are not "
        "there. {examples}. Check the reader, its settings and the offsets of the source, or write the other mentions "
        "with --keep-going."
    )
    E251 = (
        "[PEL-E251] {path}: expected one base for the offsets of all mentions, but of {n:,} that match the text, "
        "{counts}; {example}. Convert all offsets to characters from the start of the document."
    )


class CorpusWarnings:
    W250 = (
        "[PEL-W250] {n:,} of {total:,} mentions ({share:.0%}) are left out: the text at their offsets differs. "
        "{examples}."
    )
    W251 = (
        "[PEL-W251] {path}: the offsets of mentions are read as {base}: that way {n:,} of {total:,} match the text, "
        "but only {standard:,} do as characters from the start of the document."
    )
    W203 = (
        "[PEL-W203] {path}: `link` wrote it, and none of its {n:,} mentions has been corrected. The ids, which are answers "
        "of a pipeline, count as annotation."
    )
    W202 = (
        "[PEL-W202] {path}: the ids of {n:,} mentions are not the kb_id that `link` gave them. The ids count, as "
        "corrections; kb_id is not read."
    )
    W201 = (
        "[PEL-W201] {path}: of {mentions} mentions, {misaligned} do not match token boundaries and "
        "{overlapping} overlap a longer one; doc.ents leaves them out."
    )
