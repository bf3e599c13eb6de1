"""The command line: each command reads its arguments, calls the library, and renders.

Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 bad usage or input, 130
interrupted by Ctrl-C, 143 by SIGTERM.
"""

import io
import os
import signal
import sys
from contextlib import suppress
from errno import EBADF
from typing import Annotated

import typer

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli import cluster, data, demo, local, paper, plan  # noqa: F401  # registers the commands
from hyperclus.cli.app import app, complain, say
from hyperclus.errors import HyperclusError, InputError


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up on the way out
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  # closed from the start
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal can show
    code = _failed(OSError(EBADF, "stdout is closed")) if sys.stdout is None else run()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = 1
    except OSError as error:
        code = code or _failed(error)
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)  # threads of other libraries may be at work, and must not keep the process waiting


def run(arguments: list[str] | None = None) -> int:
    """The exit code of a command; its arguments are those of the process unless given."""
    try:  # typer returns the code of an Exit, 130 for Ctrl-C
        code = int(app(arguments, prog_name="hyperclus", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except HyperclusError as error:
        complain(error)
        return 2 if isinstance(error, InputError) else 1
    except BrokenPipeError:  # whoever read the output has gone
        return 1
    except OSError as error:
        return _failed(error)
    except MemoryError:
        say("there is not enough memory for this", "red")
        return 1
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        with suppress(OSError):
            error.show()  # type: ignore[attr-defined]  # usage errors
        return int(error.exit_code)
    if code == 130:
        say("interrupted")
    return code


def _failed(error: OSError) -> int:
    """Say what the system refuses: where no file is at fault, to take the result. Returns the exit code."""
    what = "the output cannot be written" if error.filename is None else printable(str(error.filename))
    say(f"{what}: {error.strerror or error}", "red")
    return 1


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyperclus {hyperclus.__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Clusters in hypergraphs whose members weigh differently in each hyperedge."""
