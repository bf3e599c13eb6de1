"""The command line: each command parses its arguments, calls the library, and prints the result.

Results go to stdout, everything else to stderr. Exit codes: 0 success, 1 failure, 2 bad usage or input, 130
interrupted by Ctrl-C, 143 terminated by SIGTERM.
"""

# isort: off
from hyperclus.cli import cluster, verify, predict, compare, info, data, demo, local, explore, paper  # noqa: F401  # in the order of the help

# isort: on
from hyperclus.cli.app import main as main
from hyperclus.cli.app import run as run
