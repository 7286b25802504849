"""Knowledge base: E100-E199."""


class KnowledgeBaseErrors:
    E100 = (
        "[PEL-E100] Expected the id of an entity of this knowledge base of {n} entities, but came '{id}'. "
        "Check the spelling and which knowledge base this is."
    )
    E101 = (
        "[PEL-E101] Expected ids that the knowledge base lacks, but it has '{id}' already. "
        "Use update() to change an entity, and give each id once."
    )
    E102 = "[PEL-E102] Expected entities to write to {path}, but none came. Check the source and the filters."
    E103 = (
        "[PEL-E103] Expected a knowledge base folder at {path}, but {came}. "
        "Build one with: spacy-pel kb build OUT --reader NAME FILE"
    )
    E104 = (
        "[PEL-E104] Expected entities without faults, but {entity} has one ({kind}). "
        "Mend the source, or build without --strict: it is repaired and counted then."
    )
    E105 = "[PEL-E105] Expected text in all fields of an entity, but came {entity}. Mend the source."
    E106 = (
        "[PEL-E106] Expected a knowledge base of format {expected} at {path}, but it has format {came}. "
        "Build it anew from its source with this version of spacy_pel."
    )
    E107 = (
        "[PEL-E107] Expected at most 2 GiB to turn into bytes, but this knowledge base has {n_bytes} bytes. "
        "Save it with to_disk() instead."
    )
    E108 = (
        "[PEL-E108] Expected the bytes of a knowledge base, but {came}. Use what to_bytes() gave, unchanged."
    )
    E109 = (
        "[PEL-E109] Expected the knowledge base {expected} at {path}, but there is {came} now. "
        "Put it back, or open the folder anew."
    )
    E110 = (
        "[PEL-E110] Expected a row of this knowledge base from 0 to {last}, but came {row}. "
        "Is the index of another knowledge base in use? Rebuild it with: spacy-pel index KB MODEL OUT"
    )
    E111 = (
        "[PEL-E111] Expected a new folder or a knowledge base to replace at {path}, but {came}. "
        "Choose another folder."
    )
    E112 = (
        "[PEL-E112] Expected a live successor for '{id}', but '{came}' is retired along with it. "
        "Name the entity that stays."
    )
    E120 = (
        "[PEL-E120] Expected at least one entity from {paths}, but none came through. "
        "Check the files, and the filters for types, id prefix, sources and languages."
    )
    E121 = "[PEL-E121] {place}: {came} ({kind}). Mend the file, or read without strict: it is repaired then."
    E122 = (
        "[PEL-E122] Expected semantic types of the UMLS such as T047, but came {unknown}. "
        "Check the ids against the UMLS Semantic Network."
    )
    E140 = "[PEL-E140] Expected synonym scopes among {known}, but came {came}. Mend the setting 'scopes'."
    E141 = (
        "[PEL-E141] Expected for each column one of {known} or null, with an 'id' among them, but came {came}. "
        "Mend the setting 'columns'."
    )
    E142 = "[PEL-E142] The merge config cannot be used: {where}: {came}. Mend the named setting."
    E143 = (
        "[PEL-E143] Expected at least one entity from the sources {sources}, but none is left. "
        "Check 'id_pattern', 'id_xref' and the files."
    )


class KnowledgeBaseWarnings:
    W100 = "[PEL-W100] Entities were repaired on their way into the knowledge base: {counts}."
