"""Text with a hyperedge per line."""

from support.hostile import Group

MANY = " ".join(map(str, range(200_000)))

LINES = Group(
    "t.txt",
    [
        ("a b\r\nb  c\r\n\r\n", "= a,0,1.0 b,0,1.0 b,1,1.0 c,1,1.0"),
        ("\ufeffa,b,,\n", "= a,0,1.0 b,0,1.0"),
        ("1 2\n10 2\n", "= 1,0,1.0 2,0,1.0 2,1,1.0 10,1,1.0"),
        ("1 02\n", "= 1,0,1.0 02,0,1.0"),
        ('"red wine"  bread\n', '= "red wine",0,1.0 bread,0,1.0'),
        ('  "red wine" bread "" \n', '= "red wine",0,1.0 bread,0,1.0'),
        ('nail 5"\n', '= nail,0,1.0 "5""",0,1.0'),
        ('"a b\nc\n', "line 1: unexpected end of data; look for a quote that is not closed"),
        ('a "" b\n', "line 1: a member between two ' ' is missing;"),
        ('a, "b, c"\n', '= a,0,1.0 "b, c",0,1.0'),
        ("a,,b\n", "line 1: a member between two ',' is missing;"),
        ("a b\nb b\n", "line 2: the member 'b' is repeated;"),
        (f"{MANY} 199999\n", "line 1: the member '199999' is repeated;"),
        (b"a\nb \xff\n", "line 2: byte 4 is not UTF-8 text;"),
        ("a b\n\nb\n", "-o empty_edges=error", "line 2: the line is blank, a hyperedge without members;"),
    ],
    arguments="convert {file} {out} --from lines",
)
