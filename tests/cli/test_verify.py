"""The command `verify`: exit codes, text and JSON."""

import json

import numpy as np
import pytest

from support.command_line import inside

TABLE = "name,legs,hair,fur\n" + "".join(
    f"a{i},{2 + 2 * (i % 2)},{'yes' if i % 2 else 'no'},{'yes' if i % 3 else 'no'}\n" for i in range(12)
)


@pytest.fixture
def files(tmp_path):
    table, certificate = tmp_path / "t.csv", tmp_path / "x.cert"
    table.write_text(TABLE)
    done = inside("cluster", table, "-k", 2, "--id", "name", "--bound", "tight", "--certificate", certificate)
    assert done.returncode == 0, done.stderr
    assert "written to" in done.stderr
    return certificate, table


def test_a_verified_certificate(files):
    done = inside("verify", *files, "--id", "name", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert "x.cert: verified" in done.stdout
    assert "no 2 clusters have less than" in done.stdout
    assert "closed form" in done.stdout


def test_json(files):
    done = inside("verify", *files, "--id", "name", "-q", "--json")
    found = json.loads(done.stdout)
    assert found["verified"] is True
    assert found["claimed"]["bound"] <= found["bound"] <= found["ncut"][1] <= found["claimed"]["ncut"]


def test_other_data_are_refused(files):
    certificate, table = files
    table.write_text(TABLE.replace("a0,2", "a0,4"))
    done = inside("verify", certificate, table, "--id", "name", "-q")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith("the certificate is refused: it is about other data")
    done = inside("verify", certificate, table, "--id", "name", "-q", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verified"] is False


def test_changed_labels_are_refused(files):
    certificate, table = files
    with np.load(certificate) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["labels"] = arrays["labels"].copy()
    arrays["labels"][0] = 1 - arrays["labels"][0]
    with certificate.open("wb") as file:
        np.savez(file, **arrays)
    done = inside("verify", certificate, table, "--id", "name", "-q")
    assert done.returncode == 1
    assert "it claims the NCut" in done.stderr


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and more", b"text"])
def test_what_is_no_certificate(files, content):
    certificate, table = files
    certificate.write_bytes(content)
    done = inside("verify", certificate, table, "--id", "name", "-q")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_name_of_a_certificate(files, tmp_path):
    done = inside("cluster", files[1], "-k", 2, "--certificate", tmp_path / "x.txt")
    assert done.returncode == 2
    assert "the name must end with .cert or .npz" in done.stderr
