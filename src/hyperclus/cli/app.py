"""The application: exit codes, both output streams, error messages, and groups of options."""

import atexit
import inspect
import io
import logging
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from errno import EBADF
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text
from typer import rich_utils

import hyperclus
from hyperclus._runtime.files import printable
from hyperclus.cli.options import option
from hyperclus.cli.values import declared, parsed
from hyperclus.errors import Argument, HyperclusError, InputError, LossWarning

UNLIMITED = 100_000  # characters of a line that is not printed on a terminal
REPEAT = 0.25  # seconds between an interrupt and a look whether it was lost
READ_OPTIONS = (  # of -o
    *("constant", "decimal", "empty_edges", "ids", "isolated", "repeated", "transpose"),
)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


# Process: start, exit code, end


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that cleanup runs
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as scripts start commands with &
        signal.signal(signal.SIGINT, _interrupt)
    if os.environ.get("NO_COLOR"):
        rich_utils.COLOR_SYSTEM = None  # typer has no other way to print help without bold
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  # closed by the parent process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        sys.exit(_os_failure(OSError(EBADF, "stdout is closed")))
    code = run()
    if signal.getsignal(signal.SIGINT) == _interrupt:  # from here on nothing catches an exception
        signal.signal(signal.SIGINT, _quit)
    error = _flush(sys.stdout)
    if error is not None:
        code = code or _os_failure(error)
    _flush(sys.stderr)
    if "pyarrow" not in sys.modules:
        sys.exit(code)
    # PyArrow may still have threads that call Python. Such a thread would abort the process (exit code 134)
    # while the interpreter is finalized, so only the exit handlers run.
    atexit._run_exitfuncs()
    _flush(sys.stdout)
    _flush(sys.stderr)
    os._exit(code)


def _interrupt(*_: object) -> NoReturn:
    """Interrupt the command at the first Ctrl-C, and end the process at the second one."""
    signal.signal(signal.SIGINT, _quit)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _interrupt_again)
        signal.setitimer(signal.ITIMER_REAL, REPEAT, REPEAT)
    raise KeyboardInterrupt


def _interrupt_again(*_: object) -> None:
    """Repeat an interrupt that a library swallowed: no code handles it, but the command still runs."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    if error is None:
        raise KeyboardInterrupt


def _quit(*_: object) -> NoReturn:
    os._exit(130)


def _flush(stream: TextIO) -> OSError | None:
    """Flush a stream; if that fails, send the rest to nowhere, so that Python does not fail again at exit."""
    try:
        stream.flush()
    except OSError as error:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        return error
    return None


def run(arguments: list[str] | None = None) -> int:
    """Run a command, by default the one in `sys.argv`, and return its exit code."""
    try:  # typer returns the code of an Exit, and 130 for Ctrl-C
        code = int(app(arguments, prog_name="hyperclus", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Exception as error:
        if (message := sentence(error)) is None:
            raise
        if not isinstance(error, BrokenPipeError):  # then nobody reads the output
            say(message, "red")
        return 2 if isinstance(error, InputError) else int(getattr(error, "exit_code", 1))
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    if code == 130:
        say("interrupted")
    return code


def sentence(error: Exception) -> str | None:
    """What the command line says about an error; None if the error is a defect."""
    if isinstance(error, HyperclusError):
        return shell_message(error)
    if isinstance(error, OSError):
        return _os_message(error)
    if isinstance(error, MemoryError):
        return "not enough memory"
    return _usage_message(error) if hasattr(error, "exit_code") else None


def _usage_message(error: Any) -> str:
    """The message of typer about the arguments, as one sentence."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    context = getattr(error, "ctx", None)
    see = "" if context is None or message.endswith("?") else f"; see {context.command_path} --help"
    return printable(f"{message[:1].lower()}{message[1:]}{see}")


def _os_message(error: OSError) -> str:
    """The message of the operating system; an error with a number and no file name comes from stdout."""
    what = f"{printable(str(error.filename))}: " if error.filename else ""
    if not what and error.errno is not None:  # a library that cannot be loaded has no number
        what = "the output cannot be written: "
    return f"{what}{printable(error.strerror or str(error))}"


def _os_failure(error: OSError) -> int:
    """Report an error of the operating system, unless nobody reads the output; return the exit code."""
    if not isinstance(error, BrokenPipeError):
        say(_os_message(error), "red")
    return 1


def _version(wanted: bool) -> None:
    if wanted:
        print(f"hyperclus {hyperclus.__version__}")  # noqa: T201
        raise typer.Exit


VERSION = typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")


@app.callback()
def common(version: Annotated[bool, VERSION] = False) -> None:
    """Cluster hypergraphs in which a vertex may have a different weight in each hyperedge."""


# Streams and messages


def console(*, stderr: bool = False) -> Console:
    """A stream for people; NO_COLOR turns off bold and dim too, and lines in a pipe may have any length."""
    colours: Any = None if os.environ.get("NO_COLOR") else "auto"
    stream = Console(stderr=stderr, highlight=False, color_system=colours)
    if not stream.is_terminal:
        stream.width = UNLIMITED
    return stream


errors = console(stderr=True)


