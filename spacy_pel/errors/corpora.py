"""Corpora: E200-E299."""


class CorpusErrors:
    E201 = (
        "[PEL-E201] {where}: expected the mention {expected!r} at characters {spans}, but the text there "
        "is {came!r}. Mend the offsets, or convert the source without --strict."
    )
    E202 = (
        '[PEL-E202] {where}: expected a document {{"id", "text", "mentions": [{{"start", "end", "label", '
        '"ids": []}}]}}, but came {came}. Make the file with the command `spacy-pel convert`.'
    )
    E203 = (
        '[PEL-E203] {where}: expected {{"pmid", "sentences": [{{"tokens", "mentions": [{{"start", "end", '
        '"cui", "text"}}]}}]}}, but came {came}. Is this the tokenised MedMentions?'
    )
    E204 = "[PEL-E204] The share of development documents must lie between 0 and 1, but came {came}."
    E205 = (
        "[PEL-E205] {where}: expected a PubTator line of document {pmid} (PMID|t|title, PMID|a|abstract, "
        "then PMID, start, end, text, type, id with tabs), but came {came!r}."
    )
    E206 = "[PEL-E206] Expected documents in {paths}, but there are none. Check the files and the reader."
    E207 = (
        "[PEL-E207] {where}: expected {expected}, but came {came}. Check that the files belong to the reader "
        "'{reader}'."
    )
    E208 = "[PEL-E208] '{reader}' has no setting {came}. Its settings: {known}."
    E209 = (
        "[PEL-E209] Expected other values for settings of '{reader}', but came {came}. "
        "Lists are written as JSON: --set 'ontologies=[\"CL\"]'."
    )
    E210 = "[PEL-E210] Expected both --dev-share and --dev-out, or none of them, but came {came} alone."
    E211 = "[PEL-E211] Expected a setting as NAME=VALUE, but came {came!r}. Example: --set strip_prefix=MESH:"
    E212 = (
        "[PEL-E212] Expected documents with the ids in {path}, but none of these {n} ids is in the corpus. "
        "Check that list and corpus belong together."
    )
    E213 = (
        "[PEL-E213] Expected a language code or a spaCy pipeline, but {came!r} is neither. "
        "Check --nlp, or install the pipeline."
    )
    E230 = (
        "[PEL-E230] Expected a type of the KB, or the name or id of a UMLS semantic type, but came {came!r}. "
        "Types of the KB: {known}."
    )
    E231 = (
        "[PEL-E231] Expected a KB with entities of the types {came}, but none has them. Types of the KB: {known}. "
        "Name some of these with --types, or choose by --groups or --share."
    )
    E232 = (
        "[PEL-E232] Expected ids that start with {came!r}, but the KB has none. Its ids start with: {known}. "
        "Mend --groups."
    )
    E233 = (
        "[PEL-E233] Expected a share of the {total} entities in the corpora that removes some and leaves some, "
        "but {share} removes {n}. Mend --share."
    )
    E234 = (
        "[PEL-E234] Expected mentions that become NIL, but none names one of the {n} entities chosen by {by}. "
        "Choose others."
    )
    E235 = (
        "[PEL-E235] Expected a new folder, or one that the command okb wrote, at {path}, but {came}. "
        "Choose another folder."
    )
    E236 = "[PEL-E236] Expected one of --types, --groups and --share, but several came. Name one."
    E237 = (
        "[PEL-E237] Expected splits as NAME=FILE with different names of letters and digits, but came {came!r}. "
        "Example: --corpus train=corpus/train.jsonl"
    )
    E238 = (
        '[PEL-E238] Expected the meta "original" of a document as preprocessing writes it, {{"id", "offsets", '
        '"text_hash"}}, but came {came}. Preprocess the corpus anew, or rename that key of the source.'
    )
    E239 = (
        "[PEL-E239] Expected characters of a text of {length}, but came {start} to {end}. Use the corpus that the "
        "offsets belong to."
    )
    E240 = (
        "[PEL-E240] Expected the document '{document}' in {path}, but it has none of this id. Name the corpus "
        "that {what}."
    )
    E241 = (
        "[PEL-E241] Expected {path} to hold the original of the document '{document}', but characters {start} to "
        "{end} lie outside of its text. Name the corpus as it was before preprocessing."
    )
    E242 = (
        "[PEL-E242] Expected a setting of one of the preprocessors {known}, but came '{came}'. Name the part "
        "with --preprocess."
    )
    E243 = (
        "[PEL-E243] Expected the same step of preprocessing once, but came {came}. Name each part once; the order "
        "counts."
    )
    E248 = (
        "[PEL-E248] Expected the text of '{document}' that was preprocessed, but {path} has another one of "
        "{length} characters. Name the corpus as it was before preprocessing."
    )
    E249 = (
        "[PEL-E249] Expected all lines of the document '{document}' one after the other, but one came after those "
        "of another document. Sort the lines by the id of their original, as preprocessing wrote them."
    )


class CorpusWarnings:
    W201 = (
        "[PEL-W201] {path}: of {mentions} mentions, {misaligned} lie inside tokens and {overlapping} overlap "
        "a longer one; doc.ents leaves them out."
    )
