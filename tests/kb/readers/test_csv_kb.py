"""Tables as people and programs write them: headers, titles, comments, delimiters, encodings and ids."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.csv_kb import CsvKB
from spacy_pel.types import Entity

GOUT = Entity("M10", "Gout", ("podagra",))
ASTHMA = Entity("J45", "Asthma")
ROWS = ["M10,Gout,podagra", "J45,Asthma,"]


@pytest.fixture
def write(tmp_path):
    def write_table(content, name="kb.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_table


def read(path, **settings):
    reader = CsvKB(**settings)
    entities = list(reader([path]))
    return entities, reader.report


@pytest.mark.parametrize(
    "header",
    [
        "conceptId,preferredName,synonyms",
        "SNOMED_CID,PreferredTerm,synonyms",
        "ICD-10-CM Code,Display Name,alias",
        "umlsCui,Name:,SYNONYMS",
        '\ufeff"Code","Name","Synonyms"',
        "concept-id,preferred.name,synonyms",
        "DIAGNOSIS CODE,LONG DESCRIPTION,synonyms",
        "identifier,Title,synonyms",
    ],
)
def test_names_of_columns(write, header):
    assert read(write("\n".join([header, *ROWS])), strict=True) == ([GOUT, ASTHMA], {})


@pytest.mark.parametrize(
    "header, wanted",
    [
        ("id,concept_id,name", "Gout"),  # the field's own name comes first
        ("code,SNOMED code,name", "M10"),  # a name without a vocabulary is surer
        ("SNOMED code,ICD-10 code,name", None),  # either could be meant
        ("parent id,x,name", None),  # not the id of the row
    ],
)
def test_the_surest_name_of_a_column(write, header, wanted):
    path = write("\n".join([header, *ROWS]))
    if wanted is None:
        with pytest.raises(PelError, match=r"Expected a header with one column concept_id .*line 1"):
            read(path)
    else:
        assert read(path)[0][0].concept_id == wanted


@pytest.mark.parametrize(
    "header, settings, todo",
    [
        ("icd10,name,x", {}, """--set 'columns={"concept_id": "icd10"}'"""),
        ("code,Bezeichnung,x", {}, """--set 'columns={"canonical_name": "Bezeichnung"}'"""),
        ("code,name,kind", {"columns": {"types": "Kind of"}}, """--set 'columns={"types": "kind"}'"""),
        ("M10,Gout,x", {}, "Add a header line"),
    ],
)
def test_the_error_for_a_header_says_what_to_set(write, header, settings, todo):
    with pytest.raises(PelError) as error:
        read(write("\n".join([header, *ROWS])), **settings)
    assert todo in str(error.value) and repr(header.split(",")) in str(error.value)


@pytest.mark.parametrize(
    "lines",
    [
        ["code,name,,", "M10,Gout,,", ",,,", "J45,Asthma,,", ""],
        ["code,,name", "M10,,Gout", "J45, ,Asthma"],
        ["code,name", "M10,Gout,,", "J45,Asthma, "],
    ],
)
def test_columns_without_names_and_text(write, lines):
    assert read(write("\n".join(lines)), strict=True) == ([Entity("M10", "Gout"), ASTHMA], {})


def test_text_below_no_name_is_named(write, caplog):
    path = write("code,name,,\nM10,Gout,,\nJ45,Asthma,,wheezing\nJ46,Status,x,wheezing\n")
    assert read(path)[1] == {"unknown_column": 2}
    assert "kb.csv, line 3: columns that are not read: 'column 4, without a name'" in caplog.text
    with pytest.raises(PelError, match="line 3.*column 4.*unknown_column"):
        read(path, strict=True)
    with pytest.raises(PelError, match=r"Expected 2 cells .*line 2, got 3"):
        read(write("code,name\nM10,Gout,lost\n"))
    # two columns that nothing is read from may have the same name
    assert read(write("code,name,notes,notes\nM10,Gout,a,b\n"))[0] == [Entity("M10", "Gout")]


@pytest.mark.parametrize(
    "head",
    ["Codes of the ward,,\nMay 2024,,\n,,\n", "# made by a script\n#\n", "# ", "sep=,\n", '"Codes, of the ward"\n'],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_titles_and_comments_above_the_header(write, head, end):
    lines = [head + "code,name,synonyms", *ROWS, ""]
    assert read(write("\n".join(lines).replace("\n", end)), strict=True) == ([GOUT, ASTHMA], {})


def test_comments_between_rows_are_counted(write):
    path = write("\n".join(["code,name,synonyms", ROWS[0], "# old: J44,COPD", "#J46,Status,", ROWS[1]]))
    assert read(path) == ([GOUT, ASTHMA], {"comment_line": 2})
    assert read(write('code,name\nM10,"Gout\n# 2"\n'))[0] == [Entity("M10", "Gout # 2")]


@pytest.mark.parametrize("name", ["kb.csv", "kb.tsv", "kb.txt"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(write, name, delimiter):
    lines = [delimiter.join(line.split(",")) for line in ["code,name,synonyms", *ROWS]]
    assert read(write("\n".join(lines), name), strict=True) == ([GOUT, ASTHMA], {})


def test_a_header_with_several_delimiters(write):
    path = write('code;name;"types, as in the form";synonyms\nM10;Gout, acute;;podagra\n')
    assert read(path)[0] == [Entity("M10", "Gout, acute", ("podagra",))]


@pytest.mark.parametrize("bom", [True, False])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_utf_16(write, bom, encoding, end):
    names = ["Sjögren", "Ωmega Ċ"]  # U+010A has the byte of a line end
    text = f"code,name{end}M10,{names[0]}{end}J45,{names[1]}{end}"
    entities, report = read(write(("\ufeff" * bom + text).encode(encoding)), strict=True)
    assert [one.canonical_name for one in entities] == names and report == {}


@pytest.mark.parametrize("encoding, name", [("latin-1", "Ménière"), ("cp1252", "Ménière’s")])
def test_other_encodings_get_the_right_advice(write, caplog, encoding, name):
    path = write(f"code,name\nH81,{name}\nH82,{name}".encode(encoding))
    entities, report = read(path)
    assert report == {"bad_encoding": 2} and entities[0].canonical_name == name
    assert caplog.text.count("PEL-W104") == 1 and "kb.csv, line 2" in caplog.text
    assert "iconv -f WINDOWS-1252 -t UTF-8" in caplog.text
    path.write_bytes(path.read_bytes().decode("windows-1252").encode())
    assert read(path, strict=True) == ([Entity("H81", name), Entity("H82", name)], {})
    mixed = write("code,name\n1,β-x ".encode() + b"caf\xe9 \x8e\n")
    assert read(mixed)[0][0].canonical_name == "β-x café \ufffd"  # which no code page is known for


@pytest.mark.parametrize(
    "name, repaired",
    [("Parkinson\x92s disease", "Parkinson’s disease"), ("a\x96b", "a–b"), ("a\x81b", "a b"), ("a\x85b", "a b")],
)
def test_no_name_has_control_characters(write, name, repaired):
    entities, report = read(write(f"code,name,synonyms\nG20,{name},{name} x\n"))
    assert entities == [Entity("G20", repaired, (f"{repaired} x",))]
    assert not any(0x7F <= ord(char) < 0xA0 for char in repaired)
    assert report == ({} if name == "a\x85b" else {"control_character": 2})  # a line end is white space


@pytest.mark.parametrize("first, second", [("A1", "A1 "), ("A1", '"A1\n"'), ('"A\t1"', "A 1"), ('"A\n1"', '"A\t1"')])
def test_ids_that_become_equal_are_said(write, caplog, first, second):
    path = write(f"code,name\nB2,Fever\n{first},Gout\nB3,Pain\n{second},Asthma\n")
    assert read(path)[1]["duplicate_id"] == 1
    assert "W108" in caplog.text and "is 'Gout' and 'Asthma'" in caplog.text


@pytest.mark.parametrize(
    "content, names, report",
    [
        ('code\tname\n1\t"alpha\n2\tgamma"\n3\tx\n', ['"alpha', 'gamma"', "x"], {"stray_quote": 1}),
        ('code\tname\n1\t5" nail\n2\t"\n', ['5" nail', '"'], {"stray_quote": 1}),
        ('code|name\n1|"alpha\n2|x\n', ['"alpha', "x"], {"stray_quote": 1}),
        ('Title\ncode|name\n1|"alpha\n2|x"\n', ['"alpha', 'x"'], {"stray_quote": 1}),
        ('code\tname\n1\t"a\tb"\n2\t"c\nd"\n', ["a b", "c d"], {}),
        ('concept_id\tconcept_name\tinvalid_reason\n1\t"a"\t\n2\tb\tD\n3\t5" c\t\n', ['"a"', '5" c'], {"invalid": 1}),
        ("code,name,obsolete\n1,a,false\n2,b,TRUE\n", ["a"], {"invalid": 1}),
        ("code,name,is_obsolete,active\n1,a,0,1\n2,b,1,1\n3,c,0,0\n4,d,,true\n", ["a", "d"], {"invalid": 2}),
        ("code,name,Status\n1,a,Approved\n2,b,Inactive\n3,c,retired \n", ["a"], {"invalid": 2}),
        ("code,name,isDeleted,SUPPRESS\n1,a,0,N\n2,b,1,N\n3,c,0,O\n", ["a"], {"invalid": 2}),
        ("code,name\n'01 ','Fever, high'\n'02','D'S'\n", ["Fever, high", "D'S"], {}),
        ("NOTE: x\n'ICD-9 CODE','CODE DESCRIPTION'\n'01 ',\"B, C\"\n'2','D'S'\n", ["B, C", "D'S"], {}),
        ("code,description\nE11,Type 2 diabetes\n", ["Type 2 diabetes"], {}),
        ("'ICD CODE','NAME'\n\"'01'\",\"Fever, high\"\n\"'02'\",D'S\n", ["Fever, high", "D'S"], {}),
        ("\"'code'\",\"'name'\"\n\"'01'\",\"'D'S'\"\n", ["D'S"], {}),
        ("code,name,type\n1,'Iron, low','x'\n2,'D\\'S, y',NULL\n3,'z',3\n", ["Iron, low", "D'S, y", "z"], {}),
        ("code,name\n1,5'-x\n2,'t y\n", ["5'-x", "'t y"], {}),
        ('"code,name"\n"1,Fever"\n"2,""Iron, low"""\n', ["Fever", "Iron, low"], {}),
        ('"code","name"\n"1","The \\"x\\", of y"\n"2","z\\"\n', ['The "x", of y', "z\\"], {}),
        ('"code", "name"\n"1", "Iron, low"\n', ["Iron, low"], {}),
        (" code | name\n------+------\n 1    | Fever\n", ["Fever"], {}),
        ("code^name\n1^Iron, low\n", ["Iron, low"], {}),
        ("A000    Cholera, mild\nV1090   Past x\n", ["Cholera, mild", "Past x"], {}),
        ("0010 Cholera d/t vib\n00845 Colitis\n", ["Cholera d/t vib", "Colitis"], {}),
        ("A00.0   Cholera\nA00.1   Colitis\n", ["Cholera", "Colitis"], {}),
        (f"00001 Z90     0 {'x':60} Loss\n00002 Z900    1 {'x':60} Lack\n\n", ["Loss", "Lack"], {}),
    ],
)
def test_tables_as_they_are_published(write, content, names, report):
    entities, counts = read(write(content, "kb.txt"))
    assert ([entity.canonical_name for entity in entities], counts) == (names, report)
    assert [entity.concept_id for entity in entities if entity.concept_id[0] in " '" or " " in entity.concept_id] == []