def say(message: str, colour: str = "dim") -> None:
    """Print a line to stderr, wrapped only on a terminal; rich markup in it has no effect."""
    with suppress(OSError):  # stderr may be closed
        errors.print(Text.assemble(("hyperclus:", colour), " ", message), soft_wrap=not errors.is_terminal)


def put(text: str) -> None:
    """Write data to stdout, in UTF-8 whatever the encoding of the terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def shell_message(error: HyperclusError) -> str:
    """The message of an error, with options where Python users read arguments."""
    return "".join(as_option(part) if isinstance(part, Argument) else str(part) for part in error.args)


def as_option(argument: Argument) -> str:
    """An argument of Python as it is typed in a shell, such as --duplicates sum or -o isolated=drop."""
    name, value = argument.name, str(argument.value)
    if isinstance(argument.value, Mapping):
        value = ",".join(f"{key}={one}" for key, one in argument.value.items())
    value = shlex.quote(value) if value.isprintable() else repr(value)
    if argument.for_writing and name == "format":
        return "--to"
    if argument.for_writing or name in READ_OPTIONS:
        flag = "-w" if argument.for_writing else "-o"
        value = value.lower() if isinstance(argument.value, bool) else value
        return f"{flag} {name}" if argument.value is None else f"{flag} {name}={value}"
    commands: Any = typer.main.get_command(app)
    flags = {one.name: one.opts[0] for command in commands.commands.values() for one in command.params}
    if name not in flags:
        return str(argument)
    return flags[name] if argument.value is None else f"{flags[name]} {value}"


@contextmanager
def say_if_stopped(message: Callable[[], str | None]) -> Iterator[None]:
    """Print a message, if there is one, when Ctrl-C or SIGTERM stops the body."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        text = message()
        if text is not None:
            say(text)
        raise


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages on stderr, as many as --quiet and --verbose allow."""

    quiet: bool = option(
        "Print only errors to stderr, and that a result means nothing.", "", "--quiet", "-q", default=False
    )
    verbose: bool = option("Print more details and timings to stderr.", "", "--verbose", "-v", default=False)

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise InputError("choose --quiet or --verbose, not both")

    def note(self, message: str) -> None:
        """Print a remark, unless --quiet is given."""
        if not self.quiet:
            say(message)

    def warn(self, message: str) -> None:
        """Print a warning, unless --quiet is given."""
        if not self.quiet:
            say(message, "yellow")

    def detail(self, message: str) -> None:
        """Print a message if --verbose is given."""
        if self.verbose:
            say(message)

    def finished(self, timings: Mapping[str, float], written: Iterable[Path]) -> None:
        """Print how long the stages took, and the names of the written files."""
        for stage, seconds in timings.items():
            self.detail(f"{stage}: {seconds:.3f} s")
        for path in written:
            self.note(f"written to {printable(path)}")

    @contextmanager
    def from_library(self) -> Iterator[None]:
        """Print what the library logs and warns of in the body, at once, each warning once."""
        logger, handler = logging.getLogger("hyperclus"), logging.Handler()
        before = logger.level
        warn_once = cache(self.warn)

        def show(record: logging.LogRecord) -> bool:
            message = record.getMessage()
            if record.args and isinstance(record.args, tuple):  # a remark may have parts, as errors have
                parts = [
                    shell_message(one) if isinstance(one, HyperclusError) else one for one in record.args
                ]
                message = record.msg % tuple(parts)
            (self.warn if record.levelno >= logging.WARNING else self.detail)(printable(message))
            return False  # nothing is left for the handler to do

        handler.addFilter(show)
        logger.setLevel(logging.INFO if self.verbose else logging.WARNING)
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", LossWarning)
                warnings.showwarning = lambda message, *_, **__: warn_once(str(message))
                yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


# Commands


def command(*examples: str, within: typer.Typer = app) -> Callable[[Callable[..., Any]], None]:
    """Register a command of an application, with examples at the end of its help text.

    Each parameter of a dataclass type becomes one parameter per field, as typer needs them.
    """

    def register(function: Callable[..., Any]) -> None:
        flat: list[inspect.Parameter] = []
        groups: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if not is_dataclass(parameter.annotation):
                flat.append(parameter)
                continue
            groups[name] = parameter.annotation
            for field in fields(parameter.annotation):
                annotation, default = declared(field)
                flat.append(parameter.replace(name=field.name, default=default, annotation=annotation))

        def run(**given: Any) -> Any:
            for name, kind in groups.items():
                given[name] = kind(**{one.name: parsed(one, given.pop(one.name)) for one in fields(kind)})
            return function(**given)

        run.__doc__, run.__name__ = function.__doc__, function.__name__
        run.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
        lines = "".join(f"\n  {escape(example)}" for example in examples)
        within.command(epilog=f"[bold]Examples[/]{lines}")(run)

    return register


def command_line(context: typer.Context, left_out: Collection[str]) -> str:
    """The command with its arguments, to be typed again, without the named parameters."""
    words = ["hyperclus", str(context.info_name)]
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in left_out:
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0]] * (parameter.param_type_name == "option") + [str(one)]
    return shlex.join(words)
