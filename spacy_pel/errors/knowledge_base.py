"""Knowledge base: E100-E199."""


class KnowledgeBaseErrors:
    E100 = (
        "[PEL-E100] Expected the id of an entity of this knowledge base ({n} entities), got '{id}'. Check "
        "the spelling, and that this is the right knowledge base."
    )
    E101 = (
        "[PEL-E101] Expected ids that are new to the knowledge base, but it already has '{id}'. Use update() "
        "to change an entity, and give each id once."
    )
    E102 = "[PEL-E102] Expected entities to write to {path}, got none. Check the source and the filters."
    E104 = (
        "[PEL-E104] Expected valid entities, but {entity} is invalid ({kind}). Fix the source, or build "
        "without --strict to repair and count it."
    )
    E105 = "[PEL-E105] Expected text in all fields of an entity, got {entity}. Fix the source."
    E109 = (
        "[PEL-E109] Expected the knowledge base with the fingerprint {expected} at {path}, got {got}. Put it "
        "back, or load the folder again."
    )
    E110 = (
        "[PEL-E110] Expected a row of this knowledge base from 0 to {last}, got {row}. The index may "
        "belong to another knowledge base. Rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E111 = (
        "[PEL-E111] Expected a new folder or a knowledge base to replace at {path}, got {got}. Choose another folder."
    )
    E112 = (
        "[PEL-E112] Expected a successor for '{id}' that stays in the knowledge base, but '{got}' is retired "
        "along with it. Name another entity."
    )
    E113 = "[PEL-E113] Expected each id once in one call, got '{id}' twice. Merge the two entities."
    E114 = (
        "[PEL-E114] Expected a live entity, but '{id}' is retired ({successor}). add() and the component's "
        "add_entities() bring it back."
    )
    E115 = "[PEL-E115] Expected a list of {wanted}, got {got}. Write [{got}]."
    E116 = "[PEL-E116] Expected {wanted}, got {got}."
    E117 = (
        "[PEL-E117] Expected an entity with an id other than 'NIL' and a name, got {entity}. 'NIL' stands for "
        "mentions without an entity. Change the id or the name."
    )
    E118 = '[PEL-E118] Expected a dictionary from ids to names such as {{"C0000001": "New name"}}, got {got}.'
    E119 = "[PEL-E119] Expected a name for '{id}', got an empty one. To stop linking an entity, retire it."
    E120 = (
        "[PEL-E120] Expected at least one entity from {paths}, got none. Check the files, and the filters "
        "for types, id prefix, sources and languages."
    )
    E121 = "[PEL-E121] {place}: {fault} ({kind}). Fix the file, or read without strict to repair and count it."
    E122 = (
        "[PEL-E122] Expected semantic types of the UMLS such as T047, got {unknown}. Check the ids against "
        "the UMLS Semantic Network."
    )
    E123 = "[PEL-E123] Expected {expected} at {place}, got '{id}', {fault}. Nothing was changed; fix the line."
    E124 = (
        "[PEL-E124] Expected entities, or ids to retire, in {paths}, got none. Check the files, and the filters for "
        "types and id prefix."
    )
    E125 = (
        "[PEL-E125] Expected a whole release with --retire-missing, but {n:,} of {total:,} entities are not in it, "
        "such as '{example}'. Nothing was changed. Check the file and the filters. If so many are gone, list their "
        "ids in a file of changes, or build the knowledge base again."
    )
    E126 = "[PEL-E126] Expected the id of an edited entity, got '{id}'. List the edits with: spacy-pel kb edits"
    E140 = "[PEL-E140] Expected synonym scopes among {known}, got {got}. Fix the setting 'scopes'."
    E141 = (
        "[PEL-E141] Expected one of {known} or null for each column of {path}, with an 'id' among them, got {got}. "
        "Fix the setting 'columns'."
    )
    E142 = "[PEL-E142] Invalid {config}, {where}: {fault}. Fix this setting."
    E143 = (
        "[PEL-E143] Expected at least one entity from the sources {sources} of the {config}, got none. Check "
        "'id_pattern', 'id_xref' and the files."
    )
    E144 = (
        "[PEL-E144] Expected at least one entity that passes the filters from {paths}, got none. Nothing matches the "
        "{filters}. Change the filter."
    )


class KnowledgeBaseWarnings:
    W100 = "[PEL-W100] Entities were repaired while the knowledge base was built: {counts}."
    W103 = (
        "[PEL-W103] The knowledge base lacks the ids of {n_outside} of {n} annotated mentions, e.g. '{example}' (it "
        "has ids such as '{own}'): they count as NIL, or are left out of training. Use the knowledge base of the "
        "annotation.{hint}"
    )
    W106 = (
        "[PEL-W106] Entities without a name or an id, or with the id 'NIL', were left out ({n:,}): {places}. Complete "
        "them, or remove them from the file."
    )
    W104 = (
        "[PEL-W104] Expected UTF-8 at {place}, got bytes that are not valid UTF-8: they became '\ufffd', as in '{got}'. "
        "Convert the file, e.g. from Windows-1252 or Latin-1: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE_UTF8"
    )
    W107 = (
        "[PEL-W107] {place}: {kind} that are not read: {names}. Known {kind}: {known}. Rename those that are "
        "needed{todo}."
    )
    W108 = (
        "[PEL-W108] Lines with the id of an earlier line but another name ({n:,}): {cases}. Lines with one id are one "
        "entity, and these names are its aliases. Give different entities different ids."
    )
    W101 = (
        "[PEL-W101] {place}: the column '{column}' has no '|', so its cells were split at {separator}, as in {cell}. If "
        "that is part of a name, set list_separator to '|'."
    )
    W102 = (
        "[PEL-W102] {place}: the column '{column}' is split at '|', and ';' is kept as part of a name, as in {cell}. "
        "If ';' separates names there, use one separator in the whole column."
    )
    W105 = (
        "[PEL-W105] {place}: the column '{column}' has no '|', so each cell is read as one name, commas included, as in "
        "{cell}. If commas separate names, write '|' there, or set list_separator to ',' (it holds for aliases and types)."
    )
    W144 = "[PEL-W144] Nothing matches the {filters}. Check the filter."
    W145 = (
        "[PEL-W145] {paths}: no concept file of SNOMED CT, so inactive concepts are read like active ones: most of their "
        "descriptions stay active. Pass the file sct2_Concept_… as well, or the folder Snapshot."
    )
