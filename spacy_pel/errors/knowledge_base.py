"""Knowledge base: E100-E199."""


class KnowledgeBaseErrors:
    E100 = "Expected the id of one of {n:,} entities, got '{id}'. Check the spelling, and that this is the right KB."
    E101 = "The knowledge base already has '{id}'. Use update() to change an entity, and give each id once."
    E102 = "Expected entities to write to {path}, got none. Check the source and the filters."
    E104 = "Expected valid entities, but {entity} is invalid ({kind}). Fix the source, or omit --strict."
    E105 = "Expected text in all fields of an entity, got {entity}. Fix the source."
    E109 = "Expected the KB with the fingerprint {expected} at {path}, got {got}. Put it back, or load again."
    E110 = "Expected a row from 0 to {last}, got {row}. If the index belongs to another KB, rebuild it: spacy-pel index"
    E111 = "Expected a new folder or a knowledge base to replace at {path}, got {got}. Choose another folder."
    E112 = "Expected a successor for '{id}' that stays, but '{got}' is retired along with it. Name another entity."
    E113 = "Expected each id once in one call, got '{id}' twice. Merge the two entities."
    E114 = "Expected a live entity, but '{id}' is retired ({successor}). Bring it back with add() or add_entities()."
    E115 = "Expected a list of {wanted}, got {got}. Write [{got}]."
    E116 = "Expected {wanted}, got {got}."
    E117 = "Expected an entity with a name and an id other than 'NIL', got {entity}. Change the id or the name."
    E118 = 'Expected a dictionary from ids to names such as {{"C0000001": "New name"}}, got {got}.'
    E119 = "Expected a name for '{id}', got an empty one. To stop linking an entity, retire it."
    E120 = "Expected at least one entity from {paths}, got none. Check the files, and the filters for types and ids."
    E121 = "{place}: {fault} ({kind}). Fix the file, or read without strict to repair and count it."
    E122 = "Expected semantic types of the UMLS such as T047, got {unknown}. Check the ids."
    E123 = "Expected {expected} at {place}, got '{id}', {fault}. Nothing was changed; fix the line."
    E124 = "Expected entities, or ids to retire, in {paths}, got none. Check the files and the filters."
    E125 = (
        "Expected a complete release with --retire-missing, but it lacks {n:,} of {total:,} entities, such as "
        "'{example}'. Nothing was changed. Check the file and the filters, or list the ids to retire in a file of "
        "changes."
    )
    E126 = "Expected the id of an edited entity, got '{id}'. List the edits with: spacy-pel kb edits KB"
    E127 = "Expected an id, or a name or code that one entity has, got '{text}'{hint}. Check the spelling, and the KB."
    E128 = "Expected vocabularies in which the KB has codes, got {got}{hint}. It has (entities): {known}."
    E140 = "Expected synonym scopes among {known}, got {got}. Fix the setting 'scopes'."
    E141 = "Expected an 'id', and else {known} or null, as columns of {path}, got {got}. Fix the setting 'columns'."
    E142 = "Invalid {config}, {where}: {fault}. Fix this setting."
    E143 = "Expected entities from {sources} of the {config}, got none. Check 'id_pattern', 'id_xref' and the files."
    E144 = "No entity from {paths} passes the filters. Nothing matches the {filters}. Change the filter."
    E145 = (
        "Expected the id of an entity to keep, with all below it, got '{id}'{hint}. Check the id and the other filters."
    )
    E146 = (
        "Expected entities with parents (is-a) to keep what is below {ids}, got none with any. Read an ontology, "
        "or JSON lines or a table with parents."
    )


class KnowledgeBaseWarnings:
    W100 = "Entities were repaired while the knowledge base was built: {counts}."
    W103 = (
        "The KB lacks the ids of {n_outside} of {n} annotated mentions, e.g. '{example}' (it has ids such as '{own}'): "
        "they count as NIL, or are left out of training. Use the KB of the annotation.{hint}"
    )
    W106 = "Left out, without a name or an id, or with the id 'NIL': {n:,}, such as {places}. Complete or remove them."
    W104 = (
        "Bytes at {place} are not valid UTF-8 and became '\ufffd', as in '{got}'. Convert the file, e.g. with: iconv "
        "-f WINDOWS-1252 -t UTF-8 FILE > FILE_UTF8"
    )
    W107 = "{place}: {kind} that are not read: {names}. Known {kind}: {known}. Rename those that are needed{todo}."
    W108 = (
        "Lines that repeat an earlier id with another name: {n:,}, such as {cases}. Lines with one id are one entity, and "
        "these names are its aliases. Give different entities different ids."
    )
    W101 = (
        "{place}: the column '{column}' has no '|', so its cells were split at {separator}, as in {cell}. If that is "
        "part of a name, set list_separator to '|'."
    )
    W105 = (
        "{place}: the column '{column}' has no '|', so each cell is read as one name, commas included, as in {cell}. "
        "If commas separate names, write '|' instead, or set list_separator to ','."
    )
    W144 = "Nothing matches the {filters}. Check the filter."
    W145 = (
        "{paths}: no concept file of SNOMED CT, so inactive concepts are read like active ones: most of their "
        "descriptions stay active. Pass the file sct2_Concept_… as well, or the folder Snapshot."
    )