@pytest.mark.parametrize(
    "rows, warned",
    [
        (["Type 2 diabetes,E11", "Asthma,J45"], '"concept_id": "name", "canonical_name": "code"'),
        (["'00123,a", "1.0,b", "1E+05,c", "38341003.0,d"], "changed: 4, such as"),
        (["4-Sep,a", "Sep-04,b", "2023-09-04,c", '="00123",d', "1.0E-5,e", "#N/A,f", "250.1,g"], "changed: 6, such as"),
        (['"3,8E+08",a', '"1,234",b', "1/2/2020,c", "900000000000508000,d", "########,e"], "changed: 5, such as"),
        (["250.0,Diabetes", "250.1,a", "1E50,Hepatitis A"], ""),  # ICD-9 and ICD-11
        (["HGNC:5,A1BG", "HGNC:6,A1S9T"], ""),
    ],
)
def test_doubtful_codes(write, caplog, rows, warned):
    read(write("\n".join(["code,name", *rows])))
    assert warned in caplog.text and bool(warned) == any(one.levelname == "WARNING" for one in caplog.records)


@pytest.mark.parametrize(
    "content", ['[{"id": "1"}]', "format-version: 1.2\n", '<?xml version="1.0"?>', "@prefix a: <b> ."]
)
def test_what_is_no_table_is_named(write, content):
    with pytest.raises(PelError, match=r"E002.*It looks like JSON, OBO.*--reader"):
        read(write(content))


