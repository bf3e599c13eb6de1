"""JSON, JSON Lines, lines of members, documents, and options for them."""

from support.hostile import Group

CELLS = 'title;authors\np;"a; b"\nq;"b; c"\n'
LONG = "vertex,edge,weight\na,e,1\nb,e,4\nb,f,9\n"
DOCUMENTS = "id,note\n1,red tea\n2,red wine\n3,green tea\n"

LISTS = Group(
    "t.json",
    [
        ('[["a", "b"], ["b"]]', "= a,0,1.0 b,0,1.0 b,1,1.0"),
        ('{"e": {"a": 2, "b": 1}}', "= a,e,2.0 b,e,1.0"),
        ('{"e": ["a"], "e": ["b"]}', "the key 'e' is repeated within an object"),
        ('{"e": {"a": 1e999}}', "t.json"),
        ('{"e": {"a": NaN}}', "NaN is not JSON"),
        ('{"e": ["\\ud800"]}', "half a character"),
        ('[["a", "b"], 5]', "hyperedge 1: its members are 5"),
        ('[["a", ["b"]]]', "hyperedge 0: the member ['b'] is"),
        ('[["a"], {"b": 1}]', "= a,0,1.0 b,1,1.0"),
        ('[{"vertex": "a", "edge": "e"}]', "= a,e,1.0"),
        ('[{"vertex": "a", "edge": "e"}, 5]', "record 1: expected an object"),
        ('[["a"]]', "--split a=;", "the format json has no option 'split'"),
        ('[["a"]]', "--sheet x", "the format json has no option 'sheet'"),
        ('[["a"]]', "--text a", "record 0: expected an object"),
        ('[["a"]]', "--from records", "record 0: expected an object"),
    ],
)

RECORDS = Group(
    "t.jsonl",
    [
        ('{"paper": "p", "authors": ["a", "b"]}\n', "--edge paper", "= a,p,1.0 b,p,1.0"),
        ('{"paper": "p", "authors": ["a", null]}\n', "line 1: column 'authors': the value is missing"),
        ('{"paper": "p", "authors": []}\n', "line 1: column 'authors': the list is empty"),
        ('{"paper": "p", "authors": [["a"]]}\n', "line 1: column 'authors': an id must be"),
        ('{"paper": "p", "authors": ["a"]}\n{"paper": "q", "authors": "b"}\n', "line 2: column 'authors'"),
        ('{"vertex": "a"\n', "line 1: column 15: this is not one JSON value"),
        ("\n\n", "no column is left to use"),
        ("5\n", "line 1: expected an object"),
    ],
)

SPLIT = Group(
    "t.csv",
    [
        (CELLS, "--edge title --split authors=;", "= a,p,1.0 b,p,1.0 b,q,1.0 c,q,1.0"),
        (CELLS, "--split authors=;", "= a,0,1.0 b,0,1.0 b,1,1.0 c,1,1.0"),
        (CELLS, "--split authors", "--split is COLUMN=SIGN"),
        (CELLS, "--split =;", "--split is COLUMN=SIGN"),
        (CELLS, "--split authors=", "--split is COLUMN=SIGN"),
        (CELLS, "--split author=;", "did you mean 'authors'?"),
        (CELLS, "-o split=;", "there is no -o split on the command line; use --split"),
        (CELLS + "r;\n", "--split authors=;", "line 4: column 'authors': the list is empty"),
        (CELLS + "r;;;\n", "--split authors=;", "line 4: 4 fields, but the header has 2"),
        (CELLS + 'r;"d; d"\n', "--edge title --split authors=;", "appears more than once"),
    ],
)

OPTIONS = Group(
    "t.csv",
    [
        (LONG, "--weight-transform sqrt", "= a,e,1.0 b,e,2.0 b,f,3.0"),
        (LONG, "--weight-transform clip:50%", "= a,e,1.0 b,e,4.0 b,f,4.0"),
        (LONG, "--weight-transform clip:2", "= a,e,1.0 b,e,2.0 b,f,2.0"),
        (LONG, "--weight-transform clip:0", "--weight-transform must be log1p, sqrt"),
        (LONG, "--weight-transform clip:101%", "--weight-transform must be log1p, sqrt"),
        (LONG, "--weight-transform clip:nan", "--weight-transform must be log1p, sqrt"),
        (LONG, "--weight-transform log", "--weight-transform must be log1p, sqrt"),
        (LONG, "--encoding klingon", "--encoding must name an encoding of text"),
        (LONG, "--missing maybe", "--missing must be 'error' or 'drop'"),
        (LONG, "--missing -1", "--missing must be a finite weight from 0"),
        (LONG, "--thousands x", "--thousands must be '.' or ','"),
        (LONG, "--sheet x", "--sheet is for Excel, and this is csv"),
        (LONG, "--order vertex=a,b", "--order is for tables with a row per vertex"),
        (LONG, "--text vertex", "no word can be used"),
        (DOCUMENTS, "--text note -o min_df=x", "no word can be used"),
        (DOCUMENTS, "--text note --bins 3", "--bins does not apply to --text"),
        (DOCUMENTS, "--text note --from csv", "--text is not for --from csv"),
        (
            DOCUMENTS,
            "--text note -o word_weights=ones -o min_df=2 -o max_df=1.0",
            "= 0,red,1.0 1,red,1.0 0,tea,1.0 2,tea,1.0",
        ),
        (DOCUMENTS, "--order note", "--order is COLUMN=VALUES"),
        (DOCUMENTS, "--order nota=a,b", "order names 'nota'"),
        (DOCUMENTS, "--order id=1,2", "3 is not in the order"),
    ],
)

LINES = Group(
    "t.txt",
    [
        ("a b\nb c\n", "= a,0,1.0 b,0,1.0 b,1,1.0 c,1,1.0"),
        ("a a\n", "line 1: the member 'a' is repeated"),
        ("a a\n", "--duplicates sum", "= a,0,2.0"),
        ("a,,b\n", "line 1: a member between two ',' is missing"),
        ("", "the file is empty"),
    ],
    arguments="convert {file} {out} --from lines",
)
