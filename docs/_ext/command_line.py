"""A directive that lists every command of `hyperclus` with its options, as the program has them."""

import re

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from rich.text import Text

import hyperclus.cli  # noqa: F401  # registers the commands
from hyperclus.cli.app import app


def commands():
    """Every command with its name and context."""
    group = typer.main.get_command(app)
    parent = typer.Context(group, info_name="hyperclus", **group.context_settings)
    for name, command in group.commands.items():
        yield name, typer.Context(command, parent=parent, info_name=name)


def plain(text):
    """A text of the help without its markup."""
    return Text.from_markup(text or "").plain


def panels(context):
    """What is typed and what it does, for each argument and option; by panel, those that all have last."""
    found = {"Arguments": [], "Options": []}
    for parameter in context.command.get_params(context):
        argument = parameter.param_type_name == "argument"
        panel = "Arguments" if argument else getattr(parameter, "rich_help_panel", None) or "Options"
        if not parameter.hidden:
            found.setdefault(panel, []).append((typed(parameter, context), said(parameter)))
    found["Options"] = found.pop("Options")
    return {panel: listed for panel, listed in found.items() if listed}


def typed(parameter, context):
    """What one types: `-k, --clusters NUMBER`, or the name of an argument."""
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper()
    names = ", ".join(sorted([*parameter.opts, *parameter.secondary_opts], key=len))
    if parameter.is_flag or parameter.count:
        return names
    return f"{names} {parameter.metavar or parameter.display_type_rich(context)}"


def said(parameter):
    """The help of a parameter, with its default unless the text has it."""
    text = plain(parameter.help)
    if parameter.required:
        return f"{text} Required."
    default = parameter.default
    if isinstance(default, list) and len(default) == 1:
        default = default[0]
    if not isinstance(default, str) or "default" in text:
        return text
    return f"{text} Default: {default}."


class CommandLine(Directive):
    """A section for each command, with a table for each panel of its help."""

    def run(self):
        """Build the sections."""
        return [self.section(name, context) for name, context in commands()]

    def section(self, name, context):
        """Build the section of one command."""
        title = f"hyperclus {name}"
        section = nodes.section("", nodes.title(title, title), ids=[nodes.make_id(title)], names=[title])
        self.state.document.note_explicit_target(section)
        section += [nodes.paragraph("", part) for part in re.split(r"\n\s*\n", plain(context.command.help))]
        for panel, listed in panels(context).items():
            section += [nodes.rubric("", panel), table(listed)]
        examples = [line.strip() for line in plain(context.command.epilog).splitlines()[1:]]
        if any(examples):
            code = "\n".join(f"$ {line}" for line in examples if line)
            section += [nodes.rubric("", "Examples"), nodes.literal_block(code, code, language="console")]
        return section


def table(listed):
    """Build the table of one panel."""
    body = nodes.tbody()
    for names, text in listed:
        cells = (nodes.paragraph("", "", nodes.literal(names, names)), nodes.paragraph("", text))
        body += nodes.row("", *(nodes.entry("", cell) for cell in cells))
    columns = [nodes.colspec(colwidth=width) for width in (35, 65)]
    return nodes.table("", nodes.tgroup("", *columns, body, cols=2), classes=["options"])


def setup(app):
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
