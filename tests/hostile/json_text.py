"""JSON that is not HIF: hyperedges as lists and objects, and tables as JSON Lines or lists of objects."""

from support.hostile import Group

DEEP = "[" * 100_000
KEYS = [f'"{number}": [1]' for number in range(200_000)]
SPARSE = "\n".join(f'{{"k{number}": 1}}' for number in range(5000))

EDGES = Group(
    "t.json",
    [
        ('[["a", "b"], ["b"]]', "= a,0,1.0 b,0,1.0 b,1,1.0"),
        ('{"e": ["a", "b"]}', "= a,e,1.0 b,e,1.0"),
        ('{"e": {"a": 2, "b": 0.5}}', "= a,e,2.0 b,e,0.5"),
        ('\ufeff [["a"]]\r\n', "= a,0,1.0"),
        ('[["a", null]]', "hyperedge 0: the member None is neither text nor an integer;"),
        ("[[true]]", "hyperedge 0: the member True is neither text nor an integer;"),
        ("[[1, 1.0]]", "hyperedge 0: the member 1.0 is neither text nor an integer;"),
        ('[[1, "1"]]', "out.csv: vertex id 1 is not text as others are;"),
        ('[["a", ["b"]]]', "hyperedge 0: the member ['b'] is neither text nor an integer;"),
        ("[[1, 1]]", "vertex 1 in hyperedge 0 appears more than once"),
        ("[1, 2]", "hyperedge 0: its members are 1; hyperedges are"),
        ('{"e": ["a"], "e": ["b"]}', "the key 'e' is repeated within an object;"),
        ('{"e": ["a"], "e": ["b"], "f": ["\\u003a"]}', "the key 'e' is repeated within an object;"),
        ('{"e": ["a"], "e": ["b"], "f": ["\\u003A"]}', "the key 'e' is repeated within an object;"),
        ('{"e": ["\\u003a", "\\\\u003a"]}', '= :,e,1.0 "\\u003a",e,1.0'),
        ("{" + ", ".join([*KEYS, KEYS[-1]]) + "}", "the key '199999' is repeated within an object;"),
        ('{"e": {"a": 1, "a": 2}}', "the key 'a' is repeated within an object;"),
        ('{"e": {"a": NaN}}', "NaN is not JSON; leave the value out"),
        ('{"e": {"a": -Infinity}}', "-Infinity is not JSON; leave the value out"),
        ('{"e": {"a": 1e400}}', "the number 1e400 is too large for double precision;"),
        ('{"e": {"a": 1e-400, "b": 1}}', "the number 1e-400 is too small for double precision;"),
        ('{"e": {"a": 0.' + "0" * 400 + "1}}", "the number 0.000000000000000000 is too small for"),
        ('{"e": {"a": 0e-400, "b": 1}}', "= b,e,1.0"),
        ('{"e": {"a": -1}}', "vertex 'a' in hyperedge 'e' has weight -1.0;"),
        ('{"e": {"a": ' + "9" * 5000 + "}}", "an integer has too many digits; shorten it"),
        ('{"vertex": ["a", "b"], "edge": ["e", "e"]}', "column 'edge': an id must be an integer or text"),
        ('{"vertex": "a", "edge": "e"}', "= a,e,1.0"),
        ('[["a",]]', "line 1, column 7: this is not JSON"),
        ('[["a"]]\n["b"]', "line 2, column 1: this is not JSON (Extra data);"),
        ('[["\\ud800"]]', "an escape such as \\ud800 is half a character;"),
        (b'[["\xff"]]', "byte 3 is not UTF-8 text;"),
        (DEEP, "the JSON is nested too deeply, about 1000 levels;"),
        ('[["\\ud800"], ' + DEEP, "the JSON is nested too deeply, about 1000 levels;"),
    ],
)

