"""Names of a package that are imported when they are first used."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Build `__all__`, `__getattr__` and `__dir__` of a package (PEP 562).

    `homes` maps each module, relative to the package, to the names that it provides; `submodules` are public
    themselves.
    """
    module_of = {name: module for module, names in homes.items() for name in names}
    public = sorted([*module_of, *submodules])

    def get(name: str) -> Any:
        if name in submodules:
            return import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return public, get, lambda: public
