"""Files of classes and of clusters."""

from hostile.csv import GOOD
from support.hostile import Group

HYPERGRAPH = (("h.csv", GOOD),)
MORE = "a,0\nb,0\nc,1\nf,1\nd,1\ne,0\ng,0\n"  # than the vertices
OTHERS = "4 rows name no vertex of the hypergraph: 'd', 'e', 'f' and 1 more; "
LINES = [
    ("a,0\nb,0\nc,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("c,1\nb,0\na,0\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,x\nb,x\nc,y\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,1\na,0\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,1\na,1\n", "vertex 'a' has 1, but 0 in an earlier row"),
    ("a,0\nb,0\n", "1 vertex has no c"),
    ("a,0\nb,0\nC,1\n", "1 vertex has no c"),
    ("a,0\nb,0\n c,1\n", "1 vertex has no c"),
    ("a,0\nb,0\nc,\n", "is missing; fill it or leave the row out"),
    ("a,0\nb,0\nc, \n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,nan\n", "is missing; fill it or leave the row out"),
    ("a,0\nb,0\nc\n", "line 4: 1 fields, but the header has 2"),
    ("a,0\nb,0\nc,1,1\n", "line 4: 3 fields, but the header has 2"),
    ("a,0\nb,0\n,1\n", "line 4: column 'vertex': the value is missing"),
    ("a,0\nb,0\n\nc,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,-1\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,1.5\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,1e3\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,99999999999999999999\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,00\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,=1\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,\x00\n", "> Partition of 3 vertices into 2 clusters"),
    ("a,0\nb,0\nc,\udcff\n", "line 4: byte 2 of the line is not UTF-8 text"),
    ('a,0\nb,0\nc,"1\n', "line 4: unexpected end of data"),
    ('a,0\nb,0\nc,"1"2\n', "line 4"),
    ("a;0\nb;0\nc;1\n", "line 2: 1 fields, but the header has 2"),
    ("a,0\nb,0\nc," + "x" * 50_000 + "\n", "> Partition of 3 vertices into 2 clusters"),
    ("", "the table has no rows under its header"),
]
REPORT_LINES = [
    ("", "the file is empty"),
    ("a,0\nb,0\nc,1\n", "the table has no column 'vertex'"),
    ("vertex\na\nb\nc\n", "the table has no column 'cluster'"),
    ("vertex,cluster,vertex\na,0,a\nb,0,b\nc,1,c\n", "more than one column 'vertex'"),
    ("Vertex,Cluster\na,0\nb,0\nc,1\n", "the table has no column 'vertex'"),
    ("cluster,vertex\n0,a\n0,b\n1,c\n", "> Partition of 3 vertices into 2 clusters"),
    ("vertex;cluster\na;0\nb;0\nc;1\n", "> Partition of 3 vertices into 2 clusters"),
    ("\ufeffvertex,cluster\na,0\nb,0\nc,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("vertex,cluster,more\na,0,1\nb,0,1\nc,1,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("{}", "the table has no column 'vertex'"),
    (b"\x1f\x8b\x08", "the gzipped data are damaged"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is an old Excel file (.xls)"),
    ("vertex,cluster\na,0\nb,0\nc,1\n".encode("utf-16-le"), "this may be UTF-16"),
]
CLASS_LINES = [
    ("", "the file is empty"),
    ("a,0\nb,0\nc,1\n", "1 vertex has no class: 'a'; give one"),
    ("vertex\na\nb\nc\n", "this must have two columns"),
    ("vertex,cluster,vertex\na,0,a\nb,0,b\nc,1,c\n", "this must have two columns"),
    ("Vertex,Cluster\na,0\nb,0\nc,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("cluster,vertex\n0,a\n0,b\n1,c\n", "vertex '0' has 'b', but 'a' in an earlier row"),
    ("vertex;cluster\na;0\nb;0\nc;1\n", "> Partition of 3 vertices into 2 clusters"),
    ("\ufeffvertex,cluster\na,0\nb,0\nc,1\n", "> Partition of 3 vertices into 2 clusters"),
    ("vertex,cluster,more\na,0,1\nb,0,1\nc,1,1\n", "this must have two columns"),
    ("{}", "this must have two columns"),
    (b"\x1f\x8b\x08", "the gzipped data are damaged"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "this is an old Excel file (.xls)"),
    ("vertex,cluster\na,0\nb,0\nc,1\n".encode("utf-16-le"), "this may be UTF-16"),
]

REPORT = Group(
    "l.csv",
    [*LINES, (MORE, f"{OTHERS}remove them")],
    "report {folder}/h.csv {file} {folder}/out.html",
    "vertex,cluster\n",
    "",
    HYPERGRAPH,
)
REPORT_FILES = Group(
    "l.csv", REPORT_LINES, "report {folder}/h.csv {file} {folder}/out.html", files=HYPERGRAPH
)
CLASSES = Group(
    "l.csv",
    [*LINES, (MORE, f"~ {OTHERS}left out")],
    "cluster {folder}/h.csv -k 2 --classes {file}",
    "vertex,class\n",
    "",
    HYPERGRAPH,
)
CLASS_FILES = Group("l.csv", CLASS_LINES, "cluster {folder}/h.csv -k 2 --classes {file}", files=HYPERGRAPH)
LOCAL_CLASSES = Group(
    "l.csv",
    [*LINES[4:8], (MORE, f"~ {OTHERS}left out")],
    "local {folder}/h.csv --seed a --classes {file}",
    "vertex,c\n",
    "",
    HYPERGRAPH,
)
