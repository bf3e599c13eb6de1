"""Compile the kernels of hyperclus when the package is built; `python hatch_build.py` compiles them in place.

The library needs a C++ compiler, but neither Python nor the C++ runtime, so one wheel serves every version of
Python on a platform. Where there is no compiler, the one of the package `ziglang` is used.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

NATIVE = Path(__file__).parent / "src" / "hyperclus" / "_native"
LIBRARY = NATIVE / "kernels.lib"
# Products are never fused with sums, so that all processors give the same bits.
FLAGS = """
-x c++ -std=c++17 -O3 -shared -fno-exceptions -fno-rtti -fvisibility-inlines-hidden
-ffp-contract=off -fno-math-errno -fno-trapping-math
"""
PLAIN = "-DHYPERCLUS_PLAIN"  # for compilers that cannot compile a function for several processors
ZIG = f"-m ziglang c++ -nostdlib++ -mcpu=baseline -s {PLAIN}"  # it would compile for this processor only
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")


def compiler() -> list[str] | None:
    """The command of a C++ compiler: $CXX or the usual ones."""
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(command[0]):
            return command
    if named:
        sys.exit(
            f"hyperclus cannot be compiled: CXX is {named[0]!r}, which is not found; correct or unset it"
        )
    return None


def build() -> None:
    """Compile the library, with code for newer processors too if the compiler can do that."""
    command = compiler()
    if command is None and find_spec("ziglang") is None:
        sys.exit(
            "hyperclus cannot be compiled: there is no C++ compiler; install one, or 'pip install ziglang'"
        )
    options = ["-x", "none", "-lm", "-fPIC"] if sys.platform != "win32" else []
    with tempfile.TemporaryDirectory(dir=NATIVE) as folder:
        made, caches = (
            Path(folder) / LIBRARY.name,
            {"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder},
        )
        call = [*(command or [sys.executable, *shlex.split(ZIG)]), *shlex.split(FLAGS)]
        call += [str(NATIVE / "library.cc"), "-o", str(made), *options]
        for attempt in (call, [*call, PLAIN]):
            done = subprocess.run(attempt, capture_output=True, text=True, env=os.environ | caches)
            if done.returncode == 0:
                made.replace(LIBRARY)
                return
        sys.exit(f"hyperclus cannot be compiled: {shlex.join(attempt)}\n{done.stderr}")


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # not needed to compile in place
    pass
else:

    class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
        """Compile the library before a wheel is built or the project is installed for development."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            """The compiler, where there is none."""
            return [] if compiler() else ["ziglang>=0.13"]

        def initialize(self, version: str, build_data: dict[str, object]) -> None:
            """Compile, and say that the wheel is for this platform and any Python 3."""
            build()
            build_data.update(pure_python=False, tag=f"py3-none-{PLATFORM}")


if __name__ == "__main__":
    build()