def test_a_map_of_codes_is_no_list_of_names(write):
    with pytest.raises(PelError, match="E002.*header"):
        read(write("A000    0010    00000\nA001    0011    00000\n", "gem.txt"))


@pytest.mark.parametrize(
    "content, line",
    [
        ('code,name\n1,"alpha\n2,gamma"\n3,x\n', 2),
        ('code;name;type\n0;x;T\n1;"alpha;T\n2;beta;T\n3;gamma";T\n', 3),
        ('concept_id,concept_name,invalid_reason\n1,"alpha,\n2,gamma",\n', 2),
    ],
)
def test_rows_in_a_cell_are_refused(write, content, line):
    with pytest.raises(PelError, match=f"E002.*line {line}, got a cell with rows in it: .*gamma"):
        read(write(content))


def test_aliases_as_json_and_python_write_lists(write):
    cells = ['"[""x"", ""y, z""]"', '"[\'x\', ""D\'s""]"', "[X]", "[1]", "[]"]
    rows = [f"{number},a,{cell}" for number, cell in enumerate(cells)]
    entities, _ = read(write("\n".join(["code,name,synonyms", *rows])))
    assert [one.aliases for one in entities] == [("x", "y, z"), ("x", "D's"), ("[X]",), ("[1]",), ()]


def test_a_definition_of_two_lines_is_no_row(write):
    entities, _ = read(write('code,name,definition\n1,alpha,"An acid.\nClear, bitter, and blue."\n'))
    assert entities[0].definition == "An acid. Clear, bitter, and blue."
