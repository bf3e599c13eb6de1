"""Choices of the page as arguments of a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperclus.errors import InputError
from hyperclus.explore.form import FIELDS, LISTED_COLUMNS, SWITCHES, Form

TABLE = Form("t.csv", ("name", "a", "b", "class"), rows=True)
PAPERS = Form("p.csv", ("vertex", "edge", "weight", "share"))
FLAGS = {f"--{name.replace('_', '-')}" for name in FIELDS} | {"--from", "--option"}
WORDS = st.one_of(
    st.text(max_size=9), st.sampled_from(["--classes=/etc/passwd", "--", "-", "a\n--out=x", "=x"])
)


def options(form, **values):
    lists = {name: [value] if isinstance(value, str) else value for name, value in values.items()}
    command, *arguments = form.arguments(lists)
    assert arguments[-2:] == ["--", form.file]
    return [command, *arguments[:-2]]


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), st.lists(WORDS, max_size=3)), st.booleans())
def test_no_value_can_be_another_option_or_file(values, rows):
    for form in (Form("t.csv"), Form("t.csv", ("a", "vertex", "edge"), rows, fixed=("--sheet=x",))):
        command, *arguments = form.arguments(values)
        assert command in ("cluster", "local")
        assert arguments[-2:] == ["--", "t.csv"]
        assert {one.partition("=")[0] for one in arguments[:-2]} <= FLAGS | {"--sheet"}
        assert all("=" in one for one in arguments[:-2])
        assert not {one.partition("=")[0] for one in arguments} & {f"--{name}" for name in SWITCHES[:3]}


def test_columns_that_are_not_used_are_excluded():
    assert options(TABLE, use=["a", "b"], id="name", label="class", clusters="3") == [
        *("cluster", "--id=name", "--label=class", "--clusters=3"),
    ]
    assert options(TABLE, use=["a"], id="name")[1:] == ["--id=name", "--exclude=b", "--exclude=class"]
    assert options(TABLE, use=[])[1:] == [f"--exclude={name}" for name in TABLE.columns]
    assert options(TABLE)[1:] == []
    many = Form("t.csv", tuple(map(str, range(LISTED_COLUMNS + 1))), rows=True)
    assert options(many, exclude="7\n 8 \n", use=["1"])[1:] == ["--exclude=7", "--exclude=8"]


def test_only_what_applies_is_given():
    given = {"id": "name", "vertex": "a", "edge": "b", "weight_transform": "log1p", "bins": "5\nage=8"}
    assert options(TABLE, row="vertex", **given)[1:] == ["--id=name", "--bins=5", "--bins=age=8"]
    assert options(TABLE, row="incidence", **given)[1:] == [
        *("--vertex=a", "--edge=b", "--weight-transform=log1p")
    ]
    both = {"clusters": "2", "around": "x\n\ny", "alpha": "1", "max_size": "5"}
    assert options(TABLE, **both) == ["cluster", "--clusters=2", "--alpha=1"]
    found = ["local", "--around=x", "--around=y", "--max-size=5", "--alpha=1"]
    assert options(TABLE, task="local", **both) == found


def test_defaults_are_left_out_and_weights_can_be_switched_off():
    chosen = {"vertex": "vertex", "edge": "edge", "weight": "weight", "edge_weight": ""}
    assert options(PAPERS, **chosen, alpha="0", seed="0") == ["cluster"]
    assert options(PAPERS, **{**chosen, "weight": ""}) == ["cluster", "--option=weight=false"]
    assert options(PAPERS, **{**chosen, "weight": "share"}) == ["cluster", "--weight=share"]
    assert options(PAPERS, **{**chosen, "vertex": "weight", "weight": ""}) == ["cluster", "--vertex=weight"]
    assert options(PAPERS, row="vertex") == ["cluster", "--from=rows"]


def test_a_field_that_the_page_does_not_have_is_refused():
    with pytest.raises(InputError, match="no field 'classes'; reload"):
        TABLE.arguments({"classes": ["/etc/passwd"]})


def test_first_values():
    form = Form("p.csv", ("vertex", "edge"), values={"bins": ["5", "age=8"]}, fixed=("--encoding=cp1252",))
    assert [form.value(name) for name in ("vertex", "weight", "bins", "alpha", "id")] == [
        *("vertex", "", "5\nage=8", "0", "")
    ]
    assert form.first_arguments() == [
        *("read", "--encoding=cp1252", "--bins=5", "--bins=age=8", "--", "p.csv")
    ]


def test_an_incidence_needs_both_columns():
    form = Form("baskets.csv", ("customer", "item"), rows=True)
    for some, said in (({}, "vertices"), ({"vertex": ["customer"]}, "hyperedges")):
        with pytest.raises(InputError, match=f"choose the column of the {said}"):
            form.arguments({"row": ["incidence"], **some})
    both = {"vertex": ["customer"], "edge": ["item"]}
    assert "--edge=item" in form.arguments({"row": ["incidence"], **both})
