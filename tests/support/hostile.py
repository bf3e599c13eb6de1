"""Tables of hostile input: each line is one kind, and runs through the command line.

A line is (content, wanted) or (content, more arguments, wanted). What is wanted is a part of the only
sentence on stderr, or, for input that is sound:

- "= a,e,1.0 b,e,2.0": the incidences that `convert` writes, all of them;
- "> text": a part of what is printed on stdout;
- "~ text": a part of a warning on stderr.
"""

import signal
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.command_line import inside

LIMIT = 300  # seconds, many times what the slowest line takes on a busy machine
CONVERT = "convert {file} {out}"
NO_NOTES = ("datasets", "reproduce")  # commands without --quiet


@dataclass(frozen=True)
class Group:
    """Lines that share the name of the file, the text around their content, and the arguments."""

    name: str
    lines: list[tuple]
    arguments: str = CONVERT
    before: str = ""
    after: str = ""
    files: tuple[tuple[str, str], ...] = ()  # others in the folder

    def write(self, path, content):
        """Write the content of a line; a function writes it itself."""
        if callable(content):
            content = content(path)
        if isinstance(content, str):
            content = (self.before + content + self.after).encode("utf-8", "surrogateescape")
        if content is not None:
            path.write_bytes(content)


def words(arguments, folder, name):
    """Split arguments at blanks and fill in {file}, {out} and {folder}; ␣ is a blank and ∅ is nothing."""
    places = {"{file}": folder / name, "{out}": folder / "out.csv", "{folder}": folder}
    for place, path in places.items():
        arguments = arguments.replace(place, str(path))
    return [
        word.replace("␣", " ").replace("∅", "").replace("␀", "\0") for word in arguments.split(" ") if word
    ]


def check(folder, group, line):
    """Run one line and check the exit code, what is printed, and the files."""
    content, *more, wanted = line
    file = folder / group.name
    for name, text in group.files:
        (folder / name).write_text(text)
    group.write(file, content)
    before = snapshot(folder)
    arguments = words(" ".join([group.arguments, *more]), folder, group.name)
    quiet = arguments[:1] != [] and arguments[0] not in NO_NOTES and wanted[:2] != "~ "
    with limited():
        done = inside(*arguments, *["-q"] * quiet)
    after = snapshot(folder)
    new = {name for name in after if name not in before}
    assert {name: after.get(name) for name in before} == before, "a file of the user was changed"
    assert not [name for name in new if name.endswith(".part")]
    assert "Traceback" not in done.stdout + done.stderr
    if wanted[:2] not in ("= ", "> ", "~ "):
        assert done.returncode in (1, 2), done
        assert done.stdout == "", done
        assert not new, "a refused command left a file"
        (sentence,) = sentences(done.stderr)
        assert wanted in sentence, sentence
        return
    assert done.returncode == 0, done
    if wanted[0] == "=":
        rows = (folder / "out.csv").read_text().split("\n")[1:-1]
        assert " ".join(rows) == wanted[2:]
    elif wanted[0] == ">":
        assert wanted[2:] in " ".join(done.stdout.split()), done.stdout
    else:
        assert wanted[2:] in done.stderr, done.stderr


def sentences(text):
    """The messages on stderr."""
    lines = text.splitlines()
    assert all(line.startswith("hyperclus: ") for line in lines), text
    return lines


def snapshot(folder):
    """The content of all files, links and folders."""
    return {str(path.relative_to(folder)): state(path) for path in sorted(folder.rglob("*"))}


def state(path: Path):
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", str(path.readlink())
    return mode, path.read_bytes() if stat.S_ISREG(mode) else None


@contextmanager
def limited():
    """Fail, instead of hanging, after many times the time that the body should take."""

    def stop(*_):
        raise AssertionError(f"not done after {LIMIT} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
