"""The ``elical`` command. Each family of subcommands has a file in ``app.commands``."""

from __future__ import annotations

import sys

import typer

from app.commands import bench, demo, exchange, home_commands, loop, measuring, project_commands, running
from elical_core.errors import ElicalError

app = typer.Typer(
    name="elical",
    help="Makes a language model say, before it answers, how likely its answer is to be correct.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(demo.demo)
app.command()(running.up)
app.command()(home_commands.init)
app.command()(home_commands.doctor)
app.add_typer(project_commands.app, name="project")
app.command("import")(exchange.import_file)
app.command()(loop.sample)
app.command()(loop.elicit)
app.command()(loop.select)
app.command()(loop.calibrate)
app.command()(measuring.evaluate)
app.command()(measuring.score)
app.add_typer(exchange.labels, name="labels")
app.command()(running.worker)
app.command()(running.ui)
app.add_typer(bench.app, name="bench")
app.command()(home_commands.backup)
app.command()(home_commands.restore)


def main() -> None:
    """Runs the command; a deliberate error is one line on standard error and exit code 1."""
    try:
        app()
    except ElicalError as error:
        typer.echo(f"elical: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
