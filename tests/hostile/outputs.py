"""Where results go: folders, missing folders, the input itself, and names that are no good."""

import os

from hostile.csv import GOOD
from support.hostile import Group

LABELS = (("labels.csv", "vertex,cluster\na,0\nb,0\nc,1\n"), ("old.csv", "old"), ("old.html", "old"))


def folder(name):
    """Write the input, and make a folder with this name beside it."""

    def write(path):
        (path.parent / name).mkdir()
        return GOOD

    return write


def link(name, target):
    """Write the input, and make a symbolic link beside it."""

    def write(path):
        (path.parent / name).symlink_to(target)
        return GOOD

    return write


def fifo(name):
    """Write the input, and make a pipe beside it."""

    def write(path):
        os.mkfifo(path.parent / name)
        return GOOD

    return write


def targets(end):
    """Names for a file with this ending that cannot be written."""
    same = "this is the file to read" if end == ".csv" else f"the name must end with {end}"
    return [
        (GOOD, f"{{folder}}/no/o{end}", "the folder does not exist"),
        (GOOD, f"{{file}}/o{end}", "the folder does not exist"),
        (folder(f"o{end}"), f"{{folder}}/o{end}", "this is a folder"),
        (fifo(f"o{end}"), f"{{folder}}/o{end}", "not a regular file"),
        (link(f"o{end}", "no/where"), f"{{folder}}/o{end}", "the folder does not exist"),
        (link(f"o{end}", f"o{end}"), f"{{folder}}/o{end}", "not a regular file"),
        (GOOD, f"{{folder}}/{'x' * 300}{end}", "File name too long"),
        (GOOD, f"{{folder}}/a␀b{end}", "null byte"),
        (GOOD, f"/proc/o{end}", "/proc/o"),
        (GOOD, "/dev/full", "/dev/full: the name"),
        (GOOD, "{folder}/o", "/o: the name"),
        (GOOD, "{folder}/o.xlsx", "/o.xlsx: the "),
        (GOOD, "{folder}/", ": the name"),
        (GOOD, "∅", ": the name"),
        (GOOD, "{file}", same),
        (link("same.csv", "t.csv"), "{folder}/same.csv", same),
    ]


OUT = Group("t.csv", targets(".csv"), "cluster {file} -k 2 --out", files=LABELS)
EDGES = Group("t.csv", targets(".csv"), "cluster {file} -k 2 --edges", files=LABELS)
PAGE = Group("t.csv", targets(".html"), "cluster {file} -k 2 --report", files=LABELS)
CERTIFICATE = Group("t.csv", targets(".cert"), "cluster {file} -k 2 --certificate", files=LABELS)
REPORT = Group("t.csv", targets(".html"), "report {file} {folder}/labels.csv", files=LABELS)
LOCAL = Group("t.csv", targets(".csv"), "local {file} --seed a --out", files=LABELS)
CONVERT = Group("t.csv", targets(".csv"), "convert {file}", files=LABELS)