RECORDS = Group(
    "t.jsonl",
    [
        ('{"vertex": "a", "edge": 1}\r\n\n {"vertex": "b", "edge": 1}', "= a,1,1.0 b,1,1.0"),
        ('\ufeff{"vertex": "a", "edge": 1, "weight": 2.5}', "= a,1,2.5"),
        ('[{"vertex": "a", "edge": 1}]', "= a,1,1.0"),
        ('{"vertex": ["a", "b"], "edge": 1}', "= a,1,1.0 b,1,1.0"),
        ('{"vertex": 1, "edge": 1}\n{"vertex": "1", "edge": 1}', "line 2: column 'vertex': '1' and 1 in an"),
        ('{"vertex": 1, "edge": 1}\n{"vertex": 1.5, "edge": 1}', "line 1: column 'vertex': an id must be an"),
        ('{"vertex": true, "edge": 1}', "line 1: column 'vertex': an id must be an integer or text, not"),
        ('{"vertex": null, "edge": 1}', "line 1: column 'vertex': the value is missing;"),
        ('{"vertex": ["a", null], "edge": 1}', "line 1: column 'vertex': the value is missing;"),
        ('{"vertex": [], "edge": 1}', "line 1: column 'vertex': the list is empty;"),
        ('{"vertex": ["a", 1], "edge": 1}', "line 1: column 'vertex': the values, such as ['a', 1], have no"),
        ('\n{"vertex": 1, "edge": 1, "vertex": 2}', "line 2: the key 'vertex' is repeated within an object;"),
        ('{"vertex": 1, "edge": 1, "edge": 2, "x": "\\u003a"}', "line 1: the key 'edge' is repeated within"),
        ('{"vertex": 1, "edge": 1, "weight": NaN}', "line 1: NaN is not JSON; leave the value out"),
        ('{"vertex": 1, "edge": 1, "weight": 1e400}', "line 1: the number 1e400 is too large for double"),
        ('{"vertex": 1, "edge": 1, "weight": 1e-400}', "line 1: the number 1e-400 is too small for double"),
        ('{"vertex": 1, "edge": 1, "weight": null}', "line 1: column 'weight': the weight is missing;"),
        ('{"vertex": 1, "edge": 1, "weight": null}', "--missing drop", "= "),
        ('{"vertex": null, "edge": 1}', "--missing drop", "= "),
        ('{"vertex": 1, "edge": 1, "weight": null}', "--missing 2", "= 1,1,2.0"),
        ('{"vertex": 1, "edge": 1, "weight": "2"}', "line 1: column 'weight': weights must be numbers, not"),
        ('{"vertex": ' + "9" * 30 + ', "edge": 1}', "line 1: column 'vertex': the integer 9999999999999999"),
        (
            '{"vertex": 1, "edge": 1, "weight": 1.5}\n{"vertex": 2, "edge": 1, "weight": 9007199254740993}',
            "line 2: column 'weight': the integer 9007199254740993 is too large beside numbers",
        ),
        ('{"vertex": ' + "9" * 5000 + ', "edge": 1}', "line 1: an integer has too many digits;"),
        ('{"vertex": 1, "edge": 1},\n{"vertex": 2, "edge": 1}', "line 1: column 25: this is not one JSON"),
        ('{"vertex": 1, "edge": 1}\n{"vertex": 2', "line 2: column 13: this is not one JSON value"),
        (
            '{"vertex": 1, "edge": 1}\n\ufeff{"vertex": 2, "edge": 1}',
            "line 2: column 1: this is not one JSON",
        ),
        ('{"vertex": 1, "edge": 1}\n[1]', 'line 2: expected an object such as {"vertex": 1}, not [1];'),
        ('{"vertex": "\\ud800", "edge": 1}', "line 1: an escape such as \\ud800 is half a character;"),
        (b'{"vertex": "a", "edge": 1}\n{"vertex": "\xff"}', "line 2: byte 12 is not UTF-8 text;"),
        ('{"a": ["\\ud800", ' + DEEP, "line 1: the JSON is nested too deeply, about 1000 levels;"),
        (SPARSE, "--from rows --missing drop", "the table has 5,000 rows and 5,000 columns, but only 5,000"),
        ('{"vertex": 1, "edge": 1, "x": 2}\n' + SPARSE, "--missing drop", "= 1,1,1.0"),
    ],
)

INFO = Group(
    "t.jsonl",
    [
        ('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}', "> 2 vertices"),
        ('{"a": 1, "b": "x"}', "> no hypergraph: "),
        ('{"paper": "p", "authors": ["a", "b"]}', "> 2 "),
        ('{"vertex": "a", "edge": 1}\n{"vertex": null, "edge": 1}', "> first in line 2"),
        ("{}", "no column is left to use"),
    ],
    arguments="info {file}",
)
