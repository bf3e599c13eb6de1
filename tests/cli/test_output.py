"""Checks of output files before the work starts."""

import pytest

from hyperclus.cli.output import Outputs
from hyperclus.errors import InputError


def test_a_check_changes_no_file(tmp_path):
    old = tmp_path / "old.csv"
    old.write_text("old")
    old.chmod(0o640)
    Outputs(out=old, edges=tmp_path / "new.parquet").check()
    assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("old", 0o640)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder.csv", "this is a folder; give the name of a file"),
        ("no/labels.csv", "the folder does not exist; create it first"),
        (f"{'a' * 300}.csv", "File name too long"),
        ("labels.doc", "the name must end with .csv, .tsv, .parquet or .json"),
        ("labels.parquet.gz", "leave .gz out of the name"),
    ],
)
def test_files_that_cannot_be_written(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=message):
        Outputs(out=tmp_path / name).check()
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]
