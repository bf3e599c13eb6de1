"""Import of optional libraries."""

import importlib
import sys
from typing import Any

from hyperclus.errors import Argument, MissingLibraryError


def library(module: str, name: str, needed_by: str | Argument, extra: str) -> Any:
    """Import a module of an optional library, or raise an error that says how to install it.

    >>> library("json", "json", "this line", "nothing").dumps([1])
    '[1]'
    """
    try:
        return sys.modules.get(module) or importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise  # the library is installed, but one of its own dependencies is not
        raise MissingLibraryError(needed_by, f" needs {name}: pip install 'hyperclus[{extra}]'") from None


def arrow(module: str = "pyarrow") -> Any:
    """Import PyArrow or one of its modules."""
    return library(module, "PyArrow", "reading long tables and writing Parquet", "files")
