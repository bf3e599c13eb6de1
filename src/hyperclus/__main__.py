"""The `hyperclus` command, also as `python -m hyperclus`."""

import sys


def main() -> None:
    """Run the command line, or print which library it needs."""
    try:
        from hyperclus.cli import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"hyperclus: the command line needs {error.name}: pip install 'hyperclus[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
