"""What the commands share: the application, the two streams, and options that come in groups."""

import inspect
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer import rich_utils

from hyperclus._runtime.files import printable
from hyperclus.cli.words import in_shell
from hyperclus.errors import HyperclusError, InputError, LossWarning
from hyperclus.hypergraph.messages import caption

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def console(*, stderr: bool = False) -> Console:
    """A stream for people; with NO_COLOR set it has no bold and no dim either."""
    return Console(
        stderr=stderr, highlight=False, color_system=None if os.environ.get("NO_COLOR") else "auto"
    )


errors = console(stderr=True)
if os.environ.get("NO_COLOR"):
    rich_utils.COLOR_SYSTEM = None  # of the help texts


def say(message: str, colour: str = "dim") -> None:
    """One line on the error stream, for terminals broken at words; no markup in it counts."""
    with suppress(OSError):  # nobody may be listening
        errors.print(
            Text.assemble(("hyperclus:", colour), " ", in_shell(message)), soft_wrap=not errors.is_terminal
        )


def complain(error: HyperclusError) -> None:
    """An error, on the error stream."""
    say(str(error), "red")


def text_of(value: Any) -> str:
    r"""An id for the terminal: as people read it, with escapes for what would disturb a terminal.

    >>> print(text_of(("odor", "\x1b[31mred")))
    odor = \x1b[31mred
    """
    return printable(caption(value))


def escaped(text: str) -> str:
    """A text in which no markup counts."""
    return text.replace("[", r"\[")


def examples(*lines: str) -> str:
    """The end of a help text: commands to try, one per line."""
    return "[bold]Examples[/]\n" + "\n".join("  " + escaped(line) for line in lines)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters of dataclass types become one parameter for each of their fields."""
    flat: dict[str, inspect.Parameter] = {}
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if not is_dataclass(parameter.annotation):
            flat[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        groups[name] = parameter.annotation
        for field in fields(parameter.annotation):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            flat[field.name] = inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
            )

    def run(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**made, **given)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in flat.items()}
    return run


def command_line(context: typer.Context, left_out: Collection[str]) -> str:
    """The command with its arguments, to be typed again; without the parameters named."""
    words = ["hyperclus", str(context.info_name)]
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in left_out:
            continue
        value = context.params[name]
        for one in value if isinstance(value, list | tuple) else [value]:
            words += [parameter.opts[0]] if parameter.param_type_name == "option" else []
            words.append(str(one))
    return shlex.join(words)


@contextmanager
def kept(words: Callable[[], str | None]) -> Iterator[None]:
    """Say these words, if there are any, when what is inside is stopped by Ctrl-C or SIGTERM."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        said = words()
        if said is not None:
            say(said)
        raise


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said on the error stream."""

    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Nothing on stderr but errors.")
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", metavar="", help="Also what the library does, and timings, on stderr."
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise InputError("choose --quiet or --verbose, not both")

    def note(self, message: str) -> None:
        """A remark, unless it is to be quiet."""
        if not self.quiet:
            say(message)

    def warn(self, message: str) -> None:
        """Something to look at, unless it is to be quiet."""
        if not self.quiet:
            say(message, "yellow")

    def detail(self, message: str) -> None:
        """What only those want to know who ask for it."""
        if self.verbose:
            say(message)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Pass on what the library logs and warns of inside, a line each."""
        logger, handler = logging.getLogger("hyperclus"), _Handler(self)
        before = logger.level
        logger.setLevel(logging.INFO if self.verbose else logging.WARNING)
        logger.addHandler(handler)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", LossWarning)
                yield
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                self.warn(message)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _Handler(logging.Handler):
    """Log records, by voice."""

    def __init__(self, voice: Voice) -> None:
        super().__init__()
        self._voice = voice

    def emit(self, record: logging.LogRecord) -> None:
        """One record; warnings stand out."""
        message = printable(record.getMessage())
        if record.levelno >= logging.WARNING:
            self._voice.warn(message)
        else:
            self._voice.detail(message)


def put(text: str) -> None:
    """Data on stdout, in UTF-8 whatever the terminal is set to."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
