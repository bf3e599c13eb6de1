"""The `hyperclus` command, also as `python -m hyperclus`."""

import os
import signal
import sys


def main() -> None:
    """Run the command line, or print which library it needs."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # An exception would be a traceback wherever the imports below turn it into another error or print it.
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        from hyperclus.cli import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"hyperclus: the command line needs {error.name}: pip install 'hyperclus[cli]'")
    run()


if __name__ == "__main__":
    main()
